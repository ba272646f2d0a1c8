package results_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/internal/pythontest"
	"graft/results"
	"graft/results/tensorboard"
	"graft/results/tensorboard/tensorboardtest"
)

// watched is a run of a few epochs with events for TensorBoard.
type watched struct {
	fsys  files.FS
	path  string
	ticks int
	epoch int
}

// now is a clock that advances 1 ms per call.
func (w *watched) now() time.Time {
	w.ticks++
	return time.UnixMilli(1_700_000_000_000 + int64(w.ticks)).UTC()
}

// do starts or resumes the run, for at most the given number of epochs.
func (w *watched) do(most int) error {
	run, err := results.Open(w.fsys, w.path)
	if errors.Is(err, results.ErrNoRun) {
		run, err = results.Create(w.fsys, w.path, options, manifest)
	}
	if err != nil {
		return err
	}
	return errors.Join(w.train(run, most), run.Close())
}

func (w *watched) train(run *results.Run, most int) error {
	var c *results.Checkpoint
	c, err := run.LoadCheckpoint()
	if err == nil {
		err = errors.Join(c.JSON("epoch", &w.epoch), c.Close())
	}
	if err != nil && !errors.Is(err, results.ErrNoCheckpoint) {
		return err
	}
	if err := run.Rewind(c); err != nil {
		return err
	}
	events, err := run.Events(w.now, int64(w.epoch)*10)
	if err != nil {
		return err
	}
	for last := min(epochs, w.epoch+most); w.epoch < last; w.epoch++ {
		if err := w.step(run, events); err != nil {
			return err
		}
	}
	return nil
}

func (w *watched) step(run *results.Run, events *results.Events) error {
	at := int64(w.epoch) * 10
	err := events.Scalars(at, tensorboard.Scalar{Tag: "loss/train", Value: 1 / float32(w.epoch+1)},
		tensorboard.Scalar{Tag: "devices", Value: 2})
	if err == nil {
		err = events.Text(at, "decision", fmt.Sprintf("deepen:%d", w.epoch))
	}
	if err != nil || (w.epoch+1)%every != 0 {
		return err
	}
	return run.SaveCheckpoint("epoch", func(c *results.CheckpointWriter) error { return c.JSON("epoch", w.epoch+1) })
}

// shown returns the figures and texts that TensorBoard shows after it reads the events.
func shown(events []tensorboard.Event) (list []string) {
	var kept []tensorboard.Event
	for _, e := range events {
		if e.Start {
			past := kept
			kept = nil
			for _, k := range past {
				if k.Step < e.Step {
					kept = append(kept, k)
				}
			}
			continue
		}
		kept = append(kept, e)
	}
	for _, e := range kept {
		for _, s := range e.Scalars {
			list = append(list, fmt.Sprint(e.Step, s))
		}
		for _, t := range e.Texts {
			list = append(list, fmt.Sprint(e.Step, t))
		}
	}
	return list
}

func eventsOf(t *testing.T, path string) []tensorboard.Event {
	events, err := tensorboardtest.ReadRun(path)
	require.NoError(t, err)
	return events
}

func wholeEvents(t *testing.T) []string {
	w := &watched{fsys: unsynced{}, path: filepath.Join(t.TempDir(), "run")}
	require.NoError(t, w.do(epochs))
	want := shown(eventsOf(t, w.path))
	require.Len(t, want, 3*epochs)
	return want
}

// After a fault at any operation, the resumed run shows every step once: in a TensorBoard that starts at the end, and
// in one that was open throughout.
func TestEventsSurviveEveryFault(t *testing.T) {
	want := wholeEvents(t)
	counting := faults.New(unsynced{}, 0, faults.Fail)
	require.NoError(t, (&watched{fsys: counting, path: filepath.Join(t.TempDir(), "run")}).do(epochs))
	ops := counting.Ops()
	require.Greater(t, len(ops), 60)
	for _, kind := range everyKind {
		for k, op := range ops {
			if kind == faults.Torn && op.Name != "write" {
				continue // same as Fail
			}
			path := filepath.Join(t.TempDir(), "run")
			_ = (&watched{fsys: faults.New(unsynced{}, k+1, kind), path: path}).do(epochs)
			before, _ := tensorboardtest.ReadRun(path) // there may be no run yet
			again := &watched{fsys: unsynced{}, path: path, ticks: 1000}
			require.NoError(t, again.do(epochs), "%s at %d", kind, k+1)
			after := eventsOf(t, path)
			require.Equal(t, want, shown(after), "%s at %d", kind, k+1)
			fresh := 0
			for after[len(after)-1-fresh].Version == "" { // count events of the last process
				fresh++
			}
			require.Equal(t, want, shown(append(before, after[len(after)-1-fresh:]...)), "%s at %d, seen live",
				kind, k+1)
		}
	}
}

// A run can be stopped several times, inside a record and after its checkpoint.
func TestEventsOfAResumedRun(t *testing.T) {
	want := wholeEvents(t)
	w := &watched{fsys: files.OS{}, path: filepath.Join(t.TempDir(), "run")}
	require.NoError(t, w.do(3))
	name := filepath.Join(w.path, "tensorboard-000001.tfevents")
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, data[:len(data)-5], 0o600))
	again := &watched{fsys: files.OS{}, path: w.path}
	require.NoError(t, again.do(0))
	again = &watched{fsys: files.OS{}, path: w.path}
	require.NoError(t, again.do(epochs))
	events := eventsOf(t, w.path)
	require.Equal(t, want, shown(events))
	require.Equal(t, time.UnixMilli(1_700_000_000_001).UTC(), events[0].Time)
	require.FileExists(t, filepath.Join(w.path, "tensorboard-000003.tfevents"))

	s := look(t, w.path)
	require.Empty(t, s.Logs)
	require.Empty(t, s.Tables)
}

// A run continues after its event files are deleted.
func TestEventFilesMayBeDeleted(t *testing.T) {
	w := &watched{fsys: files.OS{}, path: filepath.Join(t.TempDir(), "run")}
	require.NoError(t, w.do(3))
	require.NoError(t, os.Remove(filepath.Join(w.path, "tensorboard-000001.tfevents")))
	require.NoError(t, (&watched{fsys: files.OS{}, path: w.path}).do(epochs))
	require.Len(t, shown(eventsOf(t, w.path)), 3*(epochs-every))
}

func TestForgottenEventsAreGone(t *testing.T) {
	w := &watched{fsys: files.OS{}, path: filepath.Join(t.TempDir(), "run")}
	require.NoError(t, w.do(3))
	run, err := results.Open(files.OS{}, w.path)
	require.NoError(t, err)
	require.NoError(t, run.ForgetEvents())
	require.NoError(t, run.Close())
	require.Empty(t, eventsOf(t, w.path))
	require.Error(t, run.ForgetEvents())
	_, err = run.Events(w.now, 0)
	require.ErrorContains(t, err, "the run is closed")
}

// board prints what TensorBoard's own reader finds in a run folder.
const board = `
import json, sys
from tensorboard.backend.event_processing import event_accumulator as ea
a = ea.EventAccumulator(sys.argv[1], size_guidance={ea.TENSORS: 0, ea.SCALARS: 0})
a.Reload()
tags = a.Tags()
found = {"scalars": {t: [[e.step, e.value, e.wall_time] for e in a.Scalars(t)] for t in tags["scalars"]},
         "texts": {t: [[e.step, e.tensor_proto.string_val[0].decode()] for e in a.Tensors(t)] for t in tags["tensors"]},
         "plugin": a.SummaryMetadata("decision").plugin_data.plugin_name}
print(json.dumps(found))
`

func TestTensorBoardReadsEvents(t *testing.T) {
	name := pythontest.Find(t, "tensorboard.backend.event_processing.event_accumulator")
	w := &watched{fsys: files.OS{}, path: filepath.Join(t.TempDir(), "run")}
	require.NoError(t, w.do(3))
	require.NoError(t, (&watched{fsys: files.OS{}, path: w.path}).do(epochs))
	var stderr bytes.Buffer
	command := exec.Command(name, "-c", board, w.path)
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, "%s", &stderr)
	var found struct {
		Scalars map[string][][3]float64
		Texts   map[string][][2]any
		Plugin  string
	}
	require.NoError(t, json.Unmarshal(out, &found))
	require.Equal(t, "text", found.Plugin)
	require.Len(t, found.Scalars, 2)
	require.Len(t, found.Scalars["loss/train"], epochs)
	require.Len(t, found.Texts["decision"], epochs)
	for k, e := range found.Scalars["loss/train"] {
		require.Equal(t, [2]float64{float64(10 * k), float64(1 / float32(k+1))}, [2]float64{e[0], e[1]})
		require.InDelta(t, 1_700_000_000, e[2], 1)
		require.Equal(t, [2]any{float64(10 * k), fmt.Sprintf("deepen:%d", k)}, found.Texts["decision"][k])
	}
}
