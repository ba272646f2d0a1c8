package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// rooted returns a folder next to a secret file, with links that lead out of the folder.
func rooted(t *testing.T) (root string) {
	top := t.TempDir()
	root = filepath.Join(top, "root")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "run"), 0o700))
	for path, text := range map[string]string{"secret": "no", "root/run/a": "yes"} {
		require.NoError(t, os.WriteFile(filepath.Join(top, path), []byte(text), 0o600))
	}
	for name, to := range map[string]string{
		"absolute": filepath.Join(top, "secret"), "relative": "../secret", "folder": "..", "inside": "run/a",
		"loop": "loop",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(root, name)))
	}
	return root
}

func TestBeneathReadsOnlyWhatLiesBeneath(t *testing.T) {
	root := rooted(t)
	fsys := files.Beneath(root)
	for _, name := range []string{"run/a", "inside"} {
		text, err := files.ReadAll(fsys, filepath.Join(root, name), 100)
		require.NoError(t, err)
		assert.Equal(t, "yes", string(text))
	}
	for _, name := range []string{"absolute", "relative", "folder", "folder/secret", "loop", "../secret", "..",
		"missing"} {
		path := root + "/" + name
		_, err := fsys.Open(path)
		assert.Error(t, err, name)
		_, err = fsys.Stat(path)
		assert.Error(t, err, name)
		_, err = fsys.ReadDir(path)
		assert.Error(t, err, name)
	}
	_, err := fsys.Stat(filepath.Join(root, "../secret"))
	require.ErrorIs(t, err, files.ErrOutside)
	_, err = fsys.Stat("elsewhere") // a relative path below an absolute root
	require.ErrorIs(t, err, files.ErrOutside)
	_, err = fsys.Stat(filepath.Join(root, "missing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestBeneathListsAndWritesNothing(t *testing.T) {
	root := rooted(t)
	t.Chdir(filepath.Dir(root))
	for _, root := range []string{root, "root", "./root/"} {
		fsys := files.Beneath(root)
		entries, err := fsys.ReadDir(filepath.Clean(root))
		require.NoError(t, err)
		assert.True(t, files.HasName(entries, "run"))
		info, err := fsys.Stat(filepath.Join(root, "run"))
		require.NoError(t, err)
		assert.True(t, info.IsDir())
		_, err = fsys.Create(filepath.Join(root, "b"))
		require.ErrorIs(t, err, files.ErrReadOnly)
	}
	_, err := files.Beneath("nowhere").ReadDir("nowhere")
	require.ErrorIs(t, err, os.ErrNotExist)
}
