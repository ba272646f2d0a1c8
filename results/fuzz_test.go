package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// Reading any bytes as a checkpoint gives an error or sections within the file.
func FuzzCheckpoint(f *testing.F) {
	var good bytes.Buffer
	require.NoError(f, writeCheckpoint(&good, map[string]Mark{"a.csv": {Rows: 1}}, func(w *CheckpointWriter) error {
		return w.Bytes("weights", []byte("some weights"))
	}))
	f.Add(good.Bytes())
	f.Add([]byte(`{"sections": [{"name": "streams.json", "length": 0}]}`))
	f.Add([]byte(`{"sections": [{"name": "a", "length": 9223372036854775807}, {"name": "b", "length": 1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkFuzzed(t, data)
		// The checksum would stop nearly all inputs, so also try them with a valid checksum, and as the index of a
		// sound file.
		if len(data) > sha256.Size {
			body := slices.Clone(data[:len(data)-sha256.Size])
			sum := sha256.Sum256(body)
			checkFuzzed(t, append(body, sum[:]...))
		}
		body := binary.LittleEndian.AppendUint32([]byte(checkpointMagic), checkpointVersion)
		body = append(append(body, "{}weights"...), data...)
		body = binary.LittleEndian.AppendUint64(body, uint64(len(data)))
		sum := sha256.Sum256(body)
		checkFuzzed(t, append(body, sum[:]...))
	})
}

func checkFuzzed(t *testing.T, data []byte) {
	var c Checkpoint
	if c.read(bytes.NewReader(data), int64(len(data))) != nil {
		return
	}
	var again bytes.Buffer
	total := 0
	require.NoError(t, writeCheckpoint(&again, c.Streams, func(w *CheckpointWriter) error {
		for _, name := range c.Sections() {
			section, err := c.ReadSection(name)
			require.NoError(t, err)
			total += len(section)
			if name == "" || len(name) > maxSectionName {
				return nil // never written
			}
			if err := w.Bytes(name, section); err != nil {
				return err
			}
		}
		return nil
	}))
	require.LessOrEqual(t, total, len(data))
}

// Reading any bytes as a table gives an error or columns as long as the table.
func FuzzTable(f *testing.F) {
	f.Add([]byte("epoch,loss [nats],action,grown\n1,2.5,\"deepen \"\"a\"\",\",true\n,,,\n2,NaN"))
	f.Add([]byte("a\n-Inf\n1e400\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.csv")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		table, err := ReadStream(files.OS{}, path)
		if err != nil {
			return
		}
		for _, c := range table.Columns {
			checkColumn(t, table, c)
		}
	})
}

func checkColumn(t *testing.T, table *Table, c Column) {
	switch c.Kind {
	case Float, Int:
		values, err := table.Floats(c.Name)
		require.NoError(t, err)
		require.Len(t, values, table.Rows)
	case String:
		values, err := table.Strings(c.Name)
		require.NoError(t, err)
		require.Len(t, values, table.Rows)
	}
}

// A row reads back as written.
func FuzzRow(f *testing.F) {
	f.Add(int64(1), 2.5, `say "no", twice`, true)
	f.Add(int64(math.MinInt64), math.Inf(-1), "", false)
	f.Fuzz(func(t *testing.T, i int64, x float64, text string, b bool) {
		columns := []Column{{Name: "i", Kind: Int}, {Name: "x"}, {Name: "t", Kind: String}, {Name: "b", Kind: Bool},
			{Name: "m"}}
		line, err := formatRow(columns, []any{i, x, text, b, nil})
		if err != nil {
			require.ErrorContains(t, err, "contains a line break")
			return
		}
		require.Equal(t, 1, bytes.Count(line, []byte("\n")))
		cells, err := parseRow(string(line[:len(line)-1]), nil)
		require.NoError(t, err)
		require.Len(t, cells, len(columns))
		require.Equal(t, cell{kind: Int, bits: uint64(i)}, cells[0])
		if x == x {
			require.Equal(t, cell{kind: Float, bits: math.Float64bits(x)}, cells[1])
		}
		require.Equal(t, cell{kind: String, text: text}, cells[2])
		require.Equal(t, b, cells[3].bits == 1)
		require.True(t, cells[4].missing)
	})
}

// Any manifest or registry is read or refused.
func FuzzRunFolder(f *testing.F) {
	text, err := json.Marshal(Manifest{Format: 1})
	require.NoError(f, err)
	f.Add(text, []byte(`{"streams": ["a.csv", "b.jsonl"]}`))
	f.Add(text, []byte(`{"streams": ["../a.csv"]}`))
	f.Fuzz(func(t *testing.T, manifest, registry []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, ManifestFile), manifest, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, registryName), registry, 0o600))
		_, bad := ReadManifest(files.OS{}, dir)
		_, unknown := readRegistry(files.OS{}, dir)
		if bad != nil || unknown != nil {
			return
		}
		run, err := Open(files.OS{}, dir)
		require.NoError(t, err)
		require.NoError(t, run.Rewind(nil))
		require.NoError(t, run.Close())
	})
}

// The tail of a table equals the last rows of the whole table.
func FuzzTail(f *testing.F) {
	f.Add([]byte("a,b [s]\n1,2.5\n2,\"x,\"\"y\"\n"), 1)
	f.Add([]byte("a\n1\n2\n3\n4"), 2)
	f.Add([]byte("a\n\n\n"), 1)
	f.Add(append([]byte("a\n1\n"), bytes.Repeat([]byte("2,"), 3000)...), 3)
	path := filepath.Join(f.TempDir(), "a.csv")
	f.Fuzz(func(t *testing.T, data []byte, rows int) {
		rows = max(0, rows%100)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		tail, err := ReadStreamTail(files.OS{}, path, rows)
		whole, bad := ReadStream(files.OS{}, path)
		if bad != nil {
			return // the fault may be before the tail
		}
		require.NoError(t, err)
		require.Equal(t, min(rows, whole.Rows), tail.Rows)
		require.Equal(t, whole.Torn, tail.Torn)
		for _, c := range whole.Columns {
			if c.Kind != Float {
				continue
			}
			all, err := whole.Floats(c.Name)
			require.NoError(t, err)
			last, err := tail.Floats(c.Name)
			require.NoError(t, err)
			for k, v := range last {
				require.Equal(t, math.Float64bits(all[whole.Rows-tail.Rows+k]), math.Float64bits(v))
			}
		}
	})
}
