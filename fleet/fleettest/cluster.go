package fleettest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/internal/files"
)

// Cluster is a Slurm cluster of four nodes on this machine, for the tests of one package.
type Cluster struct {
	// path of the folder with the configuration, the logs and the process IDs of the daemons
	Folder string
	lock   io.Closer
}

// NeedSlurm skips a test if Slurm cannot be started. If the environment variable CI is set, the test fails instead.
func NeedSlurm(t *testing.T) {
	missing := ""
	switch _, err := exec.LookPath("slurmctld"); {
	case os.Getuid() != 0:
		missing = "starting Slurm for the test needs root"
	case err != nil:
		missing = "Slurm is not installed: apt-get install slurm-wlm slurm-client munge"
	}
	if missing != "" && os.Getenv("CI") != "" {
		t.Fatal("CI must not skip Slurm tests: " + missing)
	}
	if missing != "" {
		t.Skip("left out: " + missing)
	}
}

// NeedAccounting skips a test if a Slurm with a slurmdbd cannot be started. If the environment variable CI is set, the
// test fails instead.
func NeedAccounting(t *testing.T) {
	NeedSlurm(t)
	for _, program := range []string{"slurmdbd", "mariadbd", "sreport"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		missing := program + " is not installed: apt-get install slurmdbd slurm-client mariadb-server"
		if os.Getenv("CI") != "" {
			t.Fatal("CI must not skip Slurm tests: " + missing)
		}
		t.Skip("left out: " + missing)
	}
}

// StartCluster starts a cluster in a fixed folder, so that it finds and stops daemons that a killed test left running.
// The folder of the package under test must be a sibling of the folder "scripts".
func StartCluster(clock fleet.Clock) (*Cluster, error) { return startCluster(clock, "") }

// StartAccounting starts a cluster like StartCluster, with a slurmdbd and a database of its own. Its nodes have eight
// processors and two GPUs of type a100.
func StartAccounting(clock fleet.Clock) (*Cluster, error) {
	return startCluster(clock, "-accounting", "SLURM_ACCOUNTING=1", "SLURM_GPU_TYPE=a100", "SLURM_CPUS=8")
}

func startCluster(clock fleet.Clock, suffix string, env ...string) (*Cluster, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(here)), "-")
	c := &Cluster{Folder: filepath.Join(os.TempDir(), "slurm-of-"+name+suffix)}
	if c.lock, err = lock(clock, c.Folder+".lock"); err != nil {
		return nil, err
	}
	began := clock.Now()
	up := exec.Command("../scripts/slurm-up.sh", c.Folder)
	up.Env = append(append(os.Environ(), "SLURM_PORT="+strconv.Itoa(freePort())), env...)
	if said, err := up.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("start Slurm: %w: %s", err, said)
	}
	println("measured: Slurm with 4 nodes is up after", (clock.Now() - began).Milliseconds(), "ms")
	return c, nil
}

// lock locks a file. It repeats the attempt for a minute: a process that another test has just forked holds the lock of
// a stopped cluster until it executes its program.
func lock(clock fleet.Clock, path string) (held io.Closer, err error) {
	for range 600 {
		held, err = files.OS{}.Lock(path, "a test")
		if !errors.Is(err, files.ErrLocked) {
			break
		}
		_ = clock.Wait(context.Background(), 100*time.Millisecond)
	}
	return held, err
}

// Stop stops the cluster and all processes of its jobs.
func (c *Cluster) Stop() {
	_ = exec.Command("../scripts/slurm-down.sh", c.Folder).Run()
	_ = os.RemoveAll(c.Folder)
	_ = os.Remove(c.Folder + ".lock")
	_ = c.lock.Close()
}

// Use makes Slurm's commands use the cluster during a test.
func (c *Cluster) Use(t *testing.T) {
	t.Setenv("SLURM_CONF", filepath.Join(c.Folder, "etc/slurm.conf"))
}

// freePort returns the first of a range of free ports. The search starts at a port that depends on the process ID.
func freePort() int {
	const span = 20
	for port := 21000 + span*(os.Getpid()%450); ; port += span {
		taken := false
		for k := range span - 4 {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port+k))
			if err != nil {
				taken = true
				break
			}
			_ = l.Close()
		}
		if !taken {
			return port
		}
	}
}

// Daemon returns the process ID of a daemon, such as slurmctld or slurmd.n1.
func (c *Cluster) Daemon(t *testing.T, name string) int {
	text, err := os.ReadFile(filepath.Join(c.Folder, "pid", name))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return pid
}

// Raise restarts a daemon that was killed. The arguments args are added to its command line.
func (c *Cluster) Raise(t *testing.T, name string, args ...string) {
	program, _, _ := strings.Cut(name, ".")
	p := exec.Command(program, append([]string{"-D", "-f", os.Getenv("SLURM_CONF")}, args...)...)
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, p.Start())
	go func() { _ = p.Wait() }()
	require.NoError(t, os.WriteFile(filepath.Join(c.Folder, "pid", name), []byte(strconv.Itoa(p.Process.Pid)), 0o666))
}

// WorkerProcesses returns the process IDs of a batch's worker, without Slurm's own processes.
func WorkerProcesses(t *testing.T, folder string, worker int) []int {
	pids, err := processes(folder)
	require.NoError(t, err)
	return slices.DeleteFunc(pids, func(pid int) bool {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return !strings.Contains(string(environ), fmt.Sprintf("\x00GRAFT_WORKER=%d\x00", worker)) ||
			strings.Contains(string(comm), "slurm")
	})
}

// KillWorker kills the processes of a worker.
func KillWorker(t *testing.T, folder string, worker int) {
	for _, pid := range WorkerProcesses(t, folder, worker) {
		if err := syscall.Kill(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) { // it may have ended
			require.NoError(t, err)
		}
	}
}

// KillStep kills the Slurm process that supervises a worker.
func KillStep(t *testing.T, folder string, worker int) {
	for _, pid := range WorkerProcesses(t, folder, worker) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		require.NoError(t, err)
		parent, err := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(parent, syscall.SIGKILL))
	}
}
