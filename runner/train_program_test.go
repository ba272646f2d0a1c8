package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
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

	"graft/internal/failure"
	"graft/internal/pythontest"
)

// programJob writes the test program, with a part replaced, and its job. It returns the path of the job.
func programJob(t testing.TB, old, text, more string) string {
	t.Helper()
	script := strings.Replace(contents(t, "testdata/program/train.py"), old, text, 1)
	return scriptedJob(t, pythontest.Find(t, "torch"), script, more)
}

func scriptedJob(t testing.TB, python, script, more string) string {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "train.py"), script)
	write(t, filepath.Join(folder, "net.pt2"), contents(t, "testdata/program/net.pt2"))
	return write(t, filepath.Join(folder, "job.toml"), fmt.Sprintf(`[program]
command = [%q, "train.py"]
validation_examples = 40
silence = "300s"
%s`, python, more))
}

// grows is the end of a job file with two growths and a shrink.
const grows = `
[time]
budget = "400ms"
events = [
  {at = "60ms", change = "up", devices = 2},
  {at = "140ms", change = "up", devices = 3},
  {at = "250ms", change = "down", devices = 1},
]

[adapt]
decider = "script"
actions = ["widen:conv1:6", "widen:conv2:12"]

[checkpoint]
every = "1ms"
`

// A job without events trains exactly like the program alone.
func TestProgramsTrainAsAlone(t *testing.T) {
	job := programJob(t, "", "", "[train]\nepochs = 2\n")
	alone, driven := filepath.Join(t.TempDir(), "alone.pt"), filepath.Join(t.TempDir(), "driven.pt")
	command := exec.Command(pythontest.Find(t, "torch"), filepath.Join(filepath.Dir(job), "train.py"))
	command.Env = append(os.Environ(), "SAVE="+alone, "PYTHONPATH="+absolute(t, "../python"))
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	done(t, "train", job, "--set", fmt.Sprintf("program.env=[%q]", "SAVE="+driven), "--folder", t.TempDir()+"/run",
		"--quiet")
	require.Equal(t, stored(t, alone), stored(t, driven))
}

// stored returns the tensors of a torch.save file as text. The files themselves differ, since they contain their names.
func stored(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(pythontest.Find(t, "torch"), "-c", `import hashlib, sys, torch
for name, value in torch.load(sys.argv[1]).items():
    print(name, hashlib.sha256(repr(value.tolist()).encode()).hexdigest())`, path).Output()
	require.NoError(t, err)
	require.NotEmpty(t, out)
	return string(out)
}

// A program's network grows and shrinks, and each change preserves its function.
func TestProgramsGrow(t *testing.T) {
	for name, c := range map[string]struct{ actions, forward string }{
		"sizes":     {`["widen:conv1:6", "widen:conv2:12"]`, "its own code"},
		"structure": {`["deepen:block", "widen:conv1:6"]`, "generated code"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(grows, `["widen:conv1:6", "widen:conv2:12"]`, c.actions, 1)
			text = strings.Replace(text, `decider = "script"`, "decider = \"script\"\non_error = \"stop\"", 1)
			job := programJob(t, "nn.Conv2d(4, 8, 3", "nn.Conv2d(4, 8, 3", text)
			o := done(t, "train", job, "--folder", t.TempDir()+"/run")
			require.Equal(t, 3, strings.Count(o.stderr, "the program switched to the changed network"), o.stderr)
			require.Contains(t, o.stderr, c.forward)
			for line := range strings.SplitSeq(o.stderr, "\n") {
				_, after, found := strings.Cut(line, `"outputs_moved_by":`)
				if found && !strings.HasPrefix(after, "0") {
					require.Fail(t, line)
				}
			}
			containsAll(t, o.stdout, "2 decisions", "shrink")
		})
	}
}

// A job that is killed at random moments, with its program or alone, ends with the same bytes as an uninterrupted one.
func TestProgramJobsSurviveKills(t *testing.T) {
	programSurvivesKills(t, programJob(t, "", "", grows), map[bool]int{false: 2, true: 20}[longTests])
}

// Jobs of programs decide without events, at shares of the budget and at a plateau of the program's accuracy. The job
// with a plateau survives a kill.
func TestProgramsDecideAtOtherTimes(t *testing.T) {
	for name, when := range map[string]string{
		"share":   "when = \"share\"\nat = [0.3, 0.6]",
		"plateau": "when = \"plateau\"\nmin_gain = 100\nwindow = 1",
	} {
		t.Run(name, func(t *testing.T) {
			job := programJob(t, "", "", `
[time]
budget = "400ms"
[adapt]
decider = "script"
actions = ["widen:conv1:6", "widen:conv2:12"]
`+when+`
[checkpoint]
every = "1ms"
`)
			if name == "share" {
				require.Contains(t, done(t, "train", job, "--folder", t.TempDir()+"/run").stdout, "2 decisions")
				return
			}
			require.Contains(t, programSurvivesKills(t, job, 1).stdout, "1 decision,")
		})
	}
}

// programSurvivesKills runs a job to its end, and again with kills after some new checkpoints each. It compares the
// results, and returns the outcome of the uninterrupted job.
func programSurvivesKills(t *testing.T, job string, most int) outcome {
	t.Helper()
	o := done(t, "train", job, "--folder", filepath.Join(t.TempDir(), "whole"))
	want, folder := printedDigest(t, o), filepath.Join(t.TempDir(), "killed")
	random := rand.New(rand.NewPCG(1, 2))
	for kills, tries := 0, 1; ; tries++ {
		command := exec.Command(os.Args[0], "train", job, "--folder", folder, "--resume", "--quiet")
		command.Env = append(os.Environ(), programVariable+"=1")
		command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var printed bytes.Buffer
		command.Stdout, command.Stderr = &printed, &printed
		require.NoError(t, command.Start())
		last, count, ended := checkpoints(folder), 1+random.IntN(6), make(chan error, 1)
		go func() { ended <- command.Wait() }()
		if kills == 0 {
			count = 1 // ensures a kill, even if few checkpoints appear
		}
		for running := true; running; {
			select {
			case err := <-ended:
				if running = false; err == nil {
					require.Equal(t, want, printedDigest(t, outcome{stdout: printed.String()}))
					if kills == 0 && tries < 20 { // on a busy machine, it may end before this test sees a checkpoint
						require.NoError(t, os.RemoveAll(folder))
						continue
					}
					require.Positive(t, kills)
					t.Logf("measured: a job of a program has the digest of one that ran through after %d kills", kills)
					return o
				}
				require.Contains(t, err.Error(), "signal: killed", printed.String())
			case <-time.After(time.Millisecond):
				if now := checkpoints(folder); now != last {
					last, count = now, count-1
				}
				if kills < most && count == 0 {
					time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
					kills, count = kills+1, -1
					_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // it may have ended already
				}
			}
		}
	}
}

// checkpoints lists the checkpoints of a run folder.
func checkpoints(folder string) string {
	list, _ := filepath.Glob(filepath.Join(folder, "checkpoints", "*.ckpt"))
	return strings.Join(list, " ")
}

// printedDigest returns the digest that a job prints at its end.
func printedDigest(t *testing.T, o outcome) string {
	t.Helper()
	_, digest, found := strings.Cut(o.stdout, "digest ")
	require.True(t, found, o.stdout)
	return digest
}

// A stop saves the job and ends the program.
func TestProgramJobsStop(t *testing.T) {
	job := programJob(t, "", "", grows)
	ctx, cancel := context.WithCancel(t.Context())
	folder := filepath.Join(t.TempDir(), "run")
	go func() {
		for !exists(filepath.Join(folder, "checkpoints")) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	o := call(ctx, newRootCommand(), "train", job, "--folder", folder, "--quiet")
	require.Equal(t, failure.Requeue, o.code, o.stderr)
	done(t, "train", job, "--folder", folder, "--resume", "--quiet")
}

// A resumed program whose job has already ended validates once more, without a fault.
func TestProgramJobsResumeAfterTheirEnd(t *testing.T) {
	job := programJob(t, "", "", grows)
	folder := filepath.Join(t.TempDir(), "run")
	want := printedDigest(t, done(t, "train", job, "--folder", folder, "--quiet"))
	again := done(t, "train", job, "--folder", folder, "--resume")
	require.Equal(t, want, printedDigest(t, again))
	require.NotContains(t, again.stderr, "failed after the end")
}

// endOfStep is the line that ends a step in the test program.
const endOfStep = "        net, opt = job.step(loss, examples=len(x))\n"

// programFaults holds faults of a program: a change of its text, and the expected error.
var programFaults = map[string]struct {
	old, text string
	code      failure.Code
	says      string
}{
	"exits at once": {"import graft_job\n", "raise SystemExit(0)\n", failure.Configuration,
		"exited without an answer; the program must call graft_job.attach(), then job.begin"},
	"fails at once": {"import graft_job\n", "raise ValueError('no data here')\n", failure.Configuration,
		"ValueError: no data here"},
	"lacks a module": {"import graft_job\n", "import nowhere\n", failure.Configuration,
		"No module named 'nowhere'"},
	"is killed at once": {"import graft_job\n", "os.kill(os.getpid(), 9)\n", failure.Configuration,
		"signal: killed"},
	"attaches and exits": {"torch.manual_seed(job.seed)\n", "raise SystemExit(3)\n", failure.Configuration,
		"exit status 3"},
	"begins twice": {"schedule = job", "job.begin(net, opt, images[:2])\nschedule = job", failure.Failed,
		"begin was called twice"},
	"begins with one example": {"images[:2])", "images[:1])", failure.Configuration,
		"must be a batch of at least 2 examples"},
	"begins with two optimizers": {"lambda p: torch.optim.AdamW(p, lr=1e-2)", "[1, 2]", failure.Configuration,
		"optimizer is a list; pass one optimizer"},
	"begins with a wrapped network": {"begin(Net()", "begin(nn.DataParallel(Net())", failure.Configuration,
		"net is a DataParallel; pass the plain network, and wrap it after begin"},
	"begins with two inputs": {"images[:2])", "(images[:2], labels[:2]))", failure.Configuration,
		"example_inputs has 2 tensors; graft supports networks with one input"},
	"begins with the parameters of another network": {"lambda p: torch.optim.AdamW(p, lr=1e-2)",
		"torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)", failure.Configuration,
		"the optimizer holds 2 parameters that net does not have"},
	"runs before it begins": {"net, opt = job.begin", "job.running()\nnet, opt = job.begin", failure.Configuration,
		"call begin before running"},
	"registers before it begins": {"net, opt = job.begin", "job.register('a', 1)\nnet, opt = job.begin",
		failure.Configuration, "call begin before register"},
	"registers a number": {"schedule = job.register", "job.register('a', 1)\nschedule = job.register",
		failure.Failed, "a has neither state_dict nor get_state"},
	"replaces a registered object": {"while job.running", "job.register('schedule', schedule)\nwhile job.running",
		failure.Done, ""},
	"has a loader without a length": {"loader = torch", "loader = iter([])\nunused = torch", failure.Failed,
		"the loader has no length"},
	"has an empty loader": {"loader = torch", "loader = []\nunused = torch", failure.Failed, "the loader is empty"},
	"fails in a step": {endOfStep, "        raise RuntimeError('step failed')\n", failure.Failed,
		"RuntimeError: step failed"},
	"is killed in a step": {endOfStep, "        os.kill(os.getpid(), 9)\n", failure.Failed, "signal: killed"},
	"exits in a step":     {endOfStep, "        os._exit(0)\n", failure.Failed, "exited without an answer"},
	"never ends a step":   {endOfStep, "", failure.Failed, "ended without job.step(loss)"},
	"ends a step twice":   {endOfStep, endOfStep + endOfStep, failure.Failed, "call step once for each batch"},
	"leaves the loop":     {endOfStep, endOfStep + "        break\n", failure.Failed, "which must run to its end"},
	"does not validate": {"    job.validated(", "    dict(", failure.Failed,
		"an epoch ended without job.validated"},
	"validates twice": {"torch.save(", "job.validated(1.0)\ntorch.save(", failure.Done,
		"the program failed after the end of training"},
	"has an accuracy of two": {"accuracy=accuracy)", "accuracy=2)", failure.Failed,
		"accuracy is 2.0; expected a number between 0 and 1"},
	"has a loss that is no number": {"job.step(loss,", "job.step(loss * float('nan'),", failure.Failed,
		"loss of step 0"},
	"validates no number": {"job.validated(loss=", "job.validated(loss=float('inf') + ", failure.Failed,
		"validation loss"},
	"has a weight that is no number": {"schedule.step()", "net.fc.weight.data.fill_(float('nan'))", failure.Failed,
		"loss of step"},
	"has a loader that changes": {"    net.train()\n",
		"    net.train()\n    loader = list(loader)[:3 - job.epoch]\n", failure.Failed, "the job began with"},
	"has a loader that is shorter than it says": {"while job.running",
		"type(loader).__len__ = lambda self: 9\nwhile job.running", failure.Failed,
		"its length says otherwise"},
	"steps in a forked child": {endOfStep, "        if os.fork() == 0:\n            job._exchange({})\n        " +
		"os.wait()\n        raise SystemExit(1)\n", failure.Failed, "a forked child called the job"},
	"closes the socket": {endOfStep, "        job._socket.shutdown(2)\n" + endOfStep, failure.Failed,
		"without an answer"},
	"sends no JSON": {endOfStep, "        job._socket.sendall(b'hello\\n')\n" + endOfStep, failure.Failed,
		"expected one line of JSON"},
	"sends a list": {endOfStep, "        job._socket.sendall(b'[]\\n')\n" + endOfStep, failure.Failed,
		"expected a JSON object"},
	"sends another key": {endOfStep, "        job._socket.sendall(b'{\"a\": 1}\\n')\n" + endOfStep, failure.Failed,
		`unknown field "a"`},
	"sends too few losses": {endOfStep, "        job._socket.sendall(b'{\"losses\": [], \"correct\": [], \"rate\": 1}" +
		"\\n')\n" + endOfStep, failure.Failed, "reports the results of 0 steps instead of"},
	"sends a line without end": {endOfStep, "        while True: job._socket.sendall(b'a' * 65536)\n", failure.Failed,
		"exceeds 16 MiB"},
	"speaks another version": {"job = graft_job.attach", "graft_job.PROTOCOL = 9\njob = graft_job.attach",
		failure.Configuration, "this file speaks protocol 9, but graft speaks 1"},
	"begins with several processes": {"job = graft_job.attach",
		"os.environ['WORLD_SIZE'] = '2'\njob = graft_job.attach", failure.Configuration,
		"WORLD_SIZE is 2; call torch.distributed.init_process_group before graft_job.attach"},
	"exports nothing": {"torch.set_num_threads(1)",
		"graft_job._export = lambda net, inputs, path: None\ntorch.set_num_threads(1)", failure.Configuration,
		"read the network"},
	"exports something else": {"torch.set_num_threads(1)",
		"graft_job._export = lambda net, inputs, path: open(path, 'w').write('x')\ntorch.set_num_threads(1)",
		failure.Configuration, "read the network"},
	"saves what cannot be saved": {"while job.running",
		"schedule.thing = object()\nwhile job.running", failure.Failed, "cannot save a value of type object"},
	"fails after the end": {"torch.save(", "raise ValueError('at the end')\ntorch.save(", failure.Done,
		"the program failed after the end of training"},
	"prints a lot": {endOfStep, endOfStep + "        print('x' * 10000)\n", failure.Done, ""},
	"leaves a child behind": {"while job.running",
		"import subprocess\nsubprocess.Popen(['sleep', '600'])\nwhile job.running", failure.Done, ""},
}

// A fault of a program ends in an error that names it. Each case imports PyTorch, which takes a second, so short tests
// run an eighth of the cases.
func TestProgramFaults(t *testing.T) {
	python := pythontest.Find(t, "torch")
	script := contents(t, "testdata/program/train.py")
	for k, name := range slices.Sorted(maps.Keys(programFaults)) {
		if !longTests && k%8 != 0 {
			continue
		}
		c := programFaults[name]
		job := scriptedJob(t, python, strings.Replace(script, c.old, c.text, 1), "[train]\nepochs = 2\n")
		require.NotEqual(t, script, contents(t, filepath.Join(filepath.Dir(job), "train.py")), name)
		t.Run(name, func(t *testing.T) {
			o := graft("train", job, "--folder", filepath.Join(t.TempDir(), "run"))
			require.Equal(t, c.code, o.code, o.stderr)
			require.Contains(t, strings.ReplaceAll(o.stderr, `\"`, `"`), c.says)
		})
	}
}

// A program that hangs is killed, with its children.
func TestProgramsThatHang(t *testing.T) {
	for name, text := range map[string]string{
		"at its start": "import time\ntime.sleep(600)\nimport graft_job\n",
		"in a child":   "import subprocess\nsubprocess.run(['sleep', '600'])\nimport graft_job\n",
	} {
		t.Run(name, func(t *testing.T) {
			job := programJob(t, "import graft_job\n", text, "")
			o := graft("train", job, "--folder", filepath.Join(t.TempDir(), "run"), "--quiet", "--set",
				"program.silence=500ms")
			require.Equal(t, failure.Configuration, o.code, o.stderr)
			require.Contains(t, o.stderr, "did not answer within 500ms; raise program.silence")
		})
	}
}

// Faults of a job's section [program] are found before the program starts.
func TestProgramSections(t *testing.T) {
	for name, c := range map[string]struct{ set, says string }{
		"no such command":   {`program.command=["nowhere"]`, "is not a program on PATH"},
		"no such script":    {`program.command=["python3", "nowhere.py"]`, "nowhere.py does not exist"},
		"no such path":      {`program.command=["./nowhere"]`, "begins with a program that does not exist"},
		"not executable":    {`program.command=["./train.py"]`, `run chmod +x, or name its interpreter first`},
		"an empty word":     {`program.command=[""]`, "is not a program on PATH"},
		"no such folder":    {`program.folder="nowhere"`, "is not a folder"},
		"a bad variable":    {`program.env=["A"]`, "expected NAME=value"},
		"negative examples": {`program.validation_examples=-1`, "must not be negative"},
		"negative silence":  {`program.silence=-1`, "must not be negative"},
		"a network":         {`network.name="ConvNet"`, "the program brings its network; remove it"},
		"data":              {`data.kind="digits"`, "the program reads its data; remove it"},
		"an optimizer":      {`optimizer.lr=0.5`, "the program brings its optimizer"},
		"a batch":           {`train.batch=7`, "the program forms its batches"},
		"a device":          {`run.device="cuda:0"`, "the program selects its device"},
		"processes":         {`parallel.on=true`, "graft supports programs of one process"},
		"an average":        {`train.ema=0.9`, "the program averages its weights"},
		"trials":            {`adapt.decider="trials"`, "which trains copies of the network"},
	} {
		t.Run(name, func(t *testing.T) {
			job := scriptedJob(t, "python3", "", "")
			fails(t, failure.Configuration, c.says, "config", "check", job, "--set", c.set)
		})
	}
	fails(t, failure.Configuration, "command is empty, but the section has other keys", "config", "check", "--set",
		`program.env=["A=1"]`, write(t, filepath.Join(t.TempDir(), "job.toml"), ""))
}

// gridScenario is the end of a scenario file with 27 sequences.
const gridScenario = `
[time]
budget = "200ms"
events = [
  {at = "30ms", change = "up", devices = 2},
  {at = "70ms", change = "up", devices = 3},
  {at = "110ms", change = "up", devices = 4},
]

[simulate]
name = "program"
kinds = ["widen"]
seeds = 1

[fleet]
workers = 2
`

// A grid of a program's sequences is killed at random moments: graft with all its processes, a worker, or a program. It
// ends with the same bytes as an uninterrupted grid.
func TestProgramGridsSurviveKills(t *testing.T) {
	if !longTests {
		t.Skip("left out: a grid starts PyTorch for each of its 40 legs; set GRAFT_LONG=1")
	}
	job := programJob(t, "", "", gridScenario)
	whole := filepath.Join(t.TempDir(), "whole")
	text := simulated(t, job, "--folder", whole)
	require.Contains(t, text, "27 of 27 runs ended")
	want := tableBytes(t, filepath.Join(whole, "table"))
	run := filepath.Join(t.TempDir(), "killed")
	random := rand.New(rand.NewPCG(3, 4))
	for kills := 0; ; {
		p, out := process(t, "simulate", job, "--folder", run)
		ended := make(chan error, 1)
		go func() { ended <- p.Wait() }()
		for alive := true; alive; {
			moment := time.Hour
			if kills < 20 {
				moment = 2*time.Second + time.Duration(random.Int64N(int64(4*time.Second)))
			}
			select {
			case err := <-ended:
				alive = false
				if err == nil {
					require.Equal(t, want, tableBytes(t, filepath.Join(run, "table")))
					t.Logf("measured: a program's grid has the bytes of one that ran through after %d kills", kills)
					return
				}
				t.Logf("%v: %s", err, out)
			case <-time.After(moment):
				killOne(t, p, kills%3, filepath.Dir(job))
				kills++
			}
		}
	}
}

// killOne kills graft, a worker or a program.
func killOne(t *testing.T, p *exec.Cmd, which int, folder string) {
	t.Helper()
	switch which {
	case 0:
		require.NoError(t, p.Process.Kill())
	case 1:
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.Process.Pid, p.Process.Pid))
		require.NoError(t, err)
		for child := range strings.FieldsSeq(string(children)) {
			pid, err := strconv.Atoi(child)
			require.NoError(t, err)
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended already
			return
		}
	default:
		list, err := filepath.Glob("/proc/[0-9]*/cwd")
		require.NoError(t, err)
		for _, link := range list {
			if cwd, err := os.Readlink(link); err == nil && cwd == folder {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
				require.NoError(t, err)
				_ = syscall.Kill(pid, syscall.SIGKILL)
				return
			}
		}
	}
}

// The last batch of an epoch counts with its own number of examples.
func TestProgramsWithASmallLastBatch(t *testing.T) {
	job := programJob(t, "examples=len(x))", "examples=len(x), correct=len(x))", "[train]\nepochs = 2\n")
	folder := t.TempDir() + "/run"
	done(t, "train", job, "--folder", folder, "--quiet")
	rows := strings.Split(strings.TrimSpace(contents(t, filepath.Join(folder, "epochs.csv"))), "\n")
	require.Len(t, rows, 3)
	names := strings.Split(rows[0], ",")
	for epoch, row := range rows[1:] {
		cells := strings.Split(row, ",")
		require.Equal(t, "1.0", cells[slices.Index(names, "train_accuracy")], "every prediction is correct")
		require.Equal(t, strconv.Itoa(200*(epoch+1)), cells[slices.Index(names, "images")])
	}
}

// A resumed program has the whole state of any optimizer, without surgery and after it.
func TestProgramsResumeEveryOptimizer(t *testing.T) {
	for name, optimizer := range map[string]string{
		"rmsprop": "torch.optim.RMSprop(p, lr=1e-3, momentum=0.5)",
		"amsgrad": "torch.optim.Adam(p, lr=1e-2, betas=(0.9, 0.3), amsgrad=True)",
	} {
		t.Run(name, func(t *testing.T) {
			job := programJob(t, "torch.optim.AdamW(p, lr=1e-2)", optimizer, grows)
			programSurvivesKills(t, job, map[bool]int{false: 2, true: 20}[longTests])
		})
	}
}
