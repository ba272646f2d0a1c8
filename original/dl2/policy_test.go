package dl2_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/elastic/elastictest"
	"graft/cluster/elastic/schedulers"
	"graft/original/dl2"
	"graft/torch/weights"
)

// trained returns a trainer after the given number of updates.
func trained(t *testing.T, o dl2.Options, updates int) *dl2.Trainer {
	study, generate, validation := tiny(t, nil)
	trainer, err := dl2.NewTrainer(study, generate, validation, o)
	require.NoError(t, err)
	for range updates {
		require.NoError(t, trainer.Advance(t.Context()))
	}
	return trainer
}

// meanJCT returns a scheduler's mean completion time over workloads, with the original's quirks.
func meanJCT(t *testing.T, all []elastic.Study, kind elastic.Kind) (mean float64) {
	for _, s := range all {
		s.Options.Scaling, s.Options.Quirks = elastic.NoScaling, elastic.Compatible().Quirks
		r, err := s.Run(t.Context(), kind)
		require.NoError(t, err)
		mean += r.MeanJCT / float64(len(all))
	}
	return mean
}

// A policy that takes its likeliest actions has the same completion times as a scheduler and in validation, also when
// read from its file.
func TestPolicyAsScheduler(t *testing.T) {
	o := quick()
	o.Validation.Likeliest, o.Workloads.MostSlots = true, 1<<20
	trainer := trained(t, o, 8)
	v, err := trainer.Validate(t.Context())
	require.NoError(t, err)
	require.Zero(t, v.Unfinished)
	_, _, validation := tiny(t, nil)
	policy := trainer.Policy()
	require.InDelta(t, v.MeanJCT, meanJCT(t, validation,
		policy.Scheduler("learned", dl2.SchedulerOptions{Likeliest: true})), 1e-9)

	set, err := policy.Save()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, weights.WriteSafetensors(&b, set))
	read, err := dl2.ReadPolicy(readFile(t, b.Bytes()))
	require.NoError(t, err)
	drawing := dl2.SchedulerOptions{Seed: 3}
	require.Equal(t, meanJCT(t, validation, policy.Scheduler("a", drawing)),
		meanJCT(t, validation, read.Scheduler("b", drawing)))

	require.NoError(t, read.Fits(elastic.Options{}))
	require.ErrorContains(t, read.Fits(elastic.Options{AllReduce: true}),
		"trained for a cluster with parameter servers, but is used for a cluster without")
	for want, damaged := range map[string]*weights.Set{
		"no metadata": {},
		"is damaged":  {Metadata: map[string]string{"graft.dl2.policy": "{"}},
		"version 0":   {Metadata: map[string]string{"graft.dl2.policy": "{}"}},
		"window is 9999": {Metadata: map[string]string{
			"graft.dl2.policy": `{"version": 1, "shape": {"Size": 9999}}`}},
		"have 0 values": {Metadata: map[string]string{"graft.dl2.policy": `{"version": 1}`}},
	} {
		_, err := dl2.ReadPolicy(damaged)
		require.ErrorContains(t, err, want)
	}
}

// The best policy of a training is the one with the lowest mean JCT in validation.
func TestBestPolicy(t *testing.T) {
	o := quick()
	o.Validation = dl2.ValidationOptions{Every: 4, Likeliest: true}
	o.Supervised.Steps, o.Reinforced.Steps, o.Reinforced.Rate = 20, 10, 0.05
	trainer := trained(t, o, 0)
	require.Equal(t, trainer.Policy(), trainer.Best())
	_, _, validation := tiny(t, nil)
	least := math.Inf(1)
	for trainer.Ended() == "" {
		require.NoError(t, trainer.Advance(t.Context()))
		figures, err := trainer.Figures()
		require.NoError(t, err)
		least = min(least, figures[slices.Index(dl2.FigureNames(), "validation_jct")])
		best := figures[slices.Index(dl2.FigureNames(), "best_jct")]
		require.LessOrEqual(t, best, least)
		require.InDelta(t, best, meanJCT(t, validation,
			trainer.Best().Scheduler("best", dl2.SchedulerOptions{Likeliest: true})), 1e-9)
	}
}

// Imitation comes close to its teacher from a random start. The absolute difference is left out: it learns only the
// likeliest action, which starves jobs.
func TestImitationComesNearItsTeacher(t *testing.T) {
	study, generate, validation := tiny(t, nil)
	teacher, err := schedulers.Named("optimus")
	require.NoError(t, err)
	want := meanJCT(t, validation, teacher)
	for _, loss := range []string{"Cross_Entropy", "Mean_Square"} {
		t.Run(loss, func(t *testing.T) {
			t.Parallel()
			o := quick()
			o.Supervised.Steps, o.Supervised.Batch, o.Supervised.Loss, o.Validation.Every = 1200, 64, loss, -1
			o.Replay.Capacity, o.Shape.Rescale, o.Shape.Neurons, o.Shape.NoStart = 512, true, 32, true
			trainer, err := dl2.NewTrainer(study, generate, validation, o)
			require.NoError(t, err)
			first, err := trainer.Validate(t.Context())
			require.NoError(t, err)
			for range o.Supervised.Steps {
				require.NoError(t, trainer.Advance(t.Context()))
			}
			last, err := trainer.Validate(t.Context())
			require.NoError(t, err)
			near := (first.MeanJCT - last.MeanJCT) / (first.MeanJCT - want)
			t.Logf("teacher %.2f slots, at first %.2f, after imitation %.2f: %.2f of the way", want, first.MeanJCT,
				last.MeanJCT, near)
			require.Greater(t, near, 0.6)
		})
	}
}

// Reinforcement learning alone finds good actions, without imitation of rules.
func TestReinforcementLearns(t *testing.T) {
	o := quick()
	o.Supervised.Steps, o.Reinforced.Steps, o.Reinforced.Batch, o.Reinforced.Rate, o.Validation.Every = -1, 400,
		128, 3e-3, -1
	o.Replay.Capacity, o.Shape.Rescale, o.Shape.Neurons, o.Shape.NoStart, o.Reinforced.NoInjection = 1024, true, 32,
		true, true
	trainer := trained(t, o, 0)
	first, err := trainer.Validate(t.Context())
	require.NoError(t, err)
	for trainer.Ended() == "" {
		require.NoError(t, trainer.Advance(t.Context()))
	}
	last, err := trainer.Validate(t.Context())
	require.NoError(t, err)
	t.Logf("at first %.2f slots, after reinforcement %.2f", first.MeanJCT, last.MeanJCT)
	require.Less(t, last.MeanJCT, 0.6*first.MeanJCT)
}

// A policy satisfies the invariants of all schedulers.
func TestPolicyIsAScheduler(t *testing.T) {
	kind := trained(t, quick(), 5).Policy().Scheduler("learned", dl2.SchedulerOptions{Seed: 1})
	held := 0
	for k := range 80 {
		s := elastictest.Draw(rand.New(rand.NewPCG(11, uint64(k))), kind.Quirks)
		if s.Options.AllReduce {
			continue
		}
		held++
		s.Options.Limit = 100_000
		require.NoError(t, elastictest.Hold(t.Context(), kind, s), "case %d: %+v", k, s)
	}
	require.Greater(t, held, 40)
}
