package torch

// #include "graft.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"graft/torch/weights"
)

// Call describes one call of a LibTorch operator in an imported network. KnowsOperator and PassesOperator report the
// allowed operators.
type Call struct {
	Operator     string // name and overload of the operator, such as conv2d.default
	Where        string // location in error messages, such as a module's path
	Arguments    []Argument
	Results      []string // names of the results that later calls may read; items of a list count separately
	OnlyTraining bool     // whether the call runs only in train mode
}

// Argument is a named argument of a call. A missing argument has the operator's default; an argument that selects a
// device always selects the device of the network's weights.
type Argument struct {
	Name string
	// Value is nil, an int64, a float64, a bool, a string, a weights.DType, a Ref, or an []any of these.
	Value any
}

// Ref is the name of the input, of a tensor, or of the result of an earlier call.
type Ref string

// CallList describes a network as a list of calls in execution order, with one input and one output.
type CallList struct {
	Input   string
	Output  string
	Calls   []Call
	Names   []string // names of Tensors, in the same order
	Tensors []*Tensor
}

// NewCalls creates a program from a list of calls. The option Precision must be Single or TF32, and Graphs must be
// false. A call can only read the results of earlier calls.
func (s *Scope) NewCalls(l CallList, o ProgramOptions) *Program {
	const op = "make a program of operators"
	p := &Program{scope: s}
	if o.Precision != Single && o.Precision != TF32 {
		s.fail(&Error{Op: op, Cause: fmt.Errorf("imported graphs do not support the precision %v", o.Precision),
			Remedy: "use single or tf32", kind: ErrShape})
	}
	e, err := encodeCalls(l)
	if err != nil {
		s.fail(&Error{Op: op, Cause: err, kind: ErrShape})
	}
	if !s.ready(op, l.Tensors) {
		return p
	}
	handle, message := e.make(l, o)
	if err := take(op, message); err != nil {
		s.fail(err)
		return p
	}
	p.handle = handle
	s.hold(p)
	return p
}

// make makes the program from the arrays, which must not move.
func (e *callEncoder) make(l CallList, o ProgramOptions) (out C.graft_program, message *C.char) {
	tensors := make([]C.graft_t, len(l.Tensors))
	for k, t := range l.Tensors {
		tensors[k] = C.graft_t(t.handle)
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	pin := func(at unsafe.Pointer) unsafe.Pointer {
		if at != nil {
			pinner.Pin(at)
		}
		return at
	}
	c := C.graft_calls{
		calls:   (*C.graft_call)(pin(unsafe.Pointer(unsafe.SliceData(e.calls)))),
		values:  (*C.graft_value)(pin(unsafe.Pointer(unsafe.SliceData(e.values)))),
		text:    (*C.char)(pin(unsafe.Pointer(unsafe.SliceData(e.text)))),
		tensors: (*C.graft_t)(pin(unsafe.Pointer(unsafe.SliceData(tensors)))),
		count:   C.int32_t(len(e.calls)), ntensors: C.int32_t(len(tensors)), output: C.int32_t(e.registers[l.Output]),
	}
	for flag, on := range map[C.int32_t]bool{C.GRAFT_PROGRAM_FAST: o.Fast, C.GRAFT_PROGRAM_STEADY: o.Steady,
		C.GRAFT_PROGRAM_RECORDED: o.Graphs, C.GRAFT_PROGRAM_TF32: o.Precision == TF32} {
		if on {
			c.flags |= flag
		}
	}
	message = C.graft_calls_new(&c, &out)
	return out, message
}

// TraceCalls makes every [Program] in this process write a trace to a file descriptor. Before each call runs, the
// program writes a line with the index of the call, so that another process can identify a call that crashes this
// process. Calls that run only in train mode get no line and are not counted. A negative descriptor turns the trace
// off.
func TraceCalls(fd int) error {
	if err := Load(); err != nil {
		return err
	}
	C.graft_calls_trace(C.int32_t(fd))
	return nil
}

// callEncoder converts calls to flat arrays.
type callEncoder struct {
	calls     []C.graft_call
	values    []C.graft_value
	text      []byte
	places    map[string]C.int32_t // indices of texts
	registers map[string]int32     // registers by name
	next      int32
}

func encodeCalls(l CallList) (*callEncoder, error) {
	e := &callEncoder{places: map[string]C.int32_t{}, registers: map[string]int32{}}
	e.place("")
	for _, name := range append([]string{l.Input}, l.Names...) {
		if err := e.name(name); err != nil {
			return nil, err
		}
	}
	if len(l.Names) != len(l.Tensors) {
		return nil, fmt.Errorf("got %d names for %d tensors; expected one name per tensor", len(l.Names),
			len(l.Tensors))
	}
	for _, call := range l.Calls {
		if err := e.call(call); err != nil {
			return nil, fmt.Errorf("%s%s: %w", call.Operator, located(call.Where), err)
		}
	}
	if _, ok := e.registers[l.Output]; !ok {
		return nil, fmt.Errorf("no operator computes the output %q", l.Output)
	}
	return e, nil
}

// located formats a location for errors.
func located(where string) string {
	if where == "" {
		return ""
	}
	return " in " + where
}

// place returns the index of a text among the texts.
func (e *callEncoder) place(text string) C.int32_t {
	at, ok := e.places[text]
	if !ok {
		at = C.int32_t(len(e.text))
		e.places[text] = at
		e.text = append(append(e.text, text...), 0)
	}
	return at
}

// name assigns the next register to a name.
func (e *callEncoder) name(name string) error {
	if _, taken := e.registers[name]; taken {
		return fmt.Errorf("duplicate value name %q", name)
	}
	e.registers[name] = e.next
	e.next++
	return nil
}

func (e *callEncoder) call(call Call) error {
	space, op, overload, ok := splitOperator(call.Operator)
	if !ok && !PassesOperator(call.Operator) {
		return errors.New("unsupported operator")
	}
	if !ok {
		if err := checkOperator(space+"::"+op, overload); err != nil {
			return err
		}
	}
	first := len(e.values)
	for _, a := range call.Arguments {
		at := len(e.values)
		if err := e.value(a.Value, 0); err != nil {
			return fmt.Errorf("argument %s: %w", a.Name, err)
		}
		e.values[at].name = e.place(a.Name)
	}
	c := C.graft_call{op: e.place(space + "::" + op), overload: e.place(overload), where: e.place(located(call.Where)),
		values: C.int32_t(len(e.values) - first), outs: C.int32_t(len(call.Results)),
		only_training: C.int32_t(flag(call.OnlyTraining))}
	e.calls = append(e.calls, c)
	for _, name := range call.Results {
		if err := e.name(name); err != nil {
			return err
		}
	}
	return nil
}

// checkOperator returns an error unless LibTorch has the operator, which graft does not support itself, and it is safe
// to call.
func checkOperator(name, overload string) error {
	texts := append(append([]byte(name), 0), append([]byte(overload), 0)...)
	at := (*C.char)(unsafe.Pointer(unsafe.SliceData(texts)))
	return take("pass an operator on to LibTorch", C.graft_operator_check(at, (*C.char)(unsafe.Add(unsafe.Pointer(at),
		len(name)+1))))
}

func (e *callEncoder) value(value any, depth int) error {
	v := C.graft_value{}
	switch x := value.(type) {
	case nil:
		v.kind = C.GRAFT_VALUE_NONE
	case int64:
		v.kind, v.number = C.GRAFT_VALUE_INT, C.int64_t(x)
	case weights.DType:
		dtype, ok := stored[x]
		if !ok {
			return fmt.Errorf("LibTorch has no type %v", x)
		}
		v.kind, v.number = C.GRAFT_VALUE_INT, C.int64_t(dtype)
	case float64:
		v.kind, v.real = C.GRAFT_VALUE_DOUBLE, C.double(x)
	case bool:
		v.kind, v.number = C.GRAFT_VALUE_BOOL, C.int64_t(flag(x))
	case string:
		v.kind, v.text = C.GRAFT_VALUE_TEXT, e.place(x)
	case Ref:
		register, ok := e.registers[string(x)]
		if !ok {
			return fmt.Errorf("no earlier operator computes %q", string(x))
		}
		v.kind, v.number = C.GRAFT_VALUE_REGISTER, C.int64_t(register)
	case []any:
		if depth > 0 {
			return errors.New("nested lists are not supported")
		}
		v.kind, v.number = C.GRAFT_VALUE_LIST, C.int64_t(len(x))
		e.values = append(e.values, v)
		for _, item := range x {
			if err := e.value(item, depth+1); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("unsupported value type %T", value)
	}
	e.values = append(e.values, v)
	return nil
}
