package files

import (
	"strconv"
	"strings"
)

// largestStatus limits the size of a kernel file, in bytes.
const largestStatus = 1 << 20

// KernelBytes returns the value after a name such as "MemTotal:" in a file such as /proc/meminfo (see proc(5)). It
// converts the value from kB to bytes. Zero means unknown, for example on systems other than Linux.
func KernelBytes(fsys FS, path, name string) int64 {
	text, err := ReadAll(fsys, path, largestStatus)
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
