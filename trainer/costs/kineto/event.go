package kineto

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// event is an event of the file.
type event struct {
	Phase    string          `json:"ph"`
	Category string          `json:"cat"`
	Name     string          `json:"name"`
	Process  json.RawMessage `json:"pid"`
	Thread   json.RawMessage `json:"tid"`
	ID       json.RawMessage `json:"id"`
	Start    json.RawMessage `json:"ts"`
	Length   json.RawMessage `json:"dur"`
	Args     json.RawMessage `json:"args"`
}

// arguments are the arguments of an operator, a runtime call or a kernel.
type arguments struct {
	External    json.RawMessage `json:"External id"`
	Sequence    json.RawMessage `json:"Sequence number"`
	Shapes      json.RawMessage `json:"Input Dims"`
	Correlation json.RawMessage `json:"correlation"`
}

// operator is an operator before its thread's operators are nested.
type operator struct {
	Operator
	external int64
}

// kernel is work of the device before its launch is known.
type kernel struct {
	Span
	correlation, external int64
}

// launch is a runtime call that starts work of the device.
type launch struct {
	thread int
	at     time.Duration
}

// ends holds the ends of a flow.
type ends struct {
	from, to       Point
	begun, arrived bool
}

// mostName limits the length of names; the names of kernels are long.
const mostName = 1 << 14

func (p *parser) event(e *event) error {
	if len(e.Name) > mostName {
		return fmt.Errorf("the name has %d bytes; the maximum is %d; %s", len(e.Name), mostName, foreign)
	}
	switch e.Phase {
	case "X":
		return p.span(e)
	case "s", "f":
		if e.Category == "fwdbwd" {
			return p.flow(e)
		}
	}
	return nil
}

func (p *parser) span(e *event) error {
	switch e.Category {
	case "cpu_op", "user_annotation", "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver":
	default:
		return nil
	}
	s, err := p.spanOf(e)
	if err != nil {
		return err
	}
	if e.Category == "user_annotation" {
		p.notes = append(p.notes, s)
		return nil
	}
	if s.Length > longest {
		return fmt.Errorf("the event lasts %v; the maximum is %v; export the trace again", s.Length, longest)
	}
	var a arguments
	if len(e.Args) > 0 {
		if err := json.Unmarshal(e.Args, &a); err != nil {
			return fmt.Errorf("args: %w; %s", err, foreign)
		}
	}
	switch e.Category {
	case "cpu_op":
		return p.operator(s, &a)
	case "cuda_runtime", "cuda_driver":
		return p.launch(s, &a)
	}
	return p.kernel(s, &a)
}

// farthest limits times, so that sums of times fit into 64 bits. It is about 146 years.
const farthest = time.Duration(1) << 62

// longest limits the duration of an operator, so that the sum over all events fits into 64 bits. It is 18 minutes.
const longest = time.Duration(1) << 40

func (p *parser) spanOf(e *event) (s Span, err error) {
	start, errStart := microseconds(e.Start)
	length, errLength := microseconds(e.Length)
	if err := errors.Join(prefixed("ts", errStart), prefixed("dur", errLength)); err != nil {
		return s, err
	}
	switch {
	case length < 0:
		return s, fmt.Errorf("dur is %s; expected 0 or more; export the trace again", e.Length)
	case start < -farthest || start > farthest-length || length > farthest:
		return s, fmt.Errorf("ts %s and dur %s are out of range; export the trace again", e.Start, e.Length)
	}
	return Span{Name: e.Name, Thread: p.thread(e), Start: start, Length: length, Event: p.events}, nil
}

func prefixed(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

// thread returns the index of a thread. Threads are numbered in the order of the file.
func (p *parser) thread(e *event) int {
	key := string(e.Process) + " " + string(e.Thread)
	k, known := p.threads[key]
	if !known {
		k = len(p.threads)
		p.threads[key] = k
	}
	return k
}

func (p *parser) operator(s Span, a *arguments) (err error) {
	o := operator{Operator: Operator{Span: s, Parent: -1}}
	var errs [3]error
	o.Sequence, errs[0] = whole("Sequence number", a.Sequence)
	o.external, errs[1] = whole("External id", a.External)
	o.Shapes, errs[2] = shapesOf(a.Shapes)
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	p.shaped = p.shaped || len(a.Shapes) > 0
	if o.external != 0 {
		if other, twice := p.externals[o.external]; twice {
			return fmt.Errorf("the External id %d is already used by event %d; export the trace again", o.external,
				other)
		}
		p.externals[o.external] = s.Event
	}
	p.raw = append(p.raw, o)
	return nil
}

func (p *parser) launch(s Span, a *arguments) error {
	id, err := whole("correlation", a.Correlation)
	if err != nil {
		return err
	}
	if strings.Contains(s.Name, "Synchronize") {
		p.syncs = append(p.syncs, s)
	}
	if id == 0 {
		return nil
	}
	if _, twice := p.launches[id]; twice {
		return fmt.Errorf("correlation %d occurs in two runtime calls; export the trace again", id)
	}
	p.launches[id] = launch{s.Thread, s.Start}
	return nil
}

func (p *parser) kernel(s Span, a *arguments) error {
	k := kernel{Span: s}
	var errs [2]error
	k.correlation, errs[0] = whole("correlation", a.Correlation)
	k.external, errs[1] = whole("External id", a.External)
	p.kernels = append(p.kernels, k)
	return errors.Join(errs[:]...)
}

func (p *parser) flow(e *event) error {
	at, errAt := microseconds(e.Start)
	id, errID := whole("id", e.ID)
	if err := errors.Join(prefixed("ts", errAt), errID); err != nil {
		return err
	}
	f := p.flows[id]
	if f == nil {
		f = &ends{}
		p.flows[id] = f
	}
	point, taken := &f.from, &f.begun
	if e.Phase == "f" {
		point, taken = &f.to, &f.arrived
	}
	if *taken {
		return fmt.Errorf("flow %d has two events of phase %q; export the trace again", id, e.Phase)
	}
	*point, *taken = Point{p.thread(e), at}, true
	return nil
}
