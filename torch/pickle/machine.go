package pickle

import "io"

// Read reads one pickle and returns its value. If r is also an io.ByteReader, Read stops exactly at the end of the
// pickle, so several pickles can be read in a row. From any other reader, Read may read bytes beyond the end. Every
// error is an *Error.
//
// A dict, list or tuple may occur several times in the value, and lists, dicts and sets may contain themselves. A
// caller that walks the value must limit the walk.
func Read(r io.Reader, opt Options) (any, error) {
	m := &machine{src: asSource(r), opt: opt.withDefaults(), memo: make(map[uint64]any)}
	return m.run()
}

// mark divides the stack; it never appears in the result.
type mark struct{}

// machine is the stack machine that runs a pickle. It keeps the first error, and then stops reading and calling.
type machine struct {
	src     source
	offset  int64 // bytes read
	opt     Options
	stack   []any
	memo    map[uint64]any
	objects int
	made    int64 // bytes made, in addition to the ones read
	done    bool
	err     error
}

func (m *machine) run() (any, error) {
	for {
		at := m.offset
		code := m.readByte()
		if m.err == nil {
			opcodes[code](m)
		}
		var value any
		if m.done {
			value = m.pop()
		}
		if m.err != nil {
			return nil, &Error{Offset: at, Opcode: code, Err: m.err}
		}
		if m.done {
			return value, nil
		}
	}
}

// fail keeps the first error; nil means none.
func (m *machine) fail(err error) {
	if m.err == nil {
		m.err = err
	}
}

// malformed fails because the bytes are not a pickle.
func (m *machine) malformed(format string, args ...any) { m.fail(malformed(format, args...)) }

func (m *machine) push(value any) {
	if len(m.stack) >= m.opt.MaxStack {
		m.fail(overLimit("values on the stack", "MaxStack", m.opt.MaxStack))
	}
	if m.objects++; m.objects > m.opt.MaxObjects {
		m.fail(overLimit("values", "MaxObjects", m.opt.MaxObjects))
	}
	if m.err == nil {
		m.stack = append(m.stack, value)
	}
}

// top returns the top value without removing it.
func (m *machine) top() any {
	if len(m.stack) == 0 {
		m.malformed("the stack is empty")
		return nil
	}
	value := m.stack[len(m.stack)-1]
	if _, ok := value.(mark); ok {
		m.malformed("got a mark, expected a value")
		return nil
	}
	return value
}

func (m *machine) pop() any {
	value := m.top()
	if m.err == nil {
		m.drop(len(m.stack) - 1)
	}
	return value
}

// drop cuts the stack to a height and discards the values above.
func (m *machine) drop(height int) {
	clear(m.stack[height:])
	m.stack = m.stack[:height]
}

// popN removes the n top values and returns them, the lowest first.
func (m *machine) popN(n int) Tuple {
	values := make(Tuple, n)
	for i := n - 1; i >= 0; i-- {
		values[i] = m.pop()
	}
	return values
}

// popMark removes the values above the last mark and the mark, and returns the values.
func (m *machine) popMark() Tuple {
	for at := len(m.stack) - 1; at >= 0; at-- {
		if _, ok := m.stack[at].(mark); ok {
			values := append(Tuple(nil), m.stack[at+1:]...)
			m.drop(at)
			return values
		}
	}
	m.malformed("no mark on the stack")
	return nil
}

// charge counts bytes that were made without being read: an encoded string, a key's hash, an array. References to one
// large string may be decoded repeatedly, which the limit of the bytes read does not cover.
func (m *machine) charge(n int) {
	if m.made += int64(n); m.made > m.opt.MaxBytes {
		m.fail(overLimit("bytes made", "MaxBytes", m.opt.MaxBytes))
	}
}

func (m *machine) remember(at uint64) {
	value := m.top()
	if _, known := m.memo[at]; !known && len(m.memo) >= m.opt.MaxMemo {
		m.fail(overLimit("memo entries", "MaxMemo", m.opt.MaxMemo))
	}
	if m.err == nil {
		m.memo[at] = value
	}
}

func (m *machine) recall(at uint64) {
	value, ok := m.memo[at]
	if !ok {
		m.malformed("no memo entry %d", at)
	}
	m.push(value)
}
