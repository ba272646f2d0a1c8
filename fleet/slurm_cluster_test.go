package fleet_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/fleet/fleettest"
	"graft/internal/files"
)

// cluster is the Slurm cluster of this package. The first test that needs it starts it.
var cluster struct {
	sync.Once
	*fleettest.Cluster
	err error
}

// needSlurm starts the cluster and points Slurm's programs to it. If that is impossible, the test is skipped, or fails
// in CI.
func needSlurm(t *testing.T) {
	fleettest.NeedSlurm(t)
	cluster.Do(func() {
		if cluster.Cluster, cluster.err = fleettest.StartCluster(fleet.NewClock(time.Now)); cluster.err == nil {
			fleet.After(cluster.Stop)
		}
	})
	require.NoError(t, cluster.err)
	cluster.Use(t)
}

func slurmHarness() fleettest.Harness {
	return fleettest.Harness{Engine: "slurm", Clock: fleet.NewClock(time.Now), Timeout: 10 * time.Minute}
}

// call runs a Slurm program.
func call(t *testing.T, name string, args ...string) string {
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return strings.TrimSpace(string(out))
}

// allIdle waits until all nodes are idle.
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
		"no node has these resources":     {GPUs: 9},
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

// Each worker gets the number of GPUs that it requests.
func TestSlurmDealsOutDevices(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	h.Resources = fleet.Resources{GPUs: 1, CPUs: 2, MemoryMB: 100, Time: time.Hour}
	b := h.NewBatch(t, "plain", 2, 2, 0)
	f := h.Start(t, b)
	require.NoError(t, h.Supervise(t, f, 2))
	log, err := os.ReadFile(fleet.LogPath(b.Folder, 0))
	require.NoError(t, err)
	require.Contains(t, string(log), "threads 2 device cuda:0")
}

// A killed worker is restarted, and its task is done.
func TestSlurmWorkerIsKilled(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	const tasks = 6
	b := h.NewBatch(t, fleettest.Gated, 2, tasks, 50*time.Millisecond)
	f := h.Start(t, b)
	// Two tasks end; then each worker waits in a task.
	h.Await(t, "both work", func() bool { return fleettest.Count(t, b, "starts") == 4 })
	fleettest.KillWorker(t, b.Folder, 1)
	fleettest.OpenGate(t, b)
	require.NoError(t, h.Supervise(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	require.LessOrEqual(t, fleettest.Count(t, b, "starts"), tasks+1)
}

// The controller is killed right after it accepts a batch. All tasks are done, whether it remembers the batch or not.
func TestSlurmControllerIsKilledAfterASubmission(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	const tasks = 8
	b := h.NewBatch(t, "plain", 2, tasks, 300*time.Millisecond)
	f := h.Start(t, b)
	require.NoError(t, syscall.Kill(cluster.Daemon(t, "slurmctld"), syscall.SIGKILL))
	cluster.Raise(t, "slurmctld")
	require.NoError(t, h.Supervise(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	t.Logf("measured: a controller killed after a submission cost %d of %d tasks a second start",
		fleettest.Count(t, b, "starts")-tasks, tasks)
	mend(t, h)
}

// mend resumes nodes that the controller drained, as administrators do, and waits until all are usable. Busy nodes
// count: for a minute, the controller keeps jobs that it wrongly believes to run.
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

// The controller forgets the batch and reuses its job number. Supervise and Cancel leave the other job alone, and the
// workers are restarted.
func TestSlurmReusesAJobNumber(t *testing.T) {
	needSlurm(t)
	h := slurmHarness()
	const tasks = 6
	b := h.NewBatch(t, "plain", 2, tasks, 300*time.Millisecond)
	f := h.Start(t, b)
	number := f.Handle().Jobs[0]
	// Make the controller forget the number.
	call(t, "scancel", "--name="+b.Key)
	h.Await(t, "it has ended", func() bool { return fleettest.Live(t, f) == 0 })
	require.NoError(t, syscall.Kill(cluster.Daemon(t, "slurmctld"), syscall.SIGKILL))
	require.NoError(t, os.RemoveAll(filepath.Join(cluster.Folder, "state")))
	require.NoError(t, os.Mkdir(filepath.Join(cluster.Folder, "state"), 0o755))
	cluster.Raise(t, "slurmctld", "-i")
	allIdle(t, h)
	other := ""
	for other != number {
		c := exec.Command("sbatch", "--parsable", "--hold", "--job-name=other", "--array=0-1", "--output="+os.DevNull)
		c.Stdin = strings.NewReader("#!/bin/sh\nsleep 1000\n")
		out, err := c.Output()
		require.NoError(t, err)
		other = strings.TrimSpace(string(out))
	}
	states, err := f.Workers(context.Background())
	require.NoError(t, err)
	for _, w := range states {
		require.Equal(t, fleet.Unknown, w.State)
	}
	require.NoError(t, h.Supervise(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	require.NoError(t, f.Cancel(context.Background()))
	require.Contains(t, call(t, "squeue", "-h", "-j", number, "-o", "%j"), "other")
	call(t, "scancel", "--name=other")
}

// A node is lost for a while, alone or with all its processes.
func TestSlurmNodeIsLost(t *testing.T) {
	needSlurm(t)
	if !fleet.Long() {
		t.Skip("left out: the loss of a node takes a minute; set GRAFT_LONG=1")
	}
	for _, all := range []bool{false, true} {
		t.Run(fmt.Sprint("with its processes ", all), func(t *testing.T) { loseNode(t, all) })
	}
}

func loseNode(t *testing.T, all bool) {
	h := slurmHarness()
	const tasks = 60
	h.Resources = fleet.Resources{CPUs: 4} // one worker per node
	b := h.NewBatch(t, "plain", 3, tasks, 3*time.Second)
	f := h.Start(t, b)
	h.Await(t, "all work", func() bool { return fleettest.Count(t, b, "starts") >= 3 })
	states, err := f.Workers(context.Background())
	require.NoError(t, err)
	node := states[1].Host
	began := time.Now()
	require.NoError(t, syscall.Kill(cluster.Daemon(t, "slurmd."+node), syscall.SIGKILL))
	if all {
		fleettest.KillStep(t, b.Folder, 1)
		fleettest.KillWorker(t, b.Folder, 1)
	}
	h.Await(t, "it runs elsewhere", func() bool {
		states, err := f.Workers(context.Background())
		require.NoError(t, err)
		return states[1].State == fleet.Running && states[1].Host != node && states[1].Host != ""
	})
	t.Logf("measured: worker of a lost node runs elsewhere after %.0f s", time.Since(began).Seconds())
	require.NoError(t, h.Supervise(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	t.Logf("measured: the loss of a node cost %d of %d tasks a second start",
		fleettest.Count(t, b, "starts")-tasks, tasks)
	cluster.Raise(t, "slurmd."+node, "-N", node)
	mend(t, h)
}

// Slurm ends a worker at its time limit and does not restart it. Supervise restarts it.
func TestSlurmTimeIsOver(t *testing.T) {
	needSlurm(t)
	if !fleet.Long() {
		t.Skip("left out: Slurm's shortest time is a minute; set GRAFT_LONG=1")
	}
	h := slurmHarness()
	h.Resources = fleet.Resources{Time: 10 * time.Second}
	const tasks = 8
	b := h.NewBatch(t, "plain", 1, tasks, 15*time.Second)
	f := h.Start(t, b)
	require.NoError(t, h.Supervise(t, f, tasks))
	require.Equal(t, tasks, fleettest.Count(t, b, "results"))
	require.Greater(t, len(f.Handle().Jobs), 1)
	t.Logf("measured: %d jobs of a minute at most did %d tasks of 15 s, %d of them started twice", len(f.Handle().Jobs),
		tasks, fleettest.Count(t, b, "starts")-tasks)
}

// Variables with a user's defaults for Slurm's programs, such as in a shell profile, do not hide workers: no worker
// starts twice, and Cancel ends all.
func TestSlurmIgnoresDefaultsThatHideWorkers(t *testing.T) {
	needSlurm(t)
	for name, value := range map[string]string{"SQUEUE_PARTITION": "nowhere", "SQUEUE_ACCOUNT": "nobody",
		"SQUEUE_QOS": "none", "SCANCEL_PARTITION": "nowhere", "SCANCEL_STATE": "SUSPENDED", "SQUEUE_FORMAT": "%i",
		"SBATCH_CLUSTERS": "elsewhere", "SBATCH_WAIT": "1"} {
		t.Setenv(name, value)
	}
	h := slurmHarness()
	b := h.NewBatch(t, fleettest.Gated, 2, 4, 50*time.Millisecond)
	f := h.Start(t, b)
	h.Await(t, "both work", func() bool { return fleettest.Count(t, b, "starts") == 4 })
	require.Equal(t, 2, fleettest.Live(t, f))
	require.NoError(t, f.Cancel(t.Context()))
	workers, err := f.Workers(t.Context())
	require.NoError(t, err)
	for _, w := range workers {
		require.Equal(t, fleet.Stopped, w.State, w.Detail)
	}
}
