package coprocess

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"
)

// Protocol is the version of the JSON protocol between graft and its child programs.
const Protocol = 1

// Limits on a program.
const (
	defaultLimit = 10 * time.Second
	largest      = 16 << 20        // bytes of an answer
	grace        = 2 * time.Second // time to exit after the end of the requests
	// time to exit after the end of the socket: Python frees its modules first, which takes seconds on a busy machine,
	// and a launcher reports which process ended; torchrun looks every 5 s in PyTorch 1.13
	attachedGrace = 10 * time.Second
)

// Options holds the path of a child program and the time limit for its answers.
type Options struct {
	Path  string        // path of the program; a name that ends in .py runs with python3
	Limit time.Duration // maximum time of an answer; zero means 10 s
}

// Process is a running program. It answers one request at a time.
type Process struct {
	name     string        // for errors
	limit    time.Duration // maximum time of an answer
	hint     string        // remedy of a late answer
	command  *exec.Cmd
	requests io.WriteCloser
	answers  *bufio.Reader
	output   io.Closer // the file from which answers are read
	// connection of a program that attaches; nil for other programs
	connection *connection
	alive      *os.File // open while the processes of the program may run; nil for none
	messages   *Tail
	ended      chan struct{}
	err        error // of the program's exit; set before ended is closed
}

// hello is the answer to the first request.
type hello struct {
	Protocol int `json:"protocol"`
}

// Start starts a program and negotiates the protocol with it. The setup is encoded as a JSON object whose keys are
// added to the first request; a nil setup adds no keys. The argument role, such as "scheduler", is also sent in the
// first request.
func Start(ctx context.Context, o Options, role string, setup any) (*Process, error) {
	p, err := start(o)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Path, err)
	}
	first, err := merged(map[string]any{"protocol": Protocol, "role": role}, setup)
	var answer hello
	if err == nil {
		err = p.Ask(ctx, first, &answer)
	}
	if err == nil && answer.Protocol != Protocol {
		err = fmt.Errorf("%s answered with protocol %d; expected protocol %d", o.Path, answer.Protocol, Protocol)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Try checks that a program can be used: it starts the program, negotiates the protocol and ends the program.
func Try(ctx context.Context, o Options, role string, setup any) error {
	p, err := Start(ctx, o, role, setup)
	if err == nil {
		p.Close()
	}
	return err
}

// merged adds the keys of setup to a request.
func merged(request map[string]any, setup any) (map[string]any, error) {
	if setup == nil {
		return request, nil
	}
	text, err := json.Marshal(setup)
	if err != nil {
		return nil, err
	}
	return request, json.Unmarshal(text, &request)
}

func start(o Options) (*Process, error) {
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, err
	}
	command := exec.Command(path)
	if filepath.Ext(path) == ".py" {
		command = exec.Command("python3", path)
	}
	p := newProcess(o.Path, o.Limit, command)
	p.hint = "make sure that it flushes its standard output after each answer"
	p.command.Stderr = p.messages
	theirs := make([]*os.File, 2)
	ours := make([]*os.File, 2)
	if theirs[0], ours[0], err = os.Pipe(); err != nil {
		return nil, err
	}
	if ours[1], theirs[1], err = os.Pipe(); err != nil {
		return nil, errors.Join(err, theirs[0].Close(), ours[0].Close())
	}
	p.command.Stdin, p.command.Stdout = theirs[0], theirs[1]
	p.requests, p.output, p.answers = ours[0], ours[1], bufio.NewReader(ours[1])
	return p, p.run(theirs...)
}

// newProcess prepares a process that has a process group of its own: signals of a terminal are for graft, which then
// ends its programs, and the children of a program end with it.
func newProcess(name string, limit time.Duration, command *exec.Cmd) *Process {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.WaitDelay = grace // a child of the program may keep its standard error open
	return &Process{name: name, limit: cmp.Or(limit, defaultLimit), command: command, messages: &Tail{},
		ended: make(chan struct{})}
}

// run starts the process and closes the files that belong to it.
func (p *Process) run(theirs ...*os.File) error {
	err := p.command.Start()
	for _, f := range theirs {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		if p.alive != nil {
			err = errors.Join(err, p.alive.Close())
		}
		return errors.Join(remedy(err, p.name), p.requests.Close(), p.output.Close())
	}
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	return nil
}

// remedy adds what to do if a program cannot be executed.
func remedy(err error, path string) error {
	switch {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w; make it executable with 'chmod +x %s'", err, path)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w; install python3", err)
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w; add a first line such as #!/usr/bin/env python3", err)
	}
	return err
}

// Ask sends a request and decodes the answer. If it returns an error, the program has ended. The program also ends if
// ctx is cancelled.
func (p *Process) Ask(ctx context.Context, request, answer any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("send a request to %s: %w", p.name, err)
	}
	return p.exchange(ctx, append(text, '\n'), answer)
}

// exchange sends a line, if there is one, and decodes the line that the program sends next.
func (p *Process) exchange(ctx context.Context, text []byte, answer any) error {
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	defer context.AfterFunc(limited, p.kill)()
	var sent error
	if text != nil {
		_, sent = p.requests.Write(text) // the program may have answered and exited
	}
	line, err := p.line()
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		} else if limited.Err() != nil {
			err = errLate
		}
		return p.failure(errors.Join(sent, err))
	}
	if err := decode(line, answer); err != nil {
		p.kill()
		return fmt.Errorf("%s answered %s: %w", p.name, excerpt(line), err)
	}
	return nil
}

// Errors of answers.
var (
	errLarge = fmt.Errorf("the answer exceeds %d MiB", largest>>20)
	errLate  = errors.New("no answer before the timeout")
)

func (p *Process) line() ([]byte, error) {
	var line []byte
	for {
		part, err := p.answers.ReadSlice('\n')
		if line = append(line, part...); err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if len(line) > largest {
			return nil, errLarge
		}
	}
}

// decode reads an answer: one JSON object with known keys only.
func decode(line []byte, answer any) error {
	if line = bytes.TrimSpace(line); len(line) > 0 && json.Valid(line) && line[0] != '{' { // null would be accepted
		return errors.New("expected a JSON object")
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var typed *json.UnmarshalTypeError
	err := d.Decode(answer)
	switch {
	case errors.As(err, &typed):
		return fmt.Errorf("the key %q is a %s; expected %s", typed.Field, typed.Value, nameOf(typed.Type))
	case err != nil: // not wrapped: an error of JSON counts as a damaged file
		return fmt.Errorf("expected one line of JSON on standard output (%s); print messages to standard error",
			strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("expected one JSON object per line")
	}
	return nil
}

// nameOf names a type in words.
func nameOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	case reflect.String:
		return "a string"
	case reflect.Pointer:
		return nameOf(t.Elem())
	}
	return "a whole number"
}

// failure describes the end of a program that was asked.
func (p *Process) failure(err error) error {
	if errors.Is(err, syscall.ECONNRESET) {
		err = io.EOF
	}
	if errors.Is(err, io.EOF) { // it is about to exit, and its exit status tells why
		p.await(p.patience())
	}
	p.kill()
	<-p.ended
	said := ""
	if text := p.messages.String(); text != "" {
		said = "; its last messages:\n" + text
	}
	switch {
	case errors.Is(err, errLate):
		return fmt.Errorf("%s did not answer within %v; %s%s", p.name, p.limit, p.hint, said)
	case errors.Is(err, io.EOF) && p.err == nil:
		return fmt.Errorf("%s exited without an answer%s", p.name, said)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s ended without an answer: %w%s", p.name, p.err, said)
	}
	return fmt.Errorf("send a request to %s: %w%s", p.name, err, said)
}

// Close ends the program. A program that does not exit in time is killed, with its children.
func (p *Process) Close() {
	_ = p.requests.Close() // the program may have ended
	p.await(grace)
	p.kill() // its children
	<-p.ended
	_ = p.output.Close()
}

// patience is the time that a program has to exit after the end of its answers.
func (p *Process) patience() time.Duration {
	if p.connection != nil {
		return attachedGrace
	}
	return grace
}

// await gives the program time to exit.
func (p *Process) await(limit time.Duration) {
	limited, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	select {
	case <-p.ended:
	case <-limited.Done():
	}
}

// kill ends the program and its children. Children in other process groups notice the end of the pipe; graft does not
// wait for their messages.
func (p *Process) kill() {
	_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
	if p.alive == nil {
		return
	}
	_ = p.alive.Close()
	if conn := p.connection.joined.Load(); conn != nil {
		_ = conn.Close()
	}
}

// excerpt quotes the beginning of an answer.
func excerpt(line []byte) string {
	const most = 80
	text := []rune(strings.TrimSpace(string(line)))
	if len(text) > most {
		text = append(text[:most:most], '…')
	}
	return fmt.Sprintf("%q", string(text))
}
