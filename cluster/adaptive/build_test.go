package adaptive

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"graft/trainer/goodput"
)

// made creates an application whose step times follow a speed model. Gradient noise grows from epoch to epoch, as in
// real training.
func made(name string, limits goodput.Limits, epochs, alone int, speed goodput.Speed, noise float64) *Application {
	a := &Application{Name: name, Limits: limits, Epochs: epochs, Alone: alone, size: -1, times: timesOf(speed)}
	for batch := limits.Least; ; batch = min(2*batch, limits.Most) {
		r := trained{batch: batch}
		steps, progress := 0.0, 0.0
		for e := range epochs {
			n := goodput.Noise{Square: 1, Variance: noise * float64(1+e)}
			steps += math.Ceil(100 / n.Gain(float64(batch)/float64(limits.Least)))
			progress += 100
			r.progress, r.iteration = append(r.progress, progress), append(r.iteration, steps)
			r.square, r.variance = append(r.square, n.Square), append(r.variance, n.Variance)
		}
		a.runs = append(a.runs, r)
		if batch == limits.Most {
			break
		}
	}
	if err := a.complete(); err != nil {
		panic(err)
	}
	return a
}

// timesOf returns the step times of a speed model.
func timesOf(speed goodput.Speed) *Times {
	return &Times{fitted: sync.OnceValue(func() *goodput.Speed { return &speed })}
}

// drawStudy makes a study in which every job can complete. Ties are frequent.
func drawStudy(r *rand.Rand, quirks []string) Study {
	apps := []*Application{
		made("small", goodput.Limits{Least: 16, Most: 256, DeviceLeast: 8, DeviceMost: 64}, 1+r.IntN(4), 0,
			drawSpeed(r), 1+10*r.Float64()),
		made("large", goodput.Limits{Least: 32, Most: 2048, DeviceLeast: 16, DeviceMost: 128}, 1+r.IntN(6), 0,
			drawSpeed(r), 100*r.Float64()),
		made("alone", goodput.Limits{Least: 64, Most: 64, DeviceLeast: 64, DeviceMost: 64}, 1+r.IntN(3), 64,
			drawSpeed(r), 1),
	}
	s := Study{Options: Options{Nodes: 1 + r.IntN(4), Devices: 1 + r.IntN(4), Interval: float64(10 * (1 + r.IntN(6))),
		Delay: float64(10 * (1 + r.IntN(4))), Quirks: quirks}}
	if r.IntN(3) == 0 {
		s.Options.Interference = 0.5 * r.Float64()
	}
	at := 1.0 // nothing is scheduled at second 0
	for k := range 1 + r.IntN(12) {
		if r.IntN(2) == 0 {
			at += float64(r.IntN(200))
		}
		a := apps[r.IntN(len(apps))]
		j := Spec{Name: fmt.Sprint("job", k), Submitted: at, App: a, Devices: 1,
			Batch: a.Limits.Least << r.IntN(1+int(math.Log2(float64(a.Limits.Most/a.Limits.Least))))}
		if a.Alone == 0 {
			j.Devices = 1 + r.IntN(min(s.Options.Nodes*s.Options.Devices, j.Batch/a.Limits.DeviceLeast))
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s
}

func drawSpeed(r *rand.Rand) goodput.Speed {
	return goodput.Speed{ComputeStart: 0.05 * r.Float64(), ComputeExample: 0.001 + 0.004*r.Float64(),
		NodesStart: 0.2 * r.Float64(), NodesDevice: 0.01 * r.Float64(), NodeStart: 0.05 * r.Float64(),
		NodeDevice: 0.002 * r.Float64(), Overlap: 1 + 3*r.Float64()}
}
