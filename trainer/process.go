package trainer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// Starter starts processes that follow a job: each of them calls [Follow].
type Starter interface {
	// Start starts the process of a device, from 1; the leader has the first, 0. A
	// process that was lost may be started again under its number.
	Start(device int) (Process, error)
}

// Process is one that follows. What is written to it are its orders, what is read
// from it its answers; both are at their end when it is.
type Process interface {
	io.ReadWriter
	// Close says that there are no more orders, at which it ends by itself.
	Close() error
	// Kill ends it at once.
	Kill() error
	// Wait returns when it has ended, with what it ended by.
	Wait() error
}

// AnswerFile is the number of the open file to which a process that a Program
// started writes its answers. Orders come on its standard input.
const AnswerFile = 3

// Program starts followers as processes of a program. Path and Args are required.
type Program struct {
	Path string                             // of the program
	Args func(device int) []string          // of its call
	Env  []string                           // added to this process's
	Log  func(device int) (*os.File, error) // where it writes whatever it prints; nil leaves it out
}

// Start starts the program.
func (p Program) Start(device int) (Process, error) {
	c := exec.Command(p.Path, p.Args(device)...)
	c.Env = append(os.Environ(), p.Env...)
	// A terminal's signals are for the leader, which saves the job.
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
	go started.watch()
	return started, nil
}

// programProcess is a Process of a Program.
type programProcess struct {
	command *exec.Cmd
	orders  io.WriteCloser
	answers *os.File
	ended   chan struct{} // closed when err is known
	err     error
}

func (p *programProcess) watch() {
	p.err = p.command.Wait()
	close(p.ended)
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
