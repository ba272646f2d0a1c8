package trainer_test

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
)

// listeners returns the addresses at which a process listens, from the kernel's tables.
func listeners(t *testing.T, pid int) []netip.AddrPort {
	own := map[string]bool{}
	descriptors := fmt.Sprintf("/proc/%d/fd", pid)
	all, err := os.ReadDir(descriptors)
	require.NoError(t, err)
	for _, d := range all {
		if link, err := os.Readlink(descriptors + "/" + d.Name()); err == nil { // it may be closed meanwhile
			own[strings.TrimSuffix(strings.TrimPrefix(link, "socket:["), "]")] = true
		}
	}
	var found []netip.AddrPort
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		require.NoError(t, err)
		for _, line := range strings.Split(string(text), "\n")[1:] {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" && own[f[9]] {
				found = append(found, hexAddress(t, f[1]))
			}
		}
	}
	return found
}

// hexAddress parses an address in the kernel's tables: words in the machine's order, a colon and a port.
func hexAddress(t *testing.T, text string) netip.AddrPort {
	host, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	require.NoError(t, err)
	raw, err := hex.DecodeString(host)
	require.NoError(t, err)
	for word := range slices.Chunk(raw, 4) {
		slices.Reverse(word) // these tests run on little-endian machines
	}
	address, ok := netip.AddrFromSlice(raw)
	require.True(t, ok)
	return netip.AddrPortFrom(address.Unmap(), uint16(number))
}

// poke sends nine bytes, which some protocols read as a length, to a listener. It leaves the connection open.
func poke(t *testing.T, address netip.AddrPort) {
	conn, err := net.Dial("tcp", address.String())
	if err != nil {
		return // the listener is closed meanwhile
	}
	t.Cleanup(func() { _ = conn.Close() })
	_, _ = conn.Write([]byte("\x00\xff\xff\xff\x7f\x00\x00\x00\x00"))
}

// resident returns the resident memory of a process in bytes.
func resident(t *testing.T, pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	require.NoError(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	require.NoError(t, err)
	return pages * os.Getpagesize()
}

// A leader and its followers listen only at their own addresses, and data from a stranger take no memory.
func TestGroupsListenAtTheirOwnAddressesOnly(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, torch.SetThreads(1))
	n, all := listeningAt(t, "127.0.0.2:0", 2)
	o, book := changing(), &memory{}
	o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.02}
	o.Parallel.Threads = 1
	most := 0
	look := func() {
		for pid, own := range map[int]string{os.Getpid(): "127.0.0.2", all[0].Process.Pid: "127.0.0.1",
			all[1].Process.Pid: "127.0.0.1"} {
			// followers listen while they meet, with newer versions of Gloo longer
			for _, address := range listeners(t, pid) {
				require.Equal(t, own, address.Addr().String())
				poke(t, address)
			}
			most = max(most, resident(t, pid))
		}
	}
	require.NotEmpty(t, listeners(t, os.Getpid()), "those of the leader are found")
	perform(t, o, watched{book, look}, n, "deepen:conv1", "widen:conv2:12", "deepen:conv2")
	require.Equal(t, []int{2, 3, 2, 1}, book.processes())
	require.Less(t, most, 1<<30)
}
