package execute

import (
	"syscall"

	"graft/cluster/node"
	"graft/fleet"
)

// resume restores the machine's state from the journal: ended tasks stay ended, remaining processes of others are
// killed, and these tasks arrive again.
func (x *executor) resume() error {
	c := x.account
	x.m.Now, x.origin = c.At, x.o.Clock.Now()-c.At
	if err := x.killLeft(); err != nil {
		return err
	}
	groups, why := openCgroups(&x.o, x.folder)
	x.groups = groups
	x.opened(groups, why)
	for k, t := range x.m.All {
		j := &c.Jobs[k]
		t.Ran, t.Began, t.Starts, t.Device = j.Ran, j.Began, j.Starts, min(j.Device, len(x.o.Devices)-1)
		if j.Live {
			x.emit(Event{Kind: Ended, Task: k, Attempt: j.Attempts, Device: j.Device, End: Interrupted,
				Reason: "the executor was killed"})
		}
		if j.Over() && !j.Skipped {
			x.over(t, map[bool]node.State{true: node.Done, false: node.Failed}[j.End == Done])
			t.Ended = j.Ended
		}
	}
	for _, t := range x.m.All {
		if t.State == node.Absent {
			x.timers.Schedule(int64(t.Arrival), arrives, timer{arrives, t})
		}
	}
	x.sync()
	return x.err
}

// opened records how tasks are confined from now on.
func (x *executor) opened(groups *cgroups, why error) {
	x.emit(Event{Kind: Opened, Task: -1, Device: -1, Host: fleet.ThisHost(x.o.Files), Reason: about(groups, why)})
}

// killLeft kills the remaining processes of a killed executor.
func (x *executor) killLeft() error {
	if x.account.Host == fleet.ThisHost(x.o.Files) {
		for k := range x.account.Jobs {
			if j := &x.account.Jobs[k]; j.Live && j.Process.Start > 0 && j.Process.Alive(x.o.Files) {
				_ = syscall.Kill(-j.Process.ID, syscall.SIGKILL)
			}
		}
	}
	if groups, err := openCgroups(&x.o, x.folder); err == nil {
		if err := groups.removeAll(); err != nil {
			return err
		}
	}
	return x.sweeper.sweepAll()
}
