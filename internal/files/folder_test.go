package files_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

func TestWhatStandsInAFolder(t *testing.T) {
	folder := t.TempDir()
	none, err := files.Entries(files.OS{}, filepath.Join(folder, "none"))
	require.NoError(t, err)
	require.Empty(t, none)
	path := filepath.Join(folder, "a.txt")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	entries, err := files.Entries(files.OS{}, folder)
	require.NoError(t, err)
	require.True(t, files.HasName(entries, "a.txt"))
	require.False(t, files.HasName(entries, "a"))
	_, err = files.Entries(files.OS{}, path)
	require.ErrorContains(t, err, "a file with this name already exists")
	_, err = files.Entries(files.OS{}, filepath.Join(path, "below"))
	require.Error(t, err, "a file is no folder")
}

// IsLeftover recognises temporary files of killed writers by name, and no other files.
func TestLeftoversAreKnown(t *testing.T) {
	folder := t.TempDir()
	var temporary string
	require.Panics(t, func() {
		_ = files.WriteAtomic(watched{files.OS{}, &temporary}, filepath.Join(folder, "table.csv"),
			func(w io.Writer) error { panic("killed") })
	})
	require.NotEmpty(t, temporary)
	for name, is := range map[string]bool{temporary: true, "table.csv": false, "a.tmp": false, ".hidden": false} {
		require.Equal(t, is, files.IsLeftover(name), name)
		require.Equal(t, is, files.IsLeftoverOf(name, "table.csv"), name)
		require.False(t, files.IsLeftoverOf(name, "csv"), name)
	}
}

// watched records the name of the last file created.
type watched struct {
	files.FS
	name *string
}

func (w watched) Create(path string) (files.File, error) {
	*w.name = filepath.Base(path)
	return w.FS.Create(path)
}

func TestTheHolderIsNamed(t *testing.T) {
	require.NotEmpty(t, files.Host())
	require.True(t, strings.HasSuffix(files.Holder(), " on host "+files.Host()))
}

// A file in a missing folder is an error that names the folder and says what to do.
func TestMissingFolderOfAFile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "none")
	err := files.WriteAtomic(files.OS{}, filepath.Join(folder, "x"), func(io.Writer) error { return nil })
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "folder "+folder+" does not exist; create it, or choose another")
	require.NoDirExists(t, folder)
}
