package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// A decider that is a path is the program at that path, next to the file or in the working directory. Its text is part
// of the job's digest.
func TestDecidersThatArePrograms(t *testing.T) {
	folder := t.TempDir()
	path, program := filepath.Join(folder, "job.toml"), filepath.Join(folder, "mine.py")
	require.NoError(t, os.WriteFile(path, []byte("[adapt]\ndecider = \"./mine.py\"\nkinds = [\"deepen\"]\n"), 0o666))
	_, err := ReadJob(files.OS{}, path, nil)
	require.ErrorContains(t, err, "job.toml:2")
	require.ErrorContains(t, err, program+" does not exist either")
	digests := map[string]bool{}
	for _, text := range []string{"one", "two"} {
		require.NoError(t, os.WriteFile(program, []byte(text), 0o666))
		j, err := ReadJob(files.OS{}, path, nil)
		require.NoError(t, err)
		require.Equal(t, program, j.Adapt.Decider)
		require.True(t, j.MayMakeAnyNetwork())
		digests[j.Digest()] = true
		_, err = j.Decider()
		require.NoError(t, err)
	}
	require.Len(t, digests, 2)
	require.NoError(t, os.WriteFile(path, []byte("[adapt]\ndecider = \"randm\"\n"), 0o666))
	_, err = ReadJob(files.OS{}, path, nil)
	require.ErrorContains(t, err, `must be one of "none"`)
	require.ErrorContains(t, err, "random")
	require.NoError(t, os.WriteFile(path, []byte("[adapt]\ndecider = \"./mine.py\"\npolicy = \"p\"\n"), 0o666))
	_, err = ReadJob(files.OS{}, path, nil)
	require.ErrorContains(t, err, `used only by the decider "policy"`)
}
