package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/internal/validate"
)

// slurm runs workers as the tasks of job arrays.
type slurm struct {
	Tools
	run func(ctx context.Context, input string, name string, args ...string) (string, error)
}

func newSlurm(t Tools) Engine { return &slurm{Tools: t, run: runner(t.CommandTimeout)} }

func (s *slurm) Submit(ctx context.Context, b Batch) (Handle, error) {
	h, err := s.submit(ctx, b)
	if err != nil {
		return Handle{}, fmt.Errorf("start workers of %s with Slurm: %w", b.Key, err)
	}
	return h, nil
}

func (s *slurm) submit(ctx context.Context, b Batch) (Handle, error) {
	h := Handle{Engine: "slurm", Key: b.Key, Folder: b.Folder, Workers: b.Workers}
	err := b.ValidateFor("slurm")
	if err == nil {
		err = s.Files.MkdirAll(filepath.Dir(LogPath(b.Folder, 0)))
	}
	var tasks []slurmTask
	if err == nil {
		tasks, err = s.tasks(ctx, b.Key)
	}
	if err != nil {
		return h, err
	}
	h.Jobs = liveJobs(tasks)
	missing := without(b.chosen(), tasks)
	if len(missing) == 0 {
		return h, nil
	}
	job, err := s.sbatch(ctx, b, missing)
	if err == nil {
		h.Jobs = append(slices.DeleteFunc(h.Jobs, func(old string) bool { return old == job }), job)
		return h, nil
	}
	// The response may be lost although the job was submitted.
	if tasks, lookErr := s.tasks(ctx, b.Key); lookErr == nil && len(without(b.chosen(), tasks)) == 0 {
		h.Jobs = liveJobs(tasks)
		return h, nil
	}
	return h, err
}

// without returns the workers that have no live task.
func without(workers []int, tasks []slurmTask) []int {
	live := make(map[int]bool)
	for _, t := range tasks {
		if t.state.Live() {
			live[t.worker] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(workers), func(k int) bool { return live[k] })
}

// liveJobs returns the numbers of jobs with a live task, in ascending order.
func liveJobs(tasks []slurmTask) (jobs []string) {
	for _, t := range tasks {
		if t.state.Live() && !slices.Contains(jobs, t.job) {
			jobs = append(jobs, t.job)
		}
	}
	return jobs
}

// sbatch submits an array of workers and returns its number.
func (s *slurm) sbatch(ctx context.Context, b Batch, workers []int) (string, error) {
	out, err := s.run(ctx, b.script(), "sbatch", b.arguments(workers)...)
	if err != nil {
		return "", advised(err, "check these options with 'sbatch --test-only'")
	}
	job, _, _ := strings.Cut(strings.TrimSpace(out), ";") // the name of a cluster follows
	if _, err := strconv.Atoi(job); err != nil {
		return "", fmt.Errorf("unexpected output of sbatch: got %q, expected a job ID; graft will find the job by "+
			"its name",
			out)
	}
	return job, nil
}

// advised adds a remedy to a Slurm error: the remedy for its message, or otherwise, which may be empty.
func advised(err error, otherwise string) error {
	if remedy := remedyFor(err.Error(), otherwise); remedy != "" {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	return err
}

func remedyFor(said, otherwise string) string {
	for _, r := range []struct{ part, remedy string }{
		{"partition", "'sinfo -s' lists the partitions"},
		{"node configuration is not available",
			"no node has these resources: request less; 'sinfo -N -l' lists the resources of nodes"},
		{"Invalid account", "'sacctmgr show associations user=$USER' lists the accounts"},
		{"Invalid qos", "'sacctmgr show qos' lists the QOS names"},
		{"job array specification", "start fewer workers: 'scontrol show config' shows the limit, MaxArraySize"},
		{"generic resource", "'sinfo -o %G' lists the generic resources"},
		{"Unable to contact", "check that the controller is running: 'scontrol ping'"},
		{"executable file not found", "run this on a machine with Slurm's programs, such as a login node, " +
			"or use the local engine"},
	} {
		if strings.Contains(said, r.part) {
			return r.remedy
		}
	}
	return otherwise
}

// script returns the script of each task. The worker replaces the shell, so that signals reach it. No line before the
// first command looks like an option of sbatch.
func (b Batch) script() string {
	var text strings.Builder
	text.WriteString("#!/bin/sh\nset -eu\n")
	for _, env := range b.Env {
		name, value, _ := strings.Cut(env, "=")
		fmt.Fprintf(&text, "export %s=%s\n", name, shellQuote(value))
	}
	fmt.Fprintf(&text, "export %s=%s\n", folderVariable, shellQuote(b.Folder))
	fmt.Fprintf(&text, "export %s=\"$SLURM_ARRAY_TASK_ID\"\n", workerVariable)
	text.WriteString("export GRAFT_THREADS=\"${SLURM_CPUS_PER_TASK:-${SLURM_CPUS_ON_NODE:-1}}\"\n")
	if b.Resources.GPUs > 0 || b.Resources.Gres != "" {
		text.WriteString("export GRAFT_DEVICE=cuda:0\n") // Slurm shows a task only its own devices
	}
	fmt.Fprintf(&text, "exec %s\n", shellQuoteAll(b.Argv))
	return text.String()
}

// arguments returns the arguments of sbatch.
func (b Batch) arguments(workers []int) []string {
	r := b.Resources
	args := []string{
		"--parsable", "--requeue", "--open-mode=append", "--job-name=" + b.Key, "--array=" + ranges(workers),
		"--chdir=" + b.dir(), "--output=" + strings.ReplaceAll(b.Folder, "%", "%%") + "/" + logsName + "/worker-%a.log",
	}
	option := func(name, value string) {
		if value != "" && value != "0" {
			args = append(args, "--"+name+"="+value)
		}
	}
	option("cpus-per-task", strconv.Itoa(r.CPUs))
	option("mem", strconv.Itoa(r.MemoryMB))
	option("gres", r.Gres)
	if r.GPUs > 0 {
		option("gres", "gpu:"+strconv.Itoa(r.GPUs))
	}
	if r.Time > 0 {
		minutes := (r.Time + time.Minute - 1) / time.Minute
		lead := r.Lead
		if lead == 0 {
			lead = min(time.Minute, minutes*time.Minute/2)
		}
		option("time", strconv.Itoa(int(minutes)))
		option("signal", fmt.Sprintf("B:USR1@%d", max(1, int(lead.Seconds()))))
	}
	option("partition", r.Partition)
	option("account", r.Account)
	option("qos", r.QOS)
	option("constraint", r.Constraint)
	return append(args, r.Extra...)
}

// ranges formats ascending numbers in the syntax of sbatch.
func ranges(numbers []int) string {
	numbers = slices.Sorted(slices.Values(numbers))
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		part := strconv.Itoa(numbers[i])
		if j > i {
			part += "-" + strconv.Itoa(numbers[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// reservedOptions are the options of sbatch that graft sets, or that would change the format of its response.
var reservedOptions = []string{
	"parsable", "requeue", "no-requeue", "open-mode", "job-name", "array", "chdir", "output", "error", "input",
	"cpus-per-task", "mem", "gres", "time", "signal", "partition", "account", "qos", "constraint", "wrap", "wait",
	"export", "export-file", "ntasks", "test-only", "help", "usage", "version", "quiet", "verbose", "hold", "uid",
	"clusters",
}

// slurm returns an error for each option that cannot be passed to Slurm.
func (r Resources) slurm() error {
	var faults validate.Faults
	faults.When(len(r.Devices) > 0, "devices is for local workers only; use gpus or gres for Slurm")
	for _, option := range r.Extra {
		name, found := strings.CutPrefix(option, "--")
		name, _, _ = strings.Cut(name, "=")
		switch {
		case !found || name == "" || strings.ContainsAny(option, "\x00\n\r") ||
			strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
			faults = append(faults, fmt.Errorf("extra: invalid option %q; expected --name=value", option))
		case slices.ContainsFunc(reservedOptions, func(o string) bool { return strings.HasPrefix(o, name) }):
			// sbatch accepts a prefix in place of the full option.
			faults = append(faults, fmt.Errorf("extra: --%s is set by graft; remove it, or set a key such as "+
				"gpus instead", name))
		}
	}
	return errors.Join(faults...)
}

func (s *slurm) Poll(ctx context.Context, h Handle) ([]WorkerState, error) {
	tasks, err := s.tasks(ctx, h.Key)
	if err != nil {
		return nil, fmt.Errorf("query Slurm for %s: %w", h.Key, err)
	}
	states := h.blank()
	for _, job := range h.Jobs {
		for _, t := range tasks {
			// A controller that lost a job may have reused its number.
			if t.job != job || t.worker < 0 || t.worker >= h.Workers {
				continue
			}
			w := &states[t.worker]
			if !w.State.Live() || t.state.Live() {
				t.describe(w)
			}
		}
	}
	for k := range states {
		if states[k].State == Unknown {
			states[k].Detail = "not in Slurm's queue or records"
		}
	}
	return states, nil
}

func (s *slurm) Cancel(ctx context.Context, h Handle) error {
	err := s.cancel(ctx, h)
	if err != nil {
		return fmt.Errorf("cancel workers of %s: %w", h.Key, err)
	}
	return nil
}

func (s *slurm) cancel(ctx context.Context, h Handle) error {
	const (
		pause  = 300 * time.Millisecond
		asking = 20 // polls before cancelling again
	)
	var refused error
	end := s.Clock.Now() + 10*s.CommandTimeout
	for look := 0; ; look++ {
		tasks, err := s.tasks(ctx, h.Key)
		if err != nil {
			return err
		}
		live := liveJobs(tasks)
		switch {
		case len(live) == 0:
			return nil // scancel may fail for a task that is just ending
		case s.Clock.Now() >= end:
			return errors.Join(fmt.Errorf("jobs %s did not end within %v after scancel; check 'squeue -n %s'",
				strings.Join(live, ", "), 10*s.CommandTimeout, h.Key), refused)
		case look%asking == 0:
			// By number and name, because the number may now belong to another job.
			args := append([]string{"--user=" + user(), "--name=" + h.Key}, live...)
			_, refused = s.run(ctx, "", "scancel", args...)
		}
		if err := s.Clock.Wait(ctx, pause); err != nil {
			return err
		}
	}
}

func user() string { return strconv.Itoa(os.Getuid()) }
