package process_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/fleet/process"
	"graft/internal/files"
)

// A process with a reused process ID is not taken for the original.
func TestAProcessIsMoreThanItsNumber(t *testing.T) {
	p, err := process.Named(files.OS{}, os.Getpid())
	require.NoError(t, err)
	require.True(t, p.Alive(files.OS{}))
	require.False(t, process.Process{ID: p.ID, Start: p.Start + 1}.Alive(files.OS{}))
	require.False(t, process.Process{ID: 1 << 30, Start: p.Start}.Alive(files.OS{}))
}

// With and Sweep find processes whose environment has all given variables.
func TestSweepKillsByTheEnvironment(t *testing.T) {
	mark := "GRAFT_TEST=" + t.TempDir()
	for _, own := range []string{"a", "b"} {
		c := exec.Command("sleep", "1000")
		c.Env = []string{mark, "OWN=" + own}
		require.NoError(t, c.Start())
		defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	}
	find := func(variables ...string) []process.Found {
		found, err := process.With(files.OS{}, variables)
		require.NoError(t, err)
		return found
	}
	require.Eventually(t, func() bool { return len(find(mark)) == 2 }, time.Minute, time.Millisecond,
		"until both run their program")
	found := find(mark, "OWN=b")
	require.Len(t, found, 1)
	require.Equal(t, "b", found[0].Variable("OWN"))
	require.Empty(t, found[0].Variable("OTHER"))
	require.NoError(t, process.Sweep(fleet.NewClock(time.Now),
		func() ([]process.Found, error) { return process.With(files.OS{}, []string{mark, "OWN=b"}) }))
	require.Len(t, find(mark), 1)
}
