package agent

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/elastic/elastictest"
	"graft/cluster/elastic/schedulers"
	"graft/learn"
	"graft/learn/candidates"
	"graft/learn/learntest"
	"graft/torch/weights"
)

// workloads draws random studies with parameter servers.
func workloads(t *testing.T, count int) (all []elastic.Study) {
	random := rand.New(rand.NewPCG(1, 7))
	for len(all) < count {
		s := elastictest.Draw(random, nil)
		if !s.Options.AllReduce && len(s.Jobs) < 30 {
			all = append(all, s)
		}
	}
	require.Len(t, all, count)
	return all
}

// The rewards of an episode sum to the negative mean completion time in whole slots, divided by its lower bound.
// Observations have the promised sizes and finite values.
func TestRewardsAreTimesToCompletion(t *testing.T) {
	for _, s := range workloads(t, 12) {
		e, err := NewEnv([]elastic.Study{s}, 0)
		require.NoError(t, err)
		random, total, done := rand.New(rand.NewPCG(4, 4)), 0.0, false
		require.NoError(t, e.Reset(random))
		for !done {
			o := e.Observe()
			n := len(e.state.candidates)
			require.Len(t, o.Values, Globals+n*Features)
			for _, v := range o.Values {
				require.False(t, math.IsNaN(v) || math.IsInf(v, 0), v)
			}
			action := n
			if n > 0 && random.IntN(10) > 0 {
				action = random.IntN(n)
			}
			out, err := e.Act(action)
			require.NoError(t, err)
			total, done = total+out.Reward, out.Done
			require.Equal(t, action == n, out.Elapsed == 1)
			require.False(t, out.Cut, "random actions end all jobs")
		}
		want := 0.0
		for _, c := range e.state.world.Result().Completions {
			want += math.Ceil(c.End-1e-9) - float64(c.Arrival) - 1 // the slot in which a job ends does not count
		}
		bound, err := elastic.LowerBound(s)
		require.NoError(t, err)
		require.InDelta(t, -want/float64(len(s.Jobs))/bound.Mean, total, 1e-9)
	}
	_, err := NewEnv(nil, 0)
	require.ErrorContains(t, err, "there are no workloads")
	e, err := NewEnv(workloads(t, 1), 0)
	require.NoError(t, err)
	require.NoError(t, e.Reset(rand.New(rand.NewPCG(1, 1))))
	e.Observe()
	_, err = e.Act(99)
	require.ErrorContains(t, err, "expected 0 to 3 (the last action ends the slot)")
}

// quick returns options for a learner that takes about a second.
func quick(method string) candidates.Options {
	return candidates.Options{Method: method, Lessons: 6, LessonRate: 3e-3, Rounds: 4, Hidden: 16, Envs: 3,
		Actions: 128, Batch: 64, Every: 2, Slots: 3000}
}

// Imitation at least halves an agent's excess completion time over its teacher on unseen workloads.
func TestAgentsImitateSchedulers(t *testing.T) {
	all := workloads(t, 24)
	o := quick(candidates.OnlyImitate)
	o.Lessons, o.Every = 16, 16
	l, err := NewLearner(all[:16], all[16:], o, 1)
	require.NoError(t, err)
	excess := func(kind elastic.Kind) (sum float64) {
		for _, s := range all[16:] {
			s.Options.Limit = 3000
			teacher, err := schedulers.Named("frontier")
			require.NoError(t, err)
			best, err := s.Run(context.Background(), teacher)
			require.NoError(t, err)
			if r, err := s.Run(context.Background(), kind); err == nil {
				sum += math.Log(r.MeanJCT / best.MeanJCT)
			} else {
				sum += math.Log(100)
			}
		}
		return sum / float64(len(all)-16)
	}
	first := excess(Scheduler("first", l.Model()))
	for l.Ended() == "" {
		require.NoError(t, l.Advance(context.Background()))
	}
	p, err := l.Policy()
	require.NoError(t, err)
	last := excess(SchedulerOf("learned", p))
	require.Less(t, last, 0.5*first)
	t.Logf("excess %.3f at first, %.3f after", first, last)
}

// Each example of a lesson has at least one right action. Returns start at most at zero and never fall.
func TestLessonsLeadToTheTeachersCounts(t *testing.T) {
	for _, s := range workloads(t, 6) {
		teacher, err := schedulers.Named("peak")
		require.NoError(t, err)
		lesson := Lesson{Teacher: teacher}
		examples, err := lesson.Give(context.Background(), s, rand.New(rand.NewPCG(1, 1)))
		require.NoError(t, err)
		require.NotEmpty(t, examples)
		for k, e := range examples {
			require.NotEmpty(t, e.Actions)
			if k > 0 {
				require.GreaterOrEqual(t, e.Return, examples[k-1].Return)
			}
		}
		require.LessOrEqual(t, examples[0].Return, 0.0)
	}
}

// A learner that is stopped or killed at any step continues to bit-identical policies.
func TestLearnersGoOnToTheBit(t *testing.T) {
	all := workloads(t, 6)
	for _, method := range []string{candidates.PPO, candidates.ActorCritic, candidates.Reinforce,
		candidates.InLibTorch} {
		whole := learntest.GoesOnToTheBit(t, func() *candidates.Learner {
			o := quick(method)
			if method == candidates.InLibTorch {
				o.Method, o.Compute, o.Baseline = candidates.PPO, candidates.InLibTorch, candidates.ByCritic
			}
			l, err := NewLearner(all[:4], all[4:], o, 7)
			require.NoError(t, err)
			return l
		})
		require.Equal(t, "all rounds are complete", whole.Ended())
		values, err := whole.Figures()
		require.NoError(t, err)
		require.Len(t, values, len(candidates.FigureNames()))
	}
}

// Policies read from a file equal those written; other files are refused.
func TestPoliciesAreFiles(t *testing.T) {
	all := workloads(t, 2)
	l, err := NewLearner(all[:1], all[1:], quick(candidates.OnlyImitate), 1)
	require.NoError(t, err)
	_, err = l.Policy()
	require.ErrorContains(t, err, "no agent completed all validation jobs")
	for l.Ended() == "" {
		require.NoError(t, l.Advance(context.Background()))
	}
	p, err := l.Policy()
	require.NoError(t, err)
	p.Notes = map[string]string{"seed": "1"}
	set, err := p.Set()
	require.NoError(t, err)
	again, err := ReadPolicy(set)
	require.NoError(t, err)
	require.Equal(t, p.Notes, again.Notes)
	one, err := all[0].Run(context.Background(), SchedulerOf("one", p))
	require.NoError(t, err)
	two, err := all[0].Run(context.Background(), SchedulerOf("two", again))
	require.NoError(t, err)
	require.Equal(t, one.Allocations, two.Allocations)

	_, err = ReadPolicy(&weights.Set{})
	require.ErrorContains(t, err, "does not contain a learned scheduler")
	set.Metadata["graft.elastic.scheduler"] = `{"Version": 1, "Globals": 1}`
	_, err = ReadPolicy(set)
	require.ErrorContains(t, err, "train it again")
	require.ErrorContains(t, l.Restore(set), "not a checkpoint of scheduler learning")
}

func TestWhatLearnersRefuse(t *testing.T) {
	_, err := NewLearner(nil, workloads(t, 1), candidates.Options{}, 1)
	require.ErrorContains(t, err, "0 training workloads and 1 validation workloads")
	_, err = NewLearner(workloads(t, 1), workloads(t, 1),
		candidates.Options{Teacher: "none", Method: "none", Rounds: -1, Rate: 2, Entropy: -1}, 1)
	for _, says := range []string{"nothing would be learned", "rounds is -1", "lr is 2", "entropy is -1"} {
		require.ErrorContains(t, err, says)
	}
}

// BenchmarkStep measures a learner's step: an observation, the network's scores and the action.
func BenchmarkStep(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 7))
	s := elastictest.Draw(random, nil)
	for s.Options.AllReduce || len(s.Jobs) < 20 || s.Options.Nodes < 10 {
		s = elastictest.Draw(random, nil)
	}
	e, err := NewEnv([]elastic.Study{s}, 100)
	require.NoError(b, err)
	m, err := learn.NewSet(learn.SetOptions{Globals: Globals, Features: Features, Hidden: 16}, random)
	require.NoError(b, err)
	r := learn.NewRollout(e, m, 1, 1)
	for b.Loop() {
		_, err := r.Play(100)
		require.NoError(b, err)
	}
	b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "steps/s")
}
