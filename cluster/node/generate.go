package node

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// TaskType describes a type of generated tasks by ranges that include both ends.
type TaskType struct {
	Name     string
	Cores    [2]int // percentage of a GPU's cores
	Memory   [2]int // percentage of a GPU's memory
	Work     [2]int // work in units of Generator.Unit
	Priority [2]int
}

// UsualTypes returns the default types of generated tasks.
func UsualTypes() []TaskType {
	return []TaskType{
		{"image_classification", [2]int{20, 40}, [2]int{10, 30}, [2]int{5, 10}, [2]int{1, 3}},
		{"lstm_training", [2]int{30, 50}, [2]int{40, 60}, [2]int{7, 15}, [2]int{2, 4}},
		{"cnn_training", [2]int{50, 80}, [2]int{30, 50}, [2]int{10, 20}, [2]int{3, 5}},
	}
}

// Generator generates random tasks.
type Generator struct {
	Least, Most int           // minimum and maximum number of tasks; zero means 40 and 50
	Types       []TaskType    // task types, drawn uniformly; nil means UsualTypes
	Unit        time.Duration // unit of task work; zero means 1 s
	Memory      float64       // memory of a GPU in MiB, of which tasks use a percentage; zero means 16384
	// mean time between arrivals of a Poisson process; zero means that all tasks arrive at the beginning
	Interval time.Duration
	// maximum relative error of estimates, drawn uniformly from ± this value, in [0, 1)
	Error float64
}

// EnsureDefaults fills unset options.
func (g *Generator) EnsureDefaults() {
	g.Least, g.Most = cmp.Or(g.Least, 40), cmp.Or(g.Most, max(g.Least, 50))
	g.Unit, g.Memory = cmp.Or(g.Unit, time.Second), cmp.Or(g.Memory, 16384)
	if len(g.Types) == 0 {
		g.Types = UsualTypes()
	}
}

// Validate returns an error that names the first invalid option.
func (g *Generator) Validate() error {
	switch {
	case g.Least < 1 || g.Most < g.Least || g.Most > maxTasks:
		return fmt.Errorf("min_tasks is %d and max_tasks is %d; expected 1 <= min_tasks <= max_tasks <= %d", g.Least,
			g.Most, maxTasks)
	case g.Unit < 0 || g.Unit > maxTime:
		return fmt.Errorf("unit is %v; expected 0s to %v", g.Unit, maxTime)
	case g.Interval < 0 || g.Interval > maxTime:
		return fmt.Errorf("arrival_interval is %v; expected 0s to %v", g.Interval, maxTime)
	case !(g.Error >= 0 && g.Error < 1):
		return fmt.Errorf("estimate_error is %g; expected at least 0 and less than 1", g.Error)
	}
	return nil
}

// Draw generates the tasks of a workload.
func (g *Generator) Draw(random *rand.Rand) []Spec {
	specs := make([]Spec, g.Least+random.IntN(g.Most-g.Least+1))
	in := func(r [2]int) int { return r[0] + random.IntN(r[1]-r[0]+1) }
	at := 0.0
	for k := range specs {
		t := &g.Types[random.IntN(len(g.Types))]
		s := &specs[k]
		s.Kind, s.Flow = t.Name, t.Name
		s.Cores, s.Memory = float64(in(t.Cores)), float64(in(t.Memory))/100*g.Memory
		s.Work, s.Priority = time.Duration(in(t.Work))*g.Unit, in(t.Priority)
		if g.Interval > 0 {
			at -= math.Log(1-random.Float64()) * float64(g.Interval)
			s.Arrival = time.Duration(at)
		}
		if g.Error > 0 {
			s.Estimate = time.Duration(float64(s.Work) * (1 + g.Error*(2*random.Float64()-1)))
		}
	}
	return specs
}
