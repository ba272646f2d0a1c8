package node_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
	"graft/cluster/node/nodetest"
	"graft/cluster/node/schedulers"
)

func run(t *testing.T, s node.Study, scheduler string, o node.SchedulerOptions) *node.Result {
	t.Helper()
	kind, err := schedulers.Named(scheduler)
	require.NoError(t, err)
	r, err := s.Run(t.Context(), kind, o)
	require.NoError(t, err)
	return r
}

func ends(r *node.Result) (list []float64) {
	for _, o := range r.Tasks {
		list = append(list, o.Ended.Seconds())
	}
	return list
}

func task(cores, memory, work float64) node.Spec {
	return node.Spec{Cores: cores, Memory: memory, Work: time.Duration(work * float64(time.Second))}
}

// greedy starts every task on device 0 as soon as its memory fits.
type greedy struct{}

func (greedy) Decide(m *node.Machine) node.Decision {
	for _, t := range m.Queue {
		if m.Holds(t, m.Devices[0]) {
			return node.Decision{Start: t, On: m.Devices[0]}
		}
	}
	return node.Decision{}
}

var allOnFirst = node.Kind{Name: "greedy", New: func(node.SchedulerOptions) node.Scheduler { return greedy{} }}

// Two tasks that request 80% of the cores each get 50/80 of their speed. When the short one ends, the other runs alone.
func TestTasksThatShareCoresAreSlower(t *testing.T) {
	s := node.Study{Options: node.Options{GPUs: 1, Memory: 100}, Tasks: []node.Spec{task(80, 10, 10), task(80, 10, 5)}}
	r, err := s.Run(t.Context(), allOnFirst, node.SchedulerOptions{})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{13, 8}, ends(r), 1e-6) // 5 s at 5/8, then another 5 s
	s.Speed = node.Pairs{Measured: map[node.Pair][2]float64{{"a", "b"}: {0.5, 0.25}}}
	s.Tasks[0].Kind, s.Tasks[1].Kind = "b", "a"
	r, err = s.Run(t.Context(), allOnFirst, node.SchedulerOptions{})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{17.5, 10}, ends(r), 1e-6) // a at 1/2 for 10 s, b did 2.5 of 10 s
}

// Memory is a hard limit: the second task waits although cores are idle.
func TestMemoryIsALimit(t *testing.T) {
	s := node.Study{Options: node.Options{GPUs: 1, Memory: 100}, Tasks: []node.Spec{task(10, 60, 4), task(10, 50, 4)}}
	for _, kind := range schedulers.Kinds() {
		if kind.Slices {
			continue
		}
		require.ElementsMatch(t, []float64{4, 8}, ends(run(t, s, kind.Name, node.SchedulerOptions{})), kind.Name)
	}
}

// A stopped task that keeps its memory blocks other tasks. A task that releases it does not.
func TestStoppedTasksKeepTheirMemoryOrNot(t *testing.T) {
	s := node.Study{Options: node.Options{GPUs: 1, Memory: 100, Keep: true},
		Tasks: []node.Spec{task(100, 60, 4), task(100, 60, 2)}}
	o := node.SchedulerOptions{Quantum: time.Second}
	require.Equal(t, []float64{4, 6}, ends(run(t, s, "round-robin", o)))
	s.Options.Keep = false
	require.Equal(t, []float64{6, 4}, ends(run(t, s, "round-robin", o)))
	s.Options.Switch = time.Second / 2
	require.Equal(t, []float64{7.5, 5}, ends(run(t, s, "round-robin", o)),
		"each change costs half a second; the last two seconds of the first task follow at once")
}

// An empty GPU draws 10 W, a GPU with a task 30 W, and 130 W in full use. Half of the cores for 4 s use 320 J, and the
// other GPU uses 40 J.
func TestEnergyOfATask(t *testing.T) {
	s := node.Study{Options: node.Options{GPUs: 2, Memory: 100, Power: node.Power{Empty: 10, Active: 30, Full: 130}},
		Tasks: []node.Spec{task(50, 10, 4)}}
	r := run(t, s, "fcfs", node.SchedulerOptions{})
	require.InDelta(t, 320, r.Tasks[0].Joules, 1e-9)
	require.InDelta(t, 360, r.Summary.Joules, 1e-9)
	require.InDelta(t, 360*4, r.Summary.Delay(), 1e-9)
	require.InDelta(t, 0.25, r.Summary.Busy, 1e-9)
}

// Proportional-share schedulers give a flow of weight 3 three times the time of another flow.
func TestSharesAreInProportion(t *testing.T) {
	var tasks []node.Spec
	for range 30 {
		a, b := task(100, 1, 100), task(100, 1, 100)
		a.Flow, a.Weight, a.Tickets, b.Flow = "a", 3, 3, "b"
		tasks = append(tasks, a, b)
	}
	for _, name := range []string{"wfq", "stride", "lottery"} {
		kind, err := schedulers.Named(name)
		require.NoError(t, err)
		w, err := node.NewWorld(node.Study{Options: node.Options{GPUs: 1, Memory: 100}, Tasks: tasks})
		require.NoError(t, err)
		var o node.SchedulerOptions
		o.EnsureDefaults()
		ctx, cancel := context.WithCancel(t.Context())
		served := func(flow string) (sum time.Duration) {
			for _, t := range w.All {
				if t.Flow == flow {
					sum += t.Served(w.Machine)
				}
			}
			return sum
		}
		until := stopAt{Scheduler: kind.New(o), at: 2000 * time.Second, cancel: cancel}
		require.ErrorIs(t, w.Run(ctx, until), context.Canceled)
		require.InDelta(t, 3, float64(served("a"))/float64(served("b")), 0.75, name)
	}
}

// stopAt ends a simulation at a time.
type stopAt struct {
	node.Scheduler
	at     time.Duration
	cancel func()
}

func (s stopAt) Slice(t *node.Task) time.Duration { return s.Scheduler.(node.Slicer).Slice(t) }

func (s stopAt) Decide(m *node.Machine) node.Decision {
	if m.Now >= s.at {
		s.cancel()
	}
	return s.Scheduler.Decide(m)
}

// A short task overtakes a long waiting task if it ends before the reservation. A longer task does not.
func TestBackfillKeepsReservations(t *testing.T) {
	s := node.Study{Options: node.Options{GPUs: 1, Memory: 100},
		Tasks: []node.Spec{task(60, 1, 10), task(60, 1, 10), task(40, 1, 5), task(40, 1, 11), task(40, 1, 10)}}
	r := run(t, s, "backfill", node.SchedulerOptions{})
	require.Equal(t, []float64{10, 20, 5, 16, 26}, ends(r),
		"the fourth fits beside the second when that starts, the third before")
	require.Equal(t, []float64{10, 20, 15, 26, 30}, ends(run(t, s, "fcfs", node.SchedulerOptions{})))
}

func TestTasksThatCannotRunAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		study node.Study
		want  string
	}{
		"memory": {node.Study{Tasks: []node.Spec{task(10, 20000, 1)}},
			"task task0 needs 20000 MiB of GPU memory and can never run: the largest GPU has 16384 MiB"},
		"cores": {node.Study{Tasks: []node.Spec{task(101, 1, 1)}},
			"task task0: cores is 101; expected more than 0 and at most 100 percent of a GPU"},
		"negative": {node.Study{Tasks: []node.Spec{task(10, -1, 1)}}, "memory is -1"},
		"name": {node.Study{Tasks: []node.Spec{{Name: "task1", Cores: 1}, {Cores: 1}}},
			"task task1: duplicate name"},
		"cycle": {node.Study{Tasks: []node.Spec{{Cores: 1}, {Cores: 1, After: []int{3}},
			{Cores: 1, After: []int{1}}, {Cores: 1, After: []int{2, 0}}}},
			"simulate tasks: dependency cycle: task1 after task3 after task2 after task1"},
		"itself": {node.Study{Tasks: []node.Spec{{Cores: 1, After: []int{0}}}}, "task0 after task0"},
		"none":   {node.Study{}, "the workload has 0 tasks; expected 1 to"},
		"gpus": {node.Study{Tasks: []node.Spec{task(1, 1, 1)}, Options: node.Options{GPUs: -1}},
			"the machine has -1 GPUs; expected 1 to 1024"},
	} {
		_, err := node.NewWorld(c.study)
		require.ErrorContains(t, err, c.want, name)
	}
}

// No scheduler beats the best schedule, and the best schedule does not beat its bound.
func TestTheBestScheduleIsBetween(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := node.Generator{Least: 3, Most: 7, Memory: 100, Interval: time.Duration(seed%2) * time.Second}
		g.EnsureDefaults()
		s := node.Study{Tasks: g.Draw(random), Options: node.Options{GPUs: 1 + int(seed%3), Memory: 100}}
		best, err := node.Exact(t.Context(), s)
		require.NoError(t, err)
		require.GreaterOrEqual(t, best*(1+1e-9), node.Bound(s))
		for _, kind := range schedulers.Kinds() {
			if !kind.Slices {
				require.GreaterOrEqual(t, run(t, s, kind.Name, node.SchedulerOptions{}).Summary.Turnaround*(1+1e-9),
					best, "%s, seed %d", kind.Name, seed)
			}
		}
	}
}

// Exact agrees with an enumeration of all orders and devices in which each task starts as early as possible. One of
// them is optimal.
func TestExactAgreesWithAllOrders(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		g := node.Generator{Least: 4, Most: 5, Memory: 100}
		g.EnsureDefaults()
		s := node.Study{Tasks: g.Draw(rand.New(rand.NewPCG(seed, 2))),
			Options: node.Options{GPUs: 1 + int(seed%2), Memory: 100}}
		want, err := node.Exact(t.Context(), s)
		require.NoError(t, err)
		require.InDelta(t, want, nodetest.BestOrder(s), 1e-6, "seed %d", seed)
	}
}

// BenchmarkSteps counts a step for each arrival, start and end.
func BenchmarkSteps(b *testing.B) {
	g := node.Generator{}
	g.EnsureDefaults()
	s := node.Study{Tasks: g.Draw(rand.New(rand.NewPCG(1, 1)))}
	kind, _ := schedulers.Named("best-fit")
	for b.Loop() {
		if _, err := s.Run(context.Background(), kind, node.SchedulerOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*3*float64(len(s.Tasks))/b.Elapsed().Seconds(), "steps/s")
}

// A task that fails, even in the queue, also fails its dependents. A withdrawn task arrives again and restarts.
func TestTasksFailAndComeBack(t *testing.T) {
	after := func(places ...int) node.Spec { s := task(50, 30, 1); s.After = places; return s }
	m := node.NewMachine([]node.Device{{Memory: 100}}, []node.Spec{after(), after(0), after(0, 1), after()},
		node.Rules{Keep: true})
	for _, task := range m.All {
		m.Arrive(task)
	}
	first, last := m.All[0], m.All[3]
	require.Equal(t, []*node.Task{first, last}, m.Queue)
	m.Start(first, m.Devices[0])
	m.Start(last, m.Devices[0])
	m.Stop(first)
	m.Withdraw(first)
	require.Equal(t, 30.0, m.Devices[0].Used, "a task that was held gives its memory back")
	m.Withdraw(last)
	require.Zero(t, m.Devices[0].Used)
	require.Empty(t, m.Queue)
	m.Arrive(first)
	m.Arrive(last)
	require.Equal(t, []*node.Task{first, last}, m.Queue)
	require.Equal(t, []*node.Task{m.All[1], m.All[2]}, m.Finish(first, node.Failed))
	require.Equal(t, []*node.Task{last}, m.Queue)
	require.Empty(t, m.Finish(last, node.Done))
	require.True(t, m.Over())
}
