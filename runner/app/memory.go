package app

import "graft/internal/files"

// PeakMemory returns the peak resident memory of this process in bytes (VmHWM of proc(5)). CUDA device memory is not
// included. Zero means unknown, as on systems other than Linux.
func PeakMemory(fsys files.FS) int64 { return files.KernelBytes(fsys, "/proc/self/status", "VmHWM:") }

// FreeMemory returns the memory in bytes that new processes can use without swapping (MemAvailable of proc(5)). Zero
// means unknown.
func FreeMemory(fsys files.FS) int64 {
	return files.KernelBytes(fsys, "/proc/meminfo", "MemAvailable:")
}
