package execute_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"graft/cluster/execute"
	"graft/cluster/node"
	"graft/cluster/node/schedulers"
	"graft/fleet"
	"graft/fleet/process"
	"graft/internal/files"
	"graft/results"
)

// long enables tests that take minutes.
var long = os.Getenv("GRAFT_LONG") != ""

// bed holds a run folder and the options of an executor.
type bed struct {
	execute.Options
	folder string
	events []execute.Event
}

// open creates or opens a run folder. It retries a locked folder: a process that another test has just forked holds the
// lock of a closed run until it executes its program.
func open(fsys files.FS, folder string) (run *results.Run, err error) {
	clock := fleet.NewClock(time.Now)
	for range 6000 {
		run, err = results.Create(fsys, folder, results.CreateOptions{}, results.Manifest{})
		if errors.Is(err, results.ErrExists) {
			run, err = results.Open(fsys, folder)
		}
		if !errors.Is(err, files.ErrLocked) {
			break
		}
		_ = clock.Wait(context.Background(), 10*time.Millisecond)
	}
	return run, err
}

func newBed(t *testing.T, scheduler string, devices int) *bed {
	kind, err := schedulers.Named(scheduler)
	require.NoError(t, err)
	b := &bed{folder: filepath.Join(t.TempDir(), "run")}
	b.Options = execute.Options{Files: files.OS{}, Clock: fleet.NewClock(time.Now), Kind: kind, Devices: cpus(devices),
		Rules: node.Rules{Whole: true}, Grace: time.Minute}
	b.Observer = func(e execute.Event) { b.events = append(b.events, e) }
	t.Cleanup(func() { b.requireNone(t) })
	return b
}

// cpus returns devices of 100 MiB that share the machine's cores.
func cpus(n int) (devices []execute.Device) {
	for k := range n {
		cores := usable()
		devices = append(devices, execute.Device{CPUs: []int{cores[k%len(cores)]}, Memory: 100})
	}
	return devices
}

// usable returns the CPU cores of this process.
func usable() (cores []int) {
	var set unix.CPUSet
	_ = unix.SchedGetaffinity(0, &set)
	for k := range 8 * len(set) * 8 {
		if set.IsSet(k) {
			cores = append(cores, k)
		}
	}
	return cores
}

// run opens the folder, executes the jobs and closes the folder.
func (b *bed) run(t *testing.T, ctx context.Context, jobs []execute.Job) (*execute.Result, error) {
	t.Helper()
	run, err := open(files.OS{}, b.folder)
	require.NoError(t, err)
	b.Run = run
	r, err := execute.Run(ctx, b.Options, jobs)
	require.NoError(t, run.Close())
	return r, err
}

func (b *bed) must(t *testing.T, jobs ...execute.Job) *execute.Result {
	t.Helper()
	r, err := b.run(t, t.Context(), jobs)
	require.NoError(t, err)
	return r
}

// requireNone requires that no process of the executor is left.
func (b *bed) requireNone(t *testing.T) {
	t.Helper()
	found, err := process.With(files.OS{}, []string{"GRAFT_NODE=" + b.folder})
	require.NoError(t, err)
	require.Empty(t, found)
}

// kinds returns the events of a task in order.
func (b *bed) kinds(task int) (kinds []string) {
	for _, e := range b.events {
		if e.Task != task {
			continue
		}
		text := string(e.Kind)
		if e.End != "" {
			text += " " + string(e.End)
		}
		kinds = append(kinds, text)
	}
	return kinds
}

// shell returns a job that takes a whole device.
func shell(script string, args ...string) execute.Job {
	return execute.Job{Spec: node.Spec{Cores: 100}, Command: append([]string{"/bin/sh", "-c", script, "sh"}, args...)}
}

func (b *bed) log(t *testing.T, r *execute.Result, task int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.folder, r.Jobs[task].Log))
	require.NoError(t, err)
	return string(text)
}

func TestTasksGetTheirEnvironment(t *testing.T) {
	t.Parallel()
	b := newBed(t, "fcfs", 1)
	b.Devices = []execute.Device{{UUID: "GPU-12ab", CPUs: usable()[:1]}}
	gpu := shell(`echo "$CUDA_VISIBLE_DEVICES $GRAFT_DEVICE $GRAFT_THREADS $GRAFT_TASK $OWN $(pwd) $1"; `+
		`echo to stderr >&2`, "a  b;$(false)")
	gpu.Name, gpu.Env, gpu.Folder = "x y=z", []string{"OWN=1"}, b.folder
	affinity := shell(`grep Cpus_allowed_list /proc/self/status`)
	r := b.must(t, gpu, affinity)
	require.Equal(t, "GPU-12ab cuda:0 1 x y=z 1 "+b.folder+" a  b;$(false)\nto stderr\n", b.log(t, r, 0))
	require.Equal(t, fmt.Sprintf("Cpus_allowed_list:\t%d\n", usable()[0]), b.log(t, r, 1))
	require.Equal(t, []string{"queued", "placed", "started", "ended done"}, b.kinds(0))
	require.Equal(t, 2, r.Summary.Completed)
	b = newBed(t, "fcfs", 1)
	r = b.must(t, shell(`echo "[$CUDA_VISIBLE_DEVICES] $GRAFT_DEVICE $GRAFT_ATTEMPT"`))
	require.Equal(t, "[] cpu 1\n", b.log(t, r, 0))
}

// Many tasks with dependencies and arrivals run exactly once, one at a time on each of four devices.
func TestManyTasksRunOnce(t *testing.T) {
	t.Parallel()
	for _, scheduler := range []string{"fcfs", "best-fit", "backfill"} {
		b := newBed(t, scheduler, 4)
		done := filepath.Join(t.TempDir(), "done")
		var jobs []execute.Job
		for k := range map[bool]int{true: 200, false: 60}[long || scheduler == "fcfs"] {
			j := shell(`test ! -e "$1" || test "$(grep -c x "$1")" -ge "$2"; echo x >> "$1"`, done, fmt.Sprint(k/50))
			j.Arrival = time.Duration(k%3) * time.Millisecond
			if k >= 50 {
				j.After = []int{k - 50}
			}
			jobs = append(jobs, j)
		}
		r := b.must(t, jobs...)
		require.Equal(t, len(jobs), r.Summary.Completed)
		text, err := os.ReadFile(done)
		require.NoError(t, err)
		require.Equal(t, len(jobs), strings.Count(string(text), "x\n"))
		for k := range jobs {
			require.Equal(t, []string{"queued", "placed", "started", "ended done"}, b.kinds(k))
			for _, before := range jobs[k].After {
				require.GreaterOrEqual(t, r.Tasks[k].Began, r.Tasks[before].Ended)
			}
		}
		requireApart(t, r)
	}
}

// requireApart requires that spans on one device do not overlap.
func requireApart(t *testing.T, r *execute.Result) {
	t.Helper()
	last := map[int]time.Duration{}
	for _, s := range r.Spans {
		require.GreaterOrEqual(t, s.From, last[s.Device], "task %d on device %d", s.Task, s.Device)
		last[s.Device] = s.To
	}
}

func TestFailuresAreRetriedAndNamed(t *testing.T) {
	t.Parallel()
	b := newBed(t, "first-fit", 4)
	flag := filepath.Join(t.TempDir(), "flag")
	flaky := shell(`echo attempt $GRAFT_ATTEMPT; test -e "$1" && exit 0; touch "$1"; exit 7`, flag)
	flaky.Retries, flaky.Backoff = 3, time.Millisecond
	killed := shell(`kill -KILL $$`)
	oom := shell(`exit 137`)
	oom.Retries, oom.Backoff = 1, time.Millisecond
	after := shell(`true`)
	after.After = []int{2}
	term := shell(`kill -TERM $$`)
	garbage := shell("")
	garbage.Command = []string{filepath.Join(t.TempDir(), "garbage")}
	require.NoError(t, os.WriteFile(garbage.Command[0], []byte{1, 2, 3}, 0o700))
	r := b.must(t, flaky, killed, oom, after, term, garbage)
	require.Equal(t, []string{"queued", "placed", "started", "ended retried", "queued", "placed", "started",
		"ended done"}, b.kinds(0))
	require.Equal(t, "attempt 2\n", b.log(t, r, 0))
	require.Equal(t, "killed by SIGKILL: out of memory, or killed by a user", r.Jobs[1].Reason)
	require.Equal(t, "SIGKILL", r.Jobs[1].Signal)
	require.Equal(t, "exit code 137: out of memory or killed", r.Jobs[2].Reason)
	require.Equal(t, 2, r.Jobs[2].Failures)
	require.True(t, r.Jobs[3].Skipped)
	require.Equal(t, "task task2 failed", r.Jobs[3].Reason)
	require.Equal(t, "killed by SIGTERM", r.Jobs[4].Reason)
	codes := make([]int, len(r.Jobs))
	for k := range r.Jobs {
		codes[k] = r.Jobs[k].Exit
	}
	require.Equal(t, []int{0, 137, 137, 0, 143, 126}, codes, "of tasks that a signal ended as a shell has them")
	require.Equal(t, 1, r.Summary.Completed)
	require.Equal(t, 2, r.Retries)
	require.Zero(t, r.Summary.Stops)
}

// A task that exceeds its time limit is terminated, and killed if it ignores the signal.
func TestLateTasksAreKilled(t *testing.T) {
	t.Parallel()
	for limit := 50 * time.Millisecond; ; limit *= 4 {
		b := newBed(t, "first-fit", 1)
		b.Grace = limit
		ignores := filepath.Join(t.TempDir(), "ignores")
		late := shell(`trap '' TERM; touch "$1"; sleep 1000 & sleep 1000`, ignores)
		late.Timeout = limit
		r := b.must(t, late)
		require.Equal(t, fmt.Sprintf("timed out after %v", limit), r.Jobs[0].Reason)
		require.Equal(t, []string{"queued", "placed", "started", "timeout", "ended failed"}, b.kinds(0))
		if _, err := os.Stat(ignores); err != nil && limit < time.Minute {
			continue // on a busy machine, the shell did not start in time
		}
		require.Equal(t, 137, r.Jobs[0].Exit)
		return
	}
}

// Background processes in another session die with the first process of their task, with and without a cgroup, even if
// they keep the output open.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, cgroup := range []string{"", execute.NoCgroup} {
		b := newBed(t, "first-fit", 4)
		b.Cgroup = cgroup
		r := b.must(t, shell(`setsid sleep 1000 & (setsid sh -c 'trap "" TERM HUP; sleep 1000 & sleep 1000' `+
			`>/dev/null 2>&1 &) ; sleep 0.1; echo done`), shell(`(sleep 1000 &) ; exit 3`))
		require.Equal(t, "done\n", b.log(t, r, 0))
		require.Equal(t, execute.Done, r.Jobs[0].End)
		require.Equal(t, 3, r.Jobs[1].Exit)
		b.requireNone(t)
	}
}

func TestLogsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBed(t, "fcfs", 1)
	b.LogLimit = 1000
	r := b.must(t, shell(`echo first; yes fill | head -c 3000000; echo last`))
	text := b.log(t, r, 0)
	require.Less(t, len(text), 1100)
	require.True(t, strings.HasPrefix(text, "first\nfill\n"))
	require.True(t, strings.HasSuffix(text, "fill\nlast\n"))
	require.Contains(t, text, "[graft dropped 2999011 bytes here")
	require.Contains(t, b.kinds(0), "truncated")
	require.Equal(t, execute.Done, r.Jobs[0].End)
}

// energy is a meter with constant readings.
type energy struct{}

func (energy) Begin(int) execute.Reading { return energy{} }
func (energy) End() (float64, string)    { return 2, "counted" }

// Time slices pause tasks in memory with SIGSTOP. All tasks complete, and no two run at once.
func TestSlicesPauseTasks(t *testing.T) {
	t.Parallel()
	for _, cgroup := range []string{"", execute.NoCgroup} {
		b := newBed(t, "round-robin", 1)
		b.Cgroup, b.Rules.Keep, b.Meter = cgroup, true, energy{}
		b.Scheduling.Quantum = 20 * time.Millisecond
		b.Observer = until(b, func(e execute.Event) bool { return e.Kind == execute.Paused && e.Task == 0 })
		// Both tasks end after the third pause of task 0.
		jobs := []execute.Job{shell(`while test ! -e go; do sleep 0.01; done`),
			shell(`while test ! -e go; do sleep 0.01; done`)}
		for k := range jobs {
			jobs[k].Folder = filepath.Dir(b.folder)
		}
		r := b.must(t, jobs...)
		require.Equal(t, 2, r.Summary.Completed)
		require.Contains(t, b.kinds(0), "paused")
		require.Contains(t, b.kinds(0), "resumed")
		require.Greater(t, r.Jobs[0].Starts, 1)
		require.Greater(t, r.Summary.Stops, 1)
		require.Equal(t, float64(2*len(r.Spans)), r.Summary.Joules, "each span is measured")
		require.Equal(t, "counted", r.Jobs[1].Method)
		requireApart(t, r)
	}
}

// until creates file go next to the run folder at the third matching event.
func until(b *bed, is func(execute.Event) bool) func(execute.Event) {
	seen := 0
	var once sync.Once
	return func(e execute.Event) {
		b.events = append(b.events, e)
		if is(e) {
			seen++
		}
		if seen == 3 {
			once.Do(func() { _ = os.WriteFile(filepath.Join(filepath.Dir(b.folder), "go"), nil, 0o666) })
		}
	}
}

// saves returns a job that saves on SIGTERM and continues later. Each start adds a line to file starts.
func saves(script string) execute.Job {
	j := shell(`trap 'exit 75' TERM; echo $GRAFT_ATTEMPT >> starts; ` + script)
	j.Checkpoint = true
	return j
}

// Without Keep, a slice ends the process, and the task runs again as the same attempt. A lone task is not stopped.
func TestSlicesStopTasksThatSave(t *testing.T) {
	t.Parallel()
	b := newBed(t, "round-robin", 1)
	b.Scheduling.Quantum = 100 * time.Millisecond
	b.Observer = until(b, func(e execute.Event) bool { return e.End == execute.Stopped })
	loop := saves(`while test ! -e go; do sleep 0.01; done`)
	loop.Folder = filepath.Dir(b.folder)
	r := b.must(t, loop, loop)
	require.Equal(t, 2, r.Summary.Completed)
	require.Contains(t, b.kinds(0), "ended stopped")
	require.Equal(t, 1, r.Jobs[0].Attempts)
	requireApart(t, r)
	starts, err := os.ReadFile(filepath.Join(loop.Folder, "starts"))
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(starts), "1\n"), r.Jobs[0].Starts+r.Jobs[1].Starts,
		"one that was stopped at once adds no line")
	require.NotContains(t, string(starts), "2")

	b = newBed(t, "round-robin", 1)
	b.Scheduling.Quantum = time.Millisecond
	alone := saves(`sleep 0.1`)
	alone.Folder = filepath.Dir(b.folder)
	b.must(t, alone)
	require.Equal(t, []string{"queued", "placed", "started", "ended done"}, b.kinds(0),
		"stopped and started again in one moment")
}

// A job that saves can request another run.
func TestATaskAsksToBeRunAgain(t *testing.T) {
	t.Parallel()
	b := newBed(t, "fcfs", 1)
	j := saves(`test $(grep -c 1 starts) -ge 3 || exit 75`)
	j.Folder, j.Backoff = filepath.Dir(b.folder), time.Millisecond
	r := b.must(t, j)
	require.Equal(t, execute.Done, r.Jobs[0].End)
	require.Zero(t, r.Jobs[0].Failures)
	require.Equal(t, 3, r.Jobs[0].Starts)
}

func TestFaultsAreFoundBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	b := newBed(t, "round-robin", 1)
	for say, j := range map[string]execute.Job{
		"command is empty":             {Spec: node.Spec{Cores: 1}},
		"find program no-such-program": {Spec: node.Spec{Cores: 1}, Command: []string{"no-such-program"}},
		"find program ./none":          {Spec: node.Spec{Cores: 1}, Command: []string{"./none"}},
		"find program /etc/passwd":     {Spec: node.Spec{Cores: 1}, Command: []string{"/etc/passwd"}},
		"enter working directory /no/where": {Spec: node.Spec{Cores: 1}, Command: []string{"/bin/true"},
			Folder: "/no/where"},
		`variable "A"; expected NAME=VALUE`: {Spec: node.Spec{Cores: 1}, Command: []string{"/bin/true"},
			Env: []string{"A"}},
		"variable GRAFT_NODE": {Spec: node.Spec{Cores: 1}, Command: []string{"/bin/true"},
			Env: []string{"GRAFT_NODE=1"}},
		"can never run": {Spec: node.Spec{Cores: 1, Memory: 101}, Command: []string{"/bin/true"}},
		"scheduler round-robin stops tasks, which requires checkpoint = true for this task": {Spec: node.Spec{Cores: 1},
			Command: []string{"/bin/true"}},
		"cores is 0": {Command: []string{"/bin/true"}},
		"depends on unknown task 7; expected 0 to": {Spec: node.Spec{Cores: 1, After: []int{7}},
			Command: []string{"/bin/true"}},
		"contains a NUL byte": {Spec: node.Spec{Cores: 1}, Command: []string{"/bin/true", "\x00"}},
		"retries is -1":       {Spec: node.Spec{Cores: 1}, Command: []string{"/bin/true"}, Retries: -1},
	} {
		require.ErrorContains(t, execute.Check(b.Options, []execute.Job{j}), say)
		_, err := b.run(t, t.Context(), []execute.Job{j})
		require.ErrorContains(t, err, say)
	}
	require.Empty(t, b.events)
	b.Devices = []execute.Device{{CPUs: []int{4000}, UUID: "a,b"}}
	err := execute.Check(b.Options, []execute.Job{shell("true")})
	require.ErrorContains(t, err, "CPU core 4000")
	require.ErrorContains(t, err, `UUID "a,b"`)
	j := execute.Job{Spec: node.Spec{Cores: 1}, Command: []string{"own"}, Env: []string{"PATH=relative:" + t.TempDir()},
		Checkpoint: true}
	b.Devices = cpus(1)
	require.ErrorContains(t, execute.Check(b.Options, []execute.Job{j}), "find program own")
}

// A plan shows the starts of Run if the estimates are right.
func TestPlanShowsWhatWouldStart(t *testing.T) {
	t.Parallel()
	b := newBed(t, "sjf", 2)
	jobs := []execute.Job{shell("true"), shell("true"), shell("true")}
	for k, estimate := range []time.Duration{3 * time.Second, 2 * time.Second, 0} {
		jobs[k].Estimate = estimate
	}
	jobs[2].After = []int{1}
	plan, result, err := execute.Plan(t.Context(), b.Options, jobs, b.folder)
	require.NoError(t, err)
	require.Equal(t, 62.0, result.Summary.Makespan)
	var said []string
	for _, p := range plan {
		said = append(said, fmt.Sprint(p.Name, p.Device, p.At, p.Until))
	}
	require.Equal(t, []string{"task01 0s 3s", "task10 0s 2s", "task20 2s 1m2s"}, said)
	require.Equal(t, "/bin/sh", plan[0].Program)
	require.Contains(t, plan[0].Env, "GRAFT_NODE="+b.folder)
	require.NoFileExists(t, b.folder)
}

// Every scheduler executes tasks that share devices.
func TestEverySchedulerExecutes(t *testing.T) {
	t.Parallel()
	for _, kind := range schedulers.Kinds() {
		b := newBed(t, kind.Name, 2)
		b.Rules.Keep, b.Scheduling.Quantum = true, 5*time.Millisecond
		var jobs []execute.Job
		for k := range 8 {
			j := shell("sleep 0.01")
			j.Cores, j.Memory, j.Estimate, j.Priority = float64(20+10*k), float64(10*k),
				time.Duration(k)*time.Millisecond, k%3
			jobs = append(jobs, j)
		}
		r := b.must(t, jobs...)
		require.Equal(t, len(jobs), r.Summary.Completed, kind.Name)
		require.Equal(t, kind.Name, r.Scheduler)
	}
}
