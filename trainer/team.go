package trainer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"graft/torch"
)

// team is the leader's hold on the processes that train with it. What they do is
// the leader's to say; what they have is a copy of what the leader has. A nil team
// is the leader alone.
type team struct {
	job     *Job
	members map[int]*follower // that were started, by device
	tried   map[int]bool      // devices whose process was started and has done no work yet
	devices int               // of the allocation, when it was last looked at
	group   []*follower       // that are in the group, by rank, from 1
	peers   *torch.Peers      // nil while the leader is alone
	scope   *torch.Scope      // of peers
	copied  bool              // the group has what the leader has
	size    int               // of the last group, or one
	failed  bool              // since work last succeeded one exchange failed with nobody gone
	threads int               // of LibTorch while the leader is alone
	leaving sync.WaitGroup    // those that were let go
}

// errAgain says that a process was lost, and that the work is still to be done.
var errAgain = errors.New("a process was lost")

// newTeam is nil where a job does not ask for processes.
func newTeam(j *Job) (*team, error) {
	if !j.Parallel.On {
		return nil, nil
	}
	if j.Starter == nil {
		return nil, errors.New("it is to train in several processes, and there is nothing to start them with")
	}
	r, err := torch.Describe()
	if err == nil {
		err = r.Together()
	}
	if err != nil {
		return nil, err
	}
	return &team{job: j, members: map[int]*follower{}, tried: map[int]bool{}, size: 1, threads: r.Threads}, nil
}

// gather lets go of processes that are too many and starts those that are missing,
// each once until it has done some work, or until the allocation changes. It does so
// between steps; a cancelled ctx ends the wait for them.
func (t *team) gather(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if _, err := t.sweep(); err != nil {
		return err
	}
	want := t.job.Parallel.wanted(t.job.Devices)
	if t.devices != t.job.Devices {
		t.devices = t.job.Devices
		clear(t.tried)
	}
	for device, f := range t.members {
		if device >= want {
			t.dismiss(f)
		}
	}
	for device := 1; device < want; device++ {
		if t.members[device] == nil && !t.tried[device] {
			if err := t.start(device); err != nil {
				return err
			}
		}
	}
	for _, f := range t.sorted() {
		if err := t.await(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes processes that ended while they had nothing to do.
func (t *team) sweep() (gone int, err error) {
	for _, f := range t.here() {
		if !f.gone() {
			continue
		}
		gone++
		if err := t.remove("peer lost", f, errGone); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

func (t *team) start(device int) error {
	t.tried[device] = true
	process, err := t.job.Starter.Start(device)
	if err != nil {
		return t.tell("peer missing", device, err)
	}
	t.members[device] = newFollower(device, process)
	return nil
}

// await waits until a process is ready, or looks whether it is.
func (t *team) await(ctx context.Context, f *follower) error {
	if f.ready {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.job.Parallel.Start)
	defer cancel()
	if t.job.Parallel.Background {
		cancel()
	}
	a, err := f.hear(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return nil // not now
	case err == nil && a.Error != "":
		err = errors.New(a.Error)
	case err == nil && a.Data != t.job.Data.Digest:
		err = fmt.Errorf("it has other images than the leader: %s of digest %.12s", t.job.Data.Name, a.Data)
	}
	if f.ready = err == nil; f.ready {
		return nil
	}
	return t.remove("peer missing", f, err)
}

// sorted is the members by device.
func (t *team) sorted() []*follower {
	var all []*follower
	for _, f := range t.members {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *follower) int { return a.device - b.device })
	return all
}

// here is the members that are ready.
func (t *team) here() []*follower {
	return slices.DeleteFunc(t.sorted(), func(f *follower) bool { return !f.ready })
}

// call does work together with all that are ready, who are told of it, or alone.
// Where a process is lost the others form a group anew, and do it again: work that
// fails so has changed nothing.
func (t *team) call(o order, work func(peers *torch.Peers) error) error {
	if t == nil {
		return work(nil)
	}
	for {
		err := t.assemble()
		if err == nil && t.peers == nil {
			return work(nil)
		}
		if err == nil {
			group := t.group
			err = t.exchange(func(int) order { return o }, func() error { return work(t.peers) })
			t.trust(group)
			t.failed = t.failed && err != nil
		}
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

// trust notes that those of a group that are still there have worked.
func (t *team) trust(group []*follower) {
	for _, f := range group {
		if t.members[f.device] == f {
			delete(t.tried, f.device)
		}
	}
}

// assemble makes a group of those that are ready, and gives it what the leader has.
func (t *team) assemble() error {
	if here := t.here(); !slices.Equal(here, t.group) || t.size != len(here)+1 {
		if err := t.form(here); err != nil {
			return err
		}
	}
	if t.peers == nil || t.copied {
		return nil
	}
	if err := t.copy(); err != nil {
		return err
	}
	if !t.copied {
		return errAgain
	}
	return nil
}

// exchange tells the group what to do, does the leader's part, and hears how it
// went. errAgain says that the leader's part failed for a process that was lost; one
// that is lost after it is missing next time.
func (t *team) exchange(o func(rank int) order, work func() error) error {
	group := t.group
	for k, f := range group {
		f.orders <- o(k + 1)
	}
	err := work()
	if err != nil && !errors.Is(err, torch.ErrPeer) {
		return err
	}
	if err != nil {
		t.part() // so that the others see it too
	}
	gone, bad := t.listen(group)
	if bad != nil {
		return bad
	}
	if err == nil {
		return nil
	}
	if gone == 0 && t.failed { // it would go on for ever
		for _, f := range group {
			if bad := t.remove("peer lost", f, fmt.Errorf("the group failed twice with nobody gone: %w", err)); bad != nil {
				return bad
			}
		}
	}
	t.failed = t.failed || gone == 0
	return errAgain
}

// listen hears what each of a group says, and removes those that cannot go on.
func (t *team) listen(group []*follower) (gone int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), t.job.Parallel.Timeout)
	defer cancel()
	for _, f := range group {
		a, why := f.hear(ctx)
		if why == nil && a.Error != "" && !a.Lost {
			why = errors.New(a.Error)
		}
		if why == nil {
			continue
		}
		gone++
		if err := t.remove("peer lost", f, why); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// form makes a group of the leader and others; without any the leader is alone.
func (t *team) form(others []*follower) error {
	t.part()
	if gone, err := t.sweep(); err != nil {
		return err
	} else if gone > 0 { // the others would wait for it
		return errAgain
	}
	size := len(others) + 1
	t.group, t.size = others, size
	if err := torch.SetThreads(t.share(size)); err != nil || size == 1 {
		return errors.Join(err, t.note("processes", nil))
	}
	folder, err := os.MkdirTemp("", "graft-")
	if err != nil {
		return fmt.Errorf("make a place for processes to meet: %w", err)
	}
	defer os.RemoveAll(folder) // they need it no more once they have met
	m := meeting{Size: size, Store: filepath.Join(folder, "meet"), Threads: t.share(size), Timeout: t.job.Parallel.Timeout}
	if err := t.exchange(func(rank int) order { m := m; m.Rank = rank; return order{Meet: &m} }, func() error { return t.meet(m) }); err != nil {
		return err
	}
	if t.peers == nil { // one was lost when all had met
		return errAgain
	}
	return t.note("processes", nil)
}

// meet is the leader's part.
func (t *team) meet(m meeting) error {
	scope := torch.NewScope()
	peers := scope.NewPeers(torch.PeersOptions{Size: m.Size, Store: m.Store, Device: t.job.Network.Placement().Device, Timeout: m.Timeout})
	if err := scope.Err(); err != nil {
		return errors.Join(err, scope.Close())
	}
	t.peers, t.scope, t.copied = peers, scope, false
	return nil
}

// share is a process's threads.
func (t *team) share(size int) int {
	if size > 1 && t.job.Parallel.Threads > 0 {
		return t.job.Parallel.Threads
	}
	return max(1, t.threads/size)
}

// copy gives the group all that the leader has.
func (t *team) copy() error {
	l, err := t.job.likeness()
	if err != nil {
		return err
	}
	tensors := t.job.tensors()
	return t.exchange(func(int) order { return order{Copy: l} }, func() error {
		if err := t.peers.Broadcast(0, tensors...); err != nil {
			return err
		}
		t.copied = true
		return nil
	})
}

// stale says that the leader has what the others have not.
func (t *team) stale() {
	if t != nil {
		t.copied = false
	}
}

// part ends the group; who was in it waits for orders.
func (t *team) part() {
	if t.scope != nil {
		_ = t.scope.Close()
	}
	t.group, t.peers, t.scope, t.copied = nil, nil, nil, false
}

// dismiss lets a process go that is not needed any more.
func (t *team) dismiss(f *follower) {
	delete(t.members, f.device)
	if slices.Contains(t.group, f) {
		t.part()
	}
	if !f.ready { // it would read its images first
		_ = f.process.Kill()
	}
	t.leaving.Go(func() { _ = f.end(farewell) })
}

// remove ends a process that cannot go on, and writes down why.
func (t *team) remove(event string, f *follower, why error) error {
	delete(t.members, f.device)
	if slices.Contains(t.group, f) {
		t.part()
	}
	if ended := f.kill(why); ended != nil && !errors.Is(why, errSilent) {
		why = fmt.Errorf("%w: %w", why, ended)
	}
	return t.tell(event, f.device, why)
}

func (t *team) tell(event string, device int, why error) error {
	return t.note(event, fmt.Errorf("the process of device %d: %w", device, why))
}

func (t *team) note(event string, why error) error {
	n := t.job.note(event)
	if n.Processes = t.size; why != nil {
		n.Processes, n.Why = 0, why.Error()
	}
	return t.job.Book.Note(n)
}

// close lets all go, and waits until they have gone.
func (t *team) close() {
	if t == nil {
		return
	}
	t.part()
	for _, f := range t.members {
		t.dismiss(f)
	}
	t.leaving.Wait()
	_ = torch.SetThreads(t.threads)
}
