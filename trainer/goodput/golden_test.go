package goodput

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const reference = "../../../shared/reference/pollux/unit"

// limits holds the limits of Pollux's applications.
var limits = map[string]Limits{
	"bert": {12, 384, 4, 12}, "cifar10": {128, 4096, 32, 1024}, "deepspeech2": {20, 640, 10, 80},
	"imagenet": {200, 12800, 20, 200}, "ncf": {256, 32768, 32, 32768}, "yolov3": {8, 512, 4, 8},
}

// recorded reads recorded values. It skips the test if they are missing.
func recorded[T any](t *testing.T, name string) (value T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(reference, name))
	if os.IsNotExist(err) {
		t.Skip("left out: the recorded values of Pollux are not there")
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &value))
	return value
}

type table struct{ Rows [][]json.RawMessage }

// scan reads the values of a row.
func scan(t *testing.T, row []json.RawMessage, into ...any) {
	t.Helper()
	for k, to := range into {
		require.NoError(t, json.Unmarshal(row[k], to))
	}
}

func near(t *testing.T, want, got float64, note any) {
	t.Helper()
	require.LessOrEqual(t, math.Abs(want-got), 1e-12*max(math.Abs(want), 1e-300), "%v: %v, not %v", note, got, want)
}

func TestGoodputOfPollux(t *testing.T) {
	for k, row := range recorded[table](t, "goodput.json").Rows {
		var v vector
		var noise [2]float64
		var least, nodes, devices int
		var b Batch
		var throughput, efficiency float64
		var product *float64
		scan(t, row, &v, &noise, &least, &nodes, &devices, &b.Device, &b.Accumulate, &throughput, &efficiency, &product)
		j := Job{Speed: v.speed(), Noise: Noise{noise[0], noise[1]}, Limits: Limits{Least: least}}
		near(t, throughput, j.Speed.Throughput(nodes, devices, b), k)
		if product != nil {
			near(t, efficiency, j.Noise.Efficiency(float64(b.Total(devices))/float64(least)), k)
			near(t, *product, j.Goodput(nodes, devices, b), k)
		}
	}
}

func TestCandidatesOfPollux(t *testing.T) {
	for k, row := range recorded[table](t, "candidates.json").Rows {
		var name string
		var devices int
		var totals [candidates]float64
		var device, accumulate [candidates]int
		scan(t, row, &name, &devices, &totals, &device, &accumulate)
		l := limits[name]
		for i, total := range l.totals(devices) {
			near(t, totals[i], total, k)
		}
		for i, b := range l.batches(devices) {
			require.Equal(t, Batch{device[i], accumulate[i]}, b, "%s on %d, candidate %d", name, devices, i)
		}
	}
}

func TestBestBatchOfPollux(t *testing.T) {
	for k, row := range recorded[table](t, "goodput_optimize.json").Rows {
		var name string
		var v vector
		var noise [2]float64
		var nodes, devices int
		var best float64
		var want Batch
		scan(t, row, &name, &v, &noise, &nodes, &devices, &best, &want.Device, &want.Accumulate)
		j := Job{v.speed(), Noise{noise[0], noise[1]}, limits[name]}
		got, batch := j.Best(nodes, devices)
		near(t, best, got, k)
		require.Equal(t, want, batch, "row %d", k)
	}
}

func TestSpeedupOfPollux(t *testing.T) {
	for k, row := range recorded[table](t, "speedup.json").Rows {
		var name string
		var v vector
		var noise [2]float64
		var nodes, devices, jobs, fair int
		var alone, speedup, fairGoodput, fairSpeedup float64
		scan(t, row, &name, &v, &noise, &nodes, &devices, &alone, &speedup, &jobs, &fair, &fairGoodput, &fairSpeedup)
		j := Job{v.speed(), Noise{noise[0], noise[1]}, limits[name]}
		best, _ := j.Best(nodes, devices)
		one, _ := j.Best(1, 1)
		share, _ := j.Best(1, fair)
		near(t, alone, one, k)
		near(t, speedup, best/one, k)
		near(t, fairGoodput, share, k)
		near(t, fairSpeedup, best/share, k)
	}
}

// fit is a recorded fit of the original.
type fit struct {
	Profile    [][5]float64
	X0, Lower  vector
	Upper      [parameters]*float64
	Params     vector
	OptimizerX vector `json:"optimizer_x"`
	Objective  float64
}

func (f *fit) rows() (rows []Measured) {
	for _, r := range f.Profile {
		rows = append(rows, Measured{int(r[0]), int(r[1]), int(r[2]), r[3], r[4]})
	}
	return rows
}

func TestObjectiveOfPollux(t *testing.T) {
	fits := recorded[struct{ Fits []fit }](t, "fit_perf_params.json").Fits
	for k, row := range recorded[table](t, "fit_objective.json").Rows {
		var index int
		var at, slope vector
		var value float64
		scan(t, row, &index, &at, &value, &slope)
		got, gradient := newProblem(fits[index].rows()).objective(at)
		near(t, value, got, k)
		for i := range slope {
			require.InDelta(t, slope[i], gradient[i], 1e-9*max(1, math.Abs(slope[i])), "row %d, parameter %d", k, i)
		}
	}
}

// Fits start where Pollux's fits start. Nearly all end no higher, and many lower, because the original stops at kinks
// of the objective.
func TestFitsOfPollux(t *testing.T) {
	worse, better := 0, 0
	for k, f := range recorded[struct{ Fits []fit }](t, "fit_perf_params.json").Fits {
		p := newProblem(f.rows())
		require.Equal(t, f.X0, p.start, "fit %d", k)
		require.Equal(t, f.Lower, p.low, "fit %d", k)
		for i, high := range f.Upper {
			if high == nil {
				require.True(t, math.IsInf(p.high[i], 1))
			} else {
				require.Equal(t, *high, p.high[i])
			}
		}
		value, _ := p.objective(p.minimum())
		require.Less(t, value, f.Objective+6e-4, "fit %d", k)
		switch {
		case value > f.Objective+1e-6:
			worse++
		case value < f.Objective-1e-6:
			better++
		}
	}
	require.LessOrEqual(t, worse, 8, "fits above the original's; 4 on the machine that this was written on")
	require.GreaterOrEqual(t, better, 80, "fits below the original's; 90 on the machine that this was written on")
}

func BenchmarkFit(b *testing.B) {
	rows := []Measured{{1, 1, 64, 0.1, 0.101}, {1, 2, 64, 0.1, 0.12}, {2, 8, 64, 0.1, 0.16}, {3, 12, 48, 0.08, 0.17},
		{1, 4, 128, 0.19, 0.23}}
	for b.Loop() {
		Fit(rows)
	}
}
