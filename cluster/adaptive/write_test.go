package adaptive

import (
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/trainer/goodput"
)

// drawRecording draws training runs with several batch sizes, and step times that follow a speed model.
func drawRecording(r *rand.Rand) *Recording {
	least := 1 + r.IntN(64)
	images := least * (10 + r.IntN(90))
	recording := &Recording{}
	for scale := 1; scale <= 8; scale *= 2 {
		run := Run{Batch: least * scale}
		for e := range 3 * scale {
			m := goodput.Moments{Square: 0.01 + r.Float64(), Variance: 10 * r.Float64() * float64(least)}
			run.Epochs = append(run.Epochs, RunEpoch{Steps: int64((e + 1) * ((images + run.Batch - 1) / run.Batch)),
				Gradient: m})
		}
		recording.Runs = append(recording.Runs, run)
	}
	speed := goodput.Speed{ComputeStart: 0.01, ComputeExample: 1e-3, NodesStart: 0.02, NodesDevice: 1e-3,
		NodeStart: 0.01, NodeDevice: 1e-3, Overlap: 1.5}
	for _, placement := range [][]int{{1}, {2}, {1, 1}, {2, 2}, {1, 1, 1, 1, 1, 1, 1, 1, 1}} {
		for device := least; device <= 8*least; device *= 2 {
			step, sync, _ := speed.Step(placement, device)
			recording.Steps = append(recording.Steps, Step{placement, device, step, sync})
		}
	}
	return recording
}

// Epochs of equal progress match trained epochs for the smallest batch. Larger batches need more examples for each.
func TestEqualEpochsCountProgress(t *testing.T) {
	for seed := range uint64(200) {
		recording := drawRecording(rand.New(rand.NewPCG(seed, 1)))
		least := recording.Runs[0]
		unit := float64(least.Epochs[0].Steps)
		for k, run := range recording.Runs {
			before := EqualEpoch{}
			progress, at := 0.0, int64(0)
			for _, e := range run.Epochs {
				noise := goodput.Noise{Square: e.Gradient.Square, Variance: e.Gradient.Variance / float64(least.Batch)}
				progress += float64(e.Steps-at) * noise.Gain(float64(run.Batch)/float64(least.Batch))
				at = e.Steps
			}
			list := recording.Equal(run)
			require.InDelta(t, math.Floor(progress/unit), len(list), 1e-9, "seed %d", seed)
			for e, epoch := range list {
				require.InEpsilon(t, unit*float64(e+1), epoch.Progress, 1e-12)
				if k == 0 {
					require.InEpsilon(t, float64(least.Epochs[e].Steps), epoch.Steps, 1e-12)
					require.InEpsilon(t, float64(e+1), epoch.Trained, 1e-12)
				}
				more := (epoch.Steps - before.Steps) * float64(run.Batch)
				require.GreaterOrEqual(t, more*(1+1e-9), unit*float64(least.Batch),
					"an example is worth no more than in the smallest batch")
				require.LessOrEqual(t, (epoch.Steps-before.Steps)*(1-1e-9), unit, "a step is worth no less")
				before = epoch
			}
		}
	}
}

// A written application reads back with the same times, limits, steps and noise.
func TestWrittenApplicationsAreRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "applications")
	for seed := range uint64(20) {
		recording := drawRecording(rand.New(rand.NewPCG(seed, 2)))
		recording.Epochs = int(seed) % 3
		require.NoError(t, recording.Write(files.OS{}, dir, "made", nil, seed > 0))
		apps, err := ReadApplications(files.OS{}, dir, nil)
		require.NoError(t, err)
		app, runs := apps["made"], recording.Runs
		require.Equal(t, goodput.Limits{Least: runs[0].Batch, Most: runs[len(runs)-1].Batch, DeviceLeast: runs[0].Batch,
			DeviceMost: 8 * runs[0].Batch}, app.Limits)
		if recording.Epochs > 0 {
			require.Equal(t, recording.Epochs, app.Epochs)
		}
		for _, s := range recording.Steps {
			if len(s.Placement) <= mostPlaced {
				step, sync, err := app.times.Step(s.Placement, s.Device)
				require.NoError(t, err)
				require.InDelta(t, s.Time, step, 1e-12)
				require.InDelta(t, s.Sync, sync, 1e-12)
			}
		}
		for _, run := range runs {
			for e, want := range recording.Equal(run)[:app.Epochs] {
				steps, err := app.Iterations(run.Batch, e)
				require.NoError(t, err)
				noise, err := app.Noise(run.Batch, e)
				require.NoError(t, err)
				require.Equal(t, []any{want.Steps, want.Noise, want.Progress}, []any{steps, noise, app.Progress(e + 1)})
			}
		}
		for _, off := range recording.Misses() {
			require.Less(t, off, 0.1, "the times follow a speed")
		}
	}
}

func TestNamesOfApplicationsAreChecked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "applications")
	recording := drawRecording(rand.New(rand.NewPCG(1, 3)))
	fixed := map[string]Fixed{"known": {Epochs: 3}}
	write := func(name string) error { return recording.Write(files.OS{}, dir, name, fixed, false) }
	for name, says := range map[string]string{"": "invalid name", "../up": "invalid name",
		"known": "this name has preset properties (from Pollux or from its row in applications.csv), which would " +
			"override the measurements"} {
		require.ErrorContains(t, write(name), says)
	}
	_, err := files.OS{}.Stat(dir)
	require.ErrorIs(t, err, fs.ErrNotExist, "nothing was written")
	require.NoError(t, write("new"))
	require.ErrorContains(t, write("new"), "option force")
}

// A fault at any operation leaves the old application, the new one or none, but never a readable mixture.
func TestFaultsLeaveWholeApplications(t *testing.T) {
	old, next := drawRecording(rand.New(rand.NewPCG(1, 4))), drawRecording(rand.New(rand.NewPCG(2, 4)))
	old.Epochs, next.Epochs = 1, 2
	begin := func() string {
		dir := filepath.Join(t.TempDir(), "applications")
		require.NoError(t, old.Write(files.OS{}, dir, "made", nil, false))
		return dir
	}
	counting := faults.New(files.OS{}, 0, faults.Fail)
	require.NoError(t, next.Write(counting, begin(), "made", nil, true))
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		for at := range len(counting.Ops()) {
			dir := begin()
			failed := next.Write(faults.New(files.OS{}, at+1, kind), dir, "made", nil, true)
			apps, err := ReadApplications(files.OS{}, dir, nil)
			if err != nil {
				require.ErrorContains(t, err, "has 0 folders")
			} else if apps["made"].Epochs == old.Epochs {
				require.Equal(t, old.Runs[0].Batch, apps["made"].Limits.Least)
				require.Len(t, apps["made"].runs, len(old.Runs))
			} else {
				require.Equal(t, next.Runs[0].Batch, apps["made"].Limits.Least)
				require.Len(t, apps["made"].runs, len(next.Runs))
			}
			if failed != nil {
				require.NoError(t, next.Write(files.OS{}, dir, "made", nil, true))
			}
		}
	}
}
