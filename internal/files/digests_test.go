package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// opens counts how often files are read.
type opens struct {
	OS
	count int
}

func (o *opens) Open(path string) (File, error) { o.count++; return o.OS.Open(path) }

// A file is read once while it is unchanged. A change is noticed, also of a file of equal size and time.
func TestDigestsReadAFileOnce(t *testing.T) {
	path, fsys, now := filepath.Join(t.TempDir(), "weights"), &opens{}, time.Now()
	long := now.Add(-time.Hour)
	write := func(text string) {
		require.NoError(t, os.WriteFile(path+".new", []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path+".new", long, long))
		require.NoError(t, os.Rename(path+".new", path))
	}
	d := NewDigests(fsys, func() time.Time { return now })
	digest := func() string {
		got, err := d.SHA256(path)
		require.NoError(t, err)
		return got
	}
	write("one")
	one := digest()
	require.Equal(t, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed", one)
	require.Equal(t, one, digest())
	require.Equal(t, 1, fsys.count)
	_, err := d.Of("other", path, func() (string, error) { return "another kind", nil })
	require.NoError(t, err)
	require.Equal(t, one, digest())

	write("two")
	require.NotEqual(t, one, digest())
	require.Equal(t, 2, fsys.count)

	require.NoError(t, os.WriteFile(path, []byte("new"), 0o600)) // another change can have the same time
	now = time.Now()
	digest()
	digest()
	require.Equal(t, 4, fsys.count)
	require.NoError(t, os.Remove(path))
	_, err = d.SHA256(path)
	require.ErrorIs(t, err, os.ErrNotExist)
}
