package torch

// #include <stdlib.h>
// #include "door.h"
// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// spinCount is the number of times that an idle OpenMP thread looks for work before it sleeps. libgomp's default spins
// for seconds: three jobs on two processors then do a third of the work. A short spin costs a few per cent on a quiet
// machine, where sleeping immediately costs a sixth; see docs/measurements.md.
const spinCount = "3000"

// WaitPolicy describes, for reports, how idle OpenMP threads wait by default. The user can change the policy with the
// environment variables OMP_WAIT_POLICY and GOMP_SPINCOUNT.
const WaitPolicy = "spin " + spinCount + " times"

var door = struct {
	mutex  sync.Mutex
	opened bool // or could not be opened
	path   string
	err    error
	limit  Instructions
}{limit: Native}

// Load opens LibTorch. The first scope calls it automatically; call Load to find errors early. Later calls return the
// result of the first call.
func Load() error {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	if !door.opened {
		door.opened = true
		door.path, door.err = open()
	}
	return door.err
}

// LibraryPath returns the path of the library that Load opened. It is empty before Load and after a failure.
func LibraryPath() string {
	door.mutex.Lock()
	defer door.mutex.Unlock()
	if door.err != nil {
		return ""
	}
	return door.path
}

func open() (string, error) {
	path, err := find()
	if err != nil {
		return "", err
	}
	if err := openAt(path); err != nil {
		return "", &Error{Op: "open LibTorch", Subject: path, Cause: err, kind: ErrNotLoaded,
			Remedy: "run 'make library' in graft's folder to build it for this machine's LibTorch"}
	}
	if abi := int64(C.graft_abi()); abi != C.GRAFT_ABI {
		return "", &Error{Op: "open LibTorch", Subject: path, kind: ErrNotLoaded,
			Cause: fmt.Errorf("the library has interface version %d, expected %d", abi,
				C.GRAFT_ABI), Remedy: "run 'make library' in graft's folder to build the library from the " +
				"same source"}
	}
	return path, setThreads(DefaultThreads())
}

func openAt(path string) error {
	cpath, spin := C.CString(path), C.CString(spinCount)
	defer C.free(unsafe.Pointer(cpath))
	defer C.free(unsafe.Pointer(spin))
	message := C.door_open(cpath, spin)
	if message == nil {
		return nil
	}
	defer C.free(unsafe.Pointer(message))
	return errors.New(C.GoString(message))
}

// Runtime describes the LibTorch library that this process has loaded.
type Runtime struct {
	Library     string `json:"library"`      // path of the loaded library
	Version     string `json:"version"`      // version of LibTorch
	CompiledFor string `json:"compiled_for"` // version of the headers that the library was built with
	Vectors     string `json:"vectors"`      // vector instructions that LibTorch uses on this processor
	Threads     int    `json:"threads"`      // threads per operator
	CUDABuilt   bool   `json:"cuda_built"`   // whether this LibTorch supports CUDA
	CUDADevices int    `json:"cuda_devices"` // number of CUDA devices
	Gloo        bool   `json:"gloo"`         // whether several processes can train together
	NCCL        bool   `json:"nccl"`         // whether the CUDA devices of several processes can communicate directly
	Graphs      bool   `json:"graphs"`       // whether training steps on CUDA devices can be CUDA graphs
}

// Describe opens LibTorch and describes it.
func Describe() (Runtime, error) {
	if err := Load(); err != nil {
		return Runtime{}, err
	}
	var r C.graft_runtime
	if err := take("describe LibTorch", C.graft_describe(&r)); err != nil {
		return Runtime{}, err
	}
	return Runtime{
		Library:     LibraryPath(),
		Version:     C.GoString(&r.version[0]),
		CompiledFor: C.GoString(&r.compiled_for[0]),
		Vectors:     C.GoString(&r.capability[0]),
		Threads:     int(r.threads),
		CUDABuilt:   r.cuda_built != 0,
		CUDADevices: int(r.cuda_devices),
		Gloo:        r.gloo != 0,
		NCCL:        r.nccl != 0,
		Graphs:      r.graphs != 0,
	}, nil
}

// SetThreads sets the number of threads per operator on the CPU.
func SetThreads(n int) error {
	if err := Load(); err != nil {
		return err
	}
	return setThreads(n)
}

func setThreads(n int) error {
	return take("set the number of threads", C.graft_set_threads(C.int32_t(n)))
}

// UseThreads sets the number of threads for operators that the calling thread runs. The call itself takes almost no
// time. The goroutine must be locked to its thread, as in [With].
func UseThreads(n int) error {
	if err := Load(); err != nil {
		return err
	}
	return take("compute with a number of threads", C.graft_use_threads(C.int32_t(n)))
}

// DefaultThreads returns the number of threads that Load sets: the number of processors that the affinity and the
// control group of this process allow.
func DefaultThreads() int { return runtime.GOMAXPROCS(0) }

// take converts a message of the shim into an error and frees it.
func take(op string, message *C.char) error {
	if message == nil {
		return nil
	}
	text := C.GoString(message)
	C.graft_free_error(message)
	return newError(op, text)
}

// LimitMemory limits how much of a CUDA device's memory this process can use, as a share of the total between 0 and 1.
// On the CPU it has no effect. A call that exceeds the limit fails with the same error as a call that runs out of
// memory.
func LimitMemory(d Device, share float64) error {
	if d == CPU {
		return nil
	}
	if !(share > 0 && share <= 1) {
		return fmt.Errorf("limit the memory of %v: share is %g; must be above 0 and at most 1", d, share)
	}
	if err := Load(); err != nil {
		return err
	}
	_, index := d.code()
	return take("limit the memory of a device", C.graft_limit_memory(C.int32_t(index), C.double(share)))
}
