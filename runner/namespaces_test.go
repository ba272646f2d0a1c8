package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// machines holds network namespaces, one per machine, whose cables end in a switch in this process. The switch can
// delay frames, and drops the frames of a machine that is cut off.
type machines struct {
	names []string // names of the namespaces
	ports []*port
	delay atomic.Int64 // delay of a frame in nanoseconds
}

// port is the end of a machine's cable.
type port struct {
	tap *os.File
	cut atomic.Bool
	out chan frame
}

type frame struct {
	due   time.Time
	bytes []byte
}

// machinesMade counts machines, since tests run in parallel.
var machinesMade atomic.Int64

// newMachines creates machines with the addresses 10.77.0.1, 10.77.0.2 and so on.
func newMachines(t *testing.T, count int) *machines {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("left out: network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("left out: there is no program ip; install iproute2")
	}
	m := &machines{}
	t.Cleanup(m.close)
	const most = 9 // maximum number of machines per test
	first := int(machinesMade.Add(most)) - most
	for k := range count {
		name := fmt.Sprintf("graft%d-%d", os.Getpid(), first+k+1)
		if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
			t.Skipf("left out: this machine allows no network namespaces: %s", strings.TrimSpace(string(out)))
		}
		m.names = append(m.names, name)
		cable := fmt.Sprintf("gt%d-%d", os.Getpid()%100000, first+k+1)
		tap, err := openTAP(cable)
		if err != nil {
			t.Skipf("left out: this machine allows no TAP devices: %v", err)
		}
		m.ports = append(m.ports, &port{tap: tap, out: make(chan frame, 1<<14)})
		for _, args := range []string{"link set " + cable + " netns " + name,
			"-n " + name + " addr add " + m.address(k) + "/24 dev " + cable,
			"-n " + name + " link set " + cable + " up", "-n " + name + " link set lo up"} {
			out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
			require.NoError(t, err, "ip %s: %s", args, out)
		}
	}
	for _, p := range m.ports {
		go m.read(p)
		go p.write()
	}
	return m
}

func openTAP(name string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	request, err := unix.NewIfreq(name)
	if err == nil {
		request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "/dev/net/tun"), nil
}

func (m *machines) address(k int) string { return fmt.Sprintf("10.77.0.%d", k+1) }

// read forwards the frames of a machine to all others.
func (m *machines) read(from *port) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.tap.Read(buffer)
		if err != nil {
			return
		}
		f := frame{time.Now().Add(time.Duration(m.delay.Load())), append([]byte(nil), buffer[:n]...)}
		for _, to := range m.ports {
			if to == from || from.cut.Load() || to.cut.Load() {
				continue
			}
			select {
			case to.out <- f:
			default: // a switch drops frames if its queue is full
			}
		}
	}
}

func (p *port) write() {
	for f := range p.out {
		time.Sleep(time.Until(f.due))
		if _, err := p.tap.Write(f.bytes); err != nil {
			return
		}
	}
}

// cut disconnects a machine from the network for a while.
func (m *machines) cut(k int, length time.Duration) {
	m.ports[k].cut.Store(true)
	time.AfterFunc(length, func() { m.ports[k].cut.Store(false) })
}

// on returns a command that runs graft on a machine.
func (m *machines) on(t *testing.T, k int, folder string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command("ip", append([]string{"netns", "exec", m.names[k], self}, args...)...)
	c.Dir, c.Env = folder, append(os.Environ(), programVariable+"=1")
	return c
}

func (m *machines) close() {
	var wait sync.WaitGroup
	for _, p := range m.ports {
		_ = p.tap.Close()
	}
	for _, name := range m.names {
		wait.Go(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
	}
	wait.Wait()
}
