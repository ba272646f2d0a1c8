package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/learn/candidates"
	"graft/learn/learntest"
	"graft/torch/weights"
)

// model returns a chain of operations with the given parameters.
func model(name string, parameters float64) fabric.Model {
	p := &graph.Profile{Model: name}
	for k := range 4 {
		p.Nodes = append(p.Nodes, graph.Node{ID: k + 1, Kind: "Linear", Forward: 5, Backward: 10, Activation: 1e6,
			Parameters: parameters})
		if k > 0 {
			p.Edges = append(p.Edges, [2]int{k - 1, k})
		}
	}
	return fabric.NewModel(p.Mirror(graph.MirrorOptions{}))
}

// episodes draws studies of a light network, which speeds up at every degree, and a heavy one, which rarely does.
func episodes(count int, seed uint64) (all []*fabric.Study) {
	models := []fabric.Model{model("light", 1e5), model("heavy", 2e7)}
	for k := range count {
		s := &fabric.Study{Network: &fabric.Ramp{Groups: 2, Racks: 2, Servers: 4, Channels: 1, Bandwidth: 1e10,
			Latency: 1e-6}, Models: models}
		s.Options.EnsureDefaults()
		if err := (fabric.Demand{Jobs: 40, Swing: 0.5}).Draw(s, rand.New(rand.NewPCG(seed, uint64(k)))); err != nil {
			panic(err)
		}
		all = append(all, s)
	}
	return all
}

// mean returns the mean blocking rate of a decider.
func mean(t *testing.T, all []*fabric.Study, kind fabric.Kind) (sum float64) {
	t.Helper()
	for k, s := range all {
		rate, err := blocking(t.Context(), s, kind.New(rand.New(rand.NewPCG(9, uint64(k)))))
		require.NoError(t, err)
		sum += rate / float64(len(all))
	}
	return sum
}

// Rewards of an episode sum to its negative blocking rate. Observations have the promised sizes and finite values.
func TestRewardsAreBlockedJobs(t *testing.T) {
	e, err := NewEnv(episodes(5, 1))
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		require.NoError(t, e.Reset(random))
		total, decisions := 0.0, 0
		for done := false; !done; decisions++ {
			o := e.Observe()
			n := len(e.state.offers)
			require.Len(t, o.Values, Globals+n*Features)
			for _, v := range o.Values {
				require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "%v", o.Values)
			}
			out, err := e.Act(random.IntN(n + 1))
			require.NoError(t, err)
			total, done = total+out.Reward, out.Done
		}
		require.Equal(t, len(e.world.Jobs), decisions)
		require.InDelta(t, -float64(e.world.Record.Blocked)/40, total, 1e-12)
	}
	_, err = e.Act(-1)
	require.ErrorContains(t, err, "expected 0 to 1 (the last action blocks the job)")
}

// quick returns options for a learner that takes a moment.
func quick() candidates.Options {
	return candidates.Options{Lessons: 6, LessonRate: 3e-3, Rounds: 3, Hidden: 8, Envs: 2, Actions: 64, Batch: 32,
		Every: 2}
}

// A learned decider blocks fewer jobs than every constant degree on unseen episodes.
func TestLearnedBeatsConstants(t *testing.T) {
	o := quick()
	o.Method, o.Lessons, o.Hidden = candidates.OnlyImitate, 30, 16
	l, err := NewLearner(episodes(15, 1), episodes(5, 2), o, 1)
	require.NoError(t, err)
	for l.Ended() == "" {
		require.NoError(t, l.Advance(t.Context()))
	}
	p, err := l.Policy()
	require.NoError(t, err)
	held := episodes(20, 3)
	learned := mean(t, held, KindOf("learned", p.Agent))
	for _, parts := range []int{1, 2, 4, 6, 8, 16} {
		require.Less(t, learned, mean(t, held, fabric.ConstantKind(parts)), parts)
	}
}

// A learner that is stopped or killed at any step continues to bit-identical policies. A policy reads back from its
// file unchanged.
func TestLearnersGoOnToTheBit(t *testing.T) {
	l := learntest.GoesOnToTheBit(t, func() *candidates.Learner {
		l, err := NewLearner(episodes(4, 1), episodes(2, 2), quick(), 7)
		require.NoError(t, err)
		return l
	})
	p, err := l.Policy()
	require.NoError(t, err)
	set, err := p.Set()
	require.NoError(t, err)
	again, err := ReadPolicy(set)
	require.NoError(t, err)
	held := episodes(3, 3)
	require.Equal(t, mean(t, held, KindOf("one", p.Agent)), mean(t, held, KindOf("two", again.Agent)))
}

// Environments and learners refuse invalid input.
func TestWhatIsRefused(t *testing.T) {
	_, err := NewEnv(nil)
	require.ErrorContains(t, err, "there are no episodes")
	bad := episodes(1, 1)
	bad[0].Jobs = nil
	_, err = NewEnv(bad)
	require.ErrorContains(t, err, "episode 0: the episode has 0 jobs")
	_, err = NewLearner(nil, episodes(1, 1), quick(), 1)
	require.ErrorContains(t, err, "0 training episodes and 1 validation episodes")
	for teacher, says := range map[string]string{"random": "cannot be imitated",
		"nobody":     `; "best" and "none" are also valid`,
		"constant-3": "expected 1 or an even number up to 4096, such as constant-4"} {
		require.ErrorContains(t, CheckTeacher(teacher), says)
		o := quick()
		o.Teacher = teacher
		_, err := NewLearner(episodes(1, 1), episodes(1, 2), o, 1)
		require.ErrorContains(t, err, says)
	}
	_, err = ReadPolicy(&weights.Set{})
	require.ErrorContains(t, err, "does not contain a learned scheduler for training steps")
}

// Following a teacher's decisions gives the teacher's blocking rate.
func TestLessonsFollowTheTeacher(t *testing.T) {
	all := episodes(3, 4)
	names := append(fabric.Kinds().Names(), "constant-4")
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return name == "random" }) {
		kinds, err := teachersOf(name)
		require.NoError(t, err)
		e, err := NewEnv(all)
		require.NoError(t, err)
		c := &course{train: e, teachers: kinds}
		for at, s := range all {
			examples, err := c.Lesson(t.Context(), at, nil, 2, rand.New(rand.NewPCG(1, 1)))
			require.NoError(t, err)
			want, err := blocking(t.Context(), s, kinds[0].New(nil))
			require.NoError(t, err)
			require.InDelta(t, -want, examples[0].Return, 1e-9, fmt.Sprint(name, at))
		}
	}
}
