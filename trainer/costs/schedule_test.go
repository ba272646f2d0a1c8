package costs

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// order returns the passes of stage k of n: forward passes as positive numbers, backward passes as negative numbers.
func order(k, n, microBatches int) (passes []int) {
	forward, back := 1, 1
	for ; forward <= min(microBatches, n-1-k); forward++ {
		passes = append(passes, forward)
	}
	for ; back <= microBatches; back++ {
		if forward <= microBatches {
			passes = append(passes, forward)
			forward++
		}
		passes = append(passes, -back)
	}
	return passes
}

// naive computes the end of each pass from its definition, by relaxing all passes until nothing changes.
func naive(stages []stage, microBatches int, message float64) float64 {
	n := len(stages)
	ends := make([]map[int]float64, n)
	for k := range ends {
		ends[k] = map[int]float64{}
	}
	last := 0.0
	for changed := true; changed; {
		changed = false
		for k := range stages {
			clock := 0.0
			for _, pass := range order(k, n, microBatches) {
				duration := stages[k].forward
				from := k - 1
				if pass < 0 {
					duration, from = stages[k].backward, k+1
				}
				if from >= 0 && from < n {
					clock = max(clock, ends[from][pass]+message)
				}
				clock += duration
				changed = changed || ends[k][pass] != clock
				ends[k][pass] = clock
				last = max(last, clock)
			}
		}
	}
	return last
}

func TestScheduleFollowsItsDefinition(t *testing.T) {
	time := rapid.Float64Range(0.1, 10)
	rapid.Check(t, func(t *rapid.T) {
		stages := make([]stage, rapid.IntRange(1, 6).Draw(t, "stages"))
		for k := range stages {
			stages[k] = stage{time.Draw(t, "forward"), time.Draw(t, "backward")}
		}
		microBatches := rapid.IntRange(1, 12).Draw(t, "micro batches")
		message := rapid.Float64Range(0, 2).Draw(t, "message")
		got := oneForwardOneBackward(stages, microBatches, message)
		require.InEpsilon(t, naive(stages, microBatches, message), got, 1e-12)
	})
}

// Without messages, equal stages wait only while the pipeline fills and drains: (m + n - 1) passes of a stage
// (Narayanan et al., Memory-efficient pipeline-parallel DNN training, ICML 2021).
func TestScheduleOfEqualStages(t *testing.T) {
	for name, c := range map[string]struct {
		stages, microBatches int
		message, want        float64
	}{
		"one stage":                             {1, 5, 0, 15},
		"one stage sends nothing":               {1, 5, 9, 15},
		"two stages":                            {2, 5, 0, 18},
		"more stages than micro batches":        {8, 3, 0, 30},
		"one micro batch passes all stages":     {4, 1, 0.5, 12 + 6*0.5},
		"messages delay each pair of passes":    {2, 4, 0.5, 15 + 2*0.5 + 0.5*2},
		"messages delay one pass of two stages": {2, 1, 0.5, 6 + 2*0.5},
	} {
		stages := make([]stage, c.stages)
		for k := range stages {
			stages[k] = stage{1, 2}
		}
		require.InDelta(t, c.want, oneForwardOneBackward(stages, c.microBatches, c.message), 1e-9, name)
	}
}
