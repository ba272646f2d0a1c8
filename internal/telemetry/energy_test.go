package telemetry

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// watts returns power readings at whole seconds; NaN is unknown.
func watts(values ...float64) []Reading {
	list := make([]Reading, len(values))
	for k, v := range values {
		list[k] = Reading{At: float64(k), PowerWatts: Number(v)}
	}
	return list
}

// joules returns readings of a counter at whole seconds, with a constant power of 100 W.
func joules(values ...float64) []Reading {
	list := make([]Reading, len(values))
	for k, v := range values {
		list[k] = Reading{At: float64(k), EnergyJoules: Number(v), PowerWatts: Known(100.0)}
	}
	return list
}

func TestEnergyOfAnInterval(t *testing.T) {
	nan := math.NaN()
	unknown := Optional[float64]{}
	powerless := func(list []Reading) []Reading {
		for k := range list {
			list[k].PowerWatts = unknown
		}
		return list
	}
	for name, test := range map[string]struct {
		readings []Reading
		from, to float64
		use      Use
		want     Energy
	}{
		"the counter is preferred": {joules(10, 40, 90), 0, 2, Use{},
			Energy{Joules: Known(80.0), Method: MethodCounter}},
		"the counter is interpolated at the ends": {joules(10, 40, 90), 0.5, 1.5, Use{},
			Energy{Joules: Known(40.0), Method: MethodCounter}},
		"a short window of the counter is flagged": {joules(10, 40), 0.5, 0.59375, Use{},
			Energy{Joules: Known(2.8125), Method: MethodCounter, Short: true}},
		"the idle power is taken off": {joules(10, 40, 90), 0, 2, Use{IdleWatts: Known(15.0)},
			Energy{Joules: Known(80.0), NetJoules: Known(50.0), Method: MethodCounter}},
		"power is integrated without a counter": {watts(100, 200, 100), 0, 2, Use{},
			Energy{Joules: Known(300.0), Method: MethodIntegrated}},
		"power is interpolated at the ends": {watts(100, 200, 100), 0.5, 1.5, Use{},
			Energy{Joules: Known(175.0), Method: MethodIntegrated}},
		"power is constant beyond the readings": {watts(100, 200), 0, 3, Use{},
			Energy{Joules: Known(550.0), Method: MethodIntegrated}},
		"an unknown reading is bridged": {watts(100, nan, 300), 0, 2, Use{},
			Energy{Joules: Known(400.0), Method: MethodIntegrated}},
		"a long gap is not": {watts(100, nan, nan, nan, nan, nan, 100), 0, 6, Use{},
			Energy{Method: MethodUnknown, Why: "6.0 s without a power reading"}},
		"a reset of the counter": {joules(50, 60, 5, 15), 0, 3, Use{},
			Energy{Joules: Known(300.0), Method: MethodIntegrated}},
		"a reset and no power": {powerless(joules(50, 60, 5, 15)), 0, 3, Use{},
			Energy{Method: MethodUnknown, Why: "the energy counter was reset"}},
		"a counter that began late": {powerless(joules(nan, 60, 70)), 0, 2, Use{},
			Energy{Method: MethodUnknown, Why: "the energy counter was not read at both ends"}},
		"a single reading": {watts(100), 0, 1, Use{}, Energy{Method: MethodUnknown, Why: "only one power reading"}},
		"no reading": {nil, 0, 1, Use{IdleWatts: Known(1.0)},
			Energy{Method: MethodUnknown, Why: "no readings of power or energy"}},
		"MIG": {joules(10, 40), 0, 1, Use{MIG: true, IdleWatts: Known(1.0)},
			Energy{Joules: Known(30.0), Method: MethodNotAttributable, Why: "MIG"}},
		"a shared device": {joules(10, 40), 0, 1, Use{SharedWith: []string{"task 7"}},
			Energy{Joules: Known(30.0), Method: MethodNotAttributable, Why: "shared with task 7"}},
		"what is unknown is so on a shared device too": {nil, 0, 1, Use{MIG: true},
			Energy{Method: MethodUnknown, Why: "no readings of power or energy"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Measure(test.readings, test.from, test.to, test.use).Energy)
		})
	}
	require.Equal(t, "not attributable: MIG", Energy{Method: MethodNotAttributable, Why: "MIG"}.MethodText())
}

// The order of readings does not change the energy, and readings with NaN are ignored.
func TestMeasureIgnoresOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 500), 2, 30).Draw(t, "watts")
		list := watts(values...)
		from := rapid.Float64Range(0, float64(len(list)-1)).Draw(t, "from")
		to := rapid.Float64Range(from, float64(len(list)-1)).Draw(t, "to")
		want := Measure(list, from, to, Use{})
		list = append(list, Reading{At: math.NaN(), PowerWatts: Known(7.0)},
			Reading{At: 0.5, PowerWatts: Known(math.NaN())})
		shuffle := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		shuffle.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		require.Equal(t, want.Energy, Measure(list, from, to, Use{}).Energy)
	})
}

// The energies of two parts add up to the energy of the whole, with either method.
func TestEnergyAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		power := rapid.SliceOfN(rapid.Float64Range(0, 500), 3, 30).Draw(t, "watts")
		list, total := watts(power...), 0.0
		if rapid.Bool().Draw(t, "counter") {
			for k := range list {
				total += power[k]
				list[k].EnergyJoules = Known(total)
			}
		}
		end := float64(len(list) - 1)
		cut := rapid.Float64Range(0.001, end-0.001).Draw(t, "cut")
		part := func(from, to float64) float64 {
			e, known := Measure(list, from, to, Use{}).Joules.Get()
			require.True(t, known)
			return e
		}
		// sums of at most 30 products of doubles below 2^9, in different orders
		const rounding = 1e-9
		require.InDelta(t, part(0, end), part(0, cut)+part(cut, end), rounding)
	})
}

func TestMeasurementOfADevice(t *testing.T) {
	list := []Reading{{At: 1, UtilizationPercent: Known(0.0), PowerWatts: Known(10.0), MemoryUsedMiB: Known(5.0)},
		{At: 2}, {At: 3, UtilizationPercent: Known(50.0), PowerWatts: Known(30.0), MemoryUsedMiB: Known(4.0)}}
	m := MeasureAll(list, Use{})
	require.Equal(t, Measurement{Energy: Energy{Joules: Known(40.0), Method: MethodIntegrated}, Seconds: 2,
		Readings: 2, MeanUtilizationPercent: Known(25.0), MeanWatts: Known(20.0), PeakWatts: Known(30.0),
		PeakMemoryMiB: Known(5.0)}, m)
	require.Equal(t, Known(20.0), m.Watts())
	require.Equal(t, Optional[float64]{}, MeasureAll(nil, Use{}).Watts())
}
