package agent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
	"graft/cluster/node/nodetest"
	"graft/cluster/node/schedulers"
	"graft/learn"
	"graft/learn/candidates"
	"graft/learn/learntest"
	"graft/torch/weights"
)

// workloads draws random studies.
func workloads(count int) (all []node.Study) {
	random := rand.New(rand.NewPCG(1, 7))
	for len(all) < count {
		all = append(all, nodetest.Draw(random))
	}
	return all
}

// under runs a study under a named scheduler.
func under(t *testing.T, s node.Study, name string) *node.Result {
	t.Helper()
	kind, err := schedulers.Named(name)
	require.NoError(t, err)
	r, err := s.Run(t.Context(), kind, node.SchedulerOptions{})
	require.NoError(t, err)
	return r
}

// idleJoules returns the energy before the first arrival, when there are no decisions.
func idleJoules(s node.Study) float64 {
	s.EnsureDefaults()
	first := slices.MinFunc(s.Tasks, func(a, b node.Spec) int { return int(a.Arrival - b.Arrival) }).Arrival
	return float64(len(s.Options.Devices)) * s.Options.Power.Empty * first.Seconds()
}

// Rewards of an episode sum to the negative mean turnaround over best-fit's, or to the mean of this and the ratio of
// energies. Observations have the promised sizes and finite values.
func TestRewardsAreCosts(t *testing.T) {
	for k, s := range workloads(60) {
		objective := []Objective{Completion, EnergyDelay}[k%2]
		e, err := NewEnv([]node.Study{s}, objective)
		require.NoError(t, err)
		random, total, done := rand.New(rand.NewPCG(4, uint64(k))), 0.0, false
		require.NoError(t, e.Reset(random))
		for !done {
			o := e.Observe()
			n := len(e.state.candidates)
			require.Len(t, o.Values, Globals+n*Features)
			for _, v := range o.Values {
				require.False(t, math.IsNaN(v) || math.IsInf(v, 0), v)
			}
			action := n
			if n > 0 && (o.Mask != nil || random.IntN(5) > 0) {
				action = random.IntN(n)
			}
			out, err := e.Act(action)
			require.NoError(t, err)
			require.GreaterOrEqual(t, out.Elapsed, 0)
			if action < n {
				require.Zero(t, out.Reward, "starts take no time")
			}
			total, done = total+out.Reward, out.Done
		}
		got, best := e.world.Result("random").Summary, under(t, s, "best-fit").Summary
		require.Equal(t, got.Tasks, got.Completed)
		want := -got.Turnaround / best.Turnaround
		if objective == EnergyDelay {
			want = (want - (got.Joules-idleJoules(s))/best.Joules) / 2
		}
		require.InDelta(t, want, total, 1e-6, "workload %d", k)
	}
}

// Environments and learners refuse invalid input.
func TestWhatIsRefused(t *testing.T) {
	_, err := NewEnv(nil, Completion)
	require.ErrorContains(t, err, "there are no workloads")
	_, err = NewEnv([]node.Study{{Tasks: []node.Spec{{Cores: 200}}}}, Completion)
	require.ErrorContains(t, err, "workload 0: ")
	e, err := NewEnv(workloads(1), Completion)
	require.NoError(t, err)
	require.NoError(t, e.Reset(rand.New(rand.NewPCG(1, 1))))
	e.Observe()
	for _, action := range []int{-1, 999} {
		_, err = e.Act(action)
		require.ErrorContains(t, err, "expected 0 to 2 (the last action advances time)")
	}
	_, err = NewLearner(nil, workloads(1), Completion, candidates.Options{}, 1)
	require.ErrorContains(t, err, "0 training workloads and 1 validation workloads")
	for teacher, says := range map[string]string{"round-robin": "which stops tasks",
		"nobody": `; "best" and "none" are also valid`} {
		o := quick(candidates.PPO)
		o.Teacher = teacher
		_, err = NewLearner(workloads(1), workloads(1), Completion, o, 1)
		require.ErrorContains(t, err, says)
	}
}

// Following the teacher's decisions gives the teacher's schedule. Returns are not positive and never fall.
func TestLessonsEndInTheTeachersSchedule(t *testing.T) {
	all := workloads(40)
	for _, kind := range schedulers.Kinds() {
		if kind.Slices {
			continue
		}
		for k, s := range all {
			e, err := NewEnv([]node.Study{s}, Completion)
			require.NoError(t, err)
			random := rand.New(rand.NewPCG(1, 1))
			require.NoError(t, e.Reset(random))
			var o node.SchedulerOptions
			o.EnsureDefaults()
			teacher := kind.New(o)
			lesson := candidates.Lesson{Env: e, Right: func() []int { return e.right(teacher) }}
			examples, err := lesson.Give(t.Context(), random)
			require.NoError(t, err, "%s, workload %d", kind.Name, k)
			want := under(t, s, kind.Name)
			require.Equal(t, want.Summary.Turnaround, e.world.Result(kind.Name).Summary.Turnaround, "%s, workload %d",
				kind.Name, k)
			require.NotEmpty(t, examples)
			for i, one := range examples {
				require.Len(t, one.Actions, 1)
				require.LessOrEqual(t, one.Return, 0.0)
				if i > 0 {
					require.GreaterOrEqual(t, one.Return, examples[i-1].Return-1e-12)
				}
			}
		}
	}
}

// quick returns options for a learner that takes a moment.
func quick(method string) candidates.Options {
	return candidates.Options{Method: method, Lessons: 4, LessonRate: 3e-3, Rounds: 3, Hidden: 8, Envs: 2, Actions: 64,
		Batch: 32, Every: 2}
}

// A learner that is stopped or killed at any step continues to bit-identical policies.
func TestLearnersGoOnToTheBit(t *testing.T) {
	all := workloads(6)
	for k, method := range []string{candidates.PPO, candidates.ActorCritic, candidates.Reinforce,
		candidates.InLibTorch} {
		learntest.GoesOnToTheBit(t, func() *candidates.Learner {
			o := quick(method)
			if method == candidates.InLibTorch {
				o.Method, o.Compute, o.Baseline = candidates.PPO, candidates.InLibTorch, candidates.ByCritic
			}
			l, err := NewLearner(all[:4], all[4:], []Objective{Completion, EnergyDelay}[k%2], o, 7)
			require.NoError(t, err)
			return l
		})
	}
}

// On unseen workloads, imitation closes at least half of the gap between fcfs and the teacher.
func TestAgentsImitateSchedulers(t *testing.T) {
	g := node.Generator{Least: 12, Most: 16}
	g.EnsureDefaults()
	var all []node.Study
	for k := range uint64(14) {
		all = append(all, node.Study{Options: node.Options{GPUs: 2}, Tasks: g.Draw(rand.New(rand.NewPCG(3, k)))})
	}
	o := quick(candidates.OnlyImitate)
	o.Teacher, o.Lessons, o.Every, o.Hidden = "smallest", 100, 100, 16
	l, err := NewLearner(all[:10], all[10:], Completion, o, 1)
	require.NoError(t, err)
	for l.Ended() == "" {
		require.NoError(t, l.Advance(t.Context()))
	}
	p, err := l.Policy()
	require.NoError(t, err)
	learned, teacher, worst := 0.0, 0.0, 0.0
	for _, s := range all[10:] {
		r, err := s.Run(t.Context(), SchedulerOf("learned", p.Agent), node.SchedulerOptions{})
		require.NoError(t, err)
		learned += r.Summary.Turnaround
		teacher += under(t, s, "smallest").Summary.Turnaround
		worst += under(t, s, "fcfs").Summary.Turnaround
	}
	t.Logf("learned %.2f, teacher %.2f, fcfs %.2f", learned, teacher, worst)
	require.Less(t, learned-teacher, 0.5*(worst-teacher))
}

// Policies read from a file equal those written and conform as schedulers; other files are refused.
func TestPoliciesAreFilesAndConform(t *testing.T) {
	all := workloads(2)
	l, err := NewLearner(all[:1], all[1:], Completion, quick(candidates.OnlyImitate), 1)
	require.NoError(t, err)
	for l.Ended() == "" {
		require.NoError(t, l.Advance(t.Context()))
	}
	p, err := l.Policy()
	require.NoError(t, err)
	p.Notes = map[string]string{"seed": "1"}
	set, err := p.Set()
	require.NoError(t, err)
	again, err := ReadPolicy(set)
	require.NoError(t, err)
	require.Equal(t, p.Notes, again.Notes)
	one, err := all[0].Run(context.Background(), SchedulerOf("one", p.Agent), node.SchedulerOptions{})
	require.NoError(t, err)
	two, err := all[0].Run(context.Background(), SchedulerOf("one", again.Agent), node.SchedulerOptions{})
	require.NoError(t, err)
	require.Equal(t, one, two)
	nodetest.Conforms(t, SchedulerOf("learned", again.Agent))
	m, err := learn.NewSet(learn.SetOptions{Globals: Globals, Features: Features, Hidden: 8},
		rand.New(rand.NewPCG(9, 9)))
	require.NoError(t, err)
	nodetest.Conforms(t, SchedulerOf("random", m))

	_, err = ReadPolicy(&weights.Set{})
	require.ErrorContains(t, err, "does not contain a learned scheduler")
	require.Error(t, l.Restore(set))
}
