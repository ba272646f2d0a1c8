package adaptive

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/adaptive/assign"
	"graft/cluster/adaptive/genetic"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/trainer/goodput"
)

// anyTask describes a job for both searches.
type anyTask struct {
	slope, net, keeps float64
	most              int
	present           []assign.Share
}

func (a *anyTask) speedup(spans bool, devices int) float64 {
	speed := math.Pow(float64(devices), a.slope)
	if spans {
		speed *= a.net
	}
	return speed
}

func (a *anyTask) value(nodeDevices int) func(devices int, spans, moves bool) float64 {
	return func(devices int, spans, moves bool) float64 {
		v := 0.0
		if devices > 0 {
			v = a.speedup(spans, devices) / float64(nodeDevices)
		}
		if moves {
			v *= a.keeps
		}
		return -1 / (v + floor)
	}
}

const testNodes, testDevices = 16, 4

// anyTasks draws jobs that hold devices chosen for other speedups.
func anyTasks(r *rand.Rand, n int) []anyTask {
	list := make([]anyTask, n)
	before := &assign.Problem{Nodes: testNodes, Devices: testDevices}
	for k := range list {
		list[k] = anyTask{slope: 0.3 + 0.7*r.Float64(), net: 0.6 + 0.4*r.Float64(), keeps: 0.5 + 0.5*r.Float64(),
			most: 1 << r.IntN(6)}
		old := anyTask{slope: 0.3 + 0.7*r.Float64(), net: 1, keeps: 1}
		before.Jobs = append(before.Jobs, assign.Job{Most: list[k].most, Value: old.value(testDevices)})
	}
	for k, shares := range assign.Solve(before).Shares {
		if list[k].present = shares; r.IntN(4) == 0 {
			list[k].present = nil // the job has just arrived
		}
	}
	return list
}

// The search of scheduler goodput reaches at least 99.9% of the fairness of the genetic search.
func TestSolutionsAreAsFairAsGeneticOnes(t *testing.T) {
	var ratios []float64
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		tasks := anyTasks(r, 2+r.IntN(30))
		ours := &assign.Problem{Nodes: testNodes, Devices: testDevices}
		theirs := &genetic.Problem{Nodes: testNodes, Devices: testDevices, Fairness: -1}
		present := make([]byte, 0, len(tasks)*testNodes)
		for k := range tasks {
			a := &tasks[k]
			row := make([]byte, testNodes)
			for _, s := range a.present {
				row[s.Node] = byte(s.Devices)
			}
			present = append(present, row...)
			ours.Jobs = append(ours.Jobs, assign.Job{Present: a.present, Most: a.most, Value: a.value(testDevices)})
			theirs.Jobs = append(theirs.Jobs, genetic.Job{Present: row, Most: a.most, Keeps: a.keeps,
				Speedup: a.speedup})
		}
		best := 0.0
		for _, m := range genetic.Search(theirs, [][]byte{present}, r,
			genetic.Options{Population: 100, Generations: 100}) {
			best = max(best, m.Fair)
		}
		ratios = append(ratios, float64(len(tasks))/-assign.Solve(ours).Value/best)
	}
	t.Logf("fairness over that of the genetic search: %.4f in the mean, %.4f", stat.Mean(ratios), ratios)
	for _, ratio := range ratios {
		require.Greater(t, ratio, 0.999)
	}
}

// madeUp creates an application that scales well on a few devices.
func madeUp(name string, epochs int, noise float64) *Application {
	speed := goodput.Speed{ComputeStart: 0.02, ComputeExample: 0.002, NodesStart: 0.05, NodesDevice: 0.002,
		NodeStart: 0.01, NodeDevice: 0.001, Overlap: 1.5}
	a := &Application{Name: name, Limits: goodput.Limits{Least: 32, Most: 2048, DeviceLeast: 8, DeviceMost: 128},
		Epochs: epochs}
	a.times = &Times{fitted: func() *goodput.Speed { return &speed }}
	for _, batch := range []int{32, 2048} {
		run := trained{batch: batch}
		for e := range epochs {
			run.progress, run.iteration = append(run.progress, 500*float64(e+1)),
				append(run.iteration, 500*float64(e+1))
			run.square, run.variance = append(run.square, 1), append(run.variance, noise*float64(e+1))
		}
		a.runs = append(a.runs, run)
	}
	if err := a.complete(); err != nil {
		panic(err)
	}
	return a
}

func madeUpStudy(jobs int) Study {
	apps := []*Application{madeUp("small", 3, 5), madeUp("large", 12, 20)}
	s := Study{Options: Options{Nodes: 4, Devices: 4}}
	for k := range jobs {
		s.Jobs = append(s.Jobs, Spec{Name: fmt.Sprint("job", k), Submitted: float64(70 * k), App: apps[k%2], Devices: 2,
			Batch: 64})
	}
	return s
}

// Adaptive schedulers complete all jobs with the same times in every run, also in concurrent runs.
func TestAdaptiveSchedulersAreDeterministic(t *testing.T) {
	for _, kind := range []Kind{PolluxOptions{Population: 20, Generations: 10, Seed: 3}.Kind(), goodputKind()} {
		for _, quirks := range []cluster.Quirks{nil, cluster.QuirksOf(kind.Quirks)} {
			s := madeUpStudy(8)
			s.Options.Quirks = quirks
			var runs [3][]float64
			errs := parallel.Each(context.Background(), len(runs), len(runs), func(k int) error {
				w, err := s.Run(context.Background(), kind)
				if err == nil {
					runs[k] = ends(w)
				}
				return err
			})
			require.NoError(t, errs.Join())
			require.Equal(t, runs[0], runs[1])
			require.Equal(t, runs[0], runs[2])
		}
	}
}

func ends(w *World) (list []float64) {
	for _, j := range w.Jobs() {
		list = append(list, j.Ended)
	}
	return list
}

func TestFaultsOfPolluxOptions(t *testing.T) {
	require.NoError(t, PolluxOptions{}.Validate())
	for text, o := range map[string]PolluxOptions{
		"fairness": {Fairness: math.NaN()}, "delay": {Delay: -1}, "population": {Population: -1},
		"generations": {Generations: mostStates + 1},
	} {
		require.ErrorContains(t, o.Validate(), text)
	}
}

// benchmarkDecision times one decision of a new scheduler after five rounds.
func benchmarkDecision(b *testing.B, kind Kind, nodes, jobs int) {
	s := madeUpStudy(jobs)
	s.Options.Nodes = nodes
	for k := range s.Jobs {
		s.Jobs[k].Submitted, s.Jobs[k].App = 0, s.Jobs[1].App // the larger application
	}
	w, err := NewWorld(s, kind)
	require.NoError(b, err)
	scheduler := kind.New(w)
	for range 5 {
		require.NoError(b, w.round(scheduler))
	}
	before := processor()
	for b.Loop() {
		kind.New(w).Schedule(w, w.active())
	}
	b.ReportMetric(float64(len(w.active())), "jobs")
	b.ReportMetric((processor()-before)/float64(b.N)*1000, "cpu-ms/op")
}

// processor returns the CPU seconds of this process, which vary less than wall-clock time on a shared machine.
func processor() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func BenchmarkDecision160Jobs64Devices(b *testing.B) {
	benchmarkDecision(b, goodputKind(), 16, 160)
}

func BenchmarkDecision1000Jobs2000Devices(b *testing.B) {
	benchmarkDecision(b, goodputKind(), 500, 1000)
}

func BenchmarkDecisionOfPollux160Jobs64Devices(b *testing.B) {
	benchmarkDecision(b, PolluxOptions{}.Kind(), 16, 160)
}
