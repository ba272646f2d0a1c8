package elastic_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

const tolerance = 1e-12 // for sums of a few parts of slots

func TestCompletionHasAFraction(t *testing.T) {
	result := run(t, studyOf(job(1, 0), job(2, 3)), onePair)
	require.Equal(t, 4, result.Slots)
	require.Equal(t, elastic.Completion{ID: 1, Type: "m", Arrival: 0, End: 0.1, JCT: 0.1}, result.Completions[0])
	require.InDelta(t, 3.1, result.Completions[1].End, tolerance)
	require.InDelta(t, 0.1, result.Completions[1].JCT, tolerance)
	require.InDelta(t, 0.1, result.MeanJCT, tolerance)
	require.InDelta(t, 3.1, result.Makespan, tolerance)
	require.Equal(t, []float64{1, 0, 0, 1}, result.Rewards, "idle slots are rewarded with zero")
	require.InDelta(t, 0.5, result.MeanReward, tolerance)
}

func TestWholeSlots(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Options.WholeSlots = true
	require.InDelta(t, 1, run(t, s, onePair).MeanJCT, tolerance)
}

func TestRewardOfUnfinishedJobs(t *testing.T) {
	long := job(2, 0)
	long.Epochs, long.RealEpochs = 240, 240 // two slots
	s := studyOf(job(1, 0), long)
	s.Options.Reward = elastic.Unfinished
	require.Equal(t, []float64{1, 0}, run(t, s, onePair).Rewards)
}

// A job with one pair in the first slot and two in the second pays the cost of two added tasks once.
func TestScalingCostsTime(t *testing.T) {
	growing := func(w *elastic.World) {
		j := w.Jobs()[0]
		w.AddPair(j)
		if w.Slot() > 0 {
			w.AddPair(j)
		}
	}
	j := job(1, 0)
	j.Epochs, j.RealEpochs = 300, 300 // 2.5 slots
	for name, lost := range map[string]float64{"none": 0, "checkpoint": 11.45 + 0.92, "hot": 0.062 + 0.1126,
		"": 12.37} {
		s := studyOf(j)
		s.Options.Scaling = name
		require.InDelta(t, 2.5+lost/1200, run(t, s, growing).MeanJCT, 1e-9, name)
	}
	s := studyOf(j)
	s.Options.Slot = 1e9
	require.InDelta(t, 3e-6, run(t, s, growing).MeanJCT, 1e-9, "nothing is lost without a change")
}

// A job that scales in its last, partial slot pays at the start of the slot.
func TestScalingInTheLastSlot(t *testing.T) {
	j := job(1, 0)
	j.Epochs, j.RealEpochs = 132, 132 // 1.1 slots
	result := run(t, studyOf(j), func(w *elastic.World) {
		for range 1 + w.Slot() {
			w.AddPair(w.Jobs()[0])
		}
	})
	require.InDelta(t, 1.1+12.37/1200, result.MeanJCT, 1e-9)
}

// Scaling costs at most one whole slot.
func TestScalingTakesAtMostASlot(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Options.Slot = 2 // 60 slots of work
	alternating := func(w *elastic.World) {
		for range 1 + min(1, w.Slot()) {
			w.AddPair(w.Jobs()[0])
		}
	}
	require.InDelta(t, 61, run(t, s, alternating).MeanJCT, 1e-9)
}

func TestScalingModels(t *testing.T) {
	checkpoint, err := elastic.ScalingNamed(elastic.CheckpointRestart)
	require.NoError(t, err)
	for tasks, seconds := range map[int]float64{-1: 0, 0: 0, 1: 11.45, 6: 16.05, 11: 20.65} {
		require.InDelta(t, seconds, checkpoint.Seconds(tasks), 1e-9, "%d tasks", tasks)
	}
	hot, err := elastic.ScalingNamed(elastic.HotScaling)
	require.NoError(t, err)
	require.InDelta(t, 0.625, hot.Seconds(6), 1e-9)
	for _, s := range elastic.Scalings() {
		require.NotEmpty(t, s.About)
		require.NotEmpty(t, s.Source)
	}
}

func TestJobsThatTrainWithoutServers(t *testing.T) {
	s := studyOf(job(1, 0))
	s.Options.AllReduce = true
	require.InDelta(t, 0.1, run(t, s, onePair).MeanJCT, tolerance)
	w := world(t, s)
	w.Begin()
	require.False(t, w.Add(w.Jobs()[0], elastic.Server), "there are no servers")
	require.True(t, w.Add(w.Jobs()[0], elastic.Bundle))
	require.Len(t, w.Jobs()[0].Workers, 1)
	require.Empty(t, w.Jobs()[0].Servers)
}

// A worker without a server makes no progress but holds its resources.
func TestWorkerAloneDoesNothing(t *testing.T) {
	w := world(t, studyOf(job(1, 0)))
	w.Begin()
	require.True(t, w.Add(w.Jobs()[0], elastic.Worker))
	require.Equal(t, elastic.Resources{2, 4}, w.Used())
	require.Zero(t, w.End())
	require.Zero(t, w.Jobs()[0].Progress)
}

func TestSpeedErrorsComeFromTheSeed(t *testing.T) {
	times := map[float64]bool{}
	for seed := range uint64(3) {
		s := studyOf(job(1, 0))
		s.Options.SpeedError, s.Options.Seed = 0.5, seed
		first := run(t, s, onePair).MeanJCT
		require.InDelta(t, first, run(t, s, onePair).MeanJCT, 0)
		require.Greater(t, first, 0.1/1.5)
		require.Less(t, first, 0.1/0.5)
		times[first] = true
	}
	require.Len(t, times, 3)
}

// The error of a job in a slot does not depend on the other jobs, so all schedulers meet the same errors.
func TestSchedulersMeetTheSameSpeedErrors(t *testing.T) {
	progress := func(run ...int) (list []float64) {
		s := studyOf(job(1, 0), job(2, 0))
		s.Options.SpeedError, s.Options.Seed, s.Options.Scaling = 0.5, 3, elastic.NoScaling
		for k := range s.Jobs {
			s.Jobs[k].RealEpochs = 1e6
		}
		w := world(t, s)
		w.Begin()
		for _, k := range run {
			w.AddPair(w.Jobs()[k])
		}
		w.End()
		return []float64{w.Jobs()[0].Progress, w.Jobs()[1].Progress}
	}
	both := progress(0, 1)
	require.InDelta(t, both[0], progress(0)[0], 0)
	require.InDelta(t, both[1], progress(1)[1], 0)
	require.NotEqual(t, both[0], both[1])
}

// Negative speeds are an artefact of interpolation and count as zero. The original subtracts progress.
func TestNegativeSpeeds(t *testing.T) {
	for quirk, want := range map[string]float64{"": 0, elastic.Backward.Name: -120} {
		s := studyOf(job(1, 0))
		s.Speed = flat(-1)
		s.Options.Quirks = []string{quirk}
		if quirk == "" {
			s.Options.Quirks = nil
		}
		w := world(t, s)
		w.Begin()
		onePair(w)
		w.End()
		require.InDelta(t, want, w.Jobs()[0].Progress, tolerance)
	}
}

func TestRunEndsWithAnError(t *testing.T) {
	idle := func(*elastic.World) {}
	cases := map[string]struct {
		change func(s *elastic.Study)
		by     scheduler
		want   string
	}{
		"the scheduler does nothing": {func(*elastic.Study) {}, idle, "simulate scheduler test: slot 1000: " +
			"no job made progress for 1000 slots and no more jobs will arrive; 1 job is unfinished, for example " +
			"job 7 of type m with 0 workers and 0 servers; check the speed of this type with this allocation, or " +
			"use another scheduler"},
		"speeds are noise": {func(s *elastic.Study) { s.Speed = flat(1e-14) }, onePair,
			"no job made progress for 1000 slots and no more jobs will arrive"},
		"all speeds are zero": {func(s *elastic.Study) { s.Speed = flat(0) }, onePair, "with 1 workers and 1 servers"},
		"the limit is reached": {func(s *elastic.Study) { s.Options.Limit = 5 }, idle, "simulate scheduler test: " +
			"slot 5: reached the limit of 5 slots with 1 unfinished job; raise the limit, or enlarge the cluster"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := studyOf(job(7, 0))
			c.change(&s)
			_, err := s.Run(t.Context(), c.by.kind())
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestLongPauseIsNoStall(t *testing.T) {
	require.InDelta(t, 0.1, run(t, studyOf(job(1, 0), job(2, 5000)), onePair).MeanJCT, 1e-9)
}

func TestRunStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := studyOf(job(1, 0)).Run(ctx, scheduler(onePair).kind())
	require.ErrorIs(t, err, context.Canceled)
}

// A job that outlived its estimate has a few expected epochs left.
func TestEpochsLeft(t *testing.T) {
	j := elastic.Job{Spec: job(1, 0), Progress: 3}
	require.InDelta(t, 9, j.EpochsLeft(), tolerance)
	require.InDelta(t, 0.75, j.Left(), tolerance)
	j.Progress = 30
	require.InDelta(t, 0.6, j.EpochsLeft(), tolerance)
	require.InDelta(t, -1.5, j.Left(), tolerance)
}
