package fleet_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/fleet"
	"graft/fleet/fleettest"
)

// cluster is a Slurm of this package's own, brought up for the first test that needs it.
var cluster struct {
	sync.Once
	folder string
	err    error
}

// needSlurm brings the cluster up and has Slurm's programs use it. Where that cannot be,
// the test is left out, but not in CI.
func needSlurm(t *testing.T) {
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
	cluster.Do(bringUp)
	require.NoError(t, cluster.err)
	t.Setenv("SLURM_CONF", filepath.Join(cluster.folder, "etc/slurm.conf"))
}

// bringUp starts the cluster in a folder that is always the same one, so that what a
// killed test has left running is found and stopped.
func bringUp() {
	here, err := os.Getwd()
	if err != nil {
		cluster.err = err
		return
	}
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(here)), "-")
	cluster.folder = filepath.Join(os.TempDir(), "slurm-of-"+name)
	lock, err := files.OS{}.Lock(cluster.folder+".lock", "a test")
	if err != nil {
		cluster.err = err
		return
	}
	began := time.Now()
	up := exec.Command("../scripts/slurm-up.sh", cluster.folder)
	up.Env = append(os.Environ(), "SLURM_PORT="+strconv.Itoa(freePort()))
	up.Stderr = os.Stderr
	if cluster.err = up.Run(); cluster.err == nil {
		fmt.Printf("measured: Slurm with 4 nodes is up after %.1f s\n", time.Since(began).Seconds())
	}
	fleet.After(func() {
		_ = exec.Command("../scripts/slurm-down.sh", cluster.folder).Run()
		_ = os.RemoveAll(cluster.folder)
		_ = os.Remove(cluster.folder + ".lock")
		_ = lock.Close()
	})
}

// freePort is a port behind which others are likely to be free as well.
func freePort() int {
	for port := 21000 + os.Getpid()%9000; ; port += 20 {
		taken := false
		for k := range 16 {
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

func slurmHarness() fleettest.Harness {
	return fleettest.Harness{Engine: "slurm", Clock: fleet.NewClock(time.Now), Patience: 2 * time.Minute}
}

// call runs a program of Slurm's.
func call(t *testing.T, name string, args ...string) string {
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return strings.TrimSpace(string(out))
}

// daemon is the number of a daemon's process.
func daemon(t *testing.T, name string) int {
	text, err := os.ReadFile(filepath.Join(cluster.folder, "pid", name))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	return pid
}

// raise starts a daemon that was killed.
func raise(t *testing.T, name string, args ...string) {
	program, _, _ := strings.Cut(name, ".")
	c := exec.Command(program, append([]string{"-D", "-f", os.Getenv("SLURM_CONF")}, args...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, c.Start())
	go func() { _ = c.Wait() }()
	require.NoError(t, os.WriteFile(filepath.Join(cluster.folder, "pid", name), []byte(strconv.Itoa(c.Process.Pid)), 0o666))
}

// allIdle waits until all nodes can be used.
func allIdle(t *testing.T, h fleettest.Harness) {
	h.Await(t, "all nodes are idle", func() bool {
		out, _ := exec.Command("sinfo", "-h", "-N", "-o", "%t").Output()
		return strings.Count(string(out), "idle\n") == 4
	})
}

func TestSlurmConforms(t *testing.T) {
	needSlurm(t)
	fleettest.Run(t, slurmHarness())
}

func TestSlurmRefusesWithARemedy(t *testing.T) {
	needSlurm(t)
	for say, r := range map[string]fleet.Resources{
		"'sinfo -s' lists the partitions": {Partition: "nowhere"},
		"no node has that much":           {GPUs: 9},
		"'sbatch --test-only'":            {Extra: []string{"--no-such-option"}},
		"Memory specification can not be": {MemoryMB: 1 << 30},
	} {
		h := slurmHarness()
		h.Resources = r
		b := h.NewBatch(t, "plain", 2, 1, 0)
		_, err := fleet.Start(context.Background(), fleet.Tools{Files: files.OS{}, Clock: h.Clock}, "slurm", b)
		require.ErrorContains(t, err, say)
	}
}

// Each worker sees as many GPUs as it has asked for.
func TestSlurmDealsOutDevices(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	h.Resources = fleet.Resources{GPUs: 1, CPUs: 2, MemoryMB: 100, Time: time.Hour}
	b := h.NewBatch(t, "plain", 2, 2, 0)
	f := h.Start(t, b)
	require.NoError(t, h.Tend(t, f, 2))
	log, err := os.ReadFile(fleet.LogPath(b.Folder, 0))
	require.NoError(t, err)
	require.Contains(t, string(log), "threads 2 device cuda:0")
}

// A worker that is killed is started again, and its task is done by somebody.
func TestSlurmWorkerIsKilled(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	const tasks = 6
	b := h.NewBatch(t, "plain", 2, tasks, 400*time.Millisecond)
	f := h.Start(t, b)
	h.Await(t, "both work", func() bool { return fleettest.Count(t, b, "starts") >= 2 })
	killWorker(t, b, 1)
	require.NoError(t, h.Tend(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	require.LessOrEqual(t, fleettest.Count(t, b, "starts"), tasks+1)
}

// killWorker kills the process of a worker.
func killWorker(t *testing.T, b fleet.Batch, worker int) {
	pids, err := fleet.Processes(b.Folder)
	require.NoError(t, err)
	for _, pid := range pids {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if strings.Contains(string(environ), fmt.Sprintf("\x00GRAFT_WORKER=%d\x00", worker)) && !strings.Contains(string(comm), "slurm") {
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
}

// The controller dies right after it has accepted a batch, and comes back. Whether it
// remembers or not, all is done.
func TestSlurmControllerIsKilledAfterASubmission(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	const tasks = 8
	b := h.NewBatch(t, "plain", 2, tasks, 300*time.Millisecond)
	f := h.Start(t, b)
	require.NoError(t, syscall.Kill(daemon(t, "slurmctld"), syscall.SIGKILL))
	raise(t, "slurmctld")
	require.NoError(t, h.Tend(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	t.Logf("measured: a controller killed after a submission cost %d of %d tasks a second start", fleettest.Count(t, b, "starts")-tasks, tasks)
	mend(t, h)
}

// mend puts nodes back that the controller has drained, as a site's administrators do.
// One that takes jobs is enough: what the controller wrongly believes to run there it
// clears up only after a minute.
func mend(t *testing.T, h fleettest.Harness) {
	h.Await(t, "the nodes are back", func() bool {
		_ = exec.Command("scontrol", "update", "nodename=n[1-4]", "state=resume").Run()
		out, _ := exec.Command("sinfo", "-h", "-N", "-o", "%t").Output()
		usable := 0
		for _, state := range strings.Fields(string(out)) {
			if state == "idle" || state == "mix" || state == "alloc" {
				usable++
			}
		}
		return usable == 4
	})
}

// The controller forgets the batch and hands its number to a stranger: the stranger is
// left alone, also by who cancels, and the workers are started again.
func TestSlurmNumberIsHandedToAStranger(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	const tasks = 6
	b := h.NewBatch(t, "plain", 2, tasks, 300*time.Millisecond)
	f := h.Start(t, b)
	number := f.Handle().Jobs[0]
	// It is as if the controller had never heard of the number's job.
	call(t, "scancel", "--name="+b.Key)
	h.Await(t, "it has ended", func() bool { return fleettest.Live(t, f) == 0 })
	require.NoError(t, syscall.Kill(daemon(t, "slurmctld"), syscall.SIGKILL))
	require.NoError(t, os.RemoveAll(filepath.Join(cluster.folder, "state")))
	require.NoError(t, os.Mkdir(filepath.Join(cluster.folder, "state"), 0o755))
	raise(t, "slurmctld", "-i")
	allIdle(t, h)
	stranger := ""
	for stranger != number {
		c := exec.Command("sbatch", "--parsable", "--hold", "--job-name=stranger", "--array=0-1", "--output="+os.DevNull)
		c.Stdin = strings.NewReader("#!/bin/sh\nsleep 1000\n")
		out, err := c.Output()
		require.NoError(t, err)
		stranger = strings.TrimSpace(string(out))
	}
	states, err := f.Workers(context.Background())
	require.NoError(t, err)
	for _, w := range states {
		require.Equal(t, fleet.Unknown, w.State)
	}
	require.NoError(t, h.Tend(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	require.NoError(t, f.Cancel(context.Background()))
	require.Contains(t, call(t, "squeue", "-h", "-j", number, "-o", "%j"), "stranger")
	call(t, "scancel", "--name=stranger")
}

// A node dies with all that runs on it, and does not come back for a while.
func TestSlurmNodeIsLost(t *testing.T) {
	needSlurm(t)
	if !fleet.Long() {
		t.Skip("left out: the loss of a node takes a minute; give -args -long")
	}
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprint("with its processes ", all), func(t *testing.T) { loseNode(t, all) })
	}
}

func loseNode(t *testing.T, all bool) {
	h := slurmHarness()
	const tasks = 60
	h.Resources = fleet.Resources{CPUs: 4} // one worker to a node
	b := h.NewBatch(t, "plain", 3, tasks, 3*time.Second)
	f := h.Start(t, b)
	h.Await(t, "all work", func() bool { return fleettest.Count(t, b, "starts") >= 3 })
	states, err := f.Workers(context.Background())
	require.NoError(t, err)
	node := states[1].Host
	began := time.Now()
	require.NoError(t, syscall.Kill(daemon(t, "slurmd."+node), syscall.SIGKILL))
	if all {
		killStep(t, b, 1)
		killWorker(t, b, 1)
	}
	h.Await(t, "it runs elsewhere", func() bool {
		states, err := f.Workers(context.Background())
		require.NoError(t, err)
		return states[1].State == fleet.Running && states[1].Host != node && states[1].Host != ""
	})
	t.Logf("measured: worker of a lost node runs elsewhere after %.0f s", time.Since(began).Seconds())
	require.NoError(t, h.Tend(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	t.Logf("measured: the loss of a node cost %d of %d tasks a second start", fleettest.Count(t, b, "starts")-tasks, tasks)
	raise(t, "slurmd."+node, "-N", node)
	mend(t, h)
}

// killStep kills the keeper of a worker.
func killStep(t *testing.T, b fleet.Batch, worker int) {
	pids, err := fleet.Processes(b.Folder)
	require.NoError(t, err)
	for _, pid := range pids {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if !strings.Contains(string(environ), fmt.Sprintf("\x00GRAFT_WORKER=%d\x00", worker)) {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		require.NoError(t, err)
		parent, err := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(parent, syscall.SIGKILL))
	}
}

// Slurm ends a worker when its time is over and does not start it again; we do.
func TestSlurmTimeIsOver(t *testing.T) {
	needSlurm(t)
	if !fleet.Long() {
		t.Skip("left out: Slurm's shortest time is a minute; give -args -long")
	}
	h := slurmHarness()
	h.Patience = 4 * time.Minute
	h.Resources = fleet.Resources{Time: 10 * time.Second}
	const tasks = 8
	b := h.NewBatch(t, "plain", 1, tasks, 15*time.Second)
	f := h.Start(t, b)
	require.NoError(t, h.Tend(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	require.Greater(t, len(f.Handle().Jobs), 1)
	t.Logf("measured: %d jobs of a minute at most did %d tasks of 15 s, %d of them started twice", len(f.Handle().Jobs), tasks, fleettest.Count(t, b, "starts")-tasks)
}
