package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/files"
)

// A shell reads quoted words back unchanged.
func TestQuotedWordsAreReadBackByTheShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOf(rapid.OneOf(
			rapid.SampledFrom([]rune("'\"\\$`!*?~#&|;<>(){}[] \t\n\r-=%a")),
			rapid.Rune().Filter(func(r rune) bool { return r != 0 }))), 1, 5).Draw(t, "words")
		script := "printf '%s\\0' " + shellQuoteAll(words)
		out, err := exec.Command(sh, "-c", script).Output()
		require.NoError(t, err, script)
		require.Equal(t, strings.Join(words, "\x00")+"\x00", string(out))
		require.NotContains(t, script, "\r")
	})
}

func TestTheScriptAndArgumentsOfAnArray(t *testing.T) {
	b := Batch{
		Key: "k-1", Folder: "/a b/50%", Workers: 9, Argv: []string{"/bin/graft", "it's"}, Env: []string{"A=$(reboot)"},
		Resources: Resources{CPUs: 2, MemoryMB: 100, GPUs: 1, Time: 90 * time.Second, Partition: "p", Account: "a",
			QOS: "q", Constraint: "x&y", Extra: []string{"--nice=5"}},
	}
	require.NoError(t, errors.Join(b.Validate(), b.Resources.slurm()))
	require.Equal(t, `#!/bin/sh
set -eu
export A='$(reboot)'
export GRAFT_FLEET='/a b/50%'
export GRAFT_WORKER="$SLURM_ARRAY_TASK_ID"
export GRAFT_THREADS="${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}"
export GRAFT_DEVICE=cuda:0
exec '/bin/graft' 'it'\''s'
`, b.script())
	require.Equal(t, []string{
		"--parsable", "--requeue", "--open-mode=append", "--job-name=k-1", "--array=0,2-4,7-8", "--chdir=/a b/50%",
		"--output=/a b/50%%/logs/worker-%a.log", "--cpus-per-task=2", "--mem=100", "--gres=gpu:1", "--time=2",
		"--signal=B:USR1@60",
		"--partition=p", "--account=a", "--qos=q", "--constraint=x&y", "--nice=5",
	}, b.arguments([]int{8, 0, 2, 3, 4, 7}))
	b.Resources = Resources{Time: 10 * time.Second, Gres: "gpu:a100:2"}
	require.Contains(t, strings.Join(b.arguments([]int{5}), " "), "--array=5 --chdir=/a b/50% --output=/a "+
		"b/50%%/logs/worker-%a.log --gres=gpu:a100:2 --time=1 --signal=B:USR1@30")
}

func TestWrongBatchesAreRefusedWithAllFaults(t *testing.T) {
	b := Batch{Key: "a b", Folder: "here", Dir: "there", Argv: []string{"a\x00"}, Env: []string{"=x"}, Workers: 0,
		Only: []int{3}, Resources: Resources{CPUs: -1, Time: time.Second, Lead: time.Minute, Partition: "-p",
			Gres: "gpu:1", GPUs: 1}}
	err := b.Validate()
	for _, part := range []string{"key is", "folder is", "dir is", "workers is 0", "NUL bytes", "expected NAME=VALUE",
		"unknown worker 3", "cpus is -1", "time_limit is 1s and lead is 1m0s", "partition is",
		"gres and gpus are mutually exclusive"} {
		require.ErrorContains(t, err, part)
	}
	late := Resources{Time: 24 * time.Hour, Lead: 65535 * time.Second}
	require.NoError(t, late.validate())
	late.Lead++
	require.ErrorContains(t, late.validate(), "the maximum of Slurm is 18h12m15s")
	for option, say := range map[string]string{
		"-p main": "expected --name=value", "nice": "expected --name=value", "--array=1": "set by graft",
		"--arr=1": "set by graft", "--wrap=x": "set by graft",
		"--o=x": "set by graft", "--nice=1\n": "expected --name=value", "--": "expected --name=value",
		"--mem=1": "set by graft",
	} {
		require.ErrorContains(t, Resources{Extra: []string{option}}.slurm(), say, option)
	}
	require.NoError(t, Resources{Extra: []string{"--nice=1", "--exclusive", "--mem-per-cpu=100",
		"--time-min=1"}}.slurm())
	require.ErrorContains(t, Resources{Devices: []string{"cuda:0"}}.slurm(), "for local workers")
	require.ErrorContains(t, Resources{Partition: "p", Extra: []string{"--x"}, Time: time.Hour}.local(),
		"partition is set, but only Slurm")
	_, err = NewEngine("pbs", Tools{})
	require.ErrorContains(t, err, "expected one of: local, slurm")
}

// answers is a fake Slurm with fixed answers that records the requests.
type answers struct {
	squeue, sbatch []any // texts or errors; the last one repeats
	asked          []string
}

func (a *answers) run(_ context.Context, _, name string, args ...string) (string, error) {
	a.asked = append(a.asked, name+" "+strings.Join(args, " "))
	queue := &a.squeue
	switch name {
	case "sbatch":
		queue = &a.sbatch
	case "scancel":
		return "", nil
	}
	answer := (*queue)[0]
	if len(*queue) > 1 {
		*queue = (*queue)[1:]
	}
	if err, ok := answer.(error); ok {
		return "", err
	}
	return answer.(string), nil
}

func (a *answers) count(name string) (n int) {
	for _, asked := range a.asked {
		if strings.HasPrefix(asked, name) {
			n++
		}
	}
	return n
}

func (a *answers) engine() *slurm {
	return &slurm{Tools: Tools{Files: files.OS{}, Clock: newManualClock(), CommandTimeout: time.Second}, run: a.run}
}

func slurmBatch(t *testing.T, workers int) Batch {
	return Batch{Key: "k", Folder: t.TempDir(), Workers: workers, Argv: []string{"true"}}
}

const (
	row0 = "7|0|RUNNING|0|n1|None|k|\n"
	row1 = "7|1|PENDING|0||Resources|k|\n"
)

func TestSubmitStartsWhatDoesNotLive(t *testing.T) {
	for name, c := range map[string]struct {
		answers answers
		jobs    []string
		array   string // empty if nothing is submitted
	}{
		"nothing lives": {answers{squeue: []any{""}, sbatch: []any{"8\n"}}, []string{"8"}, "--array=0-1"},
		"all live":      {answers{squeue: []any{row0 + row1}}, []string{"7"}, ""},
		"one lives":     {answers{squeue: []any{row0}, sbatch: []any{"8;cluster\n"}}, []string{"7", "8"}, "--array=1"},
		"one has failed": {answers{squeue: []any{row0 + "7|1|FAILED|256|n1|None|k|\n"}, sbatch: []any{"8\n"}},
			[]string{"7", "8"}, "--array=1"},
		"another's name": {answers{squeue: []any{strings.ReplaceAll(row0+row1, "|k|", "|kk|")}, sbatch: []any{"8\n"}},
			[]string{"8"}, "--array=0-1"},
		"the answer is lost": {answers{squeue: []any{"", row0 + row1}, sbatch: []any{errors.New("no answer")}},
			[]string{"7"}, "--array=0-1"},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := c.answers.engine().Submit(context.Background(), slurmBatch(t, 2))
			require.NoError(t, err)
			require.Equal(t, c.jobs, h.Jobs)
			all := strings.Join(c.answers.asked, "\n")
			if c.array == "" {
				require.NotContains(t, all, "sbatch")
			} else {
				require.Contains(t, all, c.array+" ")
			}
		})
	}
}

func TestARefusalHasARemedy(t *testing.T) {
	a := &answers{squeue: []any{""}, sbatch: []any{errors.New("sbatch: exit status 1\n" +
		"sbatch: error: Batch job submission failed: Invalid partition name specified")}}
	_, err := a.engine().Submit(context.Background(), slurmBatch(t, 2))
	require.ErrorContains(t, err, "Invalid partition name")
	require.ErrorContains(t, err, "'sinfo -s' lists the partitions")
	a = &answers{squeue: []any{errors.New("Unable to contact slurm controller")}}
	_, err = a.engine().Submit(context.Background(), slurmBatch(t, 2))
	require.ErrorContains(t, err, "Unable to contact")
	require.Zero(t, a.count("sbatch"), "without an answer no job is submitted")
}

func TestPollTranslatesStates(t *testing.T) {
	line := func(state, exit string) string { return "7|0|" + state + "|" + exit + "|n1|None|k|\n" }
	for text, want := range map[string]State{
		"":                                      Unknown,
		line("PENDING", "0"):                    Waiting,
		line("CONFIGURING", "0"):                Waiting,
		line("RUNNING", "0"):                    Running,
		line("COMPLETING", "0"):                 Running,
		line("UNHEARD_OF", "0"):                 Running,
		line("COMPLETED", "0"):                  Done,
		line("FAILED", "19200"):                 Again,
		line("FAILED", "256"):                   Failed,
		line("FAILED", "9"):                     Failed,
		line("OUT_OF_MEMORY", "9"):              Failed,
		line("TIMEOUT", "1"):                    Again,
		line("NODE_FAIL", "1"):                  Again,
		line("PREEMPTED", "0"):                  Again,
		line("CANCELLED", "15"):                 Stopped,
		"6|0|RUNNING|0|n1|None|k|\n":            Unknown, // not in the handle
		"7|0|RUNNING|0|n1|None|stranger|\n":     Unknown, // the number was reused
		"7|5|RUNNING|0|n1|None|k|\n":            Unknown, // no such worker
		"7|N/A|RUNNING|0|n1|None|k|\n":          Unknown, // no array
		line("FAILED", "256") + row8("RUNNING"): Running,
		line("RUNNING", "0") + row8("FAILED"):   Running,
		line("TIMEOUT", "0") + row8("FAILED"):   Failed,
	} {
		a := &answers{squeue: []any{text}}
		states, err := a.engine().Poll(context.Background(), Handle{Key: "k", Folder: "/f", Workers: 1,
			Jobs: []string{"7", "8"}})
		require.NoError(t, err, text)
		require.Equal(t, want, states[0].State, text)
		require.Equal(t, "/f/logs/worker-0.log", states[0].Log)
	}
	for _, wrong := range []string{"not a line of squeue\n", "x|0|RUNNING|0|n1|None|k|\n"} {
		_, err := (&answers{squeue: []any{wrong}}).engine().Poll(context.Background(), Handle{Key: "k", Workers: 1})
		require.ErrorContains(t, err, "unexpected output of squeue")
	}
}

func row8(state string) string { return "8|0|" + state + "|256|n1|None|k|\n" }

func TestCancelNamesNumberAndKey(t *testing.T) {
	a := &answers{squeue: []any{row0 + row1, ""}}
	e := a.engine()
	e.Clock = NewClock(time.Now)
	require.NoError(t, e.Cancel(context.Background(), Handle{Key: "k", Workers: 2}))
	require.Contains(t, strings.Join(a.asked, "\n"), "scancel --user="+user()+" --name=k 7")
}

func TestCommandsHaveATimeoutAndReturnTheirErrors(t *testing.T) {
	run := runner(100 * time.Millisecond)
	_, err := run(context.Background(), "", "sleep", "20")
	require.ErrorContains(t, err, "timed out after 100ms")
	run = runner(patience)
	_, err = run(context.Background(), "", "sh", "-c", "echo no such node >&2; exit 3")
	require.ErrorContains(t, err, "no such node")
	out, err := run(context.Background(), "text", "cat")
	require.NoError(t, err)
	require.Equal(t, "text", out)
	require.Equal(t, []string{"A=b", "SLURM_CONF=c"},
		slurmEnvironment([]string{"A=b", "SLURM_JOB_ID=3", "SLURM_CONF=c"}))
}

// scripted is a fake engine whose workers follow a script.
type scripted struct {
	states    []WorkerState
	pollError error
	submits   [][]int
	onSubmit  func(s *scripted, only []int) error
	cancels   int
	stubborn  bool // workers do not end after Cancel
}

func (s *scripted) Submit(_ context.Context, b Batch) (Handle, error) {
	s.submits = append(s.submits, b.Only)
	if s.onSubmit != nil {
		if err := s.onSubmit(s, b.chosen()); err != nil {
			return Handle{}, err
		}
	}
	return Handle{Engine: "scripted", Key: b.Key, Folder: b.Folder, Workers: b.Workers, Jobs: []string{"j"}}, nil
}

func (s *scripted) Poll(context.Context, Handle) ([]WorkerState, error) {
	return append([]WorkerState(nil), s.states...), s.pollError
}

func (s *scripted) Cancel(ctx context.Context, _ Handle) error {
	s.cancels++
	if s.stubborn {
		<-ctx.Done()
	}
	return ctx.Err()
}

// onScript starts a fleet of two workers on a scripted engine, with a clock that does not wait.
func onScript(t *testing.T, s *scripted) *Fleet {
	s.states = []WorkerState{{Worker: 0, State: Running}, {Worker: 1, State: Running}}
	known := engines
	t.Cleanup(func() { engines = known })
	engines = append(engines[:len(known):len(known)],
		kind{"scripted", "", func(Tools) Engine { return s }, func(Resources) error { return nil }})
	f, err := Start(context.Background(), Tools{Files: files.OS{}, Clock: &jumpingClock{}}, "scripted",
		Batch{Key: "k", Folder: t.TempDir(), Workers: 2, Argv: []string{"true"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// jumpingClock is a clock that does not wait.
type jumpingClock struct{ now time.Duration }

func (h *jumpingClock) Now() time.Duration { return h.now }
func (h *jumpingClock) Wait(ctx context.Context, d time.Duration) error {
	h.now += d
	return ctx.Err()
}

// lefts returns a function that returns the counts in order and repeats the last one.
func lefts(counts ...int) func() (int, error) {
	return func() (int, error) {
		n := counts[0]
		if len(counts) > 1 {
			counts = counts[1:]
		}
		return n, nil
	}
}

func TestSuperviseRestartsWorkers(t *testing.T) {
	for name, c := range map[string]struct {
		state State
		left  func() (int, error)
		want  int // submissions for worker 1
	}{
		"lost ones, as long as work is left":         {Unknown, lefts(5, 5, 5, 5, 5, 5, 5, 5, 0), 8},
		"those that ask":                             {Again, lefts(5, 5, 5, 5, 5, 5, 5, 5, 0), 8},
		"failing ones, three times":                  {Failed, lefts(5, 5, 5, 5, 5, 5, 5, 5, 0), 3},
		"those that see no work, three times":        {Done, lefts(5, 5, 5, 5, 5, 5, 5, 5, 0), 3},
		"failing ones, more often when work is done": {Failed, lefts(5, 5, 5, 4, 4, 4, 4, 4, 0), 6},
		"cancelled ones never":                       {Stopped, lefts(5, 5, 5, 0), 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{}
			f := onScript(t, s)
			s.states[1].State = c.state
			s.submits = nil
			require.NoError(t, f.Supervise(context.Background(), c.left, SuperviseOptions{}))
			require.Len(t, s.submits, c.want)
			for _, only := range s.submits {
				require.Equal(t, []int{1}, only)
			}
			require.Equal(t, 1, s.cancels, "worker 0 did not end when all was done")
		})
	}
}

// Workers that ignore Cancel do not block Supervise once all tasks are done.
func TestSuperviseEndsBesideHungWorkers(t *testing.T) {
	s := &scripted{stubborn: true}
	f := onScript(t, s)
	var notes []string
	require.NoError(t, f.Supervise(context.Background(), lefts(5, 0),
		SuperviseOptions{Grace: time.Minute, Note: func(text string) { notes = append(notes, text) }}))
	require.Equal(t, 1, s.cancels)
	require.Contains(t, notes, "workers did not exit within 1m0s of cancellation; continuing without them")
}

// A missing program is an error at once, without retries.
func TestSuperviseFailsAtOnceWithoutPrograms(t *testing.T) {
	s := &scripted{}
	f := onScript(t, s)
	s.pollError = fmt.Errorf("ask: %w", exec.ErrNotFound)
	require.ErrorIs(t, f.Supervise(context.Background(), lefts(5),
		SuperviseOptions{Note: func(string) { t.Error("it was tried again") }}), exec.ErrNotFound)
}

// Another engine can continue a batch once its engine reports that no worker lives.
func TestAnotherEngineContinuesABatch(t *testing.T) {
	s := &scripted{}
	f := onScript(t, s)
	require.NoError(t, f.Close())
	start := func() error {
		g, err := Start(context.Background(), Tools{Files: files.OS{}, Clock: NewClock(time.Now)}, "local", f.Batch())
		if err == nil {
			err = errors.Join(g.Cancel(context.Background()), g.Close())
		}
		return err
	}
	require.ErrorContains(t, start(), "worker 0 of engine scripted is still running in "+f.Batch().Folder)
	s.states[0].State, s.states[1].State = Done, Unknown
	s.pollError = errors.New("the controller is down")
	require.ErrorContains(t, start(), "poll workers of engine scripted: the controller is down")
	s.pollError = nil
	require.NoError(t, start())
	other, err := Attach(Tools{Files: files.OS{}, Clock: &jumpingClock{}}, f.Batch().Folder)
	require.NoError(t, err)
	require.Equal(t, "local", other.Engine())
	require.Empty(t, other.Handle().Jobs)
}

// Supervise counts again before it restarts ended workers, and does not restart them if the last task was done
// meanwhile.
func TestSuperviseCountsAgainWhenWorkersHaveEnded(t *testing.T) {
	s := &scripted{}
	f := onScript(t, s)
	s.states[0].State, s.states[1].State = Done, Done
	s.submits = nil
	require.NoError(t, f.Supervise(context.Background(), lefts(1, 0), SuperviseOptions{Failures: 1}))
	require.Empty(t, s.submits)
}

// An outdated count restarts no worker, even while others run.
func TestSuperviseRecountsBeforeItRestarts(t *testing.T) {
	s := &scripted{}
	f := onScript(t, s)
	s.states[0].State = Done
	s.submits = nil
	old := func() (int, error) { return 5, nil }
	recounts := 0
	recount := func() (int, error) {
		if recounts++; recounts == 2 {
			s.states[1].State = Done
		}
		return 0, nil
	}
	require.NoError(t, f.Supervise(context.Background(), old, SuperviseOptions{Failures: 1, Recount: recount}))
	require.Empty(t, s.submits)
	require.GreaterOrEqual(t, recounts, 2)
}

func TestSuperviseFailsWhenNoWorkerIsLeft(t *testing.T) {
	s := &scripted{}
	f := onScript(t, s)
	s.states[0].State, s.states[0].Detail = Stopped, "by somebody"
	s.states[1].State, s.states[1].Exit, s.states[1].Log = Failed, 9, "/the/log"
	err := f.Supervise(context.Background(), lefts(5), SuperviseOptions{Failures: 2})
	require.ErrorIs(t, err, ErrNoWorkers)
	require.ErrorContains(t, err, "worker 0: stopped (by somebody)")
	require.ErrorContains(t, err, "worker 1: failed (exit code 9), log: /the/log")
	require.Len(t, s.submits, 3)
}

func TestSuperviseRetriesAnEngineThatDoesNotAnswer(t *testing.T) {
	s := &scripted{pollError: errors.New("the controller is down")}
	f := onScript(t, s)
	s.submits = nil
	var notes []string
	err := f.Supervise(context.Background(), lefts(5),
		SuperviseOptions{ErrorTimeout: time.Minute, Note: func(text string) { notes = append(notes, text) }})
	require.ErrorContains(t, err, "the controller is down")
	require.Empty(t, s.submits, "an engine that cannot be asked has not lost anything")
	require.Len(t, notes, 6)

	s.pollError = nil
	s.states[1].State = Unknown
	failures := 0
	s.onSubmit = func(s *scripted, only []int) error {
		if failures++; failures < 4 {
			return errors.New("the controller is busy")
		}
		s.states[1].State = Running
		return nil
	}
	require.NoError(t, f.Supervise(context.Background(), lefts(5, 5, 5, 5, 5, 0), SuperviseOptions{}))
	require.Equal(t, 4, failures)
}

// The journal keeps worker states that an engine has forgotten, also for Attach.
func TestTheJournalRemembersWhatEnginesForget(t *testing.T) {
	s := &scripted{}
	f := onScript(t, s)
	s.states[1].State = Stopped
	require.NoError(t, f.Supervise(context.Background(), lefts(5, 0), SuperviseOptions{}))
	s.states[1].State = Unknown
	other, err := Attach(Tools{Files: files.OS{}, Clock: &jumpingClock{}}, f.Batch().Folder)
	require.NoError(t, err)
	states, err := other.Workers(context.Background())
	require.NoError(t, err)
	require.Equal(t, Stopped, states[1].State)
	require.ErrorIs(t, other.Supervise(context.Background(), lefts(0), SuperviseOptions{}), files.ErrLocked)
	require.NoError(t, f.Close())
	require.NoError(t, other.Supervise(context.Background(), lefts(0), SuperviseOptions{}))
	require.NoError(t, other.Close())

	require.NoError(t, os.WriteFile(filepath.Join(f.Batch().Folder, journalName), []byte(`{"version": 2}`), 0o666))
	_, err = Attach(Tools{Files: files.OS{}, Clock: &jumpingClock{}}, f.Batch().Folder)
	require.ErrorContains(t, err, "version 2")
	_, err = Attach(Tools{Files: files.OS{}, Clock: &jumpingClock{}}, t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Workers use the path of a folder. After a move or in a copy of the folder, their supervision names the remedy. A link
// to the folder is the folder.
func TestMovedFoldersAreNamed(t *testing.T) {
	f := onScript(t, &scripted{})
	require.NoError(t, f.Close())
	folder := f.Batch().Folder
	supervise := func(path string) error {
		other, err := Attach(Tools{Files: files.OS{}, Clock: &jumpingClock{}}, path)
		require.NoError(t, err)
		return errors.Join(other.Supervise(context.Background(), lefts(0), SuperviseOptions{}), other.Close())
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(folder, link))
	require.NoError(t, supervise(link))
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.CopyFS(elsewhere, os.DirFS(folder)))
	want := fmt.Sprintf("the folder %s was moved or copied: its workers started in %s; move it back, or, when no "+
		"worker runs, repeat the command that started them with --folder %[1]s", elsewhere, folder)
	require.ErrorContains(t, supervise(elsewhere), want)
	require.NoError(t, os.Rename(folder, folder+"-old"))
	require.ErrorContains(t, supervise(elsewhere), want)
}
