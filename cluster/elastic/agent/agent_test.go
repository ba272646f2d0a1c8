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
)

// workloads are random ones with parameter servers.
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

func agent(t *testing.T) *learn.Set {
	m, err := learn.NewSet(learn.SetOptions{Globals: Globals, Features: Features, Hidden: 16, Rate: 3e-3}, rand.New(rand.NewPCG(2, 2)))
	require.NoError(t, err)
	return m
}

// Rewards of an episode sum to the negative mean time to completion, rounded up to whole slots, and
// observations have the promised sizes and finite values.
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
			want += math.Ceil(c.End-1e-9) - float64(c.Arrival) - 1 // the slot in which it ends does not count
		}
		require.InDelta(t, -want/float64(len(s.Jobs)), total, 1e-9)
	}
	_, err := NewEnv(nil, 0)
	require.ErrorContains(t, err, "there is no workload")
	e, err := NewEnv(workloads(t, 1), 0)
	require.NoError(t, err)
	require.NoError(t, e.Reset(rand.New(rand.NewPCG(1, 1))))
	e.Observe()
	_, err = e.Act(99)
	require.ErrorContains(t, err, "candidates and the end of the slot")
}

// An agent that imitates a scheduler comes close to it on workloads that it has not seen, where one
// that has learned nothing does not.
func TestAgentsImitateSchedulers(t *testing.T) {
	all, teacher := workloads(t, 24), elastic.Kind{}
	teacher, err := schedulers.Named("frontier")
	require.NoError(t, err)
	var examples []learn.Example
	for _, s := range all[:16] {
		lesson := Lesson{Teacher: teacher}
		require.NoError(t, lesson.Give(context.Background(), s, rand.New(rand.NewPCG(1, 1)), func(e learn.Example) { examples = append(examples, e) }))
	}
	m := agent(t)
	excess := func(kind elastic.Kind) (sum float64) {
		for _, s := range all[16:] {
			s.Options.Limit = 3000
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
	first := excess(Scheduler("first", m))
	_, err = learn.Imitate(m, examples, learn.ImitationOptions{Epochs: 6, MaxNorm: 5}, rand.New(rand.NewPCG(3, 3)))
	require.NoError(t, err)
	last := excess(Scheduler("learned", m))
	require.Less(t, last, 0.5*first)
	t.Logf("%d examples; excess %.3f at first, %.3f after", len(examples), first, last)
}

// BenchmarkStep is a step of a learner: an observation, the scores of its network, and the action.
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
