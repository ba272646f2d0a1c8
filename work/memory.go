package work

import (
	"strconv"
	"strings"

	"graft/files"
)

// largestStatus bounds the size of /proc/self/status, in bytes.
const largestStatus = 1 << 20

// PeakMemory is the most memory in bytes that this process had resident so far (VmHWM of
// proc(5)), without that of CUDA devices; zero means unknown, as on systems other than Linux.
func PeakMemory(fsys files.FS) int64 {
	text, err := files.ReadAll(fsys, "/proc/self/status", largestStatus)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
