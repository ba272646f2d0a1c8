package execute_test

import (
	"context"
	"errors"
	"fmt"
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

	"graft/cluster/execute"
	"graft/cluster/node"
	"graft/cluster/node/schedulers"
	"graft/fleet"
	"graft/fleet/process"
	"graft/internal/files"
	"graft/internal/files/faults"
)

// childVariable makes the test binary an executor of the named run folder. roleVariable selects its jobs.
const (
	childVariable = "GRAFT_EXECUTE_CHILD"
	roleVariable  = "GRAFT_EXECUTE_ROLE"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(childVariable); folder != "" {
		if err := child(folder, os.Getenv(roleVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child executes the jobs of a role.
func child(folder, role string) error {
	kind, err := schedulers.Named("first-fit")
	if err != nil {
		return err
	}
	run, err := open(files.OS{}, folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := execute.Options{Run: run, Files: files.OS{}, Clock: fleet.NewClock(time.Now), Kind: kind, Devices: cpus(4),
		Rules: node.Rules{Whole: true}, Grace: time.Minute}
	jobs := markers(filepath.Dir(folder))
	if role == "queue" {
		started := 0
		o.Observer = func(e execute.Event) {
			if e.End == execute.Done {
				started++
			}
			if started == 8 && !long {
				cancel()
			}
		}
		jobs = make([]execute.Job, 5000)
		for k := range jobs {
			jobs[k] = shell("true")
		}
	}
	_, err = execute.Run(ctx, o, jobs)
	if role == "queue" {
		status, _ := os.ReadFile("/proc/self/status")
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		fmt.Println(strings.Fields(peak)[0])
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, run.Close())
}

// markers returns jobs with child processes, also in the background. Each job adds a line to its own file at its end.
func markers(folder string) (jobs []execute.Job) {
	for k := range 40 {
		j := shell(`setsid sleep 1000 & sleep 0.02; echo x >> "$1"`, filepath.Join(folder, strconv.Itoa(k)))
		j.Retries, j.Backoff = 1000, time.Millisecond
		if k%10 == 9 {
			j.After = []int{k - 9}
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// start starts an executor process, except for role queue.
func start(t *testing.T, folder, role string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+folder, roleVariable+"="+role)
	c.Stderr = os.Stderr
	if role == "queue" {
		return c
	}
	require.NoError(t, c.Start())
	return c
}

// Executors, tasks and their children are killed at random moments. Each task completes once, a task that was not
// killed runs once, and no process remains.
func TestKilledExecutorContinues(t *testing.T) {
	t.Parallel()
	for seed := range map[bool]uint64{true: 20, false: 1}[long] {
		folder := filepath.Join(t.TempDir(), "run")
		random := rand.New(rand.NewPCG(seed, 1))
		c := start(t, folder, "markers")
		for kills := 0; kills < 10; kills++ {
			c = killOne(t, random, folder, c)
		}
		require.NoError(t, c.Wait())
		requireOnce(t, folder, markers(filepath.Dir(folder)))
	}
}

// killOne waits until the journal has grown. Then it kills and restarts the executor, or kills a process of a task.
func killOne(t *testing.T, random *rand.Rand, folder string, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	size := func() int64 {
		info, err := os.Stat(filepath.Join(folder, execute.JournalFile))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	more := size() + int64(random.IntN(800))
	require.Eventually(t, func() bool { return size() > more || over(folder) }, 10*time.Minute, time.Millisecond)
	if random.IntN(2) == 0 {
		found, err := process.With(files.OS{}, []string{"GRAFT_NODE=" + folder})
		require.NoError(t, err)
		if len(found) > 0 {
			_ = syscall.Kill(found[random.IntN(len(found))].ID, syscall.SIGKILL)
		}
		return c
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	return start(t, folder, "markers")
}

// over reports whether all tasks of a journal are done.
func over(folder string) bool {
	c := execute.NewAccount(markers(filepath.Dir(folder)))
	if execute.Read(files.OS{}, folder, c.Replay) != nil {
		return false
	}
	for k := range c.Jobs {
		if !c.Jobs[k].Over() {
			return false
		}
	}
	return true
}

// requireOnce requires that each job completed once, that its file has one line and at most one more for each
// interrupted or failed attempt, and that no process remains.
func requireOnce(t *testing.T, folder string, jobs []execute.Job) {
	t.Helper()
	done := map[int]int{}
	c := execute.NewAccount(jobs)
	require.NoError(t, execute.Read(files.OS{}, folder, func(e execute.Event) error {
		if e.End == execute.Done {
			done[e.Task]++
		}
		return c.Replay(e)
	}))
	for k := range jobs {
		require.Equal(t, 1, done[k], "task %d", k)
		text, err := os.ReadFile(filepath.Join(filepath.Dir(folder), strconv.Itoa(k)))
		require.NoError(t, err)
		lines, broken := strings.Count(string(text), "x\n"), c.Jobs[k].Interrupted+c.Jobs[k].Failures
		require.LessOrEqual(t, 1, lines)
		require.LessOrEqual(t, lines, 1+broken, "task %d", k)
	}
	found, err := process.With(files.OS{}, []string{"GRAFT_NODE=" + folder})
	require.NoError(t, err)
	require.Empty(t, found)
}

// A cancelled executor lets tasks save, and another executor continues.
func TestStoppedExecutorContinues(t *testing.T) {
	t.Parallel()
	b := newBed(t, "first-fit", 2)
	ctx, cancel := context.WithCancel(t.Context())
	b.Observer = func(e execute.Event) {
		b.events = append(b.events, e)
		if e.Kind == execute.Started && e.Task == 1 {
			cancel()
		}
	}
	jobs := []execute.Job{saves(`while test $GRAFT_ATTEMPT = 1; do sleep 0.01; done`),
		shell(`test $GRAFT_ATTEMPT = 2 || sleep 1000`), shell(`true`)}
	jobs[0].Folder = filepath.Dir(b.folder)
	r, err := b.run(t, ctx, jobs)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "3 of 3 tasks are unfinished")
	require.Equal(t, execute.Interrupted, r.Jobs[0].End)
	b.requireNone(t)
	r = b.must(t, jobs...)
	require.Equal(t, 3, r.Summary.Completed)
	require.Equal(t, 2, r.Jobs[1].Attempts)
	require.Equal(t, 1, r.Jobs[1].Interrupted)
	require.Zero(t, r.Jobs[1].Failures)
	cancelled := b.events
	_, err = b.run(t, ctx, append(jobs, shell("true")))
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, b.events, len(cancelled)+1, "nothing starts after the end of ctx")
	jobs[1].Name = "other"
	_, err = b.run(t, t.Context(), jobs)
	require.ErrorContains(t, err, "or another run folder")
}

// A journal that lacks a line, its end or all lines is damaged. A kill or a power failure leaves no such journal of a
// complete run.
func TestDamagedJournals(t *testing.T) {
	t.Parallel()
	b := newBed(t, "first-fit", 2)
	failing := shell("exit 3")
	failing.Retries = 1
	after := shell("true")
	after.After = []int{1}
	b.must(t, shell("true"), failing, after, shell("sleep 0.01"))
	path := filepath.Join(b.folder, execute.JournalFile)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	check := func(text string) error {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return execute.CheckEnded(files.OS{}, b.folder, 4)
	}
	require.NoError(t, check(string(text)))
	requireDamaged := func(err error, about string) {
		t.Helper()
		require.ErrorContains(t, err, "restore a copy of the run folder, or start another run", about)
		var damage interface{ Damaged() bool }
		require.True(t, errors.As(err, &damage) && damage.Damaged(), about)
	}
	for k := range lines {
		requireDamaged(check(strings.Join(slices.Delete(slices.Clone(lines), k, k+1), "")), lines[k])
	}
	requireDamaged(check(string(text)+"{"), "a torn line")
	requireDamaged(check(string(text[:len(text)-1])), "the last line break")
	requireDamaged(check(""), "an empty journal")
	require.NoError(t, os.Remove(path))
	requireDamaged(execute.Read(files.OS{}, b.folder, func(execute.Event) error { return nil }), "a missing journal")
}

// journalFS sends journal operations to another file system.
type journalFS struct {
	files.FS
	journal files.FS
}

func (f journalFS) of(path string) files.FS {
	if strings.Contains(filepath.Base(path), execute.JournalFile) {
		return f.journal
	}
	return f.FS
}

func (f journalFS) Append(path string) (files.File, error) { return f.of(path).Append(path) }
func (f journalFS) Create(path string) (files.File, error) { return f.of(path).Create(path) }
func (f journalFS) Open(path string) (files.File, error)   { return f.of(path).Open(path) }
func (f journalFS) Rename(from, to string) error           { return f.of(to).Rename(from, to) }

// After a fault at any journal operation, an executor ends with an error or completes everything. Another one completes
// the rest.
func TestFaultsOfTheJournalLoseNothing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	counting := faults.New(files.OS{}, 0, faults.Fail)
	require.NoError(t, faulty(t, folder, counting))
	kinds := []faults.Kind{faults.Torn}
	if long {
		kinds = []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash}
	}
	for _, kind := range kinds {
		for at := 1; at <= len(counting.Ops()); at++ {
			folder := t.TempDir()
			if err := faulty(t, folder, faults.New(files.OS{}, at, kind)); err != nil {
				require.ErrorIs(t, err, faults.ErrInjected)
			}
			require.NoError(t, faulty(t, folder, files.OS{}), "%v of operation %d", kind, at)
			requireOnce(t, filepath.Join(folder, "run"), few(folder))
		}
	}
}

// few returns jobs that end soon.
func few(folder string) []execute.Job {
	jobs := markers(folder)[:4]
	jobs[3].After = []int{0}
	for k := range jobs {
		jobs[k].Command = shell(`echo x >> "$1"`, filepath.Join(folder, strconv.Itoa(k))).Command
	}
	return jobs
}

// faulty executes jobs under a folder, with a separate file system for the journal.
func faulty(t *testing.T, folder string, journal files.FS) error {
	t.Helper()
	path := filepath.Join(folder, "run")
	fsys := journalFS{files.OS{}, journal}
	run, err := open(fsys, path)
	require.NoError(t, err)
	b := newBed(t, "fcfs", 2)
	b.folder, b.Run, b.Files = path, run, fsys
	_, err = execute.Run(t.Context(), b.Options, few(folder))
	return errors.Join(err, run.Close())
}

// Thousands of queued tasks need little memory.
func TestManyQueuedTasksAreSmall(t *testing.T) {
	t.Parallel()
	out, err := start(t, filepath.Join(t.TempDir(), "run"), "queue").Output()
	require.NoError(t, err)
	kib, err := strconv.Atoi(strings.TrimSpace(string(out)))
	require.NoError(t, err)
	t.Logf("peak of %d MiB", kib>>10)
	require.Less(t, kib, 100<<10)
}
