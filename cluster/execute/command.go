package execute

import (
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// Environment variables that identify the processes of a task. A process with both belongs to the task.
const (
	folderVariable = "GRAFT_NODE" // run folder of the executor
	taskVariable   = "GRAFT_TASK" // name of the task
)

// environment returns the variables that a job gets on a device, in addition to this process's variables.
func (o *Options) environment(j *Job, device, attempt int, folder string) []string {
	d := &o.Devices[device]
	visible, name := "", "cpu"
	if d.UUID != "" {
		visible, name = d.UUID, "cuda:0" // the only GPU that is visible to the task
	}
	return append(j.Env[:len(j.Env):len(j.Env)],
		"CUDA_VISIBLE_DEVICES="+visible, "GRAFT_DEVICE="+name, "GRAFT_THREADS="+strconv.Itoa(o.threads(j, d)),
		"GRAFT_ATTEMPT="+strconv.Itoa(attempt), taskVariable+"="+j.Name, folderVariable+"="+folder)
}

// threads returns the number of CPU cores of a job: its share of the device's cores, or of an equal part of the
// machine.
func (o *Options) threads(j *Job, d *Device) int {
	cores := float64(len(d.CPUs))
	if cores == 0 {
		cores = float64(runtime.NumCPU()) / float64(len(o.Devices))
	}
	return max(1, int(math.Round(cores*j.Cores/100)))
}

// command returns the command of an attempt. Its processes form a separate group, so that a signal reaches all of them,
// and the kernel kills the first one when this process dies.
func (x *executor) command(a *attempt, output *os.File) (*exec.Cmd, error) {
	path, err := a.job.program()
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{
		Path: path, Args: a.job.Command, Dir: a.job.Folder, Env: append(append(os.Environ(),
			x.o.environment(a.job, a.device, a.number, x.folder)...), executorVariable+"="+x.id),
		Stdout: output, Stderr: output, SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}, nil
}
