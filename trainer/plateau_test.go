package trainer

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// due lists the epochs, from 1, after which the rule asks for a decision. Every decision changes the network unless
// none is set.
func due(p *plateau, gain float64, window int, none bool, accuracies ...float64) (epochs []int) {
	for k, a := range accuracies {
		if p.observe(a, gain, window) {
			epochs = append(epochs, k+1)
			p.Grown = !none
		}
	}
	return epochs
}

func TestPlateaus(t *testing.T) {
	for name, tc := range map[string]struct {
		gain       float64
		window     int
		start      float64 // accuracy of earlier training
		none       bool
		accuracies []float64
		want       []int
		stopped    bool
	}{
		"a network that improves":          {1, 2, 0, false, []float64{.1, .2, .3, .4, .5, .6}, nil, false},
		"the first window starts at zero":  {1, 2, 0, false, []float64{.5, .5}, nil, false},
		"after earlier training":           {1, 2, .5, false, []float64{.5, .5}, []int{2}, false},
		"no improvement in a window":       {1, 2, 0, false, []float64{.5, .5, .5, .505}, []int{4}, false},
		"exactly the gain is enough":       {25, 1, 0, false, []float64{.25, .5, .75}, nil, false},
		"only at the end of a window":      {1, 3, 0, false, []float64{.5, .5, .5, .5, .5}, nil, false},
		"a drop is no improvement":         {1, 2, 0, false, []float64{.4, .5, .2, .3}, []int{4}, false},
		"the best counts, not the last":    {1, 2, 0, false, []float64{.4, .5, .6, .1}, nil, false},
		"growth helps, and then again":     {1, 1, 0, false, []float64{.5, .5, .6, .6, .7}, []int{2, 4}, false},
		"growth does not help":             {1, 1, 0, false, []float64{.5, .5, .5, .5, .9, .9}, []int{2}, true},
		"none is no growth":                {1, 1, 0, true, []float64{.5, .5, .5, .5}, []int{2, 3, 4}, false},
		"an unknown accuracy improves not": {1, 1, 0, false, []float64{.5, math.NaN()}, []int{2}, false},
	} {
		p := &plateau{Best: tc.start, Before: tc.start}
		assert.Equal(t, tc.want, due(p, tc.gain, tc.window, tc.none, tc.accuracies...), name)
		assert.Equal(t, tc.stopped, p.Stopped, name)
	}
}

// After a shrink, the rule starts a new history, but a rule that stopped stays stopped.
func TestPlateausAfterAShrink(t *testing.T) {
	p := &plateau{Epochs: 1, Best: .5, Before: .5, Grown: true}
	p.restart()
	assert.Equal(t, []int{2}, due(p, 1, 1, false, .3, .3))
	p = &plateau{Stopped: true}
	p.restart()
	assert.Empty(t, due(p, 1, 1, false, .3, .3, .3))
}

// The rule asks only at the end of windows in which the best accuracy improved too little, and never again after growth
// without improvement.
func TestPlateausOfRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := rapid.IntRange(1, 4).Draw(t, "window")
		gain := rapid.Float64Range(0.01, 20).Draw(t, "gain")
		history := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 40).Draw(t, "history")
		best := func(epochs int) float64 {
			most := 0.0
			for _, a := range history[:epochs] {
				most = max(most, a)
			}
			return most
		}
		var want []int
		grown := false
		for end := window; end <= len(history); end += window {
			small := 100*(best(end)-best(end-window)) < gain
			if small && grown {
				break
			}
			if grown = small; small {
				want = append(want, end)
			}
		}
		if got := due(&plateau{}, gain, window, false, history...); !assert.ObjectsAreEqual(want, got) {
			t.Fatalf("got decisions after epochs %v, expected %v", got, want)
		}
	})
}
