package fleettest

import (
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

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/fleet"
)

// Cluster is a Slurm of a package's own: four nodes on this machine.
type Cluster struct {
	Folder string // with configuration, logs and the numbers of the daemons' processes
	lock   io.Closer
}

// NeedSlurm leaves a test out where no Slurm can be started; in CI that is a failure.
func NeedSlurm(t *testing.T) {
	missing := ""
	switch _, err := exec.LookPath("slurmctld"); {
	case os.Getuid() != 0:
		missing = "a Slurm of its own needs root"
	case err != nil:
		missing = "Slurm is not installed: apt-get install slurm-wlm slurm-client munge"
	}
	if missing != "" && os.Getenv("CI") != "" {
		t.Fatal("CI leaves no test of Slurm out: " + missing)
	}
	if missing != "" {
		t.Skip("left out: " + missing)
	}
}

// StartCluster starts a cluster in a folder that is always the same one, so that what a
// killed test has left running is found and stopped. The package's folder lies beside
// scripts.
func StartCluster(clock fleet.Clock) (*Cluster, error) {
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
	c := &Cluster{Folder: filepath.Join(os.TempDir(), "slurm-of-"+name)}
	if c.lock, err = (files.OS{}).Lock(c.Folder+".lock", "a test"); err != nil {
		return nil, err
	}
	began := clock.Now()
	up := exec.Command("../scripts/slurm-up.sh", c.Folder)
	up.Env = append(os.Environ(), "SLURM_PORT="+strconv.Itoa(freePort()))
	if said, err := up.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("start a Slurm: %w: %s", err, said)
	}
	println("measured: Slurm with 4 nodes is up after", (clock.Now() - began).Milliseconds(), "ms")
	return c, nil
}

// Stop stops the cluster with all that its jobs have left running.
func (c *Cluster) Stop() {
	_ = exec.Command("../scripts/slurm-down.sh", c.Folder).Run()
	_ = os.RemoveAll(c.Folder)
	_ = os.Remove(c.Folder + ".lock")
	_ = c.lock.Close()
}

// Use has Slurm's programs use the cluster while a test goes on.
func (c *Cluster) Use(t *testing.T) {
	t.Setenv("SLURM_CONF", filepath.Join(c.Folder, "etc/slurm.conf"))
}

// freePort is a port behind which others are likely to be free as well. Processes with
// other numbers begin to look elsewhere.
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

// Daemon is the number of a daemon's process, such as slurmctld and slurmd.n1.
func (c *Cluster) Daemon(t *testing.T, name string) int {
	text, err := os.ReadFile(filepath.Join(c.Folder, "pid", name))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return pid
}

// Raise starts a daemon that was killed.
func (c *Cluster) Raise(t *testing.T, name string, args ...string) {
	program, _, _ := strings.Cut(name, ".")
	p := exec.Command(program, append([]string{"-D", "-f", os.Getenv("SLURM_CONF")}, args...)...)
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, p.Start())
	go func() { _ = p.Wait() }()
	require.NoError(t, os.WriteFile(filepath.Join(c.Folder, "pid", name), []byte(strconv.Itoa(p.Process.Pid)), 0o666))
}

// WorkerProcesses are the numbers of the processes of a batch's worker, but for Slurm's.
func WorkerProcesses(t *testing.T, folder string, worker int) []int {
	pids, err := processes(folder)
	require.NoError(t, err)
	return slices.DeleteFunc(pids, func(pid int) bool {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		return !strings.Contains(string(environ), fmt.Sprintf("\x00GRAFT_WORKER=%d\x00", worker)) || strings.Contains(string(comm), "slurm")
	})
}

// KillWorker kills the processes of a worker.
func KillWorker(t *testing.T, folder string, worker int) {
	for _, pid := range WorkerProcesses(t, folder, worker) {
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	}
}

// KillStep kills Slurm's keeper of a worker.
func KillStep(t *testing.T, folder string, worker int) {
	for _, pid := range WorkerProcesses(t, folder, worker) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		require.NoError(t, err)
		parent, err := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(parent, syscall.SIGKILL))
	}
}
