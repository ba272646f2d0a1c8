package results_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// ReadStreamTail returns the last rows of tables of any length.
func TestReadStreamTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	for _, total := range []int{0, 1, 2, 57, 400} {
		text := "row,note,value [s]\n"
		for k := range total {
			text += fmt.Sprintf("%d,\"%s\",%d.5\n", k, strings.Repeat("x", k%50), k)
		}
		for _, torn := range []string{"", "400,\"to"} {
			require.NoError(t, os.WriteFile(path, []byte(text+torn), 0o600))
			whole, err := results.ReadStream(files.OS{}, path)
			require.NoError(t, err)
			all, err := whole.Floats("value")
			require.NoError(t, err)
			for _, rows := range []int{0, 1, 3, 200, 1000} {
				tail, err := results.ReadStreamTail(files.OS{}, path, rows)
				require.NoError(t, err)
				require.Equal(t, min(rows, total), tail.Rows)
				require.Equal(t, torn != "", tail.Torn)
				got, err := tail.Floats("value")
				require.NoError(t, err)
				require.Equal(t, all[total-tail.Rows:], got)
				if tail.Rows > 0 {
					require.Equal(t, whole.Columns, tail.Columns)
				}
			}
		}
	}
}

// Reading the tail of an invalid file is an error, even if the file is short.
func TestReadStreamTailOfWhatIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	for name, text := range map[string]string{
		"nothing": "", "no line": "epoch,time", "too few values": "a,b\n1,2\n1\n", "no value": "a,b\n1,two\n",
		"zeros": "a\n\x00\x00\n",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := results.ReadStreamTail(files.OS{}, path, 2)
		require.ErrorContains(t, err, path, name)
	}
	_, err := results.ReadStreamTail(files.OS{}, path+".none", 2)
	require.ErrorIs(t, err, os.ErrNotExist)
}
