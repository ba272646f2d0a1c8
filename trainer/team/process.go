package team

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Starter starts the followers of a job; each follower calls [Follow].
type Starter interface {
	// Start starts the process of a device. Devices are numbered from 1, since the leader has device 0. It may be
	// called again for the device of a lost process.
	Start(device int) (Process, error)
}

// Process is the leader's handle to a follower. The leader writes orders to it and reads answers from it; both streams
// end with the process.
type Process interface {
	io.ReadWriter
	// Close ends the stream of orders, after which the process exits.
	Close() error
	// Kill ends the process immediately.
	Kill() error
	// Wait waits until the process has ended, and returns the cause.
	Wait() error
}

// AnswerFile is the file descriptor to which a process started by a Program writes its answers. The process reads
// orders from its standard input.
const AnswerFile = 3

// Program is a [Starter] whose followers are processes of a program on this machine. Path and Args are required.
type Program struct {
	Path string                    // path of the executable
	Args func(device int) []string // returns the command-line arguments for a device
	Env  []string                  // variables added to the environment of this process
	// function that returns the file for the output of a device's process; nil discards the output
	Log func(device int) (*os.File, error)
}

// Start starts the program for a device.
func (p Program) Start(device int) (Process, error) {
	c := exec.Command(p.Path, p.Args(device)...)
	c.Env = append(c.Environ(), p.Env...)
	// Only the leader receives a terminal's signals; it saves the job.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.Log != nil {
		log, err := p.Log(device)
		if err != nil {
			return nil, err
		}
		defer log.Close()
		c.Stdout, c.Stderr = log, log
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.ExtraFiles = []*os.File{write}
	orders, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err = errors.Join(err, write.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", p.Path, err), read.Close())
	}
	started := &programProcess{command: c, orders: orders, answers: read, ended: make(chan struct{})}
	go func() {
		started.err = c.Wait()
		close(started.ended)
	}()
	return started, nil
}

// programProcess is a Process of a Program.
type programProcess struct {
	command *exec.Cmd
	orders  io.WriteCloser
	answers *os.File
	ended   chan struct{} // closed when err is set
	err     error
}

func (p *programProcess) Write(b []byte) (int, error) { return p.orders.Write(b) }
func (p *programProcess) Read(b []byte) (int, error)  { return p.answers.Read(b) }
func (p *programProcess) Close() error                { return p.orders.Close() }
func (p *programProcess) Kill() error                 { return p.command.Process.Kill() }

func (p *programProcess) Wait() error {
	<-p.ended
	_ = p.answers.Close()
	return p.err
}
