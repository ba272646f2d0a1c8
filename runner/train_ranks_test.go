package main

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/pythontest"
)

// ranksJob writes a program of several processes, with a part of its text replaced, and its job. It returns the path of
// the job. The argument processes is their number.
func ranksJob(t testing.TB, processes, old, text, more string) string {
	t.Helper()
	script := contents(t, "testdata/program/ranks.py")
	require.Contains(t, script, old)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "ranks.py"), strings.Replace(script, old, text, 1))
	write(t, filepath.Join(folder, "launch.py"), contents(t, "testdata/program/launch.py"))
	write(t, filepath.Join(folder, "net.pt2"), contents(t, "testdata/program/net.pt2"))
	return write(t, filepath.Join(folder, "job.toml"), fmt.Sprintf(`[program]
command = [%q, "launch.py", %q, "ranks.py"]
validation_examples = 40
silence = "300s"
%s`, pythontest.Find(t, "torch"), processes, more))
}

// growsOnce is the end of a job file that grows with its second device.
const growsOnce = `
[time]
budget = "160ms"
events = [{at = "60ms", change = "up", devices = 2}]

[adapt]
decider = "script"
on_error = "stop"
actions = ["widen:conv1:6"]

[checkpoint]
every = "1ms"
`

// without reports whether no process has the given working directory.
func without(folder string) bool {
	list, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return false
	}
	for _, link := range list {
		if cwd, err := os.Readlink(link); err == nil && cwd == folder {
			return false
		}
	}
	return true
}

// noneLeft waits until the processes of a job have ended.
func noneLeft(t *testing.T, job string) {
	t.Helper()
	require.Eventually(t, func() bool { return without(filepath.Dir(job)) }, patience, 10*time.Millisecond)
}

// A job of two processes without events trains exactly like the processes without graft.
func TestRanksTrainAsAlone(t *testing.T) {
	longOnly(t, "two processes that train with and without graft; a single process is compared")
	job := ranksJob(t, "2", "", "", "[train]\nepochs = 2\n")
	alone, driven := filepath.Join(t.TempDir(), "alone.txt"), filepath.Join(t.TempDir(), "driven.txt")
	command := exec.Command(pythontest.Find(t, "torch"), "launch.py", "2", "ranks.py")
	command.Dir = filepath.Dir(job)
	command.Env = append(os.Environ(), "SAVE="+alone, "PYTHONPATH="+absolute(t, "../python"))
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	done(t, "train", job, "--set", fmt.Sprintf("program.env=[%q]", "SAVE="+driven), "--folder", t.TempDir()+"/run",
		"--quiet")
	require.Contains(t, contents(t, alone), "module.fc.weight ")
	require.Equal(t, contents(t, alone), contents(t, driven))
	noneLeft(t, job)
}

// A job's processes start with torchrun, and their number grows. They do not inherit graft's socket.
func TestRanksOfTorchrun(t *testing.T) {
	if !longTests {
		t.Skip("left out: torchrun imports PyTorch in three processes per start; set GRAFT_LONG=1")
	}
	job := ranksJob(t, "2", "", "", growsOnce)
	o := done(t, "train", job, "--folder", t.TempDir()+"/run", "--set", fmt.Sprintf(`program.command=[%q, "-m", `+
		`"torch.distributed.run", "--standalone", "--nproc-per-node", "{devices}", "ranks.py"]`,
		pythontest.Find(t, "torch")))
	containsAll(t, o.stderr, "rank 0 of 1", "rank 0 of 2", "rank 1 of 2", "its own code")
	noneLeft(t, job)
}

// A network that several processes train grows and shrinks. Generated code and the teacher run in all processes.
func TestRanksGrow(t *testing.T) {
	if !longTests {
		t.Skip("left out: TestRanksFollowDevices grows a network of two processes; set GRAFT_LONG=1")
	}
	for name, c := range map[string]struct{ actions, forward string }{
		"sizes":     {`["widen:conv1:6", "widen:conv2:12"]`, "its own code"},
		"structure": {`["deepen:block", "widen:conv1:6"]`, "generated code"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(grows, `["widen:conv1:6", "widen:conv2:12"]`, c.actions, 1)
			o := done(t, "train", ranksJob(t, "2", "", "", text), "--folder", t.TempDir()+"/run")
			require.Equal(t, 3, strings.Count(o.stderr, "the program switched to the changed network"), o.stderr)
			containsAll(t, o.stderr, c.forward, "rank 1 of 2")
			containsAll(t, o.stdout, "2 decisions", "shrink")
		})
	}
}

// The number of processes follows the devices. A job that is killed at random moments ends with the same bytes as an
// uninterrupted one, and leaves no process behind.
func TestRanksFollowDevices(t *testing.T) {
	rest, kills, earliest := growsOnce, 1, 0.5
	if longTests {
		rest, kills, earliest = grows, 12, 0.1 // also during the program's start
	}
	job := ranksJob(t, "{devices}", "", "", rest)
	began := time.Now()
	o := done(t, "train", job, "--folder", filepath.Join(t.TempDir(), "whole"))
	took := time.Since(began)
	containsAll(t, o.stderr, "rank 0 of 1", "rank 0 of 2", "rank 1 of 2", "restarting the program")
	want := printedDigest(t, o)
	folder := filepath.Join(t.TempDir(), "killed")
	random := rand.New(rand.NewPCG(1, uint64(began.UnixNano())))
	for killed := 0; ; {
		p := exec.Command(os.Args[0], "train", job, "--folder", folder, "--resume", "--quiet")
		p.Env = append(os.Environ(), programVariable+"=1")
		var printed, errors bytes.Buffer
		p.Stdout, p.Stderr = &printed, &errors
		require.NoError(t, p.Start())
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		moment := time.Hour
		if killed < kills {
			moment = time.Duration((earliest + (1-earliest)*random.Float64()) * float64(took))
		}
		select {
		case err := <-ended:
			require.NoError(t, err, "%s", &errors)
			require.Equal(t, want, printedDigest(t, outcome{stdout: printed.String()}))
			t.Logf("measured: a job of several processes has the digest of one that ran through after %d kills", killed)
			noneLeft(t, job)
			return
		case <-time.After(moment):
			killed++
			require.NoError(t, p.Process.Kill()) // only graft
			<-ended
			noneLeft(t, job)
		}
	}
}

// rankFaults holds faults of a program of two processes: a change of its text, and the expected error.
var rankFaults = map[string]struct {
	old, text string
	code      failure.Code
	says      string
}{
	"a rank is killed": {endOfStep, "        os.kill(os.getpid(), 9 * job.rank)\n" + endOfStep, failure.Failed,
		"a process ended with -9"},
	"a rank fails": {endOfStep, "        if job.rank == 1: raise ValueError('no more data')\n" + endOfStep,
		failure.Failed, "its first failure:\nrank 1:\n"},
	"rank 0 exits": {endOfStep, "        if job.rank == 0: os._exit(3)\n" + endOfStep, failure.Failed,
		"a process ended with 3"},
	"a rank does not step": {endOfStep, "        if job.rank == 1: continue\n" + endOfStep, failure.Failed,
		"batch 1 of the epoch ended without job.step(loss)"},
	"a rank ends early": {"while job.running():\n", "while job.rank == 0 and job.running():\n", failure.Failed,
		"lost another process"},
	"a rank makes other calls": {"while job.running():\n",
		"if job.rank == 1:\n    job._exchange({'loss': 1})\nwhile job.running():\n", failure.Failed,
		"rank 0 called batches, but rank 1 called validated"},
	"the network is not wrapped": {"net = job.wrap(DistributedDataParallel)\n", "", failure.Failed,
		"ranks 0 and 1 have different weights after a training step, first in conv1.weight"},
	"the program drops its wrapper": {"net = job.wrap(DistributedDataParallel)\n",
		"net = DistributedDataParallel(net)\n", failure.Failed,
		"ranks 0 and 1 have different weights after a training step"},
	"the program does not use what it wraps": {"outputs = net(x)", "outputs = net.module(x)", failure.Failed,
		"call net = job.wrap(DistributedDataParallel) after begin"},
	"a wrapper is old": {"net = job.wrap(DistributedDataParallel)\n",
		"unwrapped = net\nother = DistributedDataParallel(net)\nnet = job.wrap(lambda net: other)\n", failure.Failed,
		"was made before surgery changed the network"},
	"loaders have different lengths": {"batch_size=16, sampler=sampler",
		"batch_size=16 + 8 * job.rank, sampler=sampler", failure.Failed, "have different lengths: 7, 5 batches"},
	"no process group": {"job = graft_job.attach(",
		"torch.distributed.destroy_process_group()\njob = graft_job.attach(", failure.Configuration,
		"call torch.distributed.init_process_group before graft_job.attach"},
	"several machines": {"job = graft_job.attach(", "os.environ['LOCAL_WORLD_SIZE'] = '1'\njob = graft_job.attach(",
		failure.Configuration, "start all of them on one machine"},
	"attaches twice": {"torch.manual_seed(job.seed)\n",
		"if job.rank == 0: graft_job._connect(None, job._folder)\n", failure.Configuration,
		"torchrun must not restart processes"},
	"a rank saves what cannot be saved": {"while job.running",
		"schedule.thing = object() if job.rank == 1 else None\nwhile job.running", failure.Failed,
		"cannot save a value of type object"},
}

// A fault of one process ends in an error that names it, and ends the other processes. Each case imports PyTorch, so
// short tests run one of them.
func TestRankFaults(t *testing.T) {
	for k, name := range slices.Sorted(maps.Keys(rankFaults)) {
		if !longTests && k%16 != 3 {
			continue
		}
		c := rankFaults[name]
		t.Run(name, func(t *testing.T) {
			job := ranksJob(t, "2", c.old, c.text, growsOnce)
			o := graft("train", job, "--folder", filepath.Join(t.TempDir(), "run"))
			require.Equal(t, c.code, o.code, o.stderr)
			require.Contains(t, o.stderr, c.says)
			noneLeft(t, job)
		})
	}
}

// Processes that wait for each other forever print their positions, and are killed.
func TestRanksThatHang(t *testing.T) {
	if !longTests {
		t.Skip("left out: imports PyTorch in two processes; set GRAFT_LONG=1")
	}
	job := ranksJob(t, "2", endOfStep, endOfStep+"        if job.rank == 1: break\n", "[train]\nepochs = 2\n")
	o := graft("train", job, "--folder", filepath.Join(t.TempDir(), "run"), "--set", "program.silence=60s")
	require.Equal(t, failure.Failed, o.code, o.stderr)
	containsAll(t, o.stderr, "did not answer within 1m0s; raise program.silence", "Timeout (0:00:54)!",
		`ranks.py\", line`)
	noneLeft(t, job)
}

// A program that fails with more processes leaves a checkpoint, and the repaired program resumes from it.
func TestRestartsThatFail(t *testing.T) {
	if !longTests {
		t.Skip("left out: starts PyTorch five times; set GRAFT_LONG=1")
	}
	job := ranksJob(t, "{devices}", "", "", growsOnce)
	want := printedDigest(t, done(t, "train", job, "--folder", filepath.Join(t.TempDir(), "whole"), "--quiet"))
	script, marker := filepath.Join(filepath.Dir(job), "ranks.py"), filepath.Join(t.TempDir(), "marker")
	write(t, script, strings.Replace(contents(t, script), "torch.manual_seed(job.seed)\n",
		fmt.Sprintf("if job.world == 2 and not os.path.exists(%q):\n    raise ValueError('no second device')\n"+
			"torch.manual_seed(job.seed)\n", marker), 1))
	folder := filepath.Join(t.TempDir(), "run")
	o := graft("train", job, "--folder", folder, "--quiet")
	require.Equal(t, failure.Failed, o.code, o.stderr)
	containsAll(t, o.stderr, "restart the program for 2 devices", "ValueError: no second device")
	write(t, marker, "")
	require.Equal(t, want, printedDigest(t, done(t, "train", job, "--folder", folder, "--resume", "--quiet")))
	noneLeft(t, job)
}

// A simulation starts each leg with the number of processes in the leg's checkpoint. It gives the result of a job.
func TestRanksInSimulations(t *testing.T) {
	if !longTests {
		t.Skip("left out: starts PyTorch for each of 6 legs; set GRAFT_LONG=1")
	}
	events := "\n[time]\nbudget = \"160ms\"\nevents = [{at = \"30ms\", change = \"up\", devices = 2}, " +
		"{at = \"90ms\", change = \"up\", devices = 3}]\n"
	job := ranksJob(t, "{devices}", "", "", "threads = 1\n"+events+"[simulate]\nname = \"ranks\"\n"+
		"actions = [\"none\", \"widen:conv1:6\"]\nseeds = 1\n")
	folder := filepath.Join(t.TempDir(), "grid")
	require.Contains(t, simulated(t, job, "--folder", folder), "3 of 3 runs ended")
	script := ranksJob(t, "{devices}", "", "", "threads = 1\n"+events+"[adapt]\ndecider = \"script\"\n"+
		"actions = [\"none\", \"widen:conv1:6\"]\n")
	digest := printedDigest(t, done(t, "train", script, "--folder", filepath.Join(t.TempDir(), "run"), "--quiet"))
	outcomes, err := filepath.Glob(filepath.Join(filepath.Dir(folder), "cache", "outcomes", "*", "*.json"))
	require.NoError(t, err)
	var all strings.Builder
	for _, path := range outcomes {
		all.WriteString(contents(t, path))
	}
	require.Contains(t, all.String(), `weights":"`+strings.TrimSpace(digest))
	noneLeft(t, job)
}

// A program that adapts to the devices by itself keeps running.
func TestRanksThatRegroup(t *testing.T) {
	if !longTests {
		t.Skip("left out: imports PyTorch; set GRAFT_LONG=1")
	}
	job := ranksJob(t, "{devices}", endOfStep, endOfStep+"        print('devices:', job.devices)\n", growsOnce)
	o := done(t, "train", job, "--folder", t.TempDir()+"/run", "--set", "program.regroup=true")
	containsAll(t, o.stderr, "devices: 1", "devices: 2")
	require.NotContains(t, o.stderr, "restarting the program")
	fails(t, failure.Configuration, "regroup is true, but neither command nor env contains {devices}", "config",
		"check", ranksJob(t, "2", "", "", "regroup = true\n"))
}
