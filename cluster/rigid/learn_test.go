package rigid

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// The description of the workloads from which a scheduler learns states how jobs on parts of GPUs count.
func TestLessonsCountPartsOfGPUs(t *testing.T) {
	const header = "id,user,vc,gpus,share [1/1000],submit [s],duration [s]\n"
	for rows, want := range map[string]string{
		"1,u,,1,250,0,100\n2,u,,2,,5,100\n": "Jobs that request a part of a GPU: 1. They count as jobs of whole GPUs.",
		"1,u,,1,,0,100\n2,u,,2,,5,100\n":    "",
	} {
		path := filepath.Join(t.TempDir(), "jobs.csv")
		require.NoError(t, os.WriteFile(path, []byte(header+rows), 0o600))
		f := New()
		f.fsys, f.Cluster.Nodes, f.Workload.Traces = files.OS{}, 2, []string{path}
		f.EnsureDefaults()
		l := &lessons{traces: map[string]bool{}}
		_, err := f.workloads(l)
		require.NoError(t, err)
		if want == "" {
			require.NotContains(t, l.String(), "part of a GPU")
			continue
		}
		require.Contains(t, l.String(), want)
	}
}
