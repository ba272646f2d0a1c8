package cluster

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
)

// toy is a scheduler that runs a function of the test.
type toy struct {
	waiting []*Job
	all     []*Job // arrived jobs
	act     func(s *toy, p *Pool) int64
}

func (s *toy) Arrived(j *Job) { s.waiting, s.all = append(s.waiting, j), append(s.all, j) }

func (s *toy) Ended(*Job) {}

func (s *toy) Schedule(p *Pool) int64 { return s.act(s, p) }

func (s *toy) start(p *Pool) int64 {
	for len(s.waiting) > 0 && p.Start(s.waiting[0]) {
		s.waiting = s.waiting[1:]
	}
	return Never
}

func toyPolicy(act func(s *toy, p *Pool) int64) Policy {
	return Policy{Name: "toy", New: func(Setup) (Scheduler, error) { return &toy{act: act}, nil }}
}

// smallStudy returns a study of jobs of 10 s on one device each, with one node of two devices.
func smallStudy(jobs int) *Study {
	s := &Study{VCs: []trace.VC{{Name: "a", Nodes: 1}}, PerNode: 2}
	for k := range jobs {
		s.Jobs = append(s.Jobs, trace.Job{ID: fmt.Sprint("j", k), VC: "a", Submit: int64(k), Duration: 10, GPUs: 1})
	}
	return s
}

// fixedSpeed is a speed model with one rate and one loss.
type fixedSpeed struct{ rate, lost float64 }

func (m fixedSpeed) Rates(Placement) (float64, float64) { return m.rate, m.rate }

func (m fixedSpeed) Lost(*Job) float64 { return m.lost }

// A scheduler that breaks the rules ends the simulation with an error. It neither hangs nor crashes it.
func TestBadSchedulers(t *testing.T) {
	for name, c := range map[string]struct {
		act   func(s *toy, p *Pool) int64
		want  string
		speed SpeedModel
	}{
		"one that starts nothing": {
			func(*toy, *Pool) int64 { return Never }, "second 3: 4 jobs are waiting, no jobs are running and no " +
				"more jobs will arrive", nil,
		},
		"one that starts nothing and asks again every second": {
			func(_ *toy, p *Pool) int64 { return p.Now() + 1 }, "4 jobs are waiting, no jobs are running and no more " +
				"jobs will arrive", nil,
		},
		"one that starts one job only, and asks again": {
			func(s *toy, p *Pool) int64 {
				if len(s.waiting) == len(s.all) && p.Now() == 0 {
					p.Start(s.waiting[0])
				}
				return p.Now() + 1
			}, "3 jobs are waiting, no jobs are running and no more jobs will arrive", nil,
		},
		"one that wants to be asked in the past": {
			func(s *toy, p *Pool) int64 { s.start(p); return p.Now() - 1 },
			"second 0: the scheduler requested its next call at second -1", nil,
		},
		"one that wants to be asked now": {
			func(s *toy, p *Pool) int64 { s.start(p); return p.Now() },
			"the scheduler requested its next call at second 0", nil,
		},
		"one that starts a job twice": {
			func(s *toy, p *Pool) int64 { p.Start(s.all[0]); p.Start(s.all[0]); return Never },
			"cannot start job j0 on 1 devices", nil,
		},
		"one that starts a job that has ended": {
			func(s *toy, p *Pool) int64 {
				if !s.all[0].Running() {
					p.Start(s.all[0])
				}
				return Never
			}, "cannot start job j0 at second 10", nil,
		},
		"one that preempts a job that waits": {
			func(s *toy, p *Pool) int64 { p.Preempt(s.all[0]); return Never }, "cannot preempt job j0", nil,
		},
		"one whose jobs lose what is no number": {
			func(s *toy, p *Pool) int64 { p.Start(s.all[0]); p.Preempt(s.all[0]); return Never },
			"the speed model returns a loss of NaN seconds of work for job j0", fixedSpeed{1, math.NaN()},
		},
		"one whose jobs get work back": {
			func(s *toy, p *Pool) int64 { p.Start(s.all[0]); p.Preempt(s.all[0]); return Never },
			"the speed model returns a loss of -1 seconds of work for job j0", fixedSpeed{1, -1},
		},
		"one that preempts for ever": {
			func(s *toy, p *Pool) int64 {
				p.Start(s.all[0])
				p.Preempt(s.all[0])
				p.Start(s.all[0])
				return Never
			}, "job j0 would never end", fixedSpeed{1, math.Inf(1)},
		},
		"one that packs a job onto itself": {
			func(s *toy, p *Pool) int64 { p.Start(s.all[0]); p.Pack(s.all[0], s.all[0]); return Never },
			"cannot pack waiting job j0 with job j0", nil,
		},
		"one whose jobs work at no rate": {
			(*toy).start, "a rate of NaN for job j0", fixedSpeed{math.NaN(), 0},
		},
		"one whose jobs work at a rate that is lost in rounding": {
			(*toy).start, "job j0 would never end", fixedSpeed{1e-30, 0},
		},
		"one that resizes a job that waits": {
			func(s *toy, p *Pool) int64 { p.Resize(s.all[0], 2); return Never }, "cannot resize job j0 to 2 devices",
			nil,
		},
		"one that resizes to nothing": {
			func(s *toy, p *Pool) int64 { p.Start(s.all[0]); p.Resize(s.all[0], 0); return Never },
			"cannot resize job j0 to 0 devices", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := smallStudy(4)
			s.Speed = c.speed
			_, err := s.Run(context.Background(), toyPolicy(c.act), Options{})
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A scheduler cannot start a job before the job arrives.
func TestStartBeforeArrival(t *testing.T) {
	policy := Policy{Name: "early", New: func(s Setup) (Scheduler, error) {
		return &toy{act: func(_ *toy, p *Pool) int64 { p.Start(s.Pool.Jobs[3]); return Never }}, nil
	}}
	_, err := smallStudy(4).Run(context.Background(), policy, Options{})
	require.ErrorContains(t, err, "cannot start job j3 at second 0")
}

// Jobs that cannot be simulated are refused, and the others are simulated.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *trace.Job)
		why    string
	}{
		"a job larger than its cluster": {func(j *trace.Job) { j.GPUs = 3 }, "larger than its virtual cluster"},
		"one without devices":           {func(j *trace.Job) { j.GPUs = 0 }, "no devices requested"},
		"one with less":                 {func(j *trace.Job) { j.GPUs = -5 }, "no devices requested"},
		"one of an unknown cluster":     {func(j *trace.Job) { j.VC = "b" }, "unknown virtual cluster"},
		"one that ends before it began": {func(j *trace.Job) { j.Duration = -1 }, "negative duration"},
		"one that never ends":           {func(j *trace.Job) { j.Duration = math.MaxInt64 }, "duration out of range"},
		"one with another's id":         {func(j *trace.Job) { j.ID = "j0" }, "duplicate ID"},
	} {
		t.Run(name, func(t *testing.T) {
			s := smallStudy(4)
			c.change(&s.Jobs[2])
			o := must(s.Run(context.Background(), toyPolicy((*toy).start), Options{}))
			require.Equal(t, []Refusal{{s.Jobs[2].ID, c.why}}, o.Refused)
			require.Len(t, o.Jobs, 3)
		})
	}
}

// A simulation lists refused jobs in order of submission, like the check of a configuration.
func TestRefusalsAreInOrder(t *testing.T) {
	s := smallStudy(5)
	s.VCs = []trace.VC{{Name: "b", Nodes: 1}, {Name: "a", Nodes: 1}}
	s.Jobs[1].GPUs, s.Jobs[3].GPUs, s.Jobs[3].VC, s.Jobs[4].GPUs = 9, 9, "b", 0
	o := must(s.Run(context.Background(), toyPolicy((*toy).start), Options{}))
	require.Equal(t, []Refusal{{"j1", "larger than its virtual cluster"}, {"j3", "larger than its virtual cluster"},
		{"j4", "no devices requested"}}, o.Refused)
	require.Equal(t, o.Refused, must(s.Refusals("")))
}

// A job submitted before the simulation begins is refused.
func TestRefusesWhatIsTooEarly(t *testing.T) {
	s := smallStudy(4)
	s.Jobs[0].Submit = -4
	o := must(s.Run(context.Background(), toyPolicy((*toy).start), Options{}))
	require.Equal(t, []Refusal{{"j0", "submitted before the simulation begins"}}, o.Refused)
	require.Len(t, o.Jobs, 3)
}

// Jobs without IDs are distinct.
func TestNoNames(t *testing.T) {
	s := smallStudy(3)
	for k := range s.Jobs {
		s.Jobs[k].ID = ""
	}
	o := must(s.Run(context.Background(), toyPolicy((*toy).start), Options{}))
	require.Len(t, o.Jobs, 3)
}

// A job without work ends when it starts, or one second later with the quirk ExtraSecond.
func TestZeroDuration(t *testing.T) {
	for _, extra := range []bool{false, true} {
		s := smallStudy(5)
		for k := range s.Jobs {
			s.Jobs[k].Submit, s.Jobs[k].Duration = 7, 0
		}
		policy := toyPolicy((*toy).start)
		var o Options
		if extra {
			policy.Quirks = []Quirk{ExtraSecond}
			o.Quirks = policy.AllQuirks()
		}
		out := must(s.Run(context.Background(), policy, o))
		for k, j := range out.Jobs {
			want := int64(7)
			if extra {
				want = 8 + int64(k/2)
			}
			require.Equal(t, want, j.End)
		}
	}
}

// A study that cannot be simulated returns an error that names the fault.
func TestBadStudies(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Study)
		want   string
	}{
		"no cluster":            {func(s *Study) { s.VCs = nil }, "there are no virtual clusters"},
		"a cluster named twice": {func(s *Study) { s.VCs = append(s.VCs, s.VCs[0]) }, "duplicate virtual cluster"},
		"fewer nodes than none": {func(s *Study) { s.VCs[0].Nodes = -1 }, "has -1 nodes"},
		"nodes without a bound": {func(s *Study) { s.VCs[0].Nodes = 1_000_000_000 },
			"the cluster has more than the maximum of 1000000 nodes"},
		"devices without a bound": {func(s *Study) { s.VCs[0].Nodes, s.PerNode = 1_000_000, 64 },
			"virtual cluster \"a\" has 1000000 nodes with 64 devices each; expected at most 2097152 devices"},
		"less memory than none": {func(s *Study) { s.Memory = -1 }, "expected at least 0"},
		"a resource of nobody": {func(s *Study) { s.Others = []Resource{{Name: "licences"}} },
			`resource "licences"`},
		"large nodes": {func(s *Study) { s.PerNode = 65 }, "a node has 65 devices"},
		"a job before the others": {func(s *Study) { s.Jobs[2].Submit = 0 },
			"job j2 is submitted at second 0, after a job at second 1"},
		"negative time": {func(s *Study) { s.Begin = -100 }, "the simulation begins at second -100"},
		"time without an end": {func(s *Study) { s.Jobs[3].Submit = math.MaxInt64 },
			"job j3 is submitted at second 9223372036854775807"},
		"a type without a name": {func(s *Study) { s.Types = []NodeType{{Nodes: map[string]int{"a": 1}}} },
			`a type of nodes has the name ""`},
		"a type named twice": {func(s *Study) { s.Types = []NodeType{{Name: "x"}, {Name: "X"}} },
			`duplicate type of nodes "X"`},
		"a type that stands still": {func(s *Study) { s.Types = []NodeType{{Name: "x", Speed: math.Inf(1)}} },
			`type "x" has the speed +Inf`},
		"fewer nodes of a type than none": {func(s *Study) {
			s.Types = []NodeType{{Name: "x", Nodes: map[string]int{"a": -1}}}
		}, `has -1 nodes of type "x"`},
		"types of other nodes": {func(s *Study) { s.Types = []NodeType{{Name: "x", Nodes: map[string]int{"a": 2}}} },
			"has 1 nodes, but the types have 2 nodes there"},
		"types without a bound": {func(s *Study) { s.Types = make([]NodeType, 65) }, "65 types of nodes"},
		"spare nodes without a type": {func(s *Study) {
			s.Types, s.Failures = []NodeType{{Name: "x", Nodes: map[string]int{"a": 1}}}, &Failures{Spares: 1}
		}, "spare nodes have no type"},
		"an estimate too few": {func(s *Study) { s.Estimates = make([]float64, 3) }, "3 estimates for 4 jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			s := smallStudy(4)
			c.change(s)
			_, err := s.Run(context.Background(), toyPolicy((*toy).start), Options{})
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A policy that needs estimates refuses a study that lacks one for any job.
func TestNoEstimates(t *testing.T) {
	policy := toyPolicy((*toy).start)
	policy.Estimates = "lgb"
	s := smallStudy(4)
	s.Estimates = []float64{1, 2, math.NaN(), 4}
	_, err := s.Run(context.Background(), policy, Options{})
	require.ErrorContains(t, err, "job j2 has no estimate")
	s.Estimates = nil
	_, err = s.Run(context.Background(), policy, Options{})
	require.ErrorContains(t, err, "estimate")
	s.Estimates = []float64{1, 2, math.Inf(1), 0}
	_, err = s.Run(context.Background(), policy, Options{})
	require.NoError(t, err)
}

// A simulation stops when its context is cancelled.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := smallStudy(4).Run(ctx, toyPolicy((*toy).start), Options{})
	require.ErrorIs(t, err, context.Canceled)
}

// A job that has done all its work loses none when it is preempted.
func TestJobsWithoutWorkLoseNone(t *testing.T) {
	s := smallStudy(1)
	s.Jobs[0].Duration = 0
	begin := int64(0)
	o := must(s.Run(context.Background(), toyPolicy(func(s *toy, p *Pool) int64 {
		if p.Now() == begin && p.Start(s.all[0]) {
			if begin += 5; begin == 5 {
				p.Preempt(s.all[0])
			}
		}
		return begin
	}), Options{}))
	require.EqualValues(t, 1, o.Jobs[0].Preemptions)
	require.Equal(t, int64(5), o.Jobs[0].End, "as soon as it is started again, not 40 s later")
}
