package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/results"
	"graft/runner/train"
)

// smoothNetwork has no kinks, where rounding could switch a gradient on or off.
const smoothNetwork = `name = "Smooth"
input = [3, 16, 16]
layers = [
  {name = "conv1", block = ["Conv2d(3, 8, 3, padding=1)", "BatchNorm2d(8)", "Tanh()"]},
  "AvgPool2d(2)",
  {name = "conv2", block = ["Conv2d(8, 8, 3, padding=1)", "BatchNorm2d(8)", "Tanh()"]},
  "AdaptiveAvgPool2d(1)",
  "Flatten()",
  "Linear(8, 4)",
]
`

// machinesJob takes more than 200 steps on three devices.
const machinesJob = `[network]
file = "smooth.toml"
[time]
budget = "850ms"
events = [{at = "1ms", change = "up", devices = 3}]
[optimizer]
rule = "sgd"
lr = 0.01
momentum = 0.9
[data.synthetic]
size = 16
classes = 4
train = 330
test = 60
[parallel]
on = true
threads = 1
`

// jobOnMachines is a running machinesJob: its leader and followers.
type jobOnMachines struct {
	*testing.T
	m         *machines
	folder    string
	leader    *exec.Cmd
	followers []*exec.Cmd
	out       bytes.Buffer
	logs      []*bytes.Buffer
}

// startOnMachines starts followers on all machines except the first, and then the leader on the first.
func startOnMachines(t *testing.T, m *machines, followers int, set ...string) *jobOnMachines {
	j := &jobOnMachines{T: t, m: m, folder: machinesFolder(t)}
	address := m.address(0) + ":7000"
	for k := range followers {
		j.follow(1+k%(len(m.names)-1), address)
	}
	args := []string{"train", "job.toml", "--json", "--set", fmt.Sprintf("parallel.listen=%q", address), "--set",
		"parallel.token_file='token'"}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	j.leader = m.on(t, 0, j.folder, args...)
	j.leader.Stdout, j.leader.Stderr = &j.out, os.Stderr
	require.NoError(t, j.leader.Start())
	t.Cleanup(func() {
		j.stop()
		if t.Failed() {
			for k, log := range j.logs {
				t.Logf("follower %d: %s", k, log)
			}
		}
	})
	return j
}

// machinesFolder writes job, network and token into a new folder.
func machinesFolder(t *testing.T) string {
	folder := t.TempDir()
	for name, text := range map[string]string{"smooth.toml": smoothNetwork, "job.toml": machinesJob,
		"token": "0123456789abcdef"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}

func (j *jobOnMachines) follow(machine int, address string) {
	c := j.m.on(j.T, machine, j.folder, "follow", "--join", address, "--token", "token", "--wait", "30s")
	log := &bytes.Buffer{}
	c.Stdout, c.Stderr = log, log
	require.NoError(j, c.Start())
	j.followers, j.logs = append(j.followers, c), append(j.logs, log)
}

// stop kills all remaining processes, so no follower joins the next leader.
func (j *jobOnMachines) stop() {
	for _, c := range append(j.followers, j.leader) {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

// ends waits for the leader and returns its result.
func (j *jobOnMachines) ends() train.Result {
	require.NoError(j, j.leader.Wait(), j.out.String())
	j.stop()
	return decoded[train.Result](j.T, j.out.String())
}

// events counts the lines of the leader's events that contain a text.
func (j *jobOnMachines) events(holding string) int {
	content, _ := os.ReadFile(filepath.Join(j.folder, "runs/job/events.jsonl"))
	return strings.Count(string(content), holding)
}

// await waits until at least count events contain a text.
func (j *jobOnMachines) await(holding string, count int) {
	require.Eventually(j, func() bool { return j.events(holding) >= count }, patience, 20*time.Millisecond, holding)
}

// onOneMachine runs the job with the given number of processes on one machine.
func onOneMachine(t *testing.T, processes int, set ...string) train.Result {
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(self, "train", "job.toml", "--json", "--set", fmt.Sprintf("parallel.max_processes=%d", processes))
	for _, s := range set {
		c.Args = append(c.Args, "--set", s)
	}
	c.Dir, c.Env = machinesFolder(t), append(os.Environ(), programVariable+"=1")
	out, err := c.Output()
	require.NoError(t, err)
	return decoded[train.Result](t, string(out))
}

// apartBy returns the largest difference of epoch losses, and checks that all steps are equal.
func apartBy(t *testing.T, got, want train.Result) (most float64) {
	t.Helper()
	require.Equal(t, want.Outcome.Steps, got.Outcome.Steps, "a step is lost or done twice")
	require.Len(t, got.Epochs, len(want.Epochs))
	for k, row := range want.Epochs {
		require.Equal(t, row.Steps, got.Epochs[k].Steps)
		most = max(most, math.Abs(row.Loss-got.Epochs[k].Loss))
	}
	return most
}

// Over 200 steps, the losses on three machines equal the losses of three processes, and of one process, on one machine.
func TestMachinesHaveTheLossesOfOne(t *testing.T) {
	longOnly(t, "losses of a job on several machines; a page of the docs runs one")
	t.Parallel() // it waits for processes
	m := newMachines(t, 3)
	got := startOnMachines(t, m, 2).ends()
	require.Greater(t, got.Outcome.Steps, int64(200))
	three, one := apartBy(t, got, onOneMachine(t, 3)), apartBy(t, got, onOneMachine(t, 1))
	t.Logf("measured: after %d steps on three machines the losses of epochs are within %.2g of three processes on "+
		"one machine, and within %.2g of one process", got.Outcome.Steps, three, one)
	require.LessOrEqual(t, three, 1e-6)
	require.LessOrEqual(t, one, 1e-6)
}

// peerLost is the part of an event's line that reports a lost process.
var peerLost = fmt.Sprintf("%q", results.EventPeerLost)

// longer is a budget of some seconds, or a minute in long tests.
var longer = "time.budget='2500ms'"

func init() {
	if longTests {
		longer = "time.budget='8s'"
	}
}

// Faults of the network and of machines lose no step and repeat none.
func TestMachinesSurviveFaults(t *testing.T) {
	longOnly(t, "faults of machines")
	t.Parallel()           // it waits for processes
	m := newMachines(t, 4) // the last one is for a spare follower
	whole := sync.OnceValue(func() train.Result { return startOnMachines(t, m, 2, longer).ends() })
	for _, c := range []struct {
		name  string
		long  bool
		set   []string
		spare bool // a third follower waits
		fault func(j *jobOnMachines)
		lost  int // minimum number of lost processes
	}{
		{name: "killed", spare: true, lost: 1, fault: func(j *jobOnMachines) {
			// A delay per message makes the job last until the spare follower has joined.
			j.m.delay.Store(int64(time.Millisecond))
			defer j.m.delay.Store(0)
			for k := 0; j.events(peerLost) == 0; k++ {
				require.NoError(j, j.followers[k].Process.Signal(syscall.SIGKILL))
				time.Sleep(time.Second)
				if j.events(peerLost) == 0 { // it was the waiting one
					j.follow(3, j.m.address(0)+":7000")
					time.Sleep(time.Second)
				}
			}
			j.await(`"processes":3`, 2)
		}},
		{name: "cut for 5 s", long: true, fault: func(j *jobOnMachines) { j.m.cut(1, 5*time.Second) }},
		{name: "cut for longer than the timeout", long: true, set: []string{"parallel.timeout='2s'"}, lost: 1,
			fault: func(j *jobOnMachines) {
				j.m.cut(1, 6*time.Second)
				j.await(`"processes":3`, 2) // it rejoins
			}},
		{name: "cut for 60 s", long: true, set: []string{"parallel.timeout='3m'"},
			fault: func(j *jobOnMachines) { j.m.cut(1, time.Minute) }},
		{name: "delayed by 50 ms", long: true, fault: func(j *jobOnMachines) {
			j.m.delay.Store(int64(50 * time.Millisecond))
			time.AfterFunc(10*time.Second, func() { j.m.delay.Store(0) }) // a step takes a second
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && !longTests {
				t.Skip("left out: it takes minutes; set GRAFT_LONG=1")
			}
			followers := 2
			if c.spare {
				followers = 3
			}
			j := startOnMachines(t, m, followers, append([]string{longer}, c.set...)...)
			j.await(`"processes":3`, 1)
			c.fault(j)
			got := j.ends()
			require.GreaterOrEqual(t, j.events(peerLost), c.lost)
			apart := apartBy(t, got, whole())
			t.Logf("measured: %s: %d steps, %d processes lost, losses within %.2g of those without the fault", c.name,
				got.Outcome.Steps, j.events(peerLost), apart)
			require.LessOrEqual(t, apart, 1e-6)
		})
	}
}

// 'config check' refuses tokens that train would refuse.
func TestConfigCheckSeesTheToken(t *testing.T) {
	folder := machinesFolder(t)
	t.Chdir(folder)
	set := []string{"config", "check", "job.toml", "--set", "parallel.listen='10.0.0.1:7000'", "--set"}
	done(t, append(set, "parallel.token_file='token'")...)
	fails(t, failure.Configuration, "parallel.token_file: read the token", append(set, "parallel.token_file='none'")...)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "token"), []byte("short"), 0o600))
	fails(t, failure.Configuration, "parallel.token_file: the token is shorter than 16 characters",
		append(set, "parallel.token_file='token'")...)
	done(t, "config", "check", "job.toml", "--set", "parallel.listen='slurm:7000'")
	fails(t, failure.Configuration, `invalid port "none"`, "config", "check", "job.toml", "--set",
		"parallel.listen='slurm:none'")
}

// plannedAs runs the job on one machine, with the changes of an elastic job as its timeline.
func plannedAs(t *testing.T, got train.Result, set ...string) train.Result {
	t.Helper()
	var events []string
	for _, e := range got.Events {
		if e.Event == results.EventUp || e.Event == results.EventDown {
			events = append(events, fmt.Sprintf("{at=%q, change=%q, devices=%d}", e.Time, e.Event, e.Devices))
		}
	}
	return onOneMachine(t, 1, append(set, "time.events=["+strings.Join(events, ", ")+"]")...)
}

// devicesOf returns the number of devices after each up and down.
func devicesOf(r train.Result) (devices []int) {
	for _, e := range r.Events {
		if e.Event == results.EventUp || e.Event == results.EventDown {
			devices = append(devices, e.Devices)
		}
	}
	return devices
}

// elasticJob holds the settings that make the job elastic, without a timeline.
var elasticJob = []string{"time.events=[]", "parallel.elastic=true", "parallel.min_processes=2", growing}

// growing holds the decisions of the job.
const growing = "adapt={decider='script', actions=['widen:conv1:12', 'widen:conv2:12']}"

// An elastic job gains and loses followers during the run. A joining follower is an up, and a terminated or killed one
// is a down. No step is lost or done twice.
func TestDevicesFollowTheFollowers(t *testing.T) {
	longOnly(t, "devices that follow machines; the page on machines adds and removes one")
	m := newMachines(t, 3)
	const budget = "time.budget='6s'"
	j := startOnMachines(t, m, 1, append(elasticJob, budget)...)
	j.await(`"processes":2`, 1)
	j.follow(2, m.address(0)+":7000")
	j.await(`"processes":3`, 1)
	require.NoError(t, j.followers[0].Process.Signal(syscall.SIGTERM))
	var exit *exec.ExitError
	require.ErrorAs(t, j.followers[0].Wait(), &exit)
	require.Equal(t, int(failure.Interrupted), exit.ExitCode(), "%s", j.logs[0])
	j.await(`"processes":2`, 2)
	require.NoError(t, j.followers[1].Process.Kill())
	j.await(peerLost, 2)
	got := j.ends()
	require.Equal(t, 1, j.events("the process left the job"))
	require.Equal(t, []int{2, 3, 2, 1}, devicesOf(got))
	apart := apartBy(t, got, plannedAs(t, got, budget, growing))
	t.Logf("measured: devices 2, 3, 2, 1 of an elastic job: %d steps, "+
		"losses within %.2g of those of a timeline with the same changes", got.Outcome.Steps, apart)
	require.LessOrEqual(t, apart, 1e-6)
}
