package trainer_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/team"
)

// joinVariable is the environment variable of a process that joins a leader. It holds the leader's address.
const joinVariable = "GRAFT_TEST_JOIN"

const (
	testToken   = "0123456789abcdef"
	testVersion = "graft test"
)

// means holds a clock that is five minutes fast, so no connection of a busy machine reaches its deadline.
var means = team.Means{Now: func() time.Time { return time.Now().Add(5 * time.Minute) }, Random: rand.Reader}

func dialing(address string) func() (net.Conn, error) {
	return func() (net.Conn, error) { return net.DialTimeout("tcp", address, 5*time.Minute) }
}

// join runs such a process: it follows until the leader is gone.
func join(address string) error {
	for joined := false; ; joined = true {
		l, err := team.Join(context.Background(), dialing(address), testToken, testVersion, means)
		if err != nil && joined {
			return nil
		}
		if err != nil {
			return err
		}
		err = torch.With(func(s *torch.Scope) error {
			return trainer.Follow(context.Background(), func() (*dataset.Set, error) {
				return dataset.Load(s, torch.CPU, files.OS{}, smallData(1))
			}, l.Address, l, l)
		})
		if _ = l.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// listening returns a leader's listener, and a number of processes that join it.
func listening(t *testing.T, count int) (n *team.Network, all []*exec.Cmd) {
	t.Helper()
	return listeningAt(t, "127.0.0.1:0", count)
}

// listeningAt does the same at another address.
func listeningAt(t *testing.T, address string, count int) (n *team.Network, all []*exec.Cmd) {
	t.Helper()
	r, err := torch.Describe()
	require.NoError(t, err)
	if !r.Gloo {
		t.Skip("this LibTorch has no c10d with Gloo; build the library for another one")
	}
	n, err = team.ListenFor(address, testToken, team.Invitation{Version: testVersion}, means)
	require.NoError(t, err)
	path, err := os.Executable()
	require.NoError(t, err)
	for range count {
		c := exec.Command(path)
		c.Env = append(os.Environ(), joinVariable+"="+n.Addr())
		c.Stderr = os.Stderr
		require.NoError(t, c.Start())
		all = append(all, c)
	}
	t.Cleanup(func() {
		_ = n.Close()
		for _, c := range all {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return n, all
}

// watched is a memory that calls a function when an epoch ends.
type watched struct {
	*memory
	ended func()
}

func (w watched) Epoch(r trainer.Row) error {
	w.ended()
	return w.memory.Epoch(r)
}

// Followers that join over the network train with the losses of one process, and come and go with the devices.
func TestFollowersOfOtherMachines(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: followers of other machines; set GRAFT_LONG=1")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	o := changing()
	o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.02, Momentum: 0.9}
	actions := []string{"deepen:conv1", "widen:conv2:12", "deepen:conv2"}
	alone, book := &memory{}, &memory{}
	require.NoError(t, torch.SetThreads(1))
	perform(t, o, alone, nil, actions...)
	n, _ := listening(t, 2)
	o.Parallel.Threads = 1
	perform(t, o, book, n, actions...)
	require.Equal(t, []int{2, 3, 2, 1}, book.processes())
	require.Equal(t, alone.events(), book.others())
	require.Less(t, apart(t, book, alone), lossTolerance)
}

func TestAnotherFollowerTakesThePlace(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, torch.SetThreads(1))
	o := changing()
	o.Optimizer = torch.OptimizerOptions{Rule: torch.Adam, LR: 0.003}
	o.Parallel.Threads = 1
	alone, book := &memory{}, &memory{}
	perform(t, o, alone, nil)
	n, all := listening(t, 3)
	killed := false
	perform(t, o, watched{book, func() {
		if !killed && len(book.processes()) >= 2 {
			killed = true
			for _, c := range all[:2] { // at least one of them works
				_ = c.Process.Kill()
			}
		}
	}}, n)
	require.NotEmpty(t, book.why("peer lost"))
	require.Less(t, apart(t, book, alone), lossTolerance)
}
