package pickle

import (
	"fmt"
	"strings"
)

var calls = map[byte]func(*machine){
	'c':  func(m *machine) { m.push(m.global()) }, // GLOBAL
	0x93: (*machine).stackGlobal,                  // STACK_GLOBAL
	'R':  (*machine).reduce,                       // REDUCE
	// NEWOBJ: cls.__new__(cls, *args) is treated like a call
	0x81: (*machine).reduce,
	0x92: (*machine).newObjectEx,                                                       // NEWOBJ_EX
	'i':  func(m *machine) { g := m.global(); m.call(g, m.popMark()) },                 // INST
	'o':  (*machine).object,                                                            // OBJ
	'b':  (*machine).build,                                                             // BUILD
	'P':  func(m *machine) { m.persistent(strings.TrimSuffix(m.line(maxLine), "\r")) }, // PERSID
	'Q':  func(m *machine) { m.persistent(m.pop()) },                                   // BINPERSID
}

// global reads the two lines of a class or function.
func (m *machine) global() Global {
	module := m.line(maxLine)
	return Global{Module: module, Name: m.line(maxLine)}
}

func (m *machine) stackGlobal() {
	names := m.popN(2)
	module, ok1 := names[0].(string)
	name, ok2 := names[1].(string)
	if !ok1 || !ok2 {
		m.malformed("a class name is a %T and a %T, expected two strings", names[0], names[1])
	}
	m.push(Global{Module: module, Name: name})
}

func (m *machine) reduce() {
	values := m.popN(2)
	args, ok := values[1].(Tuple)
	if !ok {
		m.malformed("the arguments of a call are a %T, expected a tuple", values[1])
	}
	m.call(values[0], args)
}

func (m *machine) newObjectEx() {
	values := m.popN(3)
	args, ok1 := values[1].(Tuple)
	named, ok2 := values[2].(*Dict)
	switch {
	case !ok1 || !ok2:
		m.malformed("the arguments of a call are a %T and a %T, expected a tuple and a dict", values[1], values[2])
	case named.Len() > 0:
		m.fail(fmt.Errorf("a call of %v with named arguments is %w", values[0], ErrForbidden))
	}
	m.call(values[0], args)
}

func (m *machine) object() {
	values := m.popMark()
	if len(values) == 0 {
		m.malformed("an object has no class")
		return
	}
	m.call(values[0], values[1:])
}

// call pushes the result of the registered function.
func (m *machine) call(callable any, args Tuple) {
	if m.err != nil {
		return
	}
	g, ok := callable.(Global)
	if !ok {
		m.malformed("cannot call a %T", callable)
		return
	}
	construct := m.constructor(g.String())
	if construct == nil {
		m.fail(fmt.Errorf("the global %.200q is %w: only plain data can be read, "+
			"so save it as tensors, numbers, strings or containers of these", g.String(), ErrForbidden))
		return
	}
	value, err := construct(args)
	if err != nil {
		m.err = fmt.Errorf("%s: %w", g, err)
	}
	m.charge(bytesMade(value))
	m.push(value)
}

// constructor finds a function; the caller's come before the built-in ones.
func (m *machine) constructor(name string) Constructor {
	if construct, ok := m.opt.Constructors[name]; ok {
		return construct
	}
	switch name {
	case "collections.OrderedDict":
		return m.orderedDict
	case "_codecs.encode":
		return encodeLatin1
	case "builtins.bytearray", "__builtin__.bytearray", "builtins.bytes", "__builtin__.bytes":
		return newBytes
	case "builtins.set", "__builtin__.set", "builtins.frozenset", "__builtin__.frozenset":
		return func(args Tuple) (any, error) { return m.newSet(args, strings.HasSuffix(name, ".frozenset")) }
	}
	return nil
}

func (m *machine) build() {
	state := m.pop()
	value := m.top()
	if m.err != nil {
		return
	}
	if dict, ok := value.(*Dict); ok && dict.Ordered {
		dict.State = state
		return
	}
	builder, ok := value.(Builder)
	if !ok {
		m.fail(fmt.Errorf("attaching a state to a %T is %w", value, ErrForbidden))
		return
	}
	if err := builder.Build(state); err != nil {
		m.fail(fmt.Errorf("attaching a state to a %T: %w", value, err))
	}
	m.charge(bytesMade(value))
}

// persistent pushes the value of a persistent id.
func (m *machine) persistent(id any) {
	if m.opt.Persistent == nil {
		m.fail(fmt.Errorf("a persistent id is %w here: the id refers to data outside of the pickle", ErrForbidden))
	}
	if m.err != nil {
		return
	}
	value, err := m.opt.Persistent(id)
	if err != nil {
		m.fail(fmt.Errorf("persistent id: %w", err))
	}
	m.push(value)
}
