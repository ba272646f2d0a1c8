package trainer_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

// pacing returns a machine's clock on which calls take random times, so steps are grouped into calls at random.
func pacing(seed uint64) func() time.Time {
	random, at := rand.New(rand.NewPCG(seed, 1)), time.Unix(0, 0)
	return func() time.Time {
		at = at.Add(time.Duration(random.IntN(120)) * time.Millisecond)
		return at
	}
}

// On the virtual clock, neither the grouping of steps into calls nor the number of threads changes a result.
func TestResultsDoNotDependOnGroupingOrThreads(t *testing.T) {
	defer func() { require.NoError(t, torch.SetThreads(1)) }()
	adam := torch.OptimizerOptions{Rule: torch.Adam, LR: 0.001}
	cases, groupings, runs := 0, 0, 2
	if long {
		runs = 4
	}
	for name, c := range map[string]struct {
		change  func(*trainer.Options)
		actions []string
		long    bool // similar to another case, needs GRAFT_LONG
	}{
		"AdaScale and steps of the rate": {func(o *trainer.Options) {
			o.Schedule = trainer.Schedule{Rule: trainer.StepDown, Decay: 0.5, Every: 1}
			o.AdaptiveBatch = trainer.AdaptiveBatch{On: true, Most: 160, Interval: 16, Hysteresis: 0.01,
				Scaling: trainer.AdaScale}
			o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.05, Momentum: 0.9}
		}, []string{"deepen:conv1"}, true},
		"AdaScale and an exponential rate": {func(o *trainer.Options) {
			o.Schedule = trainer.Schedule{Rule: trainer.Exponential, Decay: 0.5}
			o.AdaptiveBatch = trainer.AdaptiveBatch{On: true, Most: 160, Interval: 16, Hysteresis: 0.01,
				Scaling: trainer.AdaScale}
			o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.05, Momentum: 0.9}
		}, []string{"deepen:conv1"}, false},
		"distillation with mixup": {func(o *trainer.Options) { o.Augment.Mixup, o.LabelSmoothing = 0.3, 0.1 },
			[]string{"branch:conv2"}, false},
		"distillation that ends in a call": {func(o *trainer.Options) { o.Augment.Mixup, o.Distill.Span = 0.3, 0.4 },
			[]string{"branch:conv2"}, true},
		"a larger kernel": {func(*trainer.Options) {}, []string{"kernel:conv2:5"}, true},
		"noise": {func(o *trainer.Options) { o.Adapt.Surgery = net2net.Options{Noise: 0.3} },
			[]string{"widen:conv2:96"}, true},
		"a residual": {func(o *trainer.Options) { o.Adapt.Surgery = net2net.Options{Form: net2net.Residual} },
			[]string{"deepen:conv2"}, true},
	} {
		if c.long && !long {
			continue
		}
		o := plan()
		o.Optimizer = adam
		o.Adapt.OnError = trainer.StopOnError
		o.EvalBatch = 300
		o.Timeline = trainer.Timeline{Budget: 500 * time.Millisecond, Events: []trainer.Event{
			{At: 60 * time.Millisecond, Change: trainer.Up, Devices: 2},
			{At: 250 * time.Millisecond, Change: trainer.Down, Devices: 1}}}
		o.Adapt.Every, o.Adapt.MaxDecisions = false, 1
		c.change(&o)
		digests, calls := map[string][]int{}, map[int]bool{}
		for run := range runs {
			threads, asked := 1+run%3, 0
			require.NoError(t, torch.SetThreads(threads))
			clock := pacing(uint64(run))
			now := func() time.Time { asked++; return clock() }
			net := twoBlocks(torch.ReLU, 64, 64, leaf("flat", model.Flatten{}), leaf("fc", model.NewLinear(64, 4)))
			out, err := runJob(t, o, trainer.Parts{Network: net, Clock: calling(), Now: now}, c.actions...)
			require.NoError(t, err, name)
			require.Equal(t, 1, out.Decisions, name)
			digests[out.Digest], calls[asked] = append(digests[out.Digest], run), true
		}
		require.Len(t, digests, 1, "%s: digests by runs, whose threads are 1, 2, 3, 1", name)
		cases, groupings = cases+1, groupings+len(calls)
	}
	require.Greater(t, groupings, cases, "steps were grouped in one way only")
}
