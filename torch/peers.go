package torch

// #include <stdlib.h>
// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"net"
	"runtime/cgo"
	"time"
	"unsafe"

	"graft/internal/validate"
)

// Peers is this process's handle to a group of processes that train together. Each process has a copy of the network,
// and all processes make the same calls in the same order. A scope owns the group.
//
// The processes communicate over LibTorch's c10d. A call fails with [ErrPeer] immediately if another process has ended,
// and after the timeout if it does not answer. After the first failed call all further calls fail too, and the
// processes must form a new group.
type Peers struct {
	Rank   int // rank of this process, from 0
	Size   int // number of processes in the group
	handle C.graft_peers
	store  cgo.Handle // handle of the store that the group calls; zero without a store
	scope  *Scope
}

// PeersOptions configures a group of processes. Processes find each other through File, or through Address and Store.
// All other fields except Device are required.
type PeersOptions struct {
	Rank int // rank of this process, from 0
	Size int // number of processes in the group
	// path of a file that does not exist yet, through which processes on one machine find each other
	File string
	// Address is the IP address at which processes on other machines reach this process. The processes then find each
	// other through Store instead of File. Empty means that all processes run on this machine.
	Address string
	Store   Store // keys shared by all machines, used with Address until the group is closed
	// Device is the device of the tensors; zero means the CPU. CUDA devices communicate over NCCL if LibTorch supports
	// it, otherwise over Gloo on the host.
	Device  Device
	Timeout time.Duration // maximum wall-clock time to wait for another process
}

// Validate returns an error that lists every invalid option.
func (o PeersOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Size < 1 || o.Rank < 0 || o.Rank >= o.Size, "rank is %d and size is %d; expected 0 <= rank < size",
		o.Rank, o.Size)
	switch {
	case o.Address == "" && o.File == "":
		faults = append(faults, errors.New("the path of the rendezvous file is missing"))
	case o.Address != "" && net.ParseIP(o.Address) == nil:
		faults = append(faults, fmt.Errorf("address is %s; expected an IP address", o.Address))
	case o.Address != "" && o.Store == nil:
		faults = append(faults, errors.New("the rendezvous store is missing"))
	}
	faults.When(o.Timeout < time.Millisecond, "timeout is %v; must be at least 1ms", o.Timeout)
	return errors.Join(faults...)
}

// Share returns the range of items that this process computes: the index of the first item, and the number of items.
// The items are rows of a batch in Train, and batches in Evaluate. The argument is the total number of items. If p is
// nil, the process computes all items.
func (p *Peers) Share(total int) (start, count int) {
	if p == nil {
		return 0, total
	}
	even, more := total/p.Size, total%p.Size
	start, count = p.Rank*even+min(p.Rank, more), even
	if p.Rank < more {
		count++
	}
	return start, count
}

// NewPeers forms a group. It waits until all processes have joined.
func (s *Scope) NewPeers(o PeersOptions) *Peers {
	p := &Peers{Rank: o.Rank, Size: o.Size, scope: s}
	if !s.ready("make a group of processes", nil) {
		return p
	}
	if err := o.possible(); err != nil {
		s.fail(err)
		return p
	}
	file := C.CString(o.File)
	defer C.free(unsafe.Pointer(file))
	kind, index := o.Device.code()
	c := C.graft_peers_options{rank: C.int32_t(o.Rank), size: C.int32_t(o.Size), file: file,
		device_type: C.int32_t(kind), device_index: C.int32_t(index), timeout_ms: C.int64_t(o.Timeout.Milliseconds())}
	if o.Address != "" {
		c.address = C.CString(o.Address)
		defer C.free(unsafe.Pointer(c.address))
		p.store = lend(o.Store, &c)
	}
	if err := take("make a group of processes", C.graft_peers_new(&c, &p.handle)); err != nil {
		p.giveBack()
		s.fail(err)
		return p
	}
	s.hold(p)
	return p
}

// possible returns an error if a group cannot be formed.
func (o PeersOptions) possible() error {
	if err := o.Validate(); err != nil {
		return &Error{Op: "make a group of processes", Cause: err}
	}
	r, err := Describe()
	if err != nil {
		return err
	}
	return r.Together()
}

// Together returns an error if this LibTorch cannot train with several processes.
func (r Runtime) Together() error {
	if r.Gloo {
		return nil
	}
	return &Error{Op: "make a group of processes",
		Cause: errors.New("this LibTorch has no c10d with Gloo, or graft's library was built without it"),
		kind:  ErrDevice, Remedy: "train in one process, or use another LibTorch and run 'make library'"}
}

// Close leaves the group. Without this call, the process leaves the group when the scope closes. The other processes
// notice immediately that this process has left.
func (p *Peers) Close() {
	if p.handle != nil {
		p.scope.drop(p)
	}
}

func (p *Peers) release() {
	C.graft_peers_close(p.handle)
	p.handle = nil
	p.giveBack()
}

func (p *Peers) pointer() C.graft_peers {
	if p == nil {
		return nil
	}
	return p.handle
}

// Sum replaces tensors, in place, with their sums over all processes. The results are bit-identical in all processes.
func (p *Peers) Sum(tensors ...*Tensor) error {
	return p.call("sum over processes", tensors, func(first *C.graft_t, count C.int64_t) *C.char {
		return C.graft_peers_sum(p.handle, first, count)
	})
}

// Broadcast copies the tensors of one process, whose rank is the argument root, to all other processes.
func (p *Peers) Broadcast(root int, tensors ...*Tensor) error {
	return p.call("broadcast to processes", tensors, func(first *C.graft_t, count C.int64_t) *C.char {
		return C.graft_peers_broadcast(p.handle, C.int32_t(root), first, count)
	})
}

func (p *Peers) call(op string, tensors []*Tensor, call func(*C.graft_t, C.int64_t) *C.char) error {
	if p.handle == nil {
		return &Error{Op: op, Cause: errors.New("the group is closed or was not created"), kind: ErrClosed}
	}
	handles := make([]C.graft_t, len(tensors))
	for k, t := range tensors {
		if t == nil || t.handle == nil {
			return &Error{Op: op, Cause: fmt.Errorf("tensor %d is closed or was never created", k+1), kind: ErrClosed}
		}
		handles[k] = C.graft_t(t.handle)
	}
	if len(handles) == 0 {
		return nil
	}
	return take(op, call(unsafe.SliceData(handles), C.int64_t(len(handles))))
}
