package team

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"graft/internal/files"
	"graft/results"
	"graft/torch"
)

// Team is the leader's set of followers. A nil team means that the leader works alone.
type Team struct {
	job     Job
	options Parallel
	starter Starter
	group   group
	members map[int]*member // started members, by device
	tried   map[int]bool    // devices whose process was started but has done no work yet
	devices int             // devices of the allocation at the last Gather
	begun   bool            // has waited for Parallel.MinProcesses
	leaving sync.WaitGroup  // dismissed members
	equals  *torch.Peers    // group of processes without a leader; nil for a leader and followers
}

// Equals returns the team of a process in a group whose processes all make the same calls by themselves, without a
// leader that sends orders.
func Equals(peers *torch.Peers) *Team { return &Team{equals: peers} }

// New creates the team of a job. It returns nil if the job does not train in several processes.
func New(j Job, o Parallel, starter Starter, fsys files.FS) (*Team, error) {
	if !o.On {
		return nil, nil
	}
	if starter == nil || fsys == nil {
		return nil, errors.New("training in several processes requires a Starter and a file system")
	}
	r, err := torch.Describe()
	if err == nil {
		err = r.Together()
	}
	if err != nil {
		return nil, err
	}
	t := &Team{job: j, options: o, starter: starter, members: map[int]*member{}, tried: map[int]bool{}}
	t.group = group{Team: t, files: fsys, size: 1, threads: r.Threads}
	if network, ok := starter.(*Network); ok {
		t.group.address = network.host
	}
	return t, nil
}

// Gather dismisses surplus members and starts missing members. A member that ends before it has done any work is not
// restarted until the allocation changes. Call Gather between steps; if ctx is cancelled, it stops waiting for members.
func (t *Team) Gather(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.expect(ctx); err != nil {
		return err
	}
	if _, err := t.sweep(); err != nil {
		return err
	}
	if t.options.Elastic {
		return t.admit(ctx)
	}
	devices := t.job.Devices()
	want := t.options.Wanted(devices)
	if t.devices != devices {
		t.devices = devices
		clear(t.tried)
	}
	for device, m := range t.members {
		if device >= want {
			t.dismiss(m)
		}
	}
	for device := 1; device < want; device++ {
		if t.members[device] == nil && (!t.tried[device] || t.waiting()) {
			if err := t.start(device); err != nil {
				return err
			}
		}
	}
	for _, m := range t.sorted() {
		if err := t.await(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes members that ended while idle.
func (t *Team) sweep() (gone int, err error) {
	for _, m := range t.ready() {
		why := m.parted()
		if why == nil {
			continue
		}
		gone++
		if err := t.remove(results.EventPeerLost, m, why); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

func (t *Team) start(device int) error {
	t.tried[device] = true
	process, err := t.starter.Start(device)
	if err != nil {
		return t.report(results.EventPeerMissing, device, err)
	}
	t.members[device] = newMember(device, process, t.group.serve)
	return nil
}

// await waits until a member is ready; with Parallel.Background it only checks.
func (t *Team) await(ctx context.Context, m *member) error {
	if m.ready {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.options.Start)
	defer cancel()
	if t.options.Background {
		cancel()
	}
	a, err := m.hear(ctx)
	name, digest := t.job.Images()
	switch {
	case errors.Is(err, context.Canceled):
		return nil // not ready yet
	case err == nil && a.Error != "":
		err = errors.New(a.Error)
	case err == nil && a.Data != digest:
		err = fmt.Errorf("the follower's images differ from the leader's: %s with digest %.12s; expected %.12s",
			name, a.Data, digest)
	}
	if m.ready = err == nil; m.ready {
		return nil
	}
	return t.remove(results.EventPeerMissing, m, err)
}

// waiting reports whether a follower on another machine waits for work.
func (t *Team) waiting() bool {
	network, ok := t.starter.(*Network)
	return ok && network.Waiting() > 0
}

func (t *Team) sorted() []*member {
	var all []*member
	for _, m := range t.members {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *member) int { return a.device - b.device })
	return all
}

func (t *Team) ready() []*member {
	return slices.DeleteFunc(t.sorted(), func(m *member) bool { return !m.ready })
}

// working returns the ready members that have a device in the allocation.
func (t *Team) working() []*member {
	ready := t.ready()
	return ready[:min(len(ready), t.options.Wanted(t.job.Devices())-1)]
}

// Crew returns the current number of working processes, including the leader.
func (t *Team) Crew() int {
	if t == nil {
		return 1
	}
	return 1 + len(t.working())
}

// Call executes work together with all ready members, or alone if there are none. Members receive the order as JSON. If
// a process is lost, the other processes form a new group and repeat the work. The failed attempt changes nothing.
func (t *Team) Call(o any, work func(peers *torch.Peers) error) error {
	if t == nil {
		return work(nil)
	}
	if t.equals != nil {
		return work(t.equals)
	}
	for {
		err := t.group.call(t.working(), o, work)
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

// Size returns the number of processes in the last group, or one if the leader works alone.
func (t *Team) Size() int {
	if t == nil {
		return 1
	}
	if t.equals != nil {
		return t.equals.Size
	}
	return t.group.size
}

// Apart reports whether each process runs on its own machine.
func (t *Team) Apart() bool { return t != nil && t.group.address != "" }

// trust records that the remaining members have worked.
func (t *Team) trust(worked []*member) {
	for _, m := range worked {
		if t.members[m.device] == m {
			delete(t.tried, m.device)
		}
	}
}

// dismiss lets a member end that is no longer needed.
func (t *Team) dismiss(m *member) {
	t.drop(m)
	if !m.ready { // otherwise it would load its images first
		_ = m.process.Kill()
	}
	t.leaving.Go(func() { _ = m.end(dismissTimeout) })
}

// remove kills a member that failed, and records why.
func (t *Team) remove(event results.JobEvent, m *member, why error) error {
	t.drop(m)
	if ended := m.kill(why); ended != nil && !errors.Is(why, errSilent) {
		why = fmt.Errorf("%w: %w", why, ended)
	}
	return t.report(event, m.device, why)
}

func (t *Team) drop(m *member) {
	delete(t.members, m.device)
	if slices.Contains(t.group.members, m) {
		t.group.dissolve()
	}
}

func (t *Team) report(event results.JobEvent, device int, why error) error {
	return t.job.Record(event, 0, fmt.Sprintf("the process of device %d: %v", device, why))
}

// Close dismisses all members and waits until they have ended.
func (t *Team) Close() {
	if t == nil || t.equals != nil {
		return
	}
	t.group.dissolve()
	for _, m := range t.members {
		t.dismiss(m)
	}
	t.leaving.Wait()
	_ = torch.SetThreads(t.group.threads)
}
