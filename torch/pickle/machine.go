package pickle

import (
	"io"
)

// Read reads one pickle and returns its value. Where r is also an io.ByteReader
// nothing beyond the pickle is taken from it, so that several can be read in a
// row; other readers are buffered. Every error is an *Error.
//
// Dicts, lists and tuples may hold one another more than once, and lists, dicts
// and sets themselves: whoever walks the value has to bound the walk.
func Read(r io.Reader, opt Options) (any, error) {
	m := &machine{memo: make(map[uint64]any)}
	m.in = input{src: asSource(r), opt: opt.withDefaults()}
	return m.run()
}

// mark divides the stack; it is never a value of the result.
type mark struct{}

// machine is the stack machine that runs a pickle.
type machine struct {
	in      input
	stack   []any
	memo    map[uint64]any
	objects int
	made    int64 // bytes made beside those read
	done    bool
}

func (m *machine) run() (any, error) {
	for {
		at := m.in.offset
		code, err := m.in.readByte()
		if err == nil {
			err = m.step(code)
		}
		if err != nil {
			return nil, &Error{Offset: at, Opcode: code, Err: err}
		}
		if !m.done {
			continue
		}
		value, err := m.pop()
		if err != nil {
			return nil, &Error{Offset: at, Opcode: code, Err: err}
		}
		return value, nil
	}
}

func (m *machine) step(code byte) error {
	do := opcodes[code]
	if do == nil {
		return malformed("there is no such opcode")
	}
	return do(m)
}

func (m *machine) push(value any) error {
	if len(m.stack) >= m.in.opt.MaxStack {
		return overLimit("values on the stack", "MaxStack", m.in.opt.MaxStack)
	}
	if m.objects++; m.objects > m.in.opt.MaxObjects {
		return overLimit("values", "MaxObjects", m.in.opt.MaxObjects)
	}
	m.stack = append(m.stack, value)
	return nil
}

// top returns the top value and leaves it there.
func (m *machine) top() (any, error) {
	if len(m.stack) == 0 {
		return nil, malformed("the stack is empty")
	}
	value := m.stack[len(m.stack)-1]
	if _, ok := value.(mark); ok {
		return nil, malformed("a mark stands where a value should")
	}
	return value, nil
}

func (m *machine) pop() (any, error) {
	value, err := m.top()
	if err != nil {
		return nil, err
	}
	m.drop(len(m.stack) - 1)
	return value, nil
}

// drop cuts the stack to a height and forgets what stood above.
func (m *machine) drop(height int) {
	clear(m.stack[height:])
	m.stack = m.stack[:height]
}

// popN takes the n top values, the lowest first.
func (m *machine) popN(n int) (Tuple, error) {
	values := make(Tuple, n)
	for i := n - 1; i >= 0; i-- {
		value, err := m.pop()
		if err != nil {
			return nil, err
		}
		values[i] = value
	}
	return values, nil
}

// popMark takes the values above the last mark, and the mark.
func (m *machine) popMark() (Tuple, error) {
	for at := len(m.stack) - 1; at >= 0; at-- {
		if _, ok := m.stack[at].(mark); ok {
			values := append(Tuple(nil), m.stack[at+1:]...)
			m.drop(at)
			return values, nil
		}
	}
	return nil, malformed("there is no mark on the stack")
}

// charge counts bytes that were made without being read: an encoded string, a
// key's hash, an array. References to one large string may be decoded again and
// again, which the bytes read would not bound.
func (m *machine) charge(n int) error {
	if m.made += int64(n); m.made > m.in.opt.MaxBytes {
		return overLimit("bytes made", "MaxBytes", m.in.opt.MaxBytes)
	}
	return nil
}

func (m *machine) remember(at uint64) error {
	value, err := m.top()
	if err != nil {
		return err
	}
	if _, known := m.memo[at]; !known && len(m.memo) >= m.in.opt.MaxMemo {
		return overLimit("memo entries", "MaxMemo", m.in.opt.MaxMemo)
	}
	m.memo[at] = value
	return nil
}

func (m *machine) recall(at uint64) error {
	value, ok := m.memo[at]
	if !ok {
		return malformed("nothing was memoized under %d", at)
	}
	return m.push(value)
}
