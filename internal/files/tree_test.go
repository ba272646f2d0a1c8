package files_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
)

// grown makes a folder with files, folders and a link to a folder outside.
func grown(t *testing.T) (folder, outside string) {
	top := t.TempDir()
	folder, outside = filepath.Join(top, "in"), filepath.Join(top, "out")
	for _, path := range []string{"in/a/b", "in/empty", "out"} {
		require.NoError(t, os.MkdirAll(filepath.Join(top, path), 0o700))
	}
	for _, path := range []string{"in/x.csv", "in/a/y.csv", "in/a/b/z.txt", "out/kept"} {
		require.NoError(t, os.WriteFile(filepath.Join(top, path), nil, 0o600))
	}
	require.NoError(t, os.Symlink(outside, filepath.Join(folder, "a", "link")))
	return folder, outside
}

func TestRemoveAllDeletesLinksAndNotWhatTheyLeadTo(t *testing.T) {
	folder, outside := grown(t)
	require.NoError(t, files.RemoveAll(files.OS{}, folder))
	require.NoDirExists(t, folder)
	require.FileExists(t, filepath.Join(outside, "kept"))
	require.NoError(t, files.RemoveAll(files.OS{}, folder), "nothing is there")
}

func TestRemoveAllAtEveryFault(t *testing.T) {
	for at := 1; ; at++ {
		folder, outside := grown(t)
		fsys := faults.New(files.OS{}, at, faults.Fail)
		err := files.RemoveAll(fsys, folder)
		require.FileExists(t, filepath.Join(outside, "kept"))
		if !fsys.Fired() {
			require.NoError(t, err)
			assert.Greater(t, at, 10)
			return
		}
		if err != nil {
			require.ErrorIs(t, err, faults.ErrInjected)
			require.NoError(t, files.RemoveAll(files.OS{}, folder))
		}
		require.NoDirExists(t, folder)
	}
}

func TestWalkAndGlobThroughTheSeam(t *testing.T) {
	folder, _ := grown(t)
	var walked []string
	require.NoError(t, fs.WalkDir(files.IOFS(files.OS{}), folder,
		func(path string, entry fs.DirEntry, err error) error {
			if !entry.IsDir() {
				walked = append(walked, path)
			}
			return err
		}))
	expected := []string{"a/b/z.txt", "a/link", "a/y.csv", "x.csv"}
	for k := range expected {
		expected[k] = filepath.Join(folder, expected[k])
	}
	assert.Equal(t, expected, walked)
	for _, pattern := range []string{"*.csv", "*/y.csv", "[", "none*"} {
		want, wantErr := filepath.Glob(filepath.Join(folder, pattern))
		got, err := fs.Glob(files.IOFS(files.OS{}), filepath.Join(folder, pattern))
		assert.Equal(t, want, got)
		assert.Equal(t, wantErr == nil, err == nil, pattern)
	}
}

func TestPrivateFilesAndFolders(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "token")
	for _, text := range []string{"one", "two"} {
		require.NoError(t, files.WritePrivate(files.OS{}, path, writing(text)))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.EqualValues(t, 0o600, info.Mode().Perm())
	}
	temporary, err := files.OS{}.MkdirTemp(folder, "graft-")
	require.NoError(t, err)
	info, err := os.Stat(temporary)
	require.NoError(t, err)
	assert.EqualValues(t, 0o700, info.Mode().Perm())
	fsys := faults.New(files.OS{}, 1, faults.DiskFull)
	_, err = fsys.MkdirTemp(folder, "graft-")
	require.ErrorIs(t, err, faults.ErrInjected)
	_, err = fsys.CreatePrivate(filepath.Join(folder, "b"))
	require.ErrorIs(t, err, faults.ErrInjected)
}
