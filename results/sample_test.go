package results_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// A sample spreads over the table, whatever its size, and ends with the last row.
func TestReadStreamSample(t *testing.T) {
	for _, rows := range []int{0, 1, 100, 5000, 20_000} {
		run := newRun(t)
		stream, err := run.Stream("steps", []results.Column{{Name: "step", Kind: results.Int}, {Name: "value"}})
		require.NoError(t, err)
		for k := range rows {
			require.NoError(t, stream.Append(k, float64(k)/3))
		}
		table, err := results.ReadStreamSample(files.OS{}, run.Path("steps.csv"), 60)
		require.NoError(t, err)
		steps, err := table.Floats("step")
		require.NoError(t, err)
		if rows < 1000 {
			require.Len(t, steps, rows)
			continue
		}
		require.Len(t, steps, 61)
		require.Equal(t, float64(rows-1), steps[60])
		for k, step := range steps[:60] {
			require.InDelta(t, float64(rows*k)/60, step, float64(rows)/40, "row %d of %d", k, rows)
		}
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	for name, text := range map[string]string{"no header": "", "no row": "a,b\n1,\"\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := results.ReadStreamSample(files.OS{}, path, 60)
		require.ErrorContains(t, err, path, name)
	}
}
