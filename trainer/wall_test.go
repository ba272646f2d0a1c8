package trainer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/team"
)

// acted is a wall clock of a machine on which each piece of work takes a time that the test sets, after an idle time.
// Nothing waits.
type acted struct {
	*clock.Wall
	time *time.Time
	cost func(w clock.Work, at time.Duration) time.Duration // time of one piece
	idle time.Duration                                      // before each piece of work
}

// act returns a clock that starts at a time of the budget. The machine's own time does not matter.
func act(at time.Duration, cost func(clock.Work, time.Duration) time.Duration, idle time.Duration) *acted {
	t := time.Unix(1_000_000, 0)
	return &acted{Wall: clock.NewWall(func() time.Time { return t }, at), time: &t, cost: cost, idle: idle}
}

func (a *acted) Begin() {
	*a.time = a.time.Add(a.idle)
	a.Wall.Begin()
}

func (a *acted) Spend(w clock.Work) {
	for range w.Count {
		*a.time = a.time.Add(a.cost(w, a.Now()))
	}
	a.Wall.Spend(w)
}

// even takes 10 ms for a step and 4 ms for a batch of evaluation. An evaluation has one batch here.
func even(w clock.Work, _ time.Duration) time.Duration {
	return map[clock.Kind]time.Duration{clock.Steps: 10 * ms, clock.Batches: 4 * ms, clock.Deciding: 2 * ms,
		clock.Surgery: 3 * ms}[w.Kind]
}

// between multiplies the time of work that starts between two times.
func between(from, to time.Duration, times int) func(clock.Work, time.Duration) time.Duration {
	return func(w clock.Work, at time.Duration) time.Duration {
		if at >= from && at < to {
			return time.Duration(times) * even(w, at)
		}
		return even(w, at)
	}
}

// operations returns the number of operations of a network for an example.
func operations(t testing.TB, n *model.Network) (total int64) {
	rows, err := n.Sheet()
	require.NoError(t, err)
	for _, r := range rows {
		total += r.Operations
	}
	return total
}

// onWall runs the small job on an acted clock.
func onWall(t testing.TB, o trainer.Options, clock *acted, book trainer.Recorder, actions ...string) *trainer.Outcome {
	t.Helper()
	outcome, err := runJob(t, o, trainer.Parts{Clock: clock, Recorder: book,
		Now: func() time.Time { return *clock.time }}, actions...)
	require.NoError(t, err)
	return outcome
}

// dear makes evaluation take eight times as long.
func dear(w clock.Work, at time.Duration) time.Duration {
	if w.Kind == clock.Batches {
		return 8 * even(w, at)
	}
	return even(w, at)
}

// A job on the wall clock ends within its budget, evaluates its last steps, and uses nearly all of the budget. It grows
// towards the end.
func TestTheWallClockKeepsTheBudget(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	first := operations(t, smallNetwork())
	random := rand.New(rand.NewPCG(1, 1))
	uneven := func(w clock.Work, at time.Duration) time.Duration {
		return even(w, at) * time.Duration(80+random.IntN(40)) / 100
	}
	growing := func(w clock.Work, at time.Duration) time.Duration {
		return even(w, at) * time.Duration(operations(t, w.Network)) / time.Duration(first)
	}
	for name, c := range map[string]struct {
		budget time.Duration
		cost   func(clock.Work, time.Duration) time.Duration
		idle   time.Duration
		unused time.Duration // largest unused time
	}{
		"what always takes as long":     {time.Second, even, 0, 30 * ms},
		"less than an epoch":            {110 * ms, even, 0, 30 * ms},
		"a few steps":                   {40 * ms, even, 0, 30 * ms},
		"a dear evaluation":             {time.Second, dear, 0, 30 * ms},
		"time lost before work":         {time.Second, even, 3 * ms, 30 * ms},
		"a slow time in the middle":     {time.Second, between(400*ms, 600*ms, 6), 0, 30 * ms},
		"slower from some time on":      {time.Second, between(600*ms, time.Hour, 3), 0, 80 * ms},
		"a slow beginning":              {time.Second, between(0, 10*ms, 20), 0, 30 * ms},
		"a stall":                       {time.Second, between(500*ms, 501*ms, 25), 0, 30 * ms},
		"now more, now less":            {time.Second, uneven, 0, 30 * ms},
		"what a larger network takes":   {time.Second, growing, 0, 80 * ms},
		"a larger network, though even": {time.Second, even, 0, 80 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			o := plan()
			o.Timeline = trainer.Timeline{Budget: c.budget,
				Events: []trainer.Event{{At: c.budget * 7 / 10, Change: trainer.Up}}}
			book := &memory{}
			outcome := onWall(t, o, act(0, c.cost, c.idle), book, "deepen:conv1")
			last := book.rows[len(book.rows)-1]
			require.Equal(t, outcome.Steps, last.Steps, "the last steps are evaluated")
			require.LessOrEqual(t, outcome.Used, outcome.Budget)
			require.LessOrEqual(t, outcome.Budget-outcome.Used, c.unused, "of %v", outcome.Budget)
		})
	}
}

// absent is a starter that starts no process.
type absent struct{}

func (absent) Start(int) (team.Process, error) { return nil, errors.New("there is none") }

// Devices without processes make nothing faster. They do not distort the measured times of one process, and they are
// not charged unless the job waits for their processes.
func TestDevicesWithoutProcessesChangeNothing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, torch.SetThreads(1))
	for _, devices := range []int{2, 200, 1000, 65536} {
		for _, parallel := range []bool{false, true} {
			o := plan()
			o.Timeline = trainer.Timeline{Budget: 500 * ms, Events: []trainer.Event{
				{At: 100 * ms, Change: trainer.Up, Devices: devices}, {At: 250 * ms, Change: trainer.Down, Devices: 1},
			}}
			o.Parallel.On, o.Parallel.MaxProcesses = parallel, 3
			book, clock := &memory{}, act(0, even, 0)
			outcome, err := runJob(t, o, trainer.Parts{Clock: clock, Recorder: book, Starter: absent{},
				Files: files.OS{}, Now: func() time.Time { return *clock.time }})
			require.NoError(t, err)
			require.Less(t, outcome.Budget-outcome.Used, 30*ms, "%d devices, parallel is %v: the budget is used",
				devices, parallel)
			if most := 3 * outcome.Used; parallel {
				require.LessOrEqual(t, outcome.DeviceTime, most, "no more than max_processes")
				continue
			}
			require.Equal(t, outcome.Used, outcome.DeviceTime, "%d devices", devices)
		}
	}
}

// The last evaluation fits into any budget, wherever in an epoch it ends.
func TestAnyBudgetIsKept(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	random := rand.New(rand.NewPCG(2, 2))
	uneven := func(w clock.Work, at time.Duration) time.Duration {
		return even(w, at) * time.Duration(80+random.IntN(40)) / 100
	}
	var unused []time.Duration
	for range 25 {
		o := plan()
		o.Timeline = trainer.Timeline{Budget: time.Duration(100+random.IntN(300)) * ms}
		outcome := onWall(t, o, act(0, uneven, time.Duration(random.IntN(4))*ms), nil)
		require.LessOrEqual(t, outcome.Used, outcome.Budget)
		unused = append(unused, outcome.Budget-outcome.Used)
	}
	slices.Sort(unused)
	t.Logf("measured: of 25 budgets on a wall clock on which steps of 10 ms take a fifth more or less none was "+
		"exceeded; %v were left at the median, %v at most", unused[len(unused)/2], unused[len(unused)-1])
	require.Less(t, unused[len(unused)-1], 60*ms)
}

// Time between two pieces of work counts in the budget, but in no rate.
func TestTimeLostIsOfNoRate(t *testing.T) {
	now := time.Unix(100, 0)
	wall := clock.NewWall(func() time.Time { return now }, 5*time.Second)
	steps, batches := clock.Work{Kind: clock.Steps, Count: 10, Rows: 64},
		clock.Work{Kind: clock.Batches, Count: 3, Rows: 128}
	takes := func(w clock.Work, lost, took time.Duration) {
		now = now.Add(lost)
		wall.Begin()
		now = now.Add(took)
		wall.Spend(w)
	}
	require.Zero(t, wall.Cost(steps), "nothing is known yet")
	require.Zero(t, wall.Cost(batches))
	takes(steps, time.Hour, time.Second)
	require.Equal(t, time.Hour+6*time.Second, wall.Now())
	require.Equal(t, 1500*time.Millisecond, wall.Cost(steps),
		"a second, and twice a quarter of it for what is not known")
	require.Zero(t, wall.Cost(batches), "the first call says little")
	takes(steps, time.Minute, time.Second)
	one := wall.Cost(steps) / 10
	require.Equal(t, 150*ms, one)
	require.Equal(t, 3*one*2/2+2*time.Minute, wall.Cost(batches),
		"half of what training on twice as many takes, and what is lost")
	for range 5 {
		takes(steps, 0, time.Second)
	}
	require.Less(t, wall.Cost(steps), 1200*ms, "what always takes as long")
	require.GreaterOrEqual(t, wall.Cost(steps), time.Second)
	takes(batches, 0, 3*time.Second)
	require.Equal(t, 4500*ms, wall.Cost(batches))
	require.Equal(t, 3*time.Second, wall.Cost(clock.Work{Kind: clock.Batches, Count: 2, Rows: 128}))

	before := wall.Cost(steps)
	takes(steps, 0, 5*time.Second)
	require.Greater(t, wall.Cost(steps), before+time.Second, "a slow call moves what is expected")
	require.Less(t, wall.Cost(steps), 5*time.Second, "and is not all that is expected")
	takes(steps, time.Hour, time.Second)
	require.Less(t, wall.Cost(batches), time.Minute, "one stall is not what is usually lost")
	more := steps
	more.Rows *= 3
	require.InEpsilon(t, 3*wall.Cost(steps).Seconds(), wall.Cost(more).Seconds(), 1e-6,
		"a larger batch was not seen yet")
	more.Rows = 1
	require.Equal(t, wall.Cost(steps), wall.Cost(more), "a smaller one is not known to take less")
}

// A network that grew is expected to take more time before it is measured. A network that shrank is not expected to
// take less.
func TestALargerNetworkTakesMore(t *testing.T) {
	now := time.Unix(100, 0)
	wall := clock.NewWall(func() time.Time { return now }, 0)
	small, large := smallNetwork(), smallNetwork()
	_, err := net2net.Apply(large, net2net.Action{Kind: "deepen", Target: "conv1"}, net2net.Options{})
	require.NoError(t, err)
	of := func(n *model.Network, devices int) clock.Work {
		return clock.Work{Kind: clock.Batches, Count: 1, Rows: 100, Network: n, Devices: devices}
	}
	wall.Begin()
	now = now.Add(time.Second)
	wall.Spend(of(small, 1))
	known := wall.Cost(of(small, 1))
	times := float64(operations(t, large)) / float64(operations(t, small))
	require.Greater(t, times, 1.1)
	require.InEpsilon(t, times*known.Seconds(), wall.Cost(of(large, 1)).Seconds(), 1e-6)
	require.Equal(t, known, wall.Cost(of(small, 2)), "more devices may help")
	wall.Begin()
	now = now.Add(3 * time.Second)
	wall.Spend(of(large, 1))
	require.Equal(t, 4500*ms, wall.Cost(of(large, 1)), "what was seen of it counts alone")
	require.Equal(t, 4500*ms, wall.Cost(of(small, 1)))
	require.Equal(t, 4500*ms, wall.Cost(of(large, 2)))
}

// A job that is stopped resumes at its time of the budget, however late, and ends within the budget.
func TestTheWallClockGoesOn(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	o := plan()
	o.Timeline = trainer.Timeline{Budget: 600 * ms, Events: []trainer.Event{{At: 200 * ms, Change: trainer.Up}}}
	o.Adapt = trainer.Adapt{Rows: 64}
	for _, stop := range []time.Duration{0, 150 * ms, 300 * ms, 520 * ms} {
		book := &memory{}
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			ctx, cancel := context.WithCancel(context.Background())
			wall := act(0, nil, ms)
			wall.cost = func(w clock.Work, at time.Duration) time.Duration {
				if at >= stop {
					cancel()
				}
				return even(w, at)
			}
			p := parts(t, s, trainer.Parts{Clock: wall, Recorder: book, Now: func() time.Time { return *wall.time }},
				"deepen:conv1")
			j, err := trainer.New(s, p, o)
			require.NoError(t, err)
			_, err = j.Run(ctx)
			require.ErrorIs(t, err, trainer.ErrStopped)
			stopped, err := trainer.ReadSavedJob(sections(book.saves[len(book.saves)-1]))
			require.NoError(t, err)
			require.Equal(t, wall.Now(), stopped.Time)
			require.Less(t, stopped.Time-stop, 60*ms)

			later := act(stopped.Time, even, ms)
			require.Equal(t, stopped.Time, later.Now(), "the time in between is nobody's")
			p.Clock, p.Network, p.Now = later, nil, func() time.Time { return *later.time }
			j, err = trainer.Resume(s, stopped, p, model.Placement{}, o)
			require.NoError(t, err)
			outcome, err := j.Run(context.Background())
			require.NoError(t, err)
			require.LessOrEqual(t, outcome.Used, outcome.Budget)
			require.Less(t, outcome.Budget-outcome.Used, 50*ms)
			require.Equal(t, outcome.Steps, book.rows[len(book.rows)-1].Steps)
			require.Equal(t, 1, outcome.Decisions)
			return nil
		}))
		for k, row := range book.rows[1:] {
			require.Greater(t, row.Time, book.rows[k].Time)
		}
	}
}

// Events take effect soon after their time. A job may start at a time within the budget.
func TestEventsOnTheWallClock(t *testing.T) {
	o := plan()
	o.Timeline = trainer.Timeline{Budget: 1000 * ms, Start: 400 * ms,
		Events: []trainer.Event{{At: 300 * ms, Change: trainer.Up}, {At: 700 * ms, Change: trainer.Down}}}
	book := &memory{}
	outcome := onWall(t, o, act(o.Timeline.Start, even, 0), book, "deepen:conv1")
	require.Equal(t, []string{"start", "up", "decision", "decision", "down", "shrink", "end"}, book.events())
	require.Equal(t, 400*ms, book.notes[0].Time)
	require.Equal(t, 400*ms, book.notes[1].Time, "what was due before the start is heeded at once")
	require.Equal(t, 5*ms, book.notes[2].Took, "two for deciding, three for operating")
	require.Equal(t, outcome.Deciding+outcome.Operating, sum(book.notes))
	down := book.notes[4]
	require.GreaterOrEqual(t, down.Time, 700*ms)
	require.Less(t, down.Time, 730*ms)
	require.LessOrEqual(t, outcome.Used, outcome.Budget)
	require.Less(t, outcome.Steps, int64(60), "the budget before the start is not trained in")
}

// With Overrun, a job trains until the time is over, also on the wall clock, as the original did.
func TestOverrunOnTheWallClock(t *testing.T) {
	o := original()
	o.Timeline = trainer.Timeline{Budget: 500 * ms}
	book := &memory{}
	outcome := onWall(t, o, act(0, even, 0), book)
	require.Equal(t, 2, outcome.Epochs, "of 174 ms each")
	require.Equal(t, int64(2*perEpoch+16), outcome.Steps)
	require.Equal(t, 508*ms, outcome.Used, "the last step began before the end")
	require.Equal(t, book.rows[1].Validation, outcome.Validation)
}
