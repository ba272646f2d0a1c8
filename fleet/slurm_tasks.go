package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// slurmTask is a task of an array, as listed by squeue.
type slurmTask struct {
	job    string // number of the array
	number int    // the same
	worker int
	state  State
	exit   int
	node   string
	detail string
}

// taskColumns are the columns of squeue, each followed by a vertical bar.
const taskColumns = "ArrayJobID:|,ArrayTaskID:|,State:|,exit_code:|,NodeList:|,Reason:|,Name:|"

// tasks lists the tasks of all the user's jobs with this name, by job. It includes ended tasks as long as the
// controller remembers them.
func (s *slurm) tasks(ctx context.Context, key string) ([]slurmTask, error) {
	out, err := s.run(ctx, "", "squeue", "--noheader", "--array", "--states=all", "--user="+user(), "--name="+key,
		"--Format="+taskColumns)
	if err != nil {
		return nil, advised(err, "")
	}
	var tasks []slurmTask
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		task, name, err := parseTask(line)
		if err != nil {
			return nil, err
		}
		if name == key && task.worker >= 0 {
			tasks = append(tasks, task)
		}
	}
	slices.SortStableFunc(tasks, func(a, b slurmTask) int { return cmp.Compare(a.number, b.number) })
	return tasks, nil
}

// parseTask reads a line of squeue. A job that is not an array has worker -1.
func parseTask(line string) (t slurmTask, name string, err error) {
	fields := strings.Split(line, "|")
	const columns = 7
	if len(fields) < columns {
		return t, "", fmt.Errorf("unexpected output of squeue: got %q, expected columns %s", line, taskColumns)
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	t = slurmTask{job: fields[0], worker: -1, node: fields[4]}
	if t.number, err = strconv.Atoi(t.job); err != nil {
		return t, "", fmt.Errorf("unexpected output of squeue: got %q, expected a job ID first", line)
	}
	if worker, err := strconv.Atoi(fields[1]); err == nil {
		t.worker = worker
	}
	status, _ := strconv.Atoi(fields[3])
	t.setState(fields[2], syscall.WaitStatus(status), fields[5])
	return t, fields[6], nil
}

// setState translates a Slurm state.
func (t *slurmTask) setState(word string, status syscall.WaitStatus, reason string) {
	t.detail = word
	if reason != "" && reason != "None" {
		t.detail += ": " + reason
	}
	switch word {
	case "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT":
		t.state = Waiting
	case "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING":
		t.state = Running
	case "COMPLETED":
		t.state = Done
	case "CANCELLED", "REVOKED":
		t.state = Stopped
	case "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL":
		t.state = Again
	case "FAILED", "OUT_OF_MEMORY", "DEADLINE":
		t.state = Failed
		if status.Exited() && status.ExitStatus() != 0 {
			t.exit = status.ExitStatus()
			t.state = ended(t.exit)
		}
	default:
		t.state = Running // count an unknown state as running, so that nothing is started twice
	}
}

func (t slurmTask) describe(w *WorkerState) {
	w.State, w.Exit, w.Host, w.Detail = t.state, t.exit, t.node, "job "+t.job+": "+t.detail
}

// runner returns a function that runs Slurm programs with a timeout.
func runner(patience time.Duration) func(ctx context.Context, input, name string, args ...string) (string, error) {
	return func(ctx context.Context, input, name string, args ...string) (string, error) {
		limited, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		c := exec.CommandContext(limited, name, args...)
		c.Env = slurmEnvironment(os.Environ())
		c.Stdin = strings.NewReader(input)
		c.WaitDelay = time.Second
		var out, said bytes.Buffer
		c.Stdout, c.Stderr = &out, &said
		err := c.Run()
		switch {
		case err == nil:
			return out.String(), nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case limited.Err() != nil:
			err = fmt.Errorf("timed out after %v", patience)
		}
		if text := strings.TrimSpace(said.String()); text != "" {
			err = errors.Join(err, errors.New(text))
		}
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
}

// slurmEnvironment removes the variables that Slurm sets in a job, because a batch started inside a job is not part of
// that job. It also removes a user's defaults for squeue and scancel, which would hide workers, and the defaults of
// sbatch for another cluster and for waiting. Other defaults of sbatch, such as SBATCH_ACCOUNT, apply.
func slurmEnvironment(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "SLURM_") && name != "SLURM_CONF" || strings.HasPrefix(name, "SQUEUE_") ||
			strings.HasPrefix(name, "SCANCEL_") || name == "SBATCH_CLUSTERS" || name == "SBATCH_WAIT"
	})
}
