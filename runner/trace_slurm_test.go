package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/fleet"
	"graft/fleet/fleettest"
	"graft/runner/traces"
)

// slurmProgram runs a program of Slurm and returns its output.
func slurmProgram(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	require.NoError(t, err, "%s %v", name, args)
	return strings.TrimSpace(string(out))
}

// submitted submits a script and returns the job number.
func submitted(t *testing.T, script string, args ...string) string {
	t.Helper()
	args = append([]string{"--parsable", "--output=/dev/null", "--chdir=/"}, args...)
	return slurmProgram(t, "sbatch", append(args, "--wrap", script)...)
}

// awaitState waits until a job is in a state.
func awaitState(t *testing.T, job, state string) {
	t.Helper()
	require.Eventually(t, func() bool {
		out, _ := exec.Command("squeue", "-h", "-j", job, "-o", "%T").Output()
		return strings.Contains(string(out), state)
	}, patience, 100*time.Millisecond, "job %s is %s", job, state)
}

// submitMix submits 500 jobs: arrays, jobs with and without a GPU type, failures, heterogeneous jobs, cancelled jobs,
// requeues, time limits and a node failure.
func submitMix(t *testing.T, c *fleettest.Cluster) {
	victim := submitted(t, "sleep 20", "--nodelist=n4", "--ntasks=4", "--gpus=2", "--requeue", "--job-name=victim")
	lost := submitted(t, "sleep 20", "--nodelist=n4", "--ntasks=2", "--no-requeue", "--job-name=lost")
	limited := submitted(t, "sleep 300", "--time=1", "--gpus=1", "--job-name=limited")
	awaitState(t, victim, "RUNNING")
	awaitState(t, lost, "RUNNING")
	awaitState(t, limited, "RUNNING")
	require.NoError(t, syscall.Kill(c.Daemon(t, "slurmd.n4"), syscall.SIGKILL))
	slurmProgram(t, "scontrol", "update", "nodename=n4", "state=down", "reason=test")
	c.Raise(t, "slurmd.n4", "-N", "n4")
	for range 4 {
		again := submitted(t, "sleep 4", "--gpus=a100:1", "--requeue", "--job-name=again")
		awaitState(t, again, "RUNNING")
		time.Sleep(1500 * time.Millisecond) // run for at least a second
		slurmProgram(t, "scontrol", "requeue", again)
		running := submitted(t, "sleep 60", "--ntasks=2", "--job-name=cancelled|while running")
		awaitState(t, running, "RUNNING")
		slurmProgram(t, "scancel", running)
		waiting := submitted(t, "sleep 1", "--hold", "--job-name=cancelled\nwhile waiting")
		slurmProgram(t, "scancel", waiting)
		submitted(t, "sleep 2", "--ntasks=1", "--gpus=1", ":", "--ntasks=2", "--gpus=1")
	}
	_ = exec.Command("scontrol", "update", "nodename=n4", "state=resume").Run() // fails if the node is already back
	submitted(t, "sleep 1", "--array=1-310", "--job-name=array")
	submitted(t, "sleep 1", "--array=0-99", "--gpus=1", "--ntasks=2", "--job-name=array of GPUs")
	submitted(t, "sleep 1; exit 3", "--array=0-60", "--job-name=fails")
	for range 20 {
		submitted(t, "sleep 2", "--gpus=a100:2", "--job-name=typed")
	}
}

// The description of a real accounting database agrees with sacct and sreport.
func TestDescribeAgreesWithSlurm(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: 500 jobs in Slurm take two minutes; set GRAFT_LONG=1")
	}
	fleettest.NeedAccounting(t)
	c, err := fleettest.StartAccounting(fleet.NewClock(time.Now))
	require.NoError(t, err)
	t.Cleanup(c.Stop)
	c.Use(t)
	t.Setenv("TZ", "UTC")
	submitMix(t, c)
	require.Eventually(t, func() bool { return slurmProgram(t, "squeue", "-h", "-r") == "" }, 10*time.Minute,
		time.Second)
	time.Sleep(5 * time.Second) // slurmctld sends the last records to slurmdbd
	t.Chdir(t.TempDir())
	const columns = "JobID,User,Partition,QOS,JobName,Submit,Start,End,ElapsedRaw,AllocTRES,ReqTRES,State,Timelimit," +
		"NodeList"
	args := []string{"--allusers", "--parsable2", "--starttime=now-1day", "--format=" + columns}
	write(t, "slurm.csv", slurmProgram(t, "sacct", append(args, "--duplicates")...)+"\n")
	report := decoded[traces.Description](t, done(t, "trace", "describe", "slurm.csv", "--gpus", "8", "--json").stdout)

	rows := sacctRows(t)
	require.Equal(t, rows.jobs, report.Jobs)
	require.GreaterOrEqual(t, report.Jobs, 500)
	states := map[string]int{}
	for _, s := range report.States {
		states[s.State] = s.Jobs
	}
	require.Equal(t, rows.states, states)
	require.Equal(t, rows.restarts, report.Waste.Restarts)
	require.Positive(t, report.Waste.Restarts)
	require.Equal(t, rows.nodeFailures, report.Failures.Failures)
	require.GreaterOrEqual(t, report.Failures.Failures, 2)
	require.InDelta(t, rows.gpuSeconds, 3600*report.GPUHours, 1e-6)
	require.InDelta(t, sreportSeconds(t, "gres/gpu"), 3600*report.GPUHours, 1e-6)
}

// accounted holds counts from the rows of sacct.
type accounted struct {
	jobs, restarts, nodeFailures int
	states                       map[string]int
	gpuSeconds                   float64
}

// sacctRows counts jobs from a minimum of columns, which contain no text of a user.
func sacctRows(t *testing.T) accounted {
	a := accounted{states: map[string]int{}}
	starts := map[string]int{}
	args := []string{"--allusers", "--allocations", "--noheader", "--parsable2", "--starttime=now-1day",
		"--format=JobID,State,Start,ElapsedRaw,AllocTRES"}
	for _, line := range strings.Split(slurmProgram(t, "sacct", append(args, "--duplicates")...), "\n") {
		cells := strings.Split(line, "|")
		require.Len(t, cells, 5, line)
		if cells[1] == "NODE_FAIL" {
			a.nodeFailures++
		}
		if _, began := starts[cells[0]]; began && cells[2] != "Unknown" {
			a.restarts++
		}
		if cells[2] != "Unknown" {
			starts[cells[0]]++
		}
		_, gpus, _ := strings.Cut(","+cells[4], ",gres/gpu=")
		gpus, _, _ = strings.Cut(gpus, ",")
		n, _ := strconv.Atoi(gpus) // zero without GPUs
		elapsed, err := strconv.Atoi(cells[3])
		require.NoError(t, err)
		a.gpuSeconds += float64(n * elapsed)
	}
	for _, line := range strings.Split(slurmProgram(t, "sacct", args...), "\n") {
		cells := strings.Split(line, "|")
		if strings.Contains(cells[0], "+") && !strings.HasSuffix(cells[0], "+0") {
			continue // another component of a heterogeneous job
		}
		a.jobs++
		state, _, _ := strings.Cut(cells[1], " ")
		a.states[state]++
	}
	return a
}

// sreportSeconds returns the sum of a Slurm report about a resource, in seconds times units. sreport rounds the present
// to an hour of its time zone, so the time zone is set to have a quarter of an hour left.
func sreportSeconds(t *testing.T, resource string) (sum float64) {
	c := exec.Command("sreport", "--noheader", "--parsable2", "-t", "seconds", "-T", resource, "job",
		"SizesByAccount", "start=now-1day", "end=now")
	c.Env = append(os.Environ(), fmt.Sprintf("TZ=TEST-00:%02d", (45-time.Now().UTC().Minute()+60)%60))
	text, err := c.Output()
	require.NoError(t, err)
	out := strings.TrimSpace(string(text))
	require.NotEmpty(t, out)
	for _, line := range strings.Split(out, "\n") {
		cells := strings.Split(line, "|")
		for _, cell := range cells[2 : len(cells)-1] { // without cluster, account and percentage
			v, err := strconv.ParseFloat(cell, 64)
			require.NoError(t, err, out)
			sum += v
		}
	}
	return sum
}
