package work

import (
	"strconv"
	"strings"

	"graft/files"
)

// largestStatus bounds the size of a file of the kernel, in bytes.
const largestStatus = 1 << 20

// PeakMemory is the most memory in bytes that this process had resident so far (VmHWM of
// proc(5)), without that of CUDA devices; zero means unknown, as on systems other than Linux.
func PeakMemory(fsys files.FS) int64 { return kernelValue(fsys, "/proc/self/status", "VmHWM:") }

// FreeMemory is the memory in bytes that new processes can use without swapping (MemAvailable of
// proc(5)); zero means unknown.
func FreeMemory(fsys files.FS) int64 { return kernelValue(fsys, "/proc/meminfo", "MemAvailable:") }

// kernelValue reads a value in kB, as bytes; zero means unknown.
func kernelValue(fsys files.FS, path, name string) int64 {
	text, err := files.ReadAll(fsys, path, largestStatus)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
