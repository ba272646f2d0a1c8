package execute

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"graft/fleet/process"
	"graft/internal/files"
)

// executorVariable identifies the executor of a process. Another executor on the same folder has another value.
const executorVariable = "GRAFT_EXECUTOR"

// thisExecutor returns the value of executorVariable for tasks of this process.
func thisExecutor(fsys files.FS) string {
	p, err := process.Named(fsys, os.Getpid())
	if err != nil {
		return fmt.Sprint(os.Getpid())
	}
	return fmt.Sprintf("%d-%d", p.ID, p.Start)
}

// StartGuard starts a guard process. If this process is killed, the guard survives and kills the descendants of the
// tasks, because the kernel does not kill them. The argument argv is a command that calls Guard; StartGuard adds an
// argument that identifies this process. Call stop to end the guard when no tasks are left.
func StartGuard(fsys files.FS, argv ...string) (stop func() error, err error) {
	c := exec.Command(argv[0], append(argv[1:], thisExecutor(fsys))...)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it must not get signals of the terminal
	alive, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the guard process, which kills the tasks of a killed executor: %w", err)
	}
	return func() error {
		_, err := alive.Write([]byte{'\n'})
		return errors.Join(err, alive.Close(), c.Wait())
	}, nil
}

// Guard waits for the end of its input stream. It then kills the processes of the executor's tasks, unless the executor
// signalled its normal end by writing a byte.
func Guard(fsys files.FS, clock process.Clock, executor string, alive io.Reader) error {
	if n, _ := io.ReadFull(alive, make([]byte, 1)); n == 1 {
		return nil
	}
	return process.Sweep(clock, func() ([]process.Found, error) {
		return process.With(fsys, []string{executorVariable + "=" + executor})
	})
}
