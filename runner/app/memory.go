package app

import "graft/internal/files"

// PeakMemory is the most memory in bytes that this process had resident so far (VmHWM of
// proc(5)), without that of CUDA devices; zero means unknown, as on systems other than Linux.
func PeakMemory(fsys files.FS) int64 { return files.KernelBytes(fsys, "/proc/self/status", "VmHWM:") }

// FreeMemory is the memory in bytes that new processes can use without swapping (MemAvailable of
// proc(5)); zero means unknown.
func FreeMemory(fsys files.FS) int64 {
	return files.KernelBytes(fsys, "/proc/meminfo", "MemAvailable:")
}
