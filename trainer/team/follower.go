package team

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"graft/torch"
)

// Follow runs a follower: a process that trains together with a job's leader. It loads the same images onto its device,
// then executes and answers orders. It returns when the stream of orders ends, for example because the leader is gone.
// Call it in a scope of [torch.With], which keeps it on one thread. If the leader runs on another machine, address is
// the address of this process; otherwise it is empty. After ctx is cancelled, the follower finishes the current order
// and leaves.
func Follow(ctx context.Context, r Replica, address string, orders io.Reader, answers io.Writer) error {
	next, replies := read(ctx, orders)
	f := &follower{ctx: ctx, replica: r, leader: &leaderLink{out: json.NewEncoder(answers), replies: replies},
		address: address}
	defer f.close()
	err := f.begin()
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case got := <-next:
			if err = got.err; err == nil {
				err = f.answer(got.order)
			}
		}
	}
	if err == nil && !f.left { // between two orders
		_ = f.leader.say(answer{Leaves: true}) // a leader that is gone misses nothing
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return fmt.Errorf("follow the job's leader: %w", err)
}

// received is an order, or the error that ends the orders.
type received struct {
	order order
	err   error
}

// read returns orders as they arrive, until an error, and replies of the leader's store.
func read(ctx context.Context, orders io.Reader) (<-chan received, <-chan storeReply) {
	next, replies := make(chan received), make(chan storeReply, pending)
	go func() {
		defer close(replies)
		in := bufio.NewReader(orders)
		for more := true; more; {
			var r received
			r.err = readJSON(in, orderLine, &r.order)
			more = r.err == nil
			if more && r.order.Stored != nil {
				select {
				case replies <- *r.order.Stored:
				default: // no call waits for the reply any more
				}
				continue
			}
			select {
			case next <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	return next, replies
}

type follower struct {
	ctx     context.Context // the follower leaves when it is done
	leader  *leaderLink
	replica Replica
	copied  bool // the replica is a copy of the leader's state
	left    bool // the leader has been told that this follower leaves
	device  torch.Device
	address string       // address of this process for other machines; empty if all are on one machine
	peers   *torch.Peers // nil outside of a group
	scope   *torch.Scope // scope of peers
}

// begin loads the images and reports that the follower is ready, or why it is not.
func (f *follower) begin() (err error) {
	var a answer
	if a.Data, f.device, err = f.replica.Load(); err != nil {
		a.Error = err.Error()
	}
	return errors.Join(err, f.leader.say(a))
}

// answer executes an order and answers it. An error ends the process.
func (f *follower) answer(o order) error {
	err := f.execute(o)
	a := answer{Lost: errors.Is(err, torch.ErrPeer), Leaves: f.ctx.Err() != nil}
	if err != nil {
		f.leave() // makes all other processes notice
		a.Error = err.Error()
	}
	if a.Lost {
		err = nil // the leader will form another group
	}
	f.left = a.Leaves
	return errors.Join(f.leader.say(a), err)
}

func (f *follower) execute(o order) error {
	switch {
	case o.Meet != nil:
		return f.meet(*o.Meet)
	case f.peers == nil:
		return fmt.Errorf("the follower has not joined a group yet: %w", torch.ErrPeer)
	case o.Copy != nil:
		return f.copy(o.Copy)
	case !f.copied:
		return errors.New("the follower has not received the network yet")
	}
	return f.replica.Work(o.work, f.peers)
}

// meet joins a new group.
func (f *follower) meet(m rendezvous) error {
	f.leave()
	if err := torch.SetThreads(m.Threads); err != nil {
		return err
	}
	f.scope = torch.NewScope()
	o := torch.PeersOptions{Rank: m.Rank, Size: m.Size, File: m.File, Device: f.device, Timeout: m.Timeout}
	if m.Meeting != 0 {
		o.Address, o.Store = f.address, leadersStore{f.leader, m.Meeting, m.Timeout}
	}
	f.peers = f.scope.NewPeers(o)
	return f.scope.Err()
}

func (f *follower) copy(state json.RawMessage) error {
	f.copied = true
	tensors, err := f.replica.Copy(state, f.device)
	if err != nil {
		return err
	}
	return f.peers.Broadcast(0, tensors...)
}

func (f *follower) leave() {
	if f.scope != nil {
		_ = f.scope.Close()
	}
	f.scope, f.peers = nil, nil
}

func (f *follower) close() {
	f.leave()
	f.replica.Close()
}
