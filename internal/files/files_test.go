package files_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

func TestWriteAtomicMakesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.json")
	for _, text := range []string{"first", "second, longer", ""} {
		require.NoError(t, files.WriteAtomic(files.OS{}, path, writing(text)))
		data, err := files.ReadAll(files.OS{}, path, 100)
		require.NoError(t, err)
		assert.Equal(t, text, string(data))
	}
}

func TestWriteAtomicStepsAroundLeftovers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result")
	leftover := filepath.Join(filepath.Dir(path), ".result.0.tmp")
	require.NoError(t, os.WriteFile(leftover, []byte("half"), 0o600))
	require.NoError(t, files.WriteAtomic(files.OS{}, path, writing("whole")))
	half, err := os.ReadFile(leftover)
	require.NoError(t, err)
	assert.Equal(t, "half", string(half), "another writer may be using it")
}

func TestWriteAtomicRemovesTheTemporaryFileOnPanic(t *testing.T) {
	dir := t.TempDir()
	assert.Panics(t, func() {
		_ = files.WriteAtomic(files.OS{}, filepath.Join(dir, "x"), func(io.Writer) error { panic("in write") })
	})
	entries, err := files.OS{}.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestWriteAtomicInAMissingFolder(t *testing.T) {
	err := files.WriteAtomic(files.OS{}, filepath.Join(t.TempDir(), "no", "x"), writing(""))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestWriteNewRefusesToReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, files.WriteNew(files.OS{}, path, writing("first")))
	for range 2 {
		require.ErrorIs(t, files.WriteNew(files.OS{}, path, writing("second")), fs.ErrExist)
	}
	data, err := files.ReadAll(files.OS{}, path, 100)
	require.NoError(t, err)
	assert.Equal(t, "first", string(data))
	entries, err := files.OS{}.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing is left of the others")
}

// One of many concurrent writers succeeds, and the file has its content.
func TestWriteNewByMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	var all sync.WaitGroup
	winners := make(chan string, 8)
	for n := range 8 {
		all.Go(func() {
			text := strings.Repeat(strconv.Itoa(n), 100_000)
			if err := files.WriteNew(files.OS{}, path, writing(text)); err == nil {
				winners <- text
			} else {
				assert.ErrorIs(t, err, fs.ErrExist)
			}
		})
	}
	all.Wait()
	require.Len(t, winners, 1)
	data, err := files.ReadAll(files.OS{}, path, 1<<20)
	require.NoError(t, err)
	assert.Equal(t, <-winners, string(data))
}

// unlinked is a file system without hard links.
type unlinked struct{ files.OS }

func (unlinked) Link(from, to string) error {
	return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM}
}

func TestWriteNewWithoutLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, files.WriteNew(unlinked{}, path, writing("first")))
	require.ErrorIs(t, files.WriteNew(unlinked{}, path, writing("second")), fs.ErrExist)
	data, err := files.ReadAll(files.OS{}, path, 100)
	require.NoError(t, err)
	assert.Equal(t, "first", string(data))
}

func TestMoveAsideTakesTheFirstFreeName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for n := 1; n <= 3; n++ {
		require.NoError(t, files.WriteNew(files.OS{}, path, writing(strconv.Itoa(n))))
		aside, err := files.MoveAside(files.OS{}, path)
		require.NoError(t, err)
		assert.Equal(t, path+"."+strconv.Itoa(n), aside)
		data, err := files.ReadAll(files.OS{}, aside, 100)
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(n), string(data))
	}
	_, err := files.MoveAside(files.OS{}, path)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestCreateRefusesToReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	file, err := files.OS{}.Create(path)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, err = files.OS{}.Create(path)
	assert.ErrorIs(t, err, fs.ErrExist)
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for range 2 {
		file, err := files.OS{}.Append(path)
		require.NoError(t, err)
		_, err = file.Write([]byte("line\n"))
		require.NoError(t, errors.Join(err, file.Close()))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "line\nline\n", string(data))
}

func TestReadAllIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, make([]byte, 11), 0o600))
	_, err := files.ReadAll(files.OS{}, path, 10)
	assert.ErrorContains(t, err, "the maximum is 10")
	_, err = files.ReadAll(files.OS{}, path+"y", 10)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func writing(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}
