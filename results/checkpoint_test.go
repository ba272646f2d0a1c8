package results_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

func nothing(*results.CheckpointWriter) error { return nil }

// sections returns a function that writes a checkpoint with the given text as weights.
func sections(text string) func(*results.CheckpointWriter) error {
	return func(w *results.CheckpointWriter) error {
		out, err := w.Section("weights")
		if err != nil {
			return err
		}
		for _, c := range []byte(text) {
			if _, err := out.Write([]byte{c}); err != nil {
				return err
			}
		}
		return errors.Join(w.JSON("state.json", map[string]string{"weights": text}), w.Bytes("empty", nil))
	}
}

// loaded returns the weights of the newest checkpoint.
func loaded(t testing.TB, run *results.Run) (string, *results.Checkpoint) {
	c, err := run.LoadCheckpoint()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	data, err := c.ReadSection("weights")
	require.NoError(t, err)
	return string(data), c
}

func TestCheckpointRoundTrip(t *testing.T) {
	run := newRun(t)
	_, err := run.LoadCheckpoint()
	require.ErrorIs(t, err, results.ErrNoCheckpoint)
	s, err := run.Stream("epochs", columns)
	require.NoError(t, err)
	require.NoError(t, s.Append(1, 1.0, "", true))
	require.NoError(t, run.SaveCheckpoint("epoch-0001", sections("some weights")))

	text, c := loaded(t, reopen(t, run))
	assert.Equal(t, "some weights", text)
	assert.Equal(t, 1, c.Number)
	assert.Equal(t, "epoch-0001", c.Name)
	assert.Empty(t, c.Damaged)
	assert.Equal(t, map[string]results.Mark{"epochs.csv": {Rows: 1, SHA256: s.Digest()}}, c.Streams)
	assert.Equal(t, []string{"weights", "state.json", "empty"}, c.Sections())
	var state map[string]string
	require.NoError(t, c.JSON("state.json", &state))
	assert.Equal(t, map[string]string{"weights": "some weights"}, state)
	require.Error(t, c.JSON("weights", &state))
	section, err := c.Section("weights")
	require.NoError(t, err)
	part := make([]byte, 7)
	_, err = section.ReadAt(part, 5)
	require.NoError(t, err)
	assert.Equal(t, "weights", string(part))
	_, err = c.ReadSection("optimizer")
	assert.ErrorContains(t, err, `checkpoint epoch-0001 has no section "optimizer"`)
}

func TestTheLastGoodCheckpointsAreKept(t *testing.T) {
	run := newRun(t)
	run.Keep = 3
	for k := range 5 {
		require.NoError(t, run.SaveCheckpoint("same-name", sections(fmt.Sprint(k))))
	}
	names := func() []string {
		list, err := filepath.Glob(run.Path("checkpoints/*"))
		require.NoError(t, err)
		for k := range list {
			list[k] = filepath.Base(list[k])
		}
		return list
	}
	assert.Equal(t, []string{"000003-same-name.ckpt", "000004-same-name.ckpt", "000005-same-name.ckpt"}, names())

	run = reopen(t, run) // the default keeps two
	damage(t, run.Path("checkpoints/000005-same-name.ckpt"))
	text, c := loaded(t, run)
	assert.Equal(t, "3", text)
	require.Len(t, c.Damaged, 1)
	require.ErrorIs(t, c.Damaged[0], results.ErrDamaged)
	require.ErrorContains(t, c.Damaged[0], "000005-same-name.ckpt")
	require.NoError(t, run.SaveCheckpoint("next", sections("new")))
	assert.Equal(t, []string{"000004-same-name.ckpt", "000005-same-name.ckpt", "000006-next.ckpt"}, names(),
		"a damaged one is none of the two")
	require.NoError(t, run.SaveCheckpoint("next", sections("newer")))
	assert.Equal(t, []string{"000006-next.ckpt", "000007-next.ckpt"}, names())

	damage(t, run.Path("checkpoints/000006-next.ckpt"))
	damage(t, run.Path("checkpoints/000007-next.ckpt"))
	_, err := run.LoadCheckpoint()
	require.NotErrorIs(t, err, results.ErrNoCheckpoint, "a restart needs a request")
	require.ErrorIs(t, err, results.ErrDamaged)
	require.ErrorContains(t, err, "all 2 checkpoints are unreadable")
	require.ErrorContains(t, err, "000006-next.ckpt")
}

// damage flips one bit of a file.
func damage(t testing.TB, path string) {
	data := []byte(read(t, path))
	data[len(data)/2] ^= 4
	write(t, string(data), path)
}

// A checkpoint with a changed bit, or truncated anywhere, is refused.
func TestEveryDamageIsFound(t *testing.T) {
	run := newRun(t)
	require.NoError(t, run.SaveCheckpoint("x", sections("w")))
	good := []byte(read(t, run.Path("checkpoints/000001-x.ckpt")))
	path := filepath.Join(t.TempDir(), "x.ckpt")
	for k := range good {
		bad := bytes.Clone(good)
		bad[k] ^= 1 << (k % 8)
		write(t, string(bad), path)
		_, err := results.ReadCheckpoint(files.OS{}, path)
		require.Error(t, err, "byte %d", k)
		write(t, string(good[:k]), path)
		_, err = results.ReadCheckpoint(files.OS{}, path)
		require.ErrorIs(t, err, results.ErrDamaged, "%d bytes", k)
	}
	write(t, string(good)+"x", path)
	_, err := results.ReadCheckpoint(files.OS{}, path)
	require.ErrorIs(t, err, results.ErrDamaged)
}

func TestCheckpointWriterRefuses(t *testing.T) {
	run := newRun(t)
	cases := map[string]func(*results.CheckpointWriter) error{
		"section name \"\" has 0 bytes": func(w *results.CheckpointWriter) error { return w.Bytes("", nil) },
		"duplicate section \"a\"": func(w *results.CheckpointWriter) error {
			return errors.Join(w.Bytes("a", nil), w.Bytes("a", nil))
		},
		"is reserved; choose another name": func(w *results.CheckpointWriter) error {
			return w.JSON("streams.json", 1)
		},
		"section name \"streams.json\" is reserved": func(w *results.CheckpointWriter) error {
			return w.Bytes("streams.json",
				nil)
		},
		"another section has started": late,
		"a reason of its own": func(*results.CheckpointWriter) error {
			return errors.New("a reason of its own")
		},
		"write fewer sections": many,
	}
	for says, parts := range cases {
		err := run.SaveCheckpoint("x", parts)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "save checkpoint x: ")
		left, err := os.ReadDir(run.Path("checkpoints"))
		require.NoError(t, err)
		require.Empty(t, left)
	}
}

func late(w *results.CheckpointWriter) error {
	first, err := w.Section("a")
	if err != nil {
		return err
	}
	if _, err := w.Section("b"); err != nil {
		return err
	}
	_, err = io.WriteString(first, "late")
	return err
}

func many(w *results.CheckpointWriter) error {
	for k := range 8000 {
		if err := w.Bytes(fmt.Sprintf("%0150d", k), nil); err != nil {
			return err
		}
	}
	return nil
}

// Rewind restores tables and logs to a checkpoint, bit for bit. It leaves the program's log and other files alone.
func TestRewind(t *testing.T) {
	run := newRun(t)
	step := func(k int) {
		s, err := run.Stream("epochs", columns)
		require.NoError(t, err)
		require.NoError(t, s.Append(k, float64(k), "", true))
		require.NoError(t, appendJSON(run, "events", k))
		require.NoError(t, appendJSON(run, "log", k))
	}
	step(1)
	require.NoError(t, run.SaveCheckpoint("one", sections("one")))
	table, events := read(t, run.Path("epochs.csv")), read(t, run.Path("events.jsonl"))
	step(2)
	require.NoError(t, appendJSON(run, "later", "gone"))
	write(t, "a,b", run.Path("users.csv"))

	run = reopen(t, run)
	_, c := loaded(t, run)
	for range 2 {
		require.NoError(t, run.Rewind(c))
		assert.Equal(t, table, read(t, run.Path("epochs.csv")))
		assert.Equal(t, events, read(t, run.Path("events.jsonl")))
		assert.Empty(t, read(t, run.Path("later.jsonl")))
		assert.Equal(t, "1\n2\n", read(t, run.Path("log.jsonl")))
		assert.Equal(t, "a,b", read(t, run.Path("users.csv")))
	}
	step(2)
	require.NoError(t, run.Rewind(nil))
	assert.Equal(t, head, read(t, run.Path("epochs.csv")))
	assert.Empty(t, read(t, run.Path("events.jsonl")))
}

func TestRewindFindsLostRows(t *testing.T) {
	cases := map[string]struct {
		lose func(t *testing.T, path string)
		says string
	}{
		"a row less": {func(t *testing.T, path string) { write(t, head, path) },
			"the file has only 0, so rows were lost"},
		"another row": {func(t *testing.T, path string) { write(t, head+"2,1.0,\"\",true\n", path) },
			"the rows have changed since they were written"},
		"the table is gone": {func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
			"file epochs.csv is missing, but the checkpoint counts 1 rows"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			run := newRun(t)
			s, err := run.Stream("epochs", columns)
			require.NoError(t, err)
			require.NoError(t, s.Append(1, 1.0, "", true))
			require.NoError(t, run.SaveCheckpoint("one", sections("one")))
			require.NoError(t, run.Close())
			c.lose(t, run.Path("epochs.csv"))
			before, _ := os.ReadFile(run.Path("epochs.csv"))
			run = reopen(t, run)
			_, checkpoint := loaded(t, run)
			require.ErrorContains(t, run.Rewind(checkpoint), c.says)
			after, _ := os.ReadFile(run.Path("epochs.csv"))
			assert.Equal(t, before, after)
		})
	}
}
