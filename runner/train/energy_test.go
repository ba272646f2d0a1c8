package train_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/report"
	"graft/report/runs"
	"graft/runner/train"
	"graft/runner/worktest"
)

// gauge is a source of one device whose counter rises by a joule per reading.
type gauge struct {
	reads     int
	processes int
	closed    bool
}

func (g *gauge) Devices() []telemetry.Device {
	return []telemetry.Device{{UUID: "GPU-0", Name: "Gauge", MIG: telemetry.Known(false)}}
}

func (g *gauge) Read(int) (telemetry.Reading, error) {
	g.reads++
	return telemetry.Reading{EnergyJoules: telemetry.Known(float64(g.reads)),
		MemoryUsedMiB: telemetry.Known(float64(100 + g.reads)),
		Processes:     telemetry.Known(make([]telemetry.Process, g.processes))}, nil
}

func (g *gauge) Close() error { g.closed = true; return nil }

// measuredRun runs the smallest job with a source, and returns its result, folder and report.
func measuredRun(t *testing.T, open func(gpus bool) (telemetry.Source, error),
	set ...string) (*train.Result, string, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "run")
	o := smallest(folder)
	o.Set = append(o.Set, set...)
	env := worktest.Env(files.OS{})
	env.Telemetry = open
	r, err := train.Run(context.Background(), env, "", o)
	require.NoError(t, err)
	return r, folder, reportOf(t, folder)
}

func reportOf(t *testing.T, folder string) string {
	t.Helper()
	run, err := runs.Open(files.ReadOnly{FS: files.OS{}}, folder)
	require.NoError(t, err)
	r, err := report.New([]*runs.Run{run}, nil, true)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "report")
	w, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, errors.Join(r.Write(w, report.Text), w.Close()))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// A job's outcome has the sum of its segments, and its report has the energy of each epoch. Nothing else changes.
func TestEnergyOfAJob(t *testing.T) {
	g := &gauge{processes: 1}
	r, folder, text := measuredRun(t,
		func(gpus bool) (telemetry.Source, error) { require.False(t, gpus); return g, nil })
	require.True(t, g.closed)
	segments, err := runs.ReadEnergy(files.OS{}, folder)
	require.NoError(t, err)
	require.Greater(t, len(segments), len(r.Epochs))
	total := 0.0
	for _, s := range segments {
		require.Equal(t, "counter", s.Method)
		total += *s.Joules
	}
	m := r.Outcome.Measured
	require.Equal(t, total, *m.Joules)
	require.LessOrEqual(t, total, float64(g.reads))
	require.GreaterOrEqual(t, total, float64(len(segments)))
	require.Equal(t, "counter", m.Method)
	require.Equal(t, []string{"Gauge"}, m.Devices)
	require.InDelta(t, 100+g.reads, *m.PeakMemory, 1)
	require.Contains(t, text, "MEASURED BY")
	require.Contains(t, text, "measured energy")

	plain, other, text := measuredRun(t, nil)
	require.Nil(t, plain.Outcome.Measured)
	require.NotContains(t, strings.ToLower(text), "measured")
	require.NoFileExists(t, filepath.Join(other, runs.EnergyFile))
	require.Equal(t, plain.Outcome.Digest, r.Outcome.Digest)
	for _, name := range []string{"epochs.csv", "events.jsonl"} {
		with, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		without, err := os.ReadFile(filepath.Join(other, name))
		require.NoError(t, err)
		require.Equal(t, string(without), string(with), name)
	}
}

// Unknown energy is null, with the reason in one line of the report.
func TestUnknownEnergyOfAJob(t *testing.T) {
	r, folder, text := measuredRun(t,
		func(bool) (telemetry.Source, error) { return nil, errors.New("open RAPL: no counter") })
	require.Nil(t, r.Outcome.Measured.Joules)
	require.Equal(t, "unknown: open RAPL: no counter", r.Outcome.Measured.Method)
	require.Contains(t, text, "The energy of the whole job is unknown (unknown: open RAPL: no counter).")
	require.NoFileExists(t, filepath.Join(folder, runs.EnergyFile))

	r, _, text = measuredRun(t, func(bool) (telemetry.Source, error) { return &gauge{processes: 2}, nil })
	require.Nil(t, r.Outcome.Measured.Joules)
	require.Contains(t, text, "The energy of the whole job is unknown (not attributable: "+
		"shared with other processes).")
}

// A job that was started without a meter has unknown energy. A measured job keeps its sums after a resume.
func TestEnergyOfAResumedJob(t *testing.T) {
	source := func(bool) (telemetry.Source, error) { return &gauge{processes: 1}, nil }
	none := func(bool) (telemetry.Source, error) { return nil, errors.New("no counter") }
	for name, test := range map[string]struct {
		first, second func(bool) (telemetry.Source, error)
		method        string
	}{
		"measured by both":        {source, source, "counter"},
		"measured by the second":  {none, source, "unknown: an earlier process did not measure energy, counter"},
		"measured by the first":   {source, none, "counter, unknown: no counter"},
		"the first had no source": {nil, source, "unknown: an earlier process did not measure energy, counter"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "run")
			env := worktest.Env(files.OS{})
			env.Telemetry = test.first
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := train.Run(ctx, env, "", smallest(folder)) // saves at once
			require.Error(t, err)
			o := smallest(folder)
			o.Resume, env.Telemetry = true, test.second
			r, err := train.Run(context.Background(), env, "", o)
			require.NoError(t, err)
			require.Equal(t, test.method, r.Outcome.Measured.Method)
			require.Equal(t, test.method == "counter", r.Outcome.Measured.Joules != nil)
			require.Contains(t, reportOf(t, folder), "MEASURED BY")
		})
	}
}
