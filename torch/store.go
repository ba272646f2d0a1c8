package torch

// #include <stdlib.h>
// #include "graft.h"
// extern char *graftCallStore(uintptr_t handle, graft_store_call *call);
import "C"

import (
	"fmt"
	"runtime/cgo"
	"unsafe"
)

// Store holds the keys through which processes on several machines find each other. It must be safe for concurrent use.
type Store interface {
	// Call performs one operation. It does not wait for a missing key.
	Call(StoreCall) (StoreResult, error)
}

// StoreOp is an operation on a key of a [Store].
type StoreOp int32

// The operations of a store.
const (
	StoreSet    StoreOp = C.GRAFT_STORE_SET    // sets the key's value to Value
	StoreGet    StoreOp = C.GRAFT_STORE_GET    // returns the key's value in Value
	StoreAdd    StoreOp = C.GRAFT_STORE_ADD    // adds Number to the key's number and returns the sum in Number
	StoreCheck  StoreOp = C.GRAFT_STORE_CHECK  // returns 1 in Number if the key exists
	StoreDelete StoreOp = C.GRAFT_STORE_DELETE // deletes the key, and returns 1 in Number if it existed
)

// StoreCall is an operation of a [Store] with its operands.
type StoreCall struct {
	Op     StoreOp `json:"op"`
	Key    []byte  `json:"key"`
	Value  []byte  `json:"value,omitempty"`
	Number int64   `json:"number,omitempty"`
}

// StoreResult is the result of an operation of a [Store].
type StoreResult struct {
	Value  []byte `json:"value,omitempty"`
	Number int64  `json:"number,omitempty"`
}

// lend lets LibTorch call a store, until giveBack.
func lend(s Store, o *C.graft_peers_options) cgo.Handle {
	handle := cgo.NewHandle(s)
	o.store = C.graft_store(C.graftCallStore)
	o.store_handle = C.uintptr_t(handle)
	return handle
}

func (p *Peers) giveBack() {
	if p.store != 0 {
		p.store.Delete()
		p.store = 0
	}
}

// graftCallStore is called by LibTorch, on threads of its own too.
//
//export graftCallStore
func graftCallStore(handle C.uintptr_t, call *C.graft_store_call) (message *C.char) {
	defer func() {
		if fault := recover(); fault != nil {
			message = C.CString(fmt.Sprint("call the store: ", fault))
		}
	}()
	r, err := cgo.Handle(handle).Value().(Store).Call(StoreCall{
		Op: StoreOp(call.op), Number: int64(call.number),
		Key:   C.GoBytes(unsafe.Pointer(call.key), C.int(call.key_size)),
		Value: C.GoBytes(unsafe.Pointer(call.value), C.int(call.value_size)),
	})
	if err != nil {
		return C.CString(err.Error())
	}
	call.number = C.int64_t(r.Number)
	if StoreOp(call.op) == StoreGet {
		call.found, call.found_size = (*C.uint8_t)(C.CBytes(r.Value)), C.int64_t(len(r.Value))
	}
	return nil
}
