package trainer_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/team"
)

// A job whose devices follow the present ones gives the same bits as a timeline with the same changes.
func TestDevicesThatFollowAreAsPlannedOnes(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	type look struct {
		after   time.Duration
		present int
	}
	for name, c := range map[string]struct {
		list []look
		want []int // devices after each change
	}{
		"one comes and leaves":    {[]look{{100 * ms, 2}, {300 * ms, 1}}, []int{2, 1}},
		"three before the first":  {[]look{{0, 3}}, []int{2, 3}},
		"two leave at once":       {[]look{{50 * ms, 3}, {300 * ms, 1}}, []int{2, 3, 2, 1}},
		"one comes while another": {[]look{{50 * ms, 2}, {51 * ms, 1}, {52 * ms, 2}}, []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			clock, o := steady(t), quick()
			live, book, list := trainer.NewLive(o.Timeline, clock), &memory{}, c.list
			live.Present(1)
			watch := func(p trainer.Progress) {
				for len(list) > 0 && p.Time >= list[0].after {
					live.Present(list[0].present)
					list = list[1:]
				}
			}
			outcome, err := runJob(t, o, trainer.Parts{Recorder: book, Clock: clock, Scheduler: live, Watch: watch},
				someActions...)
			require.NoError(t, err)
			var devices []int
			for _, e := range live.Standing().Live {
				devices = append(devices, e.Devices)
			}
			require.Equal(t, c.want, devices)
			requirePlanned(t, o, outcome, book, live.Standing().Live, someActions...)
		})
	}
	live := trainer.NewLive(quick().Timeline, steady(t))
	live.Present(1)
	_, err := live.Post(trainer.Up, 2)
	require.ErrorIs(t, err, trainer.ErrConflict)
	_, err = live.Post(trainer.Up, 0)
	require.NoError(t, err)
}

// joining starts a process that joins the job.
func joining(t *testing.T, n *team.Network) *exec.Cmd {
	path, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(path)
	c.Env, c.Stderr = append(os.Environ(), joinVariable+"="+n.Addr()), os.Stderr
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c
}

// arrivals is a recorder that starts and kills followers at epochs of a job.
type arrivals struct {
	*memory
	at map[int]func()
}

func (a arrivals) Epoch(r trainer.Row) error {
	if do := a.at[r.Epoch]; do != nil {
		do()
	}
	return a.memory.Epoch(r)
}

// An elastic job grows when a follower joins, and shrinks when one is killed. Its steps and losses equal a timeline's
// with the same changes.
func TestElasticFollowers(t *testing.T) {
	if !long {
		t.Skip("left out: followers that come and go; one takes the place of another; set GRAFT_LONG=1")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, torch.SetThreads(1))
	o := plan()
	o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.02, Momentum: 0.9}
	o.Timeline = trainer.Timeline{Budget: 1500 * ms}
	actions := []string{"deepen:conv1", "widen:conv2:12", "deepen:conv2"}
	n, all := listening(t, 1)
	book, clock := &memory{}, steady(t)
	live := trainer.NewLive(o.Timeline, clock)
	p := o
	p.Parallel = team.Parallel{On: true, Elastic: true, MinProcesses: 2, Threads: 1, Listen: n.Addr(),
		Token: "token"}
	recorder := arrivals{book, map[int]func(){1: func() {
		joining(t, n)
		require.Eventually(t, func() bool { return n.Waiting() == 1 }, 10*time.Minute, 20*ms)
	}, 3: func() { _ = all[0].Process.Kill() }}}
	_, err := runJob(t, p, trainer.Parts{Network: smooth(), Recorder: recorder, Clock: clock, Scheduler: live,
		Starter: n, Files: files.OS{}}, actions...)
	require.NoError(t, err)
	taken := live.Standing().Live
	require.Len(t, taken, 3)
	require.Equal(t, trainer.LiveChange{Change: trainer.Up, Devices: 2}, taken[0], "the first is waited for")
	require.Equal(t, []int{3, 2}, []int{taken[1].Devices, taken[2].Devices})
	require.Equal(t, []int{2, 3, 2}, book.processes())
	require.Len(t, book.why("peer lost"), 1)
	require.Empty(t, book.why("peer missing"))

	o.Timeline = merged(o.Timeline, taken)
	alone := &memory{}
	perform(t, o, alone, nil, actions...)
	require.Equal(t, alone.events(), book.others())
	require.Less(t, apart(t, book, alone), lossTolerance)
}

// A job that waits for followers gives up at its limit, and does not count followers that are gone.
func TestTooFewFollowers(t *testing.T) {
	n, all := listening(t, 2)
	require.Eventually(t, func() bool { return n.Waiting() == 2 }, 10*time.Minute, 20*ms)
	require.NoError(t, all[0].Process.Kill())
	_ = all[0].Wait()
	o := quick()
	o.Parallel = team.Parallel{On: true, MinProcesses: 3, Start: 200 * ms, Listen: n.Addr(), Token: "token"}
	_, err := runJob(t, o, trainer.Parts{Starter: n, Files: files.OS{}})
	require.ErrorContains(t, err, "2 of 3 processes joined within 200ms")
}

func TestElasticOptions(t *testing.T) {
	with := func(change func(o *trainer.Options)) error {
		o := quick()
		o.Parallel = team.Parallel{On: true, Elastic: true, Listen: "127.0.0.1:0", Token: "token"}
		change(&o)
		o.EnsureDefaults()
		return o.Validate()
	}
	require.NoError(t, with(func(o *trainer.Options) { o.Timeline.Events = []trainer.Event{{Change: trainer.Up}} }))
	for want, change := range map[string]func(o *trainer.Options){
		"set parallel.listen": func(o *trainer.Options) { o.Parallel.Listen, o.Parallel.Token = "", "" },
		"event at 0s sets devices = 2": func(o *trainer.Options) {
			o.Timeline.Events = []trainer.Event{{Change: trainer.Up, Devices: 2}}
		},
		"min_processes is -1": func(o *trainer.Options) { o.Parallel.MinProcesses = -1 },
		"must be between 0 and max_processes (3)": func(o *trainer.Options) {
			o.Parallel.MinProcesses,
				o.Parallel.MaxProcesses = 4, 3
		},
	} {
		require.ErrorContains(t, with(change), want)
	}
}
