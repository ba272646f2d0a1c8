package elastic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/elastic/elastictest"
)

// fitTolerance is the relative error of the linear system. Its condition is below 10^4.
const fitTolerance = 1e-9

// A fit to measurements of a sum of distances recovers the sum everywhere.
func TestFitRecoversSumsOfDistances(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var points []elastic.Measurement
	for p := 1; p <= 11; p += 2 {
		for w := 1; w <= 11; w += 2 {
			points = append(points, elastic.Measurement{Servers: p, Workers: w})
		}
	}
	weights := make([]float64, len(points))
	for k := range weights {
		weights[k] = r.Float64() - 0.3
	}
	truth := func(servers, workers int) (sum float64) {
		for k, p := range points {
			sum += weights[k] * math.Hypot(float64(p.Servers-servers), float64(p.Workers-workers))
		}
		return sum
	}
	for k, p := range points {
		points[k].Speed = truth(p.Servers, p.Workers)
	}
	table, err := elastic.FitTable(map[string][]elastic.Measurement{"m": points}, 20, false)
	require.NoError(t, err)
	for p := range 20 {
		for w := range 20 {
			require.InEpsilon(t, truth(p+1, w+1), table["m"][p][w], fitTolerance)
		}
	}
}

// The fit between two points is linear. A failed measurement pulls it to zero only if kept.
func TestFailedMeasurements(t *testing.T) {
	points := map[string][]elastic.Measurement{"m": {{1, 1, 10}, {1, 3, 30}, {1, 2, 0}}}
	for keep, want := range map[bool]float64{false: 20, true: 0} {
		table, err := elastic.FitTable(points, 3, keep)
		require.NoError(t, err)
		require.InDelta(t, 10, table["m"][0][0], fitTolerance)
		require.InDelta(t, want, table["m"][0][1], fitTolerance)
	}
}

// A file may hold measurements in place of a table; servers and workers below one are refused.
func TestMeasuredSpeeds(t *testing.T) {
	table, err := elastic.ReadTable(strings.NewReader(`{"most": 3, "measured": {"m": [{"servers": 1, "workers": 1, ` +
		`"speed": 10}, {"servers": 1, "workers": 3, "speed": 30}]}}`))
	require.NoError(t, err)
	require.Len(t, table["m"], 3)
	require.InDelta(t, 20, table["m"][0][1], fitTolerance)
	for text, want := range map[string]string{
		`{"most": 5000, "measured": {"m": [{"servers": 1, "workers": 1, "speed": 10}]}}`: `member "most" is 5000`,
		`{"measured": {"m": [{"servers": 1, "workers": 1, "speed": 10}]}}`: "interpolation needs at least two " +
			"measurements, but only one is usable",
		`{"measured": {"m": [{"servers": 0, "workers": 1, "speed": 10}, {"servers": 2, "workers": 1, ` +
			`"speed": 10}]}}`: "0 servers, 1 workers and speed 10; expected at least 1 server and 1 worker, and a " +
			"speed",
		`{"measured": {"m": [{"servers": 1, "workers": 1, "speed": -1}, {"servers": 2, "workers": 1, ` +
			`"speed": 10}]}}`: "expected at least 1 server and 1 worker, and a speed of at least 0",
	} {
		_, err := elastic.ReadTable(strings.NewReader(text))
		require.ErrorContains(t, err, want)
	}
}

func TestFitsThatFail(t *testing.T) {
	for want, points := range map[string][]elastic.Measurement{
		"interpolate speeds of m: got 0 usable measurements; expected 1 to 1024":             {{1, 1, 0}},
		"duplicate measurement for 1 servers and 2 workers; keep one":                        {{1, 2, 3}, {1, 2, 4}},
		"interpolation needs at least two measurements, but only one is usable; add another": {{1, 2, 3}},
	} {
		_, err := elastic.FitTable(map[string][]elastic.Measurement{"m": points}, 3, false)
		require.ErrorContains(t, err, want)
	}
}

// slow has a step of 1 s without communication, 100 MB of parameters, 50 MB/s between nodes and 200 MB/s within.
var slow = elastic.JobType{Name: "slow", EpochSize: 1, Compute: 1, ModelSize: 100, BetweenBW: 50, WithinBW: 200}

func TestAnalyticSpeed(t *testing.T) {
	cases := map[string]struct {
		workers, servers []int
		step             float64
	}{
		// 200 MB at 50 MB/s, the bandwidth between nodes, although both tasks are on one node.
		"one worker beside its server": {[]int{0}, []int{0}, 1 + 4},
		"one worker apart":             {[]int{0}, []int{1}, 1 + 4},
		// The server sends to two workers on other nodes.
		"two workers apart": {[]int{0, 2}, []int{1}, 1 + 8},
		// Each server holds 50 MB. The worker receives from one server on another node.
		"two servers":     {[]int{0}, []int{0, 1}, 1 + 2},
		"three servers":   {[]int{0}, []int{0, 1, 1}, 1 + 200.0/3/25},
		"a crowded node":  {[]int{0, 0, 0, 0, 0}, []int{0}, 1 + 5},
		"workers spread":  {[]int{0, 0, 1}, []int{0, 1}, 1 + 4},
		"workers only":    {[]int{0, 1}, nil, 1 + 2},
		"two of three":    {[]int{0, 0, 1}, nil, 1 + 8.0/3},
		"all on one node": {[]int{3, 3, 3}, nil, 1 + 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := elastic.Deployment{Model: &slow, Workers: c.workers, Servers: c.servers}
			require.InEpsilon(t, float64(len(c.workers))*600/c.step, elastic.Analytic{}.Epochs(d, 600), tolerance)
		})
	}
}

// In the original's integer division, two of three workers on a node count as none.
func TestAnalyticWholeShares(t *testing.T) {
	d := elastic.Deployment{Model: &slow, Workers: []int{0, 0, 1}}
	require.InEpsilon(t, 3*600/5.0, elastic.Analytic{WholeShares: true}.Epochs(d, 600), tolerance)
}

// No placement is faster than the limit.
func TestAnalyticLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for k := range 20_000 {
		s := elastictest.Draw(rand.New(rand.NewPCG(6, uint64(k%50))), nil)
		d := elastic.Deployment{Model: &s.Types[0], Workers: nodes(r, 1+r.IntN(20))}
		if r.IntN(3) > 0 {
			d.Servers = nodes(r, 1+r.IntN(20))
		}
		a := elastic.Analytic{WholeShares: k%2 == 0}
		limit := a.Limit(d.Model, len(d.Workers), len(d.Servers), 600)
		require.LessOrEqual(t, a.Epochs(d, 600), limit*(1+tolerance), fmt.Sprint(d.Workers, d.Servers))
	}
}

func nodes(r *rand.Rand, n int) (list []int) {
	among := 1 + r.IntN(5)
	for range n {
		list = append(list, r.IntN(among))
	}
	return list
}
