package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// The 25 sweeps of DL2 have cases that are valid with the template and differ from one another.
func TestSweepsOfDL2AreRight(t *testing.T) {
	folder := filepath.Join("..", "scenarios", "dl2")
	template := filepath.Join(folder, "template.toml")
	readme := string(must(os.ReadFile(filepath.Join(folder, "README.md"))))
	sweeps := slices.DeleteFunc(must(filepath.Glob(filepath.Join(folder, "*.toml"))),
		func(path string) bool { return path == template })
	require.Len(t, sweeps, 25)
	for _, path := range sweeps {
		require.Contains(t, readme, "| `"+filepath.Base(path)+"` |")
		text := string(must(os.ReadFile(path)))
		require.True(t, strings.HasPrefix(text, "# "), path)
		digests := map[string]string{}
		for _, c := range must(ReadCases(files.OS{}, path)) {
			l, err := readLearningJobs(template, append([]string{"workloads.train_count=1",
				"workloads.test_count=1", "workloads.validation_count=1"}, c.Set...))
			require.NoError(t, err, "%s: %s", path, c.Name)
			if was, taken := digests[Digest(l)]; taken {
				require.Equal(t, "speeds.toml", filepath.Base(path), "%s: cases %s and %s are equal", path, was, c.Name)
			}
			digests[Digest(l)] = c.Name
		}
	}
}
