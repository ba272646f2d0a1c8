package coprocess

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Command describes a program that communicates with graft over a socket, and may print other text to its standard
// output.
type Command struct {
	Args     []string // command and its arguments; required
	Folder   string   // working directory; empty means the current one
	Env      []string // environment, as NAME=value, in addition to graft's own
	Variable string   // environment variable for the number and the inode of the socket; required
	// private folder through which a child process of the program may connect in place of the program; graft passes the
	// folder's path in a second environment variable, whose name is Variable followed by _FOLDER. Empty means that only
	// the program itself can connect
	Meeting string
	Limit   time.Duration     // maximum time between two messages; zero means 10 s
	Hint    string            // remedy of a program that sends no message in time
	Print   func(line string) // receives each line that the program prints; nil drops them
}

// socketNumber is the descriptor of the first extra file of a process.
const socketNumber = 3

// Attach starts a program and returns immediately. Receive reads the program's first message.
func Attach(c Command) (*Process, error) {
	name := strings.Join(c.Args, " ")
	p := newProcess(name, c.Limit, exec.Command(c.Args[0], c.Args[1:]...))
	p.hint = c.Hint
	p.command.Dir = c.Folder
	out := &lines{tail: p.messages, print: c.Print}
	p.command.Stdout, p.command.Stderr = out, out
	theirs, err := p.connect(c.Meeting)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p.command.Env = append(slices.Concat(os.Environ(), c.Env), fmt.Sprintf("%s=%d:%d", c.Variable, socketNumber,
		inode(theirs)), c.Variable+"_FOLDER="+c.Meeting)
	if err := p.run(theirs); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// inode returns the number of a socket, by which a process recognizes that it inherited the socket.
func inode(socket *os.File) (number uint64) {
	if info, err := socket.Stat(); err == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			number = stat.Ino
		}
	}
	return number
}

// connect makes the socket to a program that has not started, and returns the program's end.
func (p *Process) connect(meeting string) (*os.File, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "socket of the program")
	if err := syscall.SetNonblock(pair[0], true); err != nil { // a deadline interrupts reading
		return nil, errors.Join(os.NewSyscallError("fcntl", err), syscall.Close(pair[0]), theirs.Close())
	}
	c := &connection{inherited: os.NewFile(uintptr(pair[0]), "socket"), met: make(chan struct{}), ended: p.ended}
	if meeting != "" {
		err = c.meet(meeting)
		if err == nil {
			p.alive, err = pulse(meeting)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Close(), theirs.Close())
	}
	p.command.ExtraFiles = []*os.File{theirs}
	p.connection, p.requests, p.output, p.answers = c, c, c, bufio.NewReader(c)
	return theirs, nil
}

// Receive waits for the program's next message and decodes it. Receive sends no request.
func (p *Process) Receive(ctx context.Context, message any) error {
	return p.exchange(ctx, nil, message)
}

// Say sends a request that has no answer. A program that has ended does not receive it.
func (p *Process) Say(request any) {
	if text, err := json.Marshal(request); err == nil {
		_, _ = p.requests.Write(append(text, '\n'))
	}
}

// Finish sends a last request and waits until the program exits by itself.
func (p *Process) Finish(ctx context.Context, request any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	_, sent := p.requests.Write(append(text, '\n'))
	select {
	case <-p.ended:
		if p.err != nil {
			return p.failure(errors.Join(sent, io.EOF))
		}
		return nil
	case <-limited.Done():
		return p.failure(errLate)
	}
}

// lines passes on what a program prints, line by line, and keeps the end of it.
type lines struct {
	tail  *Tail
	print func(line string)
	rest  []byte // of an incomplete line
}

// longestLine is the maximum length in bytes of a line that is passed on; longer lines are split.
const longestLine = 4096

// Write collects the output of a program and calls print for each complete line.
func (l *lines) Write(b []byte) (int, error) {
	n, err := l.tail.Write(b)
	if l.print == nil {
		return n, err
	}
	l.rest = append(l.rest, b...)
	for {
		end := bytes.IndexByte(l.rest[:min(len(l.rest), longestLine)], '\n')
		next := end + 1
		if end < 0 && len(l.rest) < longestLine {
			return n, err
		}
		if end < 0 {
			end, next = longestLine, longestLine
		}
		l.print(strings.ToValidUTF8(strings.TrimRight(string(l.rest[:end]), "\r"), "?"))
		l.rest = l.rest[next:]
	}
}
