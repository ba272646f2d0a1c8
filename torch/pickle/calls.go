package pickle

import (
	"fmt"
	"strings"
)

var calls = map[byte]func(*machine) error{
	'c':  (*machine).global,         // GLOBAL
	0x93: (*machine).stackGlobal,    // STACK_GLOBAL
	'R':  (*machine).reduce,         // REDUCE
	0x81: (*machine).reduce,         // NEWOBJ: cls.__new__(cls, *args) is one call more to us
	0x92: (*machine).newObjectEx,    // NEWOBJ_EX
	'i':  (*machine).instance,       // INST
	'o':  (*machine).object,         // OBJ
	'b':  (*machine).build,          // BUILD
	'P':  (*machine).persistentText, // PERSID
	'Q':  (*machine).persistent,     // BINPERSID
}

func refuse(what string) func(*machine) error {
	return func(*machine) error { return fmt.Errorf("%s is %w", what, ErrForbidden) }
}

func (m *machine) global() error {
	g, err := m.globalLines()
	if err != nil {
		return err
	}
	return m.push(g)
}

func (m *machine) globalLines() (g Global, err error) {
	if g.Module, err = m.in.line(maxLine); err != nil {
		return g, err
	}
	g.Name, err = m.in.line(maxLine)
	return g, err
}

func (m *machine) stackGlobal() error {
	names, err := m.popN(2)
	if err != nil {
		return err
	}
	module, ok1 := names[0].(string)
	name, ok2 := names[1].(string)
	if !ok1 || !ok2 {
		return malformed("a class is named by a %T and a %T", names[0], names[1])
	}
	return m.push(Global{Module: module, Name: name})
}

func (m *machine) reduce() error {
	values, err := m.popN(2)
	if err != nil {
		return err
	}
	args, ok := values[1].(Tuple)
	if !ok {
		return malformed("the arguments of a call are a %T", values[1])
	}
	return m.call(values[0], args)
}

func (m *machine) newObjectEx() error {
	values, err := m.popN(3)
	if err != nil {
		return err
	}
	args, ok1 := values[1].(Tuple)
	named, ok2 := values[2].(*Dict)
	if !ok1 || !ok2 {
		return malformed("the arguments of a call are a %T and a %T", values[1], values[2])
	}
	if named.Len() > 0 {
		return fmt.Errorf("a call of %v with named arguments is %w", values[0], ErrForbidden)
	}
	return m.call(values[0], args)
}

func (m *machine) instance() error {
	g, err := m.globalLines()
	if err != nil {
		return err
	}
	args, err := m.popMark()
	if err != nil {
		return err
	}
	return m.call(g, args)
}

func (m *machine) object() error {
	values, err := m.popMark()
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return malformed("an object without a class")
	}
	return m.call(values[0], values[1:])
}

// call pushes the result of the registered function.
func (m *machine) call(callable any, args Tuple) error {
	g, ok := callable.(Global)
	if !ok {
		return malformed("a %T is called", callable)
	}
	construct := m.constructor(g.String())
	if construct == nil {
		return fmt.Errorf("the global %.200q is %w: only plain data can be read, "+
			"so save it as tensors, numbers, strings and containers of them", g.String(), ErrForbidden)
	}
	value, err := construct(args)
	if err != nil {
		return fmt.Errorf("%s: %w", g, err)
	}
	if err := m.charge(weight(value)); err != nil {
		return err
	}
	return m.push(value)
}

// constructor finds a function, the caller's before the built-in ones.
func (m *machine) constructor(name string) Constructor {
	if construct, ok := m.in.opt.Constructors[name]; ok {
		return construct
	}
	switch name {
	case "collections.OrderedDict":
		return m.orderedDict
	case "_codecs.encode":
		return encodeLatin1
	case "builtins.bytearray", "__builtin__.bytearray", "builtins.bytes", "__builtin__.bytes":
		return newBytes
	case "builtins.set", "__builtin__.set":
		return m.newSet
	case "builtins.frozenset", "__builtin__.frozenset":
		return m.newFrozenSet
	}
	return nil
}

func (m *machine) build() error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	value, err := m.top()
	if err != nil {
		return err
	}
	if dict, ok := value.(*Dict); ok && dict.Ordered {
		dict.State = state
		return nil
	}
	builder, ok := value.(Builder)
	if !ok {
		return fmt.Errorf("attaching a state to a %T is %w", value, ErrForbidden)
	}
	if err := builder.Build(state); err != nil {
		return fmt.Errorf("attaching its state to a %T: %w", value, err)
	}
	return m.charge(weight(value))
}

func (m *machine) persistentText() error {
	id, err := m.in.line(maxLine)
	if err != nil {
		return err
	}
	return m.loadPersistent(strings.TrimSuffix(id, "\r"))
}

func (m *machine) persistent() error {
	id, err := m.pop()
	if err != nil {
		return err
	}
	return m.loadPersistent(id)
}

func (m *machine) loadPersistent(id any) error {
	if m.in.opt.Persistent == nil {
		return fmt.Errorf("a persistent id is %w here: the pickle is part of a larger file", ErrForbidden)
	}
	value, err := m.in.opt.Persistent(id)
	if err != nil {
		return fmt.Errorf("persistent id: %w", err)
	}
	return m.push(value)
}
