package fleettest

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// newKey returns a unique key for a batch.
func newKey(name string) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s-%x", name, b)
}

// processes returns the IDs of this machine's processes of a batch, found by their environment. It misses processes of
// other users and zombies.
func processes(folder string) (pids []int, err error) {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		pid, bad := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		text, gone := os.ReadFile(path)
		if bad != nil || gone != nil || pid == os.Getpid() ||
			!strings.Contains("\x00"+string(text), "\x00GRAFT_FLEET="+folder+"\x00") {
			continue
		}
		pids = append(pids, pid)
	}
	return pids, err
}
