package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/control"
	"graft/torch"
)

// asProcess makes the test binary act as graft, with the arguments in this variable.
const asProcess = "GRAFT_TEST_AS_PROCESS"

// TestIsGraft is the body of the processes that other tests start.
func TestIsGraft(t *testing.T) {
	if text := os.Getenv(asProcess); text != "" {
		args := decoded[[]string](t, text)
		os.Args = append([]string{"graft"}, args...)
		main()
	}
}

// process starts graft in a separate process that can receive signals.
func process(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	p, out := unstarted(t, args...)
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p, out
}

// unstarted returns a process that is not started yet.
func unstarted(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	text, err := json.Marshal(args)
	require.NoError(t, err)
	p := exec.Command(os.Args[0], "-test.run", "^TestIsGraft$")
	p.Env = append(os.Environ(), asProcess+"="+string(text))
	var out bytes.Buffer
	p.Stdout, p.Stderr = &out, &out
	return p, &out
}

// left waits for a process and returns its exit code.
func left(t *testing.T, p *exec.Cmd) failure.Code {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.Wait() }()
	var exit *exec.ExitError
	if err := receive(t, done); errors.As(err, &exit) {
		return failure.Code(exit.ExitCode())
	}
	return failure.Done
}

// rows returns the first n lines of a table or log of the job, and waits for them.
func (j *steered) rows(name string, n int) string {
	j.t.Helper()
	var lines []string
	require.Eventually(j.t, func() bool {
		text, err := os.ReadFile(filepath.Join(j.folder, name))
		lines = strings.SplitAfter(string(text), "\n")
		return err == nil && len(lines) > n
	}, patience, 5*time.Millisecond)
	return strings.Join(lines[:n], "")
}

// An answered change survives an immediate kill. The resumed job gives the same bits as a job with the change in its
// timeline.
func TestListenKeepsWhatItAnswered(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	long := []string{"--set", "time.budget=9000h", "--set", "time.events=[]"}
	p, out := process(t, brief(folder, append([]string{"--listen", "127.0.0.1:0"}, long...)...)...)
	j := &steered{t: t, folder: folder}
	j.address, j.token = j.await(control.AddressFile), j.await(control.TokenFile)
	up := j.ask(`{"change": "up", "devices": 2}`)
	require.NoError(t, p.Process.Kill())
	require.Equal(t, failure.Code(-1), left(t, p), "%s", out)

	killed := j.token
	require.NoError(t, os.Remove(filepath.Join(folder, control.AddressFile)), "lest we take it for the next one's")
	j = steer(t, folder, "--resume")
	require.NotEqual(t, killed, j.token, "that of the process that was killed is worth nothing")
	require.Equal(t, []control.ChangeStatus{up}, j.status().Taken)
	epochs, events := j.rows("epochs.csv", 15), j.rows("events.jsonl", 3)
	require.Equal(t, failure.Requeue, j.stop().code)

	at := time.Duration(math.Round(*up.At * float64(time.Second)))
	planned := steer(t, filepath.Join(t.TempDir(), "run"), "--set",
		fmt.Sprintf(`time.events=[{at = "%v", change = "up", devices = 2}]`, at))
	require.Equal(t, epochs, planned.rows("epochs.csv", 15))
	require.Equal(t, events, planned.rows("events.jsonl", 3))
	require.Equal(t, failure.Requeue, planned.stop().code)
}

// The signals with which clusters stop a job save it, and a second SIGINT ends it at once.
func TestTrainHeedsSignals(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGUSR1": syscall.SIGUSR1,
		"SIGINT": syscall.SIGINT} {
		folder := filepath.Join(t.TempDir(), "run")
		p, out := process(t, brief(folder, "--set", "time.budget=9000h", "--set", "time.events=[]")...)
		(&steered{t: t, folder: folder}).await("events.jsonl")
		require.NoError(t, p.Process.Signal(signal))
		require.Equal(t, failure.Requeue, left(t, p), "%s: %s", name, out)
		require.Contains(t, out.String(), "rerun the command with --resume", name)
	}
	// Nobody reads its output, so it blocks in a write and handles no signal.
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	const setPipeSize, page = 1031, 4096 // F_SETPIPE_SZ of fcntl: smaller than the output
	_, _, failed := syscall.Syscall(syscall.SYS_FCNTL, writer.Fd(), setPipeSize, page)
	require.Zero(t, failed)
	p, out := unstarted(t, "completion", "bash")
	p.Stdout = writer
	require.NoError(t, p.Start())
	defer func() { _ = p.Process.Kill() }()
	require.NoError(t, writer.Close())
	_, err = reader.Read(make([]byte, 1))
	require.NoError(t, err)
	go func() { // repeated: two simultaneous signals count as one
		for p.Process.Signal(syscall.SIGINT) == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	require.Equal(t, failure.Interrupted, left(t, p), "%s", out)
}

// programVariable makes this test binary act as graft, which starts itself for other devices.
const programVariable = "GRAFT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	leaseTimeout, _ = time.ParseDuration(os.Getenv(leaseVariable)) // zero if it is not set
	// a worker of a simulation, the guard of tasks, or a measured process
	if len(os.Args) > 1 && (os.Args[1] == "work" || slices.Equal(os.Args[1:], []string{"trial"}) ||
		slices.Equal(os.Args[1:], []string{"profile", "peer"}) ||
		slices.Equal(os.Args[1:min(3, len(os.Args))], []string{"node", "guard"})) {
		main()
	}
	startsTrials()
	if os.Getenv(programVariable) != "" {
		code := run(os.Args[1:], os.Stdout, os.Stderr)
		tell()
		os.Exit(int(code))
	}
	_ = os.Setenv(app.EnergyVariable, "off") // pages of the docs show folders without energy
	code := m.Run()
	if len(unpromised.list) > 0 { // from commands of any test
		fmt.Fprintln(os.Stderr, "what was printed with --json is not what docs/json.md says:\n"+
			strings.Join(unpromised.list, "\n"))
		code = 1
	}
	if len(unnamed.list) > 0 {
		fmt.Fprintln(os.Stderr, "runs whose manifest does not name their kind:\n"+strings.Join(unnamed.list, "\n"))
		code = 1
	}
	os.Exit(code)
}

// leaseVariable holds the timeout of leases of the processes that a test starts.
const leaseVariable = "GRAFT_TEST_LEASE"

// column returns the values of one column of a table.
func column(t *testing.T, path, name string) (values []float64) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	for k, head := range rows[0] {
		if strings.HasPrefix(head, name) {
			for _, row := range rows[1:] {
				v, err := strconv.ParseFloat(row[k], 64)
				require.NoError(t, err)
				values = append(values, v)
			}
		}
	}
	require.NotEmpty(t, values, name)
	return values
}

// A job on two devices trains in two processes. They leave their logs in the run folder, and the output states them.
func TestTrainInProcesses(t *testing.T) {
	found, err := torch.Describe()
	require.NoError(t, err)
	if !found.Gloo {
		t.Skip("this LibTorch has no c10d with Gloo; build the library for another one")
	}
	t.Setenv(programVariable, "1")
	alone, together := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "together")
	two := []string{"--set", `time.events=[{at = "300ms", change = "up", devices = 2}]`, "--set", "optimizer.lr=0.001",
		"--set", `adapt.decider="none"`, "--set", "adapt.actions=[]"} // surgery amplifies rounding
	require.Equal(t, failure.Done, graft(brief(alone, two...)...).code)
	o := done(t, brief(together, append(two, "--set", "parallel.on=true")...)...)
	require.Contains(t, o.stdout, "2 of 2 devices")
	log := contents(t, filepath.Join(together, runs.LogsFolder, "process-1.log"))
	require.Contains(t, log, "joined the job; waiting for work from the leader")
	for _, name := range []string{"train_loss", "validation_loss"} {
		want, got := column(t, filepath.Join(alone, "epochs.csv"), name),
			column(t, filepath.Join(together, "epochs.csv"), name)
		require.Len(t, got, len(want))
		first := 0
		for first < len(want) && got[first] == want[first] {
			first++
		}
		for k := range want {
			tolerance := float64(roundingTol)
			if k >= first+roundedEpochs {
				tolerance = amplifiedTol
			}
			require.LessOrEqual(t, math.Abs(got[k]-want[k]), tolerance*want[k], "%s of epoch %d", name, k)
		}
	}
}

// Two processes sum in another order than one process. In the first epochs, losses differ only by rounding: 4e-8 to
// 2.3e-5 were measured, depending on the processor. A gradient error would show at once. Training then amplifies
// differences, to 2e-4 within twenty epochs; no bound is known.
const (
	roundedEpochs = 2
	roundingTol   = 1e-4
	amplifiedTol  = 1e-2
)

// Users cannot start 'graft follow' for a job on one machine, since 'graft train' starts it.
func TestFollowOfThisMachineIsNotForPeople(t *testing.T) {
	t.Setenv(programVariable, "1")
	fails(t, failure.Usage, "graft train", "follow", "nowhere.toml")
}
