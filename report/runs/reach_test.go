package runs

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCostUntilALossIsReached(t *testing.T) {
	c := curve{loss: []float64{4, 3, 3.5, 1, 2}, time: []float64{1, 2, 3, 4, 5}, flop: []float64{10, 20, 30, 40, 50}}
	for _, x := range []struct {
		loss, time float64
		reached    bool
	}{{5, 1, true}, {4, 1, true}, {3.25, 1.75, true}, {3, 2, true}, {2.25, 3.5, true}, {1, 4, true}, {0.5, 5, false}} {
		time, reached := c.until(x.loss, c.time)
		assert.InDelta(t, x.time, time, 1e-12, "%v", x.loss)
		assert.Equal(t, x.reached, reached, "%v", x.loss)
		flop, _ := c.until(x.loss, c.flop)
		assert.InDelta(t, 10*x.time, flop, 1e-11)
	}
	broken := curve{loss: []float64{math.NaN(), 2, math.NaN(), 1}, time: []float64{1, 2, 3, 4}}
	for loss, want := range map[float64]float64{2: 2, 1.5: 4} {
		time, reached := broken.until(loss, broken.time)
		assert.True(t, reached)
		assert.InDelta(t, want, time, 1e-12)
	}
}

// One seed reaches the other case's last loss in half the time, and one seed never reaches it.
func TestReachIsPairedBySeed(t *testing.T) {
	trial := func(folder string) *CaseOutcome {
		return &CaseOutcome{Name: folder, Trials: []TrialOutcome{{Seed: 1, Folder: folder + "1"},
			{Seed: 2, Folder: folder + "2"}}}
	}
	slow := curve{loss: []float64{4, 2}, time: []float64{4, 8}, flop: []float64{1, 2}}
	fast := curve{loss: []float64{4, 2, 1}, time: []float64{2, 4, 6}, flop: []float64{1, 2, 3}}
	curves := map[string]curve{"slow1": slow, "slow2": slow, "fast1": fast,
		"fast2": {loss: []float64{3}, time: []float64{16}, flop: []float64{1}}}
	r := reachOf(trial("fast"), trial("slow"), curves)
	assert.Equal(t, 2, r.Trials)
	assert.Equal(t, 1, r.Reached)
	assert.InDelta(t, (0.5+2)/2, r.Time.Mean, 1e-12)
	assert.InDelta(t, (1+0.5)/2, r.FLOP.Mean, 1e-12)
	assert.InDelta(t, 0, r.Loss.Mean, 1e-12)

	for name, c := range curves { // the operations of a program are unknown
		c.flop = make([]float64, len(c.loss))
		curves[name] = c
	}
	r = reachOf(trial("fast"), trial("slow"), curves)
	assert.Nil(t, r.FLOP, "unknown, not NaN, which JSON lacks")
	assert.InDelta(t, (0.5+2)/2, r.Time.Mean, 1e-12)
	other := trial("slow")
	other.Trials = []TrialOutcome{{Seed: 3, Folder: "slow1"}}
	r = reachOf(trial("fast"), other, curves)
	assert.Equal(t, Reach{Case: "fast", Of: "slow"}, r, "no common seed")
}

// A reference arm is compared at equal swept values. A reference case is compared with all other cases.
func TestReferencesOfReach(t *testing.T) {
	p, o := &SweepPlan{}, &SweepOutcome{}
	for _, arm := range []string{"never", "early", "late"} {
		for _, set := range []string{"time.budget=1s", "time.budget=2s"} {
			name := arm + " " + set
			p.Cases = append(p.Cases, &SweepCase{Name: name, Set: []string{set}})
			if name != "late time.budget=2s" { // all its trials failed
				o.Cases = append(o.Cases, &CaseOutcome{Name: name})
			}
		}
	}
	for of, want := range map[string][]string{
		"never": {"early time.budget=1s", "late time.budget=1s", "early time.budget=2s"},
		"early time.budget=2s": {"never time.budget=1s", "never time.budget=2s", "early time.budget=1s",
			"late time.budget=1s"},
	} {
		pairs, known := p.reaching(o, of)
		var got []string
		for _, pair := range pairs {
			got = append(got, pair[0].Name)
			assert.Contains(t, pair[1].Name, of)
		}
		assert.True(t, known)
		assert.Equal(t, want, got, of)
	}
	_, known := p.reaching(o, "nevr")
	assert.False(t, known)
}
