package torch

// #include "graft.h"
import "C"

// Memory is the memory that LibTorch holds, in bytes.
type Memory struct {
	HeapInUse    int64 `json:"heap_in_use_bytes"`   // in use on the host
	HeapHeld     int64 `json:"heap_held_bytes"`     // freed on the host, kept for the next step
	CUDAInUse    int64 `json:"cuda_in_use_bytes"`   // in use on the device
	CUDAReserved int64 `json:"cuda_reserved_bytes"` // reserved on the device
}

// MemoryFigures reads the memory that LibTorch holds now. The CUDA figures are zero on the CPU
// and with LibTorch before 2.9.
func MemoryFigures(d Device) (Memory, error) {
	if err := Load(); err != nil {
		return Memory{}, err
	}
	index := -1
	if d.CUDA {
		index = d.Index
	}
	var m C.graft_memory
	if err := take("read memory figures", C.graft_memory_figures(C.int32_t(index), &m)); err != nil {
		return Memory{}, err
	}
	return Memory{HeapInUse: int64(m.heap_in_use), HeapHeld: int64(m.heap_held),
		CUDAInUse: int64(m.cuda_in_use), CUDAReserved: int64(m.cuda_reserved)}, nil
}
