package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/fleet/fleettest"
	"graft/runner/train"
)

// onSlurm runs the job by srun on three of Slurm's four nodes, with settings, and calls act once all processes work.
func onSlurm(t *testing.T, act func(folder string), set ...string) train.Result {
	folder := machinesFolder(t)
	self, err := os.Executable()
	require.NoError(t, err)
	var more strings.Builder
	for _, s := range set {
		fmt.Fprintf(&more, " --set %q", s)
	}
	script := fmt.Sprintf(`#!/bin/sh
export GRAFT_TOKEN=0123456789abcdef %s=1
srun --ntasks=3 --ntasks-per-node=1 --no-kill --kill-on-bad-exit=0 --output=%s/task%%t.out \
	%s train job.toml --json --quiet \
	--set "parallel.listen='slurm:7071'"%s
echo $? >ended.part && mv ended.part ended
`, programVariable, folder, self, more.String())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "job.sh"), []byte(script), 0o700))
	c := exec.Command("sbatch", "--no-kill", "--nodes=3", "--ntasks-per-node=1", "job.sh")
	c.Dir = folder
	said, err := c.CombinedOutput()
	require.NoError(t, err, "%s", said)
	content := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(folder, name))
		return string(text)
	}
	if act != nil {
		require.Eventually(t, func() bool {
			return strings.Contains(content("runs/job/events.jsonl"), `"processes":3`)
		}, patience, 20*time.Millisecond)
		act(folder)
	}
	// sbatch --wait polls after 2, 6, 14 and 30 s
	require.Eventually(t, func() bool { return content("ended") != "" }, patience, 20*time.Millisecond)
	if act == nil {
		require.Equal(t, "0\n", content("ended"))
	}
	return decoded[train.Result](t, content("task0.out"))
}

// killTask kills a task of the job step in a folder.
func killTask(t *testing.T, folder string, task int) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, path := range found {
		environment, _ := os.ReadFile(path)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		directory, _ := os.Readlink(filepath.Join(filepath.Dir(path), "cwd"))
		if directory != folder || !bytes.Contains(environment, fmt.Appendf(nil, "SLURM_PROCID=%d\x00", task)) ||
			!bytes.Contains(line, []byte("slurm:7071")) {
			continue
		}
		var pid int
		_, err := fmt.Sscanf(path, "/proc/%d/", &pid)
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		return
	}
	require.Fail(t, "the task does not run")
}

// useSlurm starts a cluster for a test.
func useSlurm(t *testing.T) {
	fleettest.NeedSlurm(t)
	cluster, err := fleettest.StartCluster(fleet.NewClock(time.Now))
	require.NoError(t, err)
	t.Cleanup(cluster.Stop)
	cluster.Use(t)
}

// Tasks of srun train like processes on one machine, and continue after one of them is killed.
func TestMachinesOfSlurm(t *testing.T) {
	longOnly(t, "a job on several machines of Slurm")
	useSlurm(t)
	const budget = "time.budget='1s'"
	want := onOneMachine(t, 3, budget)
	require.Zero(t, apartBy(t, onSlurm(t, nil, budget), want))
	if !longTests {
		t.Skip("left out: the same beside a task that is killed; set GRAFT_LONG=1")
	}
	got := onSlurm(t, func(folder string) { killTask(t, folder, 2) }, budget)
	require.LessOrEqual(t, apartBy(t, got, want), 1e-6)
	lost := 0
	for _, e := range got.Events {
		if strings.Contains(string(e.Event), "lost") {
			lost++
		}
	}
	require.Equal(t, 1, lost)
}

// The devices of an elastic job follow its allocation. Taking a node with scontrol is a down, and a task of another
// srun is an up.
func TestElasticAllocationOfSlurm(t *testing.T) {
	useSlurm(t)
	const budget = "time.budget='2s'" // the changes take less than a tenth of it
	got := onSlurm(t, func(folder string) {
		j := &jobOnMachines{T: t, folder: folder}
		jobs, err := exec.Command("squeue", "--noheader", "--format=%A").Output()
		require.NoError(t, err)
		out, err := exec.Command("scontrol", "update", "JobId="+strings.TrimSpace(string(jobs)), "NumNodes=2").
			CombinedOutput()
		require.NoError(t, err, "%s", out)
		j.await(`"processes":2`, 1)
		self, err := os.Executable()
		require.NoError(t, err)
		c := exec.Command("srun", "--nodes=1", "--ntasks=1", self, "follow", "--join", "127.0.0.1:7071",
			"--wait", "10s")
		c.Dir, c.Env = folder, append(os.Environ(), programVariable+"=1", "GRAFT_TOKEN=0123456789abcdef")
		require.NoError(t, c.Start())
		t.Cleanup(func() { require.NoError(t, c.Wait(), "it ends when the leader has left") })
		j.await(`"processes":3`, 2)
	}, append(elasticJob, "parallel.min_processes=3", budget)...)
	require.Equal(t, []int{2, 3, 2, 3}, devicesOf(got))
	apart := apartBy(t, got, plannedAs(t, got, budget, growing))
	t.Logf("measured: devices 3, 2, 3 of an elastic allocation of Slurm: %d steps, "+
		"losses within %.2g of those of a timeline with the same changes", got.Outcome.Steps, apart)
	require.LessOrEqual(t, apart, 1e-6)
}

// The batch script of the how-to starts a job, saves it at a signal, requeues itself, and ends with the same bits.
func TestRequeuedJobOfSlurm(t *testing.T) {
	if !longTests {
		t.Skip("left out: Slurm waits two minutes before it starts a requeued job; set GRAFT_LONG=1")
	}
	useSlurm(t)
	_, rest, found := strings.Cut(contents(t, "../docs/howto/slurm.md"), "```sh file=grow.sh\n")
	require.True(t, found)
	script, _, _ := strings.Cut(rest, "```\n")
	folder, bin := t.TempDir(), t.TempDir()
	asGraft(t, bin)
	t.Chdir(folder)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	write(t, "grow.sh", script)
	write(t, "job.toml", "[data.synthetic]\nsize = 16\ntrain = 400\ntest = 100\n[time]\nbudget = \"10s\"\n"+
		"profile = \"round-gpu\"\nevents = [{at = \"2s\", change = \"up\"}]\n[adapt]\ndecider = \"script\"\n"+
		"actions = [\"deepen:conv1\"]\n[checkpoint]\nevery = \"1s\"\n")
	out, err := exec.Command("sbatch", "--parsable", "grow.sh").Output()
	require.NoError(t, err)
	id := strings.TrimSpace(string(out))
	log := func() string {
		text, _ := os.ReadFile("grow.log")
		return string(text)
	}
	require.Eventually(t, func() bool { return strings.Contains(log(), `"msg":"decision"`) }, patience,
		20*time.Millisecond, "the job is running")
	said, err := exec.Command("scancel", "--batch", "--signal=USR1", id).CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Eventually(t, func() bool { return strings.Count(log(), "onto the device") == 2 }, patience,
		100*time.Millisecond, "it starts again")
	ended := func() bool { _, err := os.Stat("runs/grow/outcome.json"); return err == nil }
	require.Eventually(t, func() bool { return ended() }, patience, 50*time.Millisecond, "%s", log())
	done(t, "train", "job.toml", "--folder", "runs/whole", "--quiet")
	digest := func(run string) string {
		return decoded[struct{ Digest string }](t, contents(t, run+"/outcome.json")).Digest
	}
	require.Equal(t, digest("runs/whole"), digest("runs/grow"))
}
