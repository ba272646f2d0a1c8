package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"graft/internal/files"
	"graft/results"
	"graft/torch"
)

// group is the leader and the members that currently work together.
type group struct {
	*Team
	files   files.FS
	members []*member    // by rank, from 1
	peers   *torch.Peers // nil if the leader is alone
	scope   *torch.Scope // scope of peers
	copied  bool         // the members have the leader's tensors
	at      int          // revision of these tensors
	size    int          // size of the last group; one for the leader alone
	failed  bool         // an exchange has failed without a lost process since work last succeeded
	threads int          // LibTorch threads if the leader is alone
	address string       // address of the leader if members are on other machines; empty for one machine
	meetings
}

// errAgain means that a process was lost and that the work must be repeated.
var errAgain = errors.New("a process was lost")

// call does work together with the ready members, or alone if there are none.
func (g *group) call(ready []*member, o any, work func(peers *torch.Peers) error) error {
	if err := g.assemble(ready); err != nil {
		return err
	}
	if g.peers == nil {
		return work(nil)
	}
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	members := g.members
	err = g.exchange(func(int) order { return order{work: line} }, func() error { return work(g.peers) })
	g.trust(members)
	g.failed = g.failed && err != nil
	return err
}

// assemble forms a group of the ready members, and gives it the leader's tensors.
func (g *group) assemble(ready []*member) error {
	if !slices.Equal(ready, g.members) || g.size != len(ready)+1 {
		if err := g.form(ready); err != nil {
			return err
		}
	}
	if g.peers == nil || g.current() {
		return nil
	}
	if err := g.copy(); err != nil {
		return err
	}
	if !g.current() {
		return errAgain
	}
	return nil
}

// current reports whether the members have the leader's tensors.
func (g *group) current() bool { return g.copied && g.at == g.job.Revision() }

// exchange sends an order to the members, does the leader's part, and reads the answers. It returns errAgain if the
// leader's part failed because a process was lost. A process that is lost later is missing from the next call.
func (g *group) exchange(o func(rank int) order, work func() error) error {
	members := g.members
	for k, m := range members {
		m.orders <- o(k + 1)
	}
	err := work()
	if err != nil && !errors.Is(err, torch.ErrPeer) {
		return err
	}
	if err != nil {
		g.dissolve() // makes the others notice
	}
	gone, bad := g.listen(members)
	if bad != nil {
		return bad
	}
	if err == nil {
		return nil
	}
	if gone == 0 && g.failed { // it would repeat forever
		for _, m := range members {
			if bad := g.remove(results.EventPeerLost, m,
				fmt.Errorf("the group failed twice, although all members are alive: %w", err)); bad != nil {
				return bad
			}
		}
	}
	g.failed = g.failed || gone == 0
	return errAgain
}

// listen reads the members' answers, and removes the members that failed.
func (g *group) listen(members []*member) (gone int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), g.options.Timeout)
	defer cancel()
	for _, m := range members {
		a, why := m.hear(ctx)
		if why == nil && a.Leaves {
			why = errLeft
		}
		if why == nil && a.Error != "" && !a.Lost {
			why = errors.New(a.Error)
		}
		if why == nil {
			continue
		}
		gone++
		if err := g.remove(results.EventPeerLost, m, why); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// form forms a group of the leader and others; without others the leader is alone.
func (g *group) form(others []*member) error {
	g.dissolve()
	if gone, err := g.sweep(); err != nil {
		return err
	} else if gone > 0 { // the others would wait for the lost process
		return errAgain
	}
	g.members, g.size = others, len(others)+1
	if err := torch.SetThreads(g.share()); err != nil || g.size == 1 {
		return errors.Join(err, g.formed())
	}
	r := rendezvous{Size: g.size, Threads: g.share(), Timeout: g.options.Timeout}
	leave, err := g.place(&r)
	if err != nil {
		return err
	}
	err = g.exchange(func(rank int) order { r := r; r.Rank = rank; return order{Meet: &r} },
		func() error { return g.meet(r) })
	leave() // processes that have met do not need it
	if err != nil {
		return err
	}
	if g.peers == nil { // a process was lost after all had met
		return errAgain
	}
	return g.formed()
}

// place selects where processes meet: a file or the leader's store. Leave removes it.
func (g *group) place(r *rendezvous) (leave func(), err error) {
	if g.address != "" {
		r.Meeting = g.meetings.open()
		return func() {}, nil // CUDA devices meet at their first exchange
	}
	folder, err := g.files.MkdirTemp("", "graft-")
	if err != nil {
		return nil, fmt.Errorf("create the rendezvous folder: %w", err)
	}
	r.File = filepath.Join(folder, "meet")
	return func() { _ = errors.Join(g.files.Remove(r.File), g.files.Remove(folder)) }, nil
}

// meet is the leader's part of the rendezvous.
func (g *group) meet(r rendezvous) error {
	scope := torch.NewScope()
	peers := scope.NewPeers(torch.PeersOptions{Size: r.Size, File: r.File, Address: g.address,
		Store: ownStore{&g.meetings, r.Meeting}, Device: g.job.Device(), Timeout: r.Timeout})
	if err := scope.Err(); err != nil {
		return errors.Join(err, scope.Close())
	}
	g.peers, g.scope, g.copied = peers, scope, false
	return nil
}

func (g *group) formed() error { return g.job.Record(results.EventProcesses, g.size, "") }

func (g *group) share() int {
	if g.size > 1 && g.options.Threads > 0 {
		return g.options.Threads
	}
	if g.address != "" {
		return g.threads // each process has a machine of its own
	}
	return max(1, g.threads/g.size)
}

// copy sends the leader's state to the members.
func (g *group) copy() error {
	state, tensors, err := g.job.State()
	if err != nil {
		return err
	}
	line, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return g.exchange(func(int) order { return order{Copy: line} }, func() error {
		if err := g.peers.Broadcast(0, tensors...); err != nil {
			return err
		}
		g.copied, g.at = true, g.job.Revision()
		return nil
	})
}

// dissolve ends the group; its members wait for orders.
func (g *group) dissolve() {
	if g.scope != nil {
		_ = g.scope.Close()
	}
	g.members, g.peers, g.scope, g.copied = nil, nil, nil, false
}
