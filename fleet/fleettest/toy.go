package fleettest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"graft/fleet"
	"graft/internal/files"
)

// toyVariable holds a toy as JSON.
const toyVariable = "GRAFT_TOY"

// toy configures a process of the suite.
type toy struct {
	Mode    string        `json:"mode"`
	Workers int           `json:"workers"` // number of workers of the batch
	Tasks   int           `json:"tasks"`
	Takes   time.Duration `json:"takes"` // time per task
	// engine of the batch that a coordinator starts
	Engine string      `json:"engine,omitempty"`
	Batch  fleet.Batch `json:"batch"`
}

// Modes of a toy worker.
const (
	plain       = "plain"       // takes tasks by leases
	Gated       = "gated"       // like plain, but ends only two tasks before the test opens the gate
	flaky       = "flaky"       // asks once to be restarted, in the middle of a task
	bad         = "bad"         // fails at once
	hanging     = "hanging"     // ignores SIGTERM, as does its child
	racing      = "racing"      // does all tasks without leases
	coordinator = "coordinator" // starts a batch and supervises it
)

// ungated is the number of tasks that end while the gate is closed.
const ungated = 2

func (y toy) variable() string {
	text, _ := json.Marshal(y) // never fails for strings and numbers
	return toyVariable + "=" + string(text)
}

// Main runs a toy worker or coordinator if the suite started this test binary as one, and returns its exit code. In
// every other process, ok is false. Call Main in TestMain.
func Main(clock fleet.Clock) (code int, ok bool) {
	text := os.Getenv(toyVariable)
	if text == "" {
		return 0, false
	}
	var y toy
	if err := json.Unmarshal([]byte(text), &y); err != nil {
		return 2, true
	}
	w := worker{toy: y, clock: clock, folder: os.Getenv("GRAFT_FLEET"), name: os.Getenv("GRAFT_WORKER")}
	code, err := w.run()
	if err != nil {
		println("toy:", err.Error()) // to the worker's log
		return 3, true
	}
	return code, true
}

// worker is a toy worker process.
type worker struct {
	toy
	clock  fleet.Clock
	folder string
	name   string
}

func (w worker) run() (int, error) {
	println("toy: worker", w.name, "threads", os.Getenv("GRAFT_THREADS"), "device", os.Getenv("GRAFT_DEVICE"), "quoted",
		os.Getenv("QUOTED"))
	switch w.Mode {
	case bad:
		return 1, nil
	case hanging:
		return 0, w.hang()
	case coordinator:
		return 0, w.coordinate()
	}
	for _, name := range []string{"results", "starts"} {
		if err := os.MkdirAll(filepath.Join(w.folder, name), 0o777); err != nil {
			return 0, err
		}
	}
	if w.Mode == racing {
		return 0, w.race()
	}
	return w.pull()
}

// hang waits for an hour, ignores signals, and has a child that leaves its process group.
func (w worker) hang() error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGUSR1)
	child := exec.Command("sleep", "1000")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return err
	}
	if err := w.note("starts", "hanging"); err != nil {
		return err
	}
	return w.clock.Wait(context.Background(), time.Hour)
}

func (w worker) coordinate() error {
	f, err := fleet.Start(context.Background(), fleet.Tools{Files: files.OS{}, Clock: w.clock}, w.Engine, w.Batch)
	if err != nil {
		return err
	}
	left := func() (int, error) { return remaining(w.Batch.Folder, w.Tasks) }
	return f.Supervise(context.Background(), left, fleet.SuperviseOptions{Every: 200 * time.Millisecond})
}

// remaining counts the tasks without a result.
func remaining(folder string, tasks int) (int, error) {
	entries, err := os.ReadDir(filepath.Join(folder, "results"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	done := 0
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			done++
		}
	}
	return tasks - done, err
}

// race does all tasks in order, as every racing worker does.
func (w worker) race() error {
	for task := range w.Tasks {
		if err := w.perform(task); err != nil {
			return err
		}
	}
	return nil
}

// pull takes tasks until all have results.
func (w worker) pull() (int, error) {
	signal.Ignore(syscall.SIGUSR1) // continues until its time limit
	// On a busy machine, a worker may stand still for seconds. A lock shows which workers of this machine are dead.
	const beat, lost = 500 * time.Millisecond, 2 * time.Minute
	leases, err := fleet.OpenLeases(files.OS{}, filepath.Join(w.folder, "leases"), fleet.LeaseOptions{
		Owner: "worker " + w.name, Clock: w.clock, Host: fleet.ThisHost(files.OS{}), Random: rand.Reader, Beat: beat,
		Lost: lost})
	if err != nil {
		return 0, err
	}
	if w.Mode == flaky && exists(w.flaked(w.name)) {
		err = w.awaitFlaked()
	}
	for left := 1; left > 0 && err == nil; {
		if left, err = w.workThrough(leases); left > 0 && err == nil {
			err = w.clock.Wait(context.Background(), beat) // some tasks may become free
		}
	}
	if errors.Is(err, errAgain) {
		return 75, leases.Close()
	}
	return 0, errors.Join(err, leases.Close())
}

// workThrough tries each task once, each worker starting at a different task, and counts the tasks held by others.
func (w worker) workThrough(leases *fleet.Leases) (taken int, err error) {
	first, _ := strconv.Atoi(w.name)
	for k := range w.Tasks {
		task := (first + k) % w.Tasks
		if w.has(task) {
			continue
		}
		lease, err := leases.Take("task-" + strconv.Itoa(task))
		if errors.Is(err, fleet.ErrTaken) {
			taken++
			continue
		}
		if err == nil {
			err = w.attempt(lease, task)
		}
		if err != nil {
			return taken, err
		}
	}
	return taken, nil
}

// attempt does a task under its lease, unless it was done in the meantime.
func (w worker) attempt(lease *fleet.Lease, task int) (err error) {
	lease.Keep(context.Background())
	switch {
	case w.has(task):
	case w.Mode == flaky && w.once():
		err = errAgain
	default:
		err = w.perform(task)
	}
	// If the release fails because the lease is lost, another process has the task.
	if released := lease.Release(); err == nil && !errors.Is(released, fleet.ErrLost) {
		err = released
	}
	return err
}

// errAgain ends a flaky worker, which then requests a restart.
var errAgain = errors.New("the worker requests a restart")

func (w worker) has(task int) bool { return exists(w.result(task)) }

func (w worker) result(task int) string {
	return filepath.Join(w.folder, "results", strconv.Itoa(task))
}

// once reports whether this worker requests a restart for the first time.
func (w worker) once() bool { return w.note(filepath.Base(w.flaked(w.name)), "") == nil }

// flaked is the path of the file that tells that a worker has requested a restart.
func (w worker) flaked(name string) string { return filepath.Join(w.folder, "flaked-"+name) }

// awaitFlaked waits until all workers have requested a restart, so each of them finds a task.
func (w worker) awaitFlaked() error {
	for k := range w.Workers {
		if err := w.await(w.flaked(strconv.Itoa(k))); err != nil {
			return err
		}
	}
	return nil
}

// await waits until a file exists. It fails after an hour, or if the batch's folder is removed: nobody ends this
// process if the test was killed.
func (w worker) await(path string) error {
	began := w.clock.Now()
	for !exists(path) {
		if !exists(w.folder) || w.clock.Now()-began > time.Hour {
			return fmt.Errorf("wait for %s: the test has ended", path)
		}
		if err := w.clock.Wait(context.Background(), look/10); err != nil {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// gate is the path of the file that opens the gate of a batch.
func gate(folder string) string { return filepath.Join(folder, "gate") }

// note creates a file with a unique name in the folder kind. Without a name it creates the file kind itself, and fails
// if that file exists.
func (w worker) note(kind, name string) error {
	path := filepath.Join(w.folder, kind)
	if name != "" {
		if err := os.MkdirAll(path, 0o777); err != nil {
			return err
		}
		path = filepath.Join(path, fmt.Sprintf("%s.worker-%s.%d", name, w.name,
			w.clock.Now()+time.Duration(os.Getpid())))
	}
	file, err := files.OS{}.Create(path)
	if err != nil {
		return err
	}
	return file.Close()
}

// perform does a task and commits its result; an existing result stays.
func (w worker) perform(task int) error {
	if err := w.note("starts", strconv.Itoa(task)); err != nil {
		return err
	}
	if err := w.clock.Wait(context.Background(), w.Takes); err != nil {
		return err
	}
	if w.Mode == Gated && task >= ungated {
		if err := w.await(gate(w.folder)); err != nil {
			return err
		}
	}
	err := files.WriteNew(files.OS{}, w.result(task), func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "task %d by worker %s\n", task, w.name)
		return err
	})
	if errors.Is(err, fs.ErrExist) {
		return w.note("refused", strconv.Itoa(task))
	}
	return err
}
