package execute

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/validate"
)

// Limits of a check. mostFaults is the number of faulty jobs after which the list of faults ends. mostHeld is the
// maximum number of jobs if stopped jobs stay in memory: each has a thread of this process, and Go ends a process at
// 10,000 threads.
const (
	mostFaults = 20
	mostHeld   = 4096
)

// Check returns an error for invalid values and dependencies, for missing programs and folders, and for jobs that
// cannot continue after a stop although the scheduler may stop them. It starts no process and writes no file.
func Check(o Options, jobs []Job) error {
	_, _, err := prepare(o, jobs)
	return err
}

// prepare fills defaults into copies and validates them.
func prepare(o Options, jobs []Job) (Options, []Job, error) {
	o.EnsureDefaults()
	jobs = slices.Clone(jobs)
	for k := range jobs {
		jobs[k].EnsureDefaults(k)
	}
	if err := o.Validate(); err != nil {
		return o, nil, fmt.Errorf("check tasks: %w", err)
	}
	study := o.study(jobs)
	study.EnsureDefaults()
	if err := errors.Join(study.Validate(), o.checkStops(jobs), o.checkCommands(jobs)); err != nil {
		return o, nil, fmt.Errorf("check tasks: %w", err)
	}
	return o, jobs, nil
}

// checkStops returns an error for jobs that the scheduler may stop but that do not support it.
func (o *Options) checkStops(jobs []Job) error {
	if o.Kind.Slices && o.Rules.Keep && len(jobs) > mostHeld {
		return fmt.Errorf("the workload has %d tasks; expected at most %d if stopped tasks keep their memory; set "+
			"machine.stop to \"checkpoint\", or use a scheduler that does not stop tasks", len(jobs), mostHeld)
	}
	if !o.Kind.Slices || o.Rules.Keep {
		return nil
	}
	for k := range jobs {
		if !jobs[k].Checkpoint {
			return o.cannotStop(&jobs[k])
		}
	}
	return nil
}

// cannotStop returns the error of a job that would lose its work.
func (o *Options) cannotStop(j *Job) error {
	return fmt.Errorf("task %s: scheduler %s stops tasks, which requires checkpoint = true for this task; set this "+
		"key if the task can save its state at SIGTERM and resume later; otherwise set machine.stop to \"signal\", or "+
		"use another scheduler", j.Name, o.Kind.Name)
}

// checkCommands lists the faults of commands.
func (o *Options) checkCommands(jobs []Job) error {
	var faults validate.Faults
	found := make(map[[3]string]error)
	for k := range jobs {
		j := &jobs[k]
		err := j.Validate()
		if err == nil {
			key := [3]string{j.Folder, j.Command[0], j.path()}
			known, seen := found[key]
			if !seen {
				known = o.checkCommand(j)
				found[key] = known
			}
			if err = known; err != nil {
				err = fmt.Errorf("task %s: %w", j.Name, err)
			}
		}
		if err != nil {
			if faults = append(faults, err); len(faults) == mostFaults {
				return errors.Join(append(faults, errors.New("too many invalid tasks; the remaining commands were "+
					"not checked"))...)
			}
		}
	}
	return errors.Join(faults...)
}

// checkCommand checks that a job's folder is accessible and its program executable.
func (o *Options) checkCommand(j *Job) error {
	if j.Folder != "" {
		if _, err := o.Files.Stat(j.Folder + "/."); err != nil {
			return fmt.Errorf("enter working directory %s: %w; create it, or name another directory", j.Folder, err)
		}
	}
	_, err := j.program()
	return err
}

// path returns the search path of the job's program.
func (j *Job) path() string {
	for _, variable := range slices.Backward(j.Env) {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			return value
		}
	}
	return os.Getenv("PATH")
}

// program returns the path of the job's program: relative to the job's folder, or found in its search path. Relative
// folders of the search path are skipped.
func (j *Job) program() (string, error) {
	name, folders := j.Command[0], []string{j.Folder}
	if filepath.IsAbs(name) {
		folders = []string{"/"}
	} else if !strings.Contains(name, "/") {
		folders = slices.DeleteFunc(filepath.SplitList(j.path()),
			func(folder string) bool { return !filepath.IsAbs(folder) })
	}
	last := exec.ErrNotFound
	for _, folder := range folders {
		path, err := filepath.Abs(filepath.Join(folder, name))
		if err == nil {
			path, err = exec.LookPath(path)
		}
		if err == nil {
			return path, nil
		}
		last = err
	}
	return "", fmt.Errorf("find program %s: %w; install it, or give its path", name, last)
}
