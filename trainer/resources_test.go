package trainer_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/torch"
	"graft/trainer"
)

// smallForward is the number of floating-point operations of the small network on an
// image of 3x16x16, by hand: convolutions with bias, batch normalisations (4 a value), ReLUs,
// pools (one for each value of a window), dropout and the linear layer.
const smallForward = 6*14*14*(2*3*9+1) + 6*14*14*4 + 6*14*14 + 6*7*7*4 +
	8*5*5*(2*6*9+1) + 8*5*5*4 + 8*5*5 + 8*5*5 +
	8 + 4*(2*8+1)

// A job that does not adapt computes three forward passes for each training image, and one for each image of each
// evaluation.
func TestOperationsAreCounted(t *testing.T) {
	book, o := &memory{}, plan()
	o.Timeline.Events = nil
	var images, validated int
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, n := small(t, s, 1)
		forward, err := n.Operations()
		require.Equal(t, int64(smallForward), forward)
		images, validated = set.Train.Count, set.Validation.Count
		return err
	}))
	got := run(t, o, book)
	whole := len(book.rows) - 1
	last := int(got.Steps)%perEpoch*o.Batch + whole*images // the budget ends within an epoch
	require.Equal(t, int64(last), got.Images)
	require.Equal(t, float64((3*last+len(book.rows)*validated)*smallForward), got.FLOP)
	require.Equal(t, got.Used, got.DeviceTime, "on one device")
	require.Equal(t, float64(got.Images)/got.Used.Seconds(), got.ImagesPerSecond)
	require.Zero(t, got.Joules, "the power of the clock's device is unknown")
	for k, row := range book.rows[:whole] {
		require.Equal(t, int64((k+1)*images), row.Images)
		require.Equal(t, float64((k+1)*(3*images+validated)*smallForward), row.FLOP)
		require.Equal(t, row.Time, row.DeviceTime)
	}
}

// Devices count while the job holds them. The larger network's outputs before a down cost a forward pass over the
// training images.
func TestDevicesAreCounted(t *testing.T) {
	clock := steady(t)
	clock.Profile.Watts = 250
	with, without := &memory{}, &memory{}
	got, err := runJob(t, plan(), trainer.Parts{Recorder: with, Clock: clock}, "widen:conv2:12", "none")
	require.NoError(t, err)
	up, down := with.notes[1].Time, with.notes[4].Time
	require.Equal(t, "down", string(with.notes[4].Event))
	require.Equal(t, got.Used+down-up, got.DeviceTime)
	require.InDelta(t, 250*got.DeviceTime.Seconds(), got.Joules, 1e-9)
	o := plan()
	o.Distill.Off = true
	run(t, o, without, "widen:conv2:12", "none")
	k := with.notes[4].Epoch // the last rows before the down are equal
	require.Equal(t, without.rows[k-1], with.rows[k-1])
	require.Greater(t, with.rows[k].FLOP, without.rows[k].FLOP)
}

// The work of an abandoned epoch counts.
func TestAbandonedEpochsAreCounted(t *testing.T) {
	o, book := plan(), &memory{}
	o.Abandon = true
	run(t, o, book)
	up := book.notes[1]
	require.Positive(t, up.Step)
	before, after := book.rows[up.Epoch-1], book.rows[up.Epoch]
	epoch := book.rows[0].Images
	require.Equal(t, before.Images+int64(up.Step*o.Batch)+epoch, after.Images)
	require.Equal(t, before.FLOP+book.rows[0].FLOP+float64(3*up.Step*o.Batch*smallForward), after.FLOP)
}

// A run of an older graft, which did not count work, is read and continues without counting: sums of its rest would
// look like sums of the whole.
func TestOlderRunsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	columns := `epoch,time [s],steps,train_loss [nats],train_accuracy,validation_loss ` +
		`[nats],validation_accuracy,learning_rate,parameters,devices` + "\n"
	require.NoError(t, inFolder(t, files.OS{}, path, func(*torch.Scope, *trainer.Folder) error { return nil }))
	require.NoError(t, os.WriteFile(filepath.Join(path, "epochs.csv"), []byte(columns), 0o644))
	whole := &memory{}
	require.NoError(t, inFolder(t, files.OS{}, path, func(s *torch.Scope, folder *trainer.Folder) error {
		o := brief()
		got, err := runJob(t, o, trainer.Parts{Recorder: whole, Now: ticking()})
		require.NoError(t, err)
		older := sections(whole.saves[0])
		position := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(older["position.json"], &position))
		for _, key := range []string{"images", "flop", "device_ns"} {
			require.Contains(t, position, key)
			delete(position, key)
		}
		older["position.json"], err = json.Marshal(position)
		require.NoError(t, err)
		saved, err := trainer.ReadSavedJob(older)
		require.NoError(t, err)
		clock := steady(t)
		clock.Time = saved.Time
		j, err := trainer.Resume(s, saved, parts(t, s, trainer.Parts{Clock: clock, Recorder: folder}),
			model.Placement{}, o)
		require.NoError(t, err)
		resumed, err := j.Run(context.Background())
		require.NoError(t, err)
		require.Equal(t, got.Digest, resumed.Digest)
		require.Equal(t, trainer.Resources{}, resumed.Resources)
		require.Zero(t, resumed.ImagesPerSecond)
		return nil
	}))
	rows, _, err := trainer.ReadHistory(files.OS{}, path)
	require.NoError(t, err)
	require.NotEmpty(t, rows)
	text, err := os.ReadFile(filepath.Join(path, "epochs.csv"))
	require.NoError(t, err)
	require.Equal(t, columns, string(text[:len(columns)]))
	for k, row := range rows {
		want := whole.rows[len(whole.rows)-len(rows)+k]
		require.Positive(t, want.FLOP)
		want.Images, want.FLOP, want.DeviceTime, want.BatchRates = 0, 0, time.Duration(0), trainer.BatchRates{}
		require.Equal(t, want, row)
	}
}
