package trial

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"graft/internal/files"
	"graft/model/graph"
)

// Limits holds the resource limits of a trial. Zero values mean limits derived from the graph's shapes.
type Limits struct {
	Memory int64         // bytes in addition to the memory of a process that has opened LibTorch
	Time   time.Duration // total processor time of all threads
}

// Parts of a trial's limits, which are a base plus a multiple of the need computed from the graph's shapes: kernels
// keep copies, and a convolution unfolds its input by the size of its kernel.
const (
	baseMemory   = 1 << 30
	timesMemory  = 16
	baseTime     = 20 * time.Second
	slowest      = 1e9 // operations per second of one processor
	timesForward = 4   // cost of a pass with gradients, in forward passes
	longest      = time.Hour
)

// machineShare is the maximum part of the machine's memory for a network.
const machineShare = 0.75

// EnsureDefaults fills in the limits for a graph with the given resource needs. The time limit is longer for trials
// that compute gradients. The memory limit is at most 75% of the machine's memory, which the argument machine gives in
// bytes. If machine is zero, the size is unknown and the memory limit has no maximum.
func (l *Limits) EnsureDefaults(need graph.Need, gradients bool, machine int64) {
	if l.Memory == 0 {
		most := float64(math.MaxInt64 / 2)
		if machine > 0 {
			most = machineShare * float64(machine)
		}
		l.Memory = int64(min(most, baseMemory+timesMemory*(need.Weights+need.Values)))
	}
	if l.Time == 0 {
		seconds := need.Operations / slowest
		if gradients {
			seconds *= timesForward
		}
		l.Time = baseTime + time.Duration(min(seconds, longest.Seconds())*float64(time.Second))
	}
}

// Fits returns an error if a training step on inputs of the given shape needs more than three quarters of the machine's
// memory, as estimated from the shapes of the graph. A nil shape means the shape of the graph's example input. If graft
// cannot infer the graph's shapes, Fits returns nil.
func Fits(fsys files.FS, g *graph.Graph, shape []int) error {
	need, err := g.Needs(shape)
	if errors.Is(err, graph.ErrTooLarge) {
		return err
	}
	if err != nil {
		return nil
	}
	need.Peak = need.Training()
	return fits(need, machineMemory(fsys))
}

func fits(need graph.Need, machine int64) error {
	if most := machineShare * float64(machine); machine > 0 && need.Peak > most {
		return fmt.Errorf("a pass through the network needs at least %.3g GiB, but the limit is %.3g GiB, three "+
			"quarters of this machine's memory; use smaller inputs or a smaller batch", need.Peak/(1<<30), most/(1<<30))
	}
	return nil
}

// largestNumber limits a file that holds one number, in bytes.
const largestNumber = 1 << 10

// machineMemory is the memory of the machine, or of this process's control group if that is less; zero means unknown.
func machineMemory(fsys files.FS) int64 {
	most := files.KernelBytes(fsys, "/proc/meminfo", "MemTotal:")
	text, err := files.ReadAll(fsys, "/sys/fs/cgroup/memory.max", largestNumber)
	if group, wrong := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && wrong == nil &&
		(most == 0 || group < most) {
		return group
	}
	return most
}

// Bytes of a thread in addition to its work: addresses that the C library reserves for its heap, and its stack.
const (
	addressesPerThread = 144 << 20
	stackPerThread     = 16 << 20
)

// impose limits this process, in addition to the resources it has used so far.
func (l Limits) impose(fsys files.FS) error {
	const status = "/proc/self/status"
	threads := int64(runtime.NumCPU() + 8)
	for _, m := range []struct {
		resource  int
		name      string
		perThread int64
	}{{syscall.RLIMIT_DATA, "VmData:", stackPerThread}, {syscall.RLIMIT_AS, "VmSize:", addressesPerThread}} {
		used := files.KernelBytes(fsys, status, m.name)
		if used == 0 {
			continue // a system without this file: only the time is limited
		}
		if err := limit(m.resource, uint64(used+l.Memory+threads*m.perThread)); err != nil {
			return fmt.Errorf("limit the memory of a trial: %w", err)
		}
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return fmt.Errorf("limit the time of a trial: %w", err)
	}
	seconds := math.Ceil(l.Time.Seconds()) + float64(used.Utime.Sec+used.Stime.Sec) + 1
	if err := limit(syscall.RLIMIT_CPU, uint64(seconds)); err != nil {
		return fmt.Errorf("limit the time of a trial: %w", err)
	}
	return limit(syscall.RLIMIT_CORE, 0)
}

// limit sets a limit, unless there is a lower one.
func limit(resource int, most uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(resource, &l); err != nil {
		return err
	}
	l.Cur, l.Max = min(l.Cur, most), min(l.Max, most)
	return syscall.Setrlimit(resource, &l)
}
