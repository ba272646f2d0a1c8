package files_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// lockToHold is the environment variable that makes the test binary hold a lock.
const lockToHold = "GRAFT_TEST_LOCK"

// TestHoldsALock is the other process of TestLockOfAKilledProcessIsFree.
func TestHoldsALock(t *testing.T) {
	path := os.Getenv(lockToHold)
	if path == "" {
		return
	}
	_, err := files.OS{}.Lock(path, "the other process")
	require.NoError(t, err)
	_, err = os.Stdout.WriteString("locked\n")
	require.NoError(t, err)
	select {} // until it is killed
}

// A killed process leaves its lock file, but the lock is free.
func TestLockOfAKilledProcessIsFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	other := exec.Command(os.Args[0], "-test.run=^TestHoldsALock$")
	other.Env = append(os.Environ(), lockToHold+"="+path)
	out, err := other.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, other.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "locked\n", line)

	_, err = files.OS{}.Lock(path, "us")
	require.ErrorIs(t, err, files.ErrLocked)
	require.ErrorContains(t, err, "locked by the other process")
	require.NoError(t, other.Process.Kill())
	require.Error(t, other.Wait(), "it was killed")
	lock, err := files.OS{}.Lock(path, "us")
	require.NoError(t, err)
	require.NoError(t, lock.Close())
}

func TestLockIsGivenBackByClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, holder := range []string{"a holder with a long name", "a short one"} {
		lock, err := files.OS{}.Lock(path, holder)
		require.NoError(t, err)
		_, err = files.OS{}.Lock(path, "another")
		assert.ErrorIs(t, err, files.ErrLocked)
		mustBeLocked(t, path, true)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, holder+"\n", string(text))
		require.NoError(t, lock.Close())
		mustBeLocked(t, path, false)
	}
	mustBeLocked(t, path+" of nobody", false)
	_, err := files.OS{}.Lock(filepath.Join(path, "below"), "us")
	assert.Error(t, err)
}

func mustBeLocked(t *testing.T, path string, want bool) {
	t.Helper()
	held, err := files.OS{}.Locked(path)
	require.NoError(t, err)
	require.Equal(t, want, held)
}

// If many processes take a lock while its folder is moved and recreated, at most one holds the lock at the path.
func TestLockWhileTheFolderMoves(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.Mkdir(dir, 0o700))
	var holders atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				lock, err := files.OS{}.Lock(filepath.Join(dir, "lock"), "one of many")
				if err != nil {
					continue
				}
				assert.EqualValues(t, 1, holders.Add(1))
				_ = os.Rename(dir, filepath.Join(t.TempDir(), "aside"))
				holders.Add(-1) // another may take the lock once the folder exists again
				assert.NoError(t, os.Mkdir(dir, 0o700))
				assert.NoError(t, lock.Close())
			}
		})
	}
	all.Wait()
}
