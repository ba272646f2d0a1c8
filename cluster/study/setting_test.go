package study_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/internal/files"
	"graft/torch/weights"
)

// A learned scheduler warns about another cluster, and about a trace from its training, whatever the file's name.
func TestLearnedSchedulersSayWhereTheyLearned(t *testing.T) {
	folder := t.TempDir()
	trace := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	setting := func(nodes int, traces ...string) study.Setting {
		s := study.NewSetting(map[string]any{"nodes": nodes, "slot_seconds": 20.0})
		require.NoError(t, s.Read(files.OS{}, traces...))
		return s
	}
	set := &weights.Set{Metadata: map[string]string{}}
	require.NoError(t, setting(96, trace("a.csv", "1"), trace("b.csv", "2")).Save(set))
	path := filepath.Join(folder, "x.safetensors")
	require.NoError(t, weights.Write(files.OS{}, path, set))
	l, err := study.ReadLearned(files.OS{}, path,
		func(string, *weights.Set) (string, bool, error) { return "kind", true, nil })
	require.NoError(t, err)
	require.Empty(t, l.Remarks("x", setting(96, trace("c.csv", "3"))))
	require.Equal(t, []string{"Warning: the scheduler x was trained on another cluster: nodes was 96 and is now 4."},
		l.Remarks("x", setting(4)))
	require.Contains(t, l.Remarks("x", setting(96, trace("copy.csv", "2")))[0], "was trained on the trace")
	built := study.Learned[string]{Kind: "fifo"}
	require.Empty(t, built.Remarks("fifo", setting(4)))

	set.Metadata["graft.setting"] = "{"
	require.NoError(t, weights.Write(files.OS{}, path, set))
	_, err = study.ReadLearned(files.OS{}, path, func(string, *weights.Set) (string, bool, error) {
		return "",
			true, nil
	})
	require.ErrorContains(t, err, "graft.setting of the file is damaged")
}
