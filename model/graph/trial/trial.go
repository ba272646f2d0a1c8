package trial

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"graft/internal/files"
	"graft/model/graph"
	"graft/torch"
)

// Command creates the command that runs Serve in another process. If Command is nil, as in tests of single packages,
// graphs run in this process, without limits. The main program sets Command at startup.
var Command func(ctx context.Context) *exec.Cmd

// Wall-clock limit that ends a sleeping process. It is far above the limit of processor time, since the machine may be
// busy.
const (
	leastWall = 10 * time.Minute
	wallTimes = 30
)

// Run runs a graph in a trial, which is a separate process with resource limits, and returns its output in evaluation
// mode. It rejects a graph that needs more memory than the machine has.
func Run(ctx context.Context, fsys files.FS, g *graph.Graph, a graph.Attempt, l Limits) (*graph.Output, error) {
	need, err := g.Needs(a.Shape)
	if errors.Is(err, graph.ErrTooLarge) {
		return nil, err
	}
	if err != nil {
		need = graph.Need{Values: unknownBytes, Operations: unknownOperations}
	}
	machine := machineMemory(fsys)
	if err := fits(need, machine); err != nil {
		return nil, err
	}
	if Command == nil {
		return g.Try(a)
	}
	l.EnsureDefaults(need, a.Gradients, machine)
	return run(ctx, g, a, l)
}

// Assumed resources for a graph whose shapes graft cannot infer.
const (
	unknownBytes      = 1 << 28
	unknownOperations = 4e10
)

func run(ctx context.Context, g *graph.Graph, a graph.Attempt, l Limits) (*graph.Output, error) {
	runtime.LockOSThread() // the kernel kills the process when the thread that started it ends
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(ctx, leastWall+wallTimes*l.Time)
	defer cancel()
	p, err := start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start the process of a trial: %w", cmp.Or(context.Cause(ctx), err))
	}
	defer p.close()
	go func() {
		_ = send(p.in, g, a, l) // the end of the process is a better error than this one
		_ = p.in.Close()
	}()
	r, broken := p.reply()
	ended := p.Wait()
	at := p.at()
	switch {
	case broken == nil && r.Absent:
		return nil, fmt.Errorf("%w: %s", torch.ErrNotLoaded, r.Error)
	case broken == nil && r.Error != "":
		return nil, refused(g, at, r.Error, l)
	case broken == nil:
		return r.Output, nil
	case context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return nil, context.Cause(ctx)
	}
	return nil, &Ended{Operator: operatorAt(g, at), Cause: p.cause(ended, l), Begun: at != unstarted}
}

// refused returns the error of a trial that ended in an error of LibTorch.
func refused(g *graph.Graph, at int, text string, l Limits) error {
	switch {
	case strings.Contains(text, "can't allocate memory"):
		return fmt.Errorf("%s; the limit for a trial of this network is %.3g GiB", text, float64(l.Memory)/(1<<30))
	case strings.Contains(text, "out of memory"):
		return fmt.Errorf("%s: %s; the limit for a trial of this network is %.3g GiB", operatorAt(g, at), text,
			float64(l.Memory)/(1<<30))
	}
	return errors.New(text)
}

// Ended is the error of a trial whose process ended before it replied.
type Ended struct {
	Operator string // operator that was running, with its module
	Cause    string // cause of the end, such as SIGSEGV
	Begun    bool   // the process had set the limits and read the graph
}

// Error names the operator that was running and the cause of the end, and suggests a remedy.
func (e *Ended) Error() string {
	if !e.Begun {
		return fmt.Sprintf("the trial process ended before the network ran: %s; run 'graft doctor'", e.Cause)
	}
	return fmt.Sprintf("%s ended the trial process: %s; the network cannot run: correct the operator's arguments, "+
		"or export the network again", e.Operator, e.Cause)
}

// unstarted is the place before the process has recorded anything.
const unstarted = -2

// operatorAt names a node of a graph.
func operatorAt(g *graph.Graph, at int) string {
	if at < 0 || at >= len(g.Nodes) {
		return "the network"
	}
	n := g.Nodes[at]
	if n.Module == "" {
		return "operator " + n.Operator
	}
	return "operator " + n.Operator + " in " + n.Module
}

// process is the process of a trial.
type process struct {
	*exec.Cmd
	in         io.WriteCloser
	trace, out *os.File
	stderr     bounded
	place      chan int // one value, at the end
}

func start(ctx context.Context) (*process, error) {
	p := &process{Cmd: Command(ctx), place: make(chan int, 1)}
	p.Stderr, p.WaitDelay = &p.stderr, time.Second
	p.Env = append(p.Environ(), "GOTRACEBACK=none")
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var theirs []*os.File
	for _, ours := range []**os.File{&p.trace, &p.out} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, errors.Join(err, closeAll(theirs), p.close())
		}
		*ours, theirs = r, append(theirs, w)
	}
	p.ExtraFiles = theirs
	in, err := p.StdinPipe()
	if err == nil {
		p.in, err = in, p.Start()
	}
	if err = errors.Join(err, closeAll(theirs)); err != nil {
		return nil, errors.Join(err, p.close())
	}
	go p.follow()
	return p, nil
}

func closeAll(all []*os.File) (err error) {
	for _, f := range all {
		err = errors.Join(err, f.Close())
	}
	return err
}

func (p *process) close() error {
	var open []*os.File
	for _, f := range []*os.File{p.trace, p.out} {
		if f != nil {
			open = append(open, f)
		}
	}
	return closeAll(open)
}

// follow keeps the last place that the process recorded.
func (p *process) follow() {
	last := unstarted
	lines := bufio.NewScanner(p.trace)
	for lines.Scan() {
		if at, err := strconv.Atoi(lines.Text()); err == nil {
			last = at
		}
	}
	p.place <- last
}

func (p *process) at() int { return <-p.place }

// largestReply limits the reply of a process, in bytes.
const largestReply = 4 << 30

func (p *process) reply() (r reply, err error) {
	return r, gob.NewDecoder(io.LimitReader(p.out, largestReply)).Decode(&r)
}

// signalled finds the name of a signal in the output of Go's runtime when C code ends the process.
var signalled = regexp.MustCompile(`\b(SIG[A-Z]{2,6})\b`)

// cause returns in a few words why the process ended.
func (p *process) cause(ended error, l Limits) string {
	text := p.stderr.String()
	spent := p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	found := signalled.FindStringSubmatch(text)
	switch status, _ := p.ProcessState.Sys().(syscall.WaitStatus); {
	case strings.Contains(text, "out of memory") || strings.Contains(text, "bad_alloc") ||
		strings.Contains(text, "cannot allocate memory"):
		return fmt.Sprintf("the run needs more than %.3g GiB", float64(l.Memory)/(1<<30))
	case found != nil && found[1] != "SIGXCPU":
		return found[1]
	case spent >= l.Time:
		return fmt.Sprintf("the run needs more than %v of processor time", l.Time.Round(time.Second))
	case status.Signaled():
		return fmt.Sprintf("signal %v", status.Signal())
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(fmt.Sprintf("%v %.200q", ended, first))
}

// bounded keeps the first bytes that are written to it.
type bounded struct{ bytes.Buffer }

const mostKept = 64 << 10

func (b *bounded) Write(p []byte) (int, error) {
	_, _ = b.Buffer.Write(p[:min(len(p), max(0, mostKept-b.Len()))])
	return len(p), nil
}
