package trainer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/model"
	"graft/results"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/team"
)

// followVariable is the environment variable of a process that follows. It holds the options of the images.
const followVariable = "GRAFT_TEST_FOLLOW"

// follow runs such a process.
func follow(text string) error {
	var o dataset.Options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	return torch.With(func(s *torch.Scope) (err error) {
		orders := &trap{File: os.Stdin}
		if text := os.Getenv(freezeVariable); text != "" {
			orders.at, err = strconv.Atoi(text)
		}
		var reads counted
		if path := os.Getenv(readsVariable); path != "" {
			defer func() {
				err = errors.Join(err, os.WriteFile(path, []byte(strconv.FormatInt(reads.opened.Load(), 10)), 0o600))
			}()
		}
		answers := &announced{File: os.NewFile(team.AnswerFile, "answers")}
		err = errors.Join(err, trainer.Follow(context.Background(),
			func() (*dataset.Set, error) { return dataset.Load(s, torch.CPU, &reads, o) }, "", orders, answers))
		return err
	})
}

// freezeVariable makes a process freeze when it reads this number of orders. It then creates the file that
// frozenVariable names. numbersVariable names the folder where a process leaves its number once it works.
const (
	freezeVariable  = "GRAFT_TEST_FREEZE"
	frozenVariable  = "GRAFT_TEST_FROZEN"
	numbersVariable = "GRAFT_TEST_NUMBERS"
)

// readsVariable names the file where a process leaves the number of files that it opened.
const readsVariable = "GRAFT_TEST_READS"

// counted is a file system that counts the files that are opened.
type counted struct {
	files.OS
	opened atomic.Int64
}

func (c *counted) Open(path string) (files.File, error) {
	c.opened.Add(1)
	return c.OS.Open(path)
}

type trap struct {
	*os.File
	at, read int
}

func (t *trap) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	before := t.read
	if t.read += bytes.Count(b[:n], []byte("\n")); before < t.at && t.read >= t.at {
		if path := os.Getenv(frozenVariable); path != "" {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return n, err
			}
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	return n, err
}

// announced leaves the process's number after a few answers.
type announced struct {
	*os.File
	written int
}

func (a *announced) Write(b []byte) (int, error) {
	if a.written++; a.written == 5 && os.Getenv(numbersVariable) != "" {
		if err := os.WriteFile(filepath.Join(os.Getenv(numbersVariable), strconv.Itoa(os.Getpid())), nil,
			0o600); err != nil {
			return 0, err
		}
	}
	return a.File.Write(b)
}

// starter starts followers from this test's own program, and keeps a list of them.
type starter struct {
	team.Program
	t       testing.TB
	mu      sync.Mutex
	started []*child
	// told is called before an order to work goes to a process.
	told func(c *child)
}

// child is a process that the starter started.
type child struct {
	team.Process
	starter *starter
	device  int
	work    int  // number of orders to train or evaluate
	doomed  bool // it will be killed
}

func (c *child) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte(`{"train"`)) || bytes.HasPrefix(b, []byte(`{"evaluate"`)) {
		if c.work++; c.starter.told != nil {
			c.starter.told(c)
		}
	}
	return c.Process.Write(b)
}

func (n *starter) Start(device int) (team.Process, error) {
	p, err := n.Program.Start(device)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &child{Process: p, starter: n, device: device}
	n.started = append(n.started, c)
	return c, nil
}

func newTestStarter(t testing.TB, o dataset.Options) *starter {
	r, err := torch.Describe()
	require.NoError(t, err)
	if !r.Gloo {
		t.Skip("this LibTorch has no c10d with Gloo; build the library for another one")
	}
	path, err := os.Executable()
	require.NoError(t, err)
	text, err := json.Marshal(o)
	require.NoError(t, err)
	folder := t.TempDir()
	n := &starter{t: t}
	n.Program = team.Program{Path: path, Args: func(int) []string { return nil },
		Env: []string{followVariable + "=" + string(text)}, Log: func(device int) (*os.File, error) {
			return os.OpenFile(filepath.Join(folder, strconv.Itoa(device)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		}}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		logs, _ := filepath.Glob(filepath.Join(folder, "*"))
		for _, log := range logs {
			text, _ := os.ReadFile(log)
			t.Logf("%s:\n%s", log, text)
		}
	})
	return n
}

func smallData(seed int64) dataset.Options {
	return dataset.Options{Seed: seed, Synthetic: dataset.SyntheticOptions{Size: side, Classes: 4, Train: 600,
		Test: 200}}
}

// changing returns a job whose devices go from one to two to three and back. It grows and shrinks with them, and learns
// from the larger network.
func changing() trainer.Options {
	at := func(ms int, c trainer.Change, devices int) trainer.Event {
		return trainer.Event{At: time.Duration(ms) * time.Millisecond, Change: c, Devices: devices}
	}
	o := plan()
	o.Timeline = trainer.Timeline{Budget: 1500 * time.Millisecond, Events: []trainer.Event{at(200, trainer.Up, 2),
		at(500, trainer.Up, 3), at(850, trainer.Down, 2), at(1250, trainer.Down, 1)}}
	return o
}

// smooth returns a network without kinks. At a kink, rounding moves values from one side to the other, so rounding
// errors grow from step to step: in one process that sums in another order as in several.
func smooth() *model.Network { return networkOf(torch.SiLU) }

// perform runs a job, alone or with processes from a starter.
func perform(t testing.TB, o trainer.Options, book trainer.Recorder, starter team.Starter,
	actions ...string) *trainer.Outcome {
	t.Helper()
	o.Parallel.On = starter != nil
	outcome, err := runJob(t, o, trainer.Parts{Network: smooth(), Recorder: book, Starter: starter, Files: files.OS{}},
		actions...)
	require.NoError(t, err)
	return outcome
}

// lossTolerance limits the relative difference from the losses of one process.
const lossTolerance = 1e-5

// apart returns the largest relative difference of losses in the rows of two recorders. Their steps, sizes and times
// must be equal.
func apart(t testing.TB, got, want *memory) float64 {
	t.Helper()
	require.Len(t, got.rows, len(want.rows))
	worst := 0.0
	for k, w := range want.rows {
		g := got.rows[k]
		require.Equal(t, w.Steps, g.Steps, "no step is lost, none is done twice")
		require.Equal(t, []int{w.Epoch, w.Devices, w.Parameters}, []int{g.Epoch, g.Devices, g.Parameters})
		require.Equal(t, w.Time, g.Time)
		worst = max(worst, math.Abs(g.Loss-w.Loss)/w.Loss,
			math.Abs(g.Validation.Loss-w.Validation.Loss)/w.Validation.Loss)
	}
	return worst
}

// processes returns the numbers of processes in the order of events.
func (m *memory) processes() (counts []int) {
	for _, n := range m.notes {
		if n.Event == "processes" {
			counts = append(counts, n.Processes)
		}
	}
	return counts
}

func (m *memory) why(event results.JobEvent) (all []string) {
	for _, n := range m.notes {
		if n.Event == event {
			all = append(all, n.Why)
		}
	}
	return all
}

// others returns the events that are not about processes.
func (m *memory) others() []string {
	return slices.DeleteFunc(m.events(),
		func(event string) bool { return event == "processes" || strings.HasPrefix(event, "peer") })
}

// A job whose devices come and go trains in the same number of processes, with the events and losses of a single
// process. The jobs with surgery use SGD: the gradients of a bias before a norm are rounding errors, and Adam makes
// full steps of them, in one process as in several.
func TestProcessesComeAndGo(t *testing.T) {
	runtime.LockOSThread() // the number of LibTorch's threads belongs to this thread
	defer runtime.UnlockOSThread()
	for name, c := range map[string]struct {
		rule    torch.OptimizerOptions
		actions []string
		set     func(o *trainer.Options)
	}{
		"that grows and shrinks": {torch.OptimizerOptions{Rule: torch.SGD, LR: 0.02, Momentum: 0.9},
			[]string{"deepen:conv1", "widen:conv2:12", "deepen:conv2"}, nil},
		"that stays as it is": {torch.OptimizerOptions{Rule: torch.Adam, LR: 0.003}, nil, nil},
		"with all options": {torch.OptimizerOptions{Rule: torch.SGD, LR: 0.02, Momentum: 0.9, ClipNorm: 1},
			[]string{"deepen:conv1", "widen:conv2:12", "deepen:conv2"}, func(o *trainer.Options) {
				o.LabelSmoothing, o.MicroBatch, o.EMA, o.Augment.Mixup, o.Augment.RandAugment = 0.1, 24, 0.9, 0.2, 1
			}},
	} {
		if !long && name != "with all options" {
			continue
		}
		o := changing()
		o.Optimizer = c.rule
		if c.set != nil {
			c.set(&o)
		}
		alone, book := &memory{}, &memory{}
		require.NoError(t, torch.SetThreads(1))
		want := perform(t, o, alone, nil, c.actions...)
		require.NoError(t, torch.SetThreads(2))
		starter := newTestStarter(t, smallData(1))
		got := perform(t, o, book, starter, c.actions...)
		require.Equal(t, []int{2, 3, 2, 1}, book.processes())
		require.Equal(t, alone.events(), book.others())
		if at := slices.Index(book.events(), "shrink"); at >= 0 {
			require.Positive(t, book.notes[at].DistillationSteps, "a larger network teaches both processes")
		}
		require.Equal(t, want.Steps, got.Steps)
		require.Equal(t, want.Resources, got.Resources, "processes in parallel count once")
		worst := apart(t, book, alone)
		require.Less(t, worst, lossTolerance)
		require.InDelta(t, want.Test.Loss, got.Test.Loss, lossTolerance*want.Test.Loss)
		require.Len(t, starter.started, 2)
		for _, c := range starter.started {
			require.NoError(t, c.Wait(), "it ended by itself")
		}
		t.Logf("measured: devices 1, 2, 3, 2, 1 of a job %s: %d steps in as many processes, "+
			"losses of %d epochs at most %.1e from those of one process", name, got.Steps, len(book.rows), worst)
	}
	r, err := torch.Describe()
	require.NoError(t, err)
	require.Equal(t, 2, r.Threads, "all threads are the leader's again")
	require.NoError(t, torch.SetThreads(1))
}

// several returns a short job of three processes from its first steps on.
func several() trainer.Options {
	o := plan()
	o.Optimizer = torch.OptimizerOptions{Rule: torch.Adam, LR: 0.003}
	o.Batch = 16
	o.Timeline = trainer.Timeline{Budget: 1200 * time.Millisecond,
		Events: []trainer.Event{{Change: trainer.Up, Devices: 3}}}
	o.Parallel.Timeout = 20 * time.Second // on a busy machine, a process may stand still for seconds
	return o
}

// Processes that are killed at any moment cost no step: the others repeat the lost work, and a new process takes the
// place.
func TestKilledProcessesCostNoStep(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	alone, book := &memory{}, &memory{}
	want := perform(t, several(), alone, nil)
	starter := newTestStarter(t, smallData(1))
	random := rand.New(rand.NewPCG(3, 3))
	var mu sync.Mutex
	kills, most := 0, 2
	if long {
		most = 10
	}
	starter.told = func(c *child) {
		mu.Lock()
		defer mu.Unlock()
		// a process that never worked is not started again
		if c.work < 2 || c.doomed || kills == most || random.IntN(3) == 0 {
			return
		}
		kills++
		c.doomed = true
		time.AfterFunc(time.Duration(random.IntN(30))*time.Millisecond, func() { _ = c.Kill() })
	}
	got := perform(t, several(), book, starter)
	require.GreaterOrEqual(t, kills, most)
	require.GreaterOrEqual(t, len(book.why("peer lost")), kills-2, "the last may die when all is done")
	require.Contains(t, book.why("peer lost")[0], "signal: killed")
	require.Empty(t, book.why("peer missing"))
	require.Equal(t, want.Steps, got.Steps)
	worst := apart(t, book, alone)
	require.Less(t, worst, lossTolerance)
	t.Logf("measured: %d kills of processes, %d noticed and another process started for each, %d groups: %d steps as "+
		"alone, losses at most %.1e apart", kills, len(book.why("peer lost")), len(book.processes()), got.Steps, worst)
}

// A process that freezes is given up after the timeout. A process that is lost before it did any work is not started
// again.
func TestAFrozenProcessIsGivenUp(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	alone := &memory{}
	o := several()
	o.Timeline.Budget, o.Timeline.Events[0].Devices = 300*time.Millisecond, 2
	perform(t, o, alone, nil)
	want := []string{"the process of device 1: the process does not respond"}
	for timeout := time.Second; ; timeout *= 5 {
		book := &memory{}
		o.Parallel.Timeout = timeout
		starter := newTestStarter(t, smallData(1))
		frozen := filepath.Join(t.TempDir(), "frozen")
		// it meets the others, takes a copy, and freezes at work
		starter.Env = append(starter.Env, freezeVariable+"=3", frozenVariable+"="+frozen)
		perform(t, o, book, starter)
		require.Less(t, apart(t, book, alone), lossTolerance)
		if _, err := os.Stat(frozen); err != nil && timeout < time.Minute {
			continue // on a busy machine, the group did not meet in time
		}
		require.Equal(t, want, book.why("peer lost"))
		require.Equal(t, []int{2, 1}, book.processes())
		require.Len(t, starter.started, 1)
		return
	}
}

// If a process cannot start, the job records a warning and continues without it.
func TestProcessesThatCannotStart(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	alone := &memory{}
	o := several()
	o.Timeline.Budget, o.Timeline.Events[0].Devices = 200*time.Millisecond, 2
	want := perform(t, o, alone, nil)
	none, leaves, others := newTestStarter(t, smallData(1)), newTestStarter(t, smallData(1)),
		newTestStarter(t, smallData(2))
	none.Path = filepath.Join(t.TempDir(), "nothing")
	leaves.Path = "/bin/false"
	for word, starter := range map[string]*starter{"no such file": none, "exit status 1": leaves,
		"the follower's images differ": others} {
		book := &memory{}
		got := perform(t, o, book, starter)
		require.Equal(t, want.Digest, got.Digest)
		require.Len(t, book.why("peer missing"), 1, "it is tried once")
		require.Contains(t, book.why("peer missing")[0], word)
		require.Contains(t, book.why("peer missing")[0], "the process of device 1")
		require.Empty(t, book.processes())
	}
	o.Parallel.On = true
	_, err := runJob(t, o, trainer.Parts{})
	require.ErrorContains(t, err, "requires a Starter")
	o.Parallel.MaxProcesses = -1
	_, err = runJob(t, o, trainer.Parts{})
	require.ErrorContains(t, err, "parallel")
}

// elusive is a process that answers that others are lost, and never joins a group.
type elusive struct {
	*io.PipeReader
	answers *io.PipeWriter
	digest  string
	asked   int
}

func (e *elusive) Write(b []byte) (int, error) {
	e.asked++
	go func() { _, _ = e.answers.Write([]byte(`{"lost":true,"error":"nobody came"}` + "\n")) }()
	return len(b), nil
}
func (e *elusive) Close() error { return nil }
func (e *elusive) Kill() error  { return nil }
func (e *elusive) Wait() error  { return e.answers.Close() }
func (e *elusive) Start(int) (team.Process, error) {
	go func() { _, _ = e.answers.Write([]byte(`{"data":"` + e.digest + `"}` + "\n")) }()
	return e, nil
}

// A group that fails twice without a lost process is given up.
func TestAGroupThatNeverMeets(t *testing.T) {
	newTestStarter(t, smallData(1))
	require.NoError(t, torch.SetThreads(1))
	o := several()
	o.Timeline.Budget, o.Timeline.Events[0].Devices = 200*time.Millisecond, 2
	want := perform(t, o, &memory{}, nil)
	digest := ""
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, _ := small(t, s, 1)
		digest = set.Digest
		return nil
	}))
	for timeout := 300 * time.Millisecond; ; timeout *= 5 {
		e, book := &elusive{digest: digest}, &memory{}
		e.PipeReader, e.answers = io.Pipe()
		o.Parallel.Timeout = timeout
		require.Equal(t, want.Digest, perform(t, o, book, e).Digest)
		require.Len(t, book.why("peer lost"), 1)
		if timeout < time.Minute && strings.Contains(book.why("peer lost")[0], "does not respond") {
			continue // on a busy machine, the answer did not come in time
		}
		require.Equal(t, 2, e.asked)
		require.Contains(t, book.why("peer lost")[0], "the group failed twice")
		return
	}
}

// held is a process whose first answer waits for a gate. It is through when the job waits for the second answer, or
// when the process has ended.
type held struct {
	team.Process
	gate  chan struct{}
	pass  func() // reports that the process is through; may be called several times
	reads int
}

func (h *held) Read(b []byte) (int, error) {
	<-h.gate
	if h.reads++; h.reads == 2 {
		h.pass()
	}
	n, err := h.Process.Read(b)
	if err != nil {
		h.pass()
	}
	return n, err
}

// gated is a recorder that opens a gate at an epoch, and a starter of held processes.
type gated struct {
	memory
	*starter
	gate, through chan struct{}
	once          sync.Once // closes through
}

func (g *gated) Start(device int) (team.Process, error) {
	p, err := g.starter.Start(device)
	pass := func() { g.once.Do(func() { close(g.through) }) }
	if err != nil {
		pass()
		return nil, err
	}
	return &held{Process: p, gate: g.gate, pass: pass}, nil
}

func (g *gated) Epoch(r trainer.Row) error {
	if r.Epoch == 2 {
		close(g.gate)
		<-g.through
	}
	return g.memory.Epoch(r)
}

// A process gets ready in the background while the job trains.
func TestProcessesInTheBackground(t *testing.T) {
	require.NoError(t, torch.SetThreads(1))
	o := several()
	o.Timeline.Budget, o.Timeline.Events[0].Devices = 900*time.Millisecond, 2
	alone := &memory{}
	perform(t, o, alone, nil)
	o.Parallel.Background = true
	g := &gated{starter: newTestStarter(t, smallData(1)), gate: make(chan struct{}), through: make(chan struct{})}
	perform(t, o, g, g)
	require.Less(t, apart(t, &g.memory, alone), lossTolerance)
	require.Equal(t, []int{2}, g.processes())
	for _, n := range g.notes {
		if n.Event == "processes" {
			require.GreaterOrEqual(t, n.Epoch, 3, "it came when it was ready")
		}
	}
}

// A job that is killed and resumed gives the same bits if the same number of processes takes the same steps. With
// another number, results differ by rounding.
func TestResumedInProcesses(t *testing.T) {
	if !long {
		t.Skip("left out: resuming in processes; single processes resume; set GRAFT_LONG=1")
	}
	require.NoError(t, torch.SetThreads(1))
	o := changing()
	o.Optimizer = torch.OptimizerOptions{Rule: torch.SGD, LR: 0.02, Momentum: 0.9}
	o.Timeline.Budget, o.Parallel.MaxProcesses = 1350*time.Millisecond, 2
	o.Checkpoint.Every = 80 * ms // on the ticking clock
	actions := []string{"deepen:conv1", "widen:conv2:12"}
	whole := &memory{}
	want := perform(t, o, whole, newTestStarter(t, smallData(1)), actions...)
	for _, together := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "run")
		got, _ := oneLife(t, path, o, together, 70, actions)
		require.Nil(t, got, "it was killed")
		got, rows := oneLife(t, path, o, true, -1, actions)
		if together {
			require.Equal(t, want.Digest, got.Digest)
		}
		require.Equal(t, want.Steps, got.Steps)
		require.InEpsilon(t, whole.rows[len(whole.rows)-1].Validation.Loss, rows[len(rows)-1].Validation.Loss,
			lossTolerance)
	}
}

// telling is a folder that also keeps rows and notes in memory.
type telling struct {
	*trainer.Folder
	memory
}

func (t *telling) Epoch(r trainer.Row) error {
	return errors.Join(t.memory.Epoch(r), t.Folder.Epoch(r))
}
func (t *telling) Note(n trainer.Note) error {
	return errors.Join(t.memory.Note(n), t.Folder.Note(n))
}
func (t *telling) Save(s []trainer.Section) error                   { return t.Folder.Save(s) }
func (t *telling) Keep(at time.Duration, s []trainer.Section) error { return t.Folder.Keep(at, s) }

// oneLife runs the job in a folder until it ends, or until a number of clock readings.
func oneLife(t *testing.T, path string, o trainer.Options, together bool, looks int,
	actions []string) (outcome *trainer.Outcome, rows []trainer.Row) {
	book := &telling{}
	o.Parallel.On = together
	require.NoError(t, inFolder(t, files.OS{}, path, func(s *torch.Scope, folder *trainer.Folder) error {
		book.Folder = folder
		clock := &killingClock{Virtual: *steady(t), looks: looks}
		p := trainer.Parts{Network: smooth(), Decider: script(t, actions...), Recorder: book,
			Starter: newTestStarter(t, smallData(1)), Files: files.OS{}}
		p.Data, _ = small(t, s, 1)
		j, err := goOn(t, s, folder, clock, p, o)
		require.NoError(t, err)
		outcome, err = j.Run(context.Background())
		return err
	}))
	require.Equal(t, together, len(book.processes()) > 0, "it was in processes before it was killed")
	return outcome, book.rows
}

// leaderVariable is the environment variable of a process that leads. It names the folder where its followers leave
// their numbers.
const leaderVariable = "GRAFT_TEST_LEADER"

// TestAsLeader is a long job for the process of another test.
func TestAsLeader(t *testing.T) {
	folder := os.Getenv(leaderVariable)
	if folder == "" {
		t.Skip("it is a process of another test")
	}
	o := several()
	o.Timeline.Budget = time.Hour
	starter := newTestStarter(t, smallData(1))
	starter.Env = append(starter.Env, numbersVariable+"="+folder)
	perform(t, o, nil, starter)
}

// A leader that is killed leaves no process behind.
func TestNoProcessOutlivesItsLeader(t *testing.T) {
	newTestStarter(t, smallData(1))
	program, err := os.Executable()
	require.NoError(t, err)
	folder := t.TempDir()
	leader := exec.Command(program, "-test.run=^TestAsLeader$")
	leader.Env = append(os.Environ(), leaderVariable+"="+folder)
	require.NoError(t, leader.Start())
	var numbers []string
	require.Eventually(t, func() bool {
		numbers, _ = filepath.Glob(filepath.Join(folder, "*"))
		return len(numbers) == 2
	}, 10*time.Minute, 20*time.Millisecond)
	for _, number := range numbers {
		require.True(t, alive(number))
	}
	require.NoError(t, leader.Process.Kill())
	_ = leader.Wait()
	began := time.Now()
	require.Eventually(t, func() bool { return !slices.ContainsFunc(numbers, alive) }, 5*time.Minute,
		5*time.Millisecond)
	t.Logf("measured: both processes of a killed leader had ended %.0f ms after it", 1000*time.Since(began).Seconds())
}

// alive reports whether a process still runs; a zombie does not.
func alive(number string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", filepath.Base(number), "stat"))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}
