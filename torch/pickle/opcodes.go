package pickle

// opcodes is the allow-list: an opcode that is not here is an error. The letters
// and their meaning are those of CPython's Lib/pickletools.py.
var opcodes = table(control, textNumbers, binaryNumbers, texts, containers, memos, calls, refused)

func table(parts ...map[byte]func(*machine) error) (all [256]func(*machine) error) {
	for _, part := range parts {
		for code, do := range part {
			all[code] = do
		}
	}
	return all
}

var control = map[byte]func(*machine) error{
	0x80: (*machine).protocol,                                           // PROTO
	0x95: func(m *machine) error { _, err := m.in.uint(8); return err }, // FRAME: a hint for buffering
	'.':  func(m *machine) error { m.done = true; return nil },          // STOP
	'(':  func(m *machine) error { return m.push(mark{}) },              // MARK
	'0':  (*machine).popAny,                                             // POP
	'1':  func(m *machine) error { _, err := m.popMark(); return err },  // POP_MARK
	'2':  (*machine).duplicate,                                          // DUP
}

// newestProtocol is the one of Python 3.8 and later.
const newestProtocol = 5

func (m *machine) protocol() error {
	version, err := m.in.readByte()
	if err == nil && version > newestProtocol {
		err = malformed("protocol %d, where %d is the newest known", version, newestProtocol)
	}
	return err
}

// popAny also takes a mark off, which POP may do.
func (m *machine) popAny() error {
	if len(m.stack) == 0 {
		return malformed("the stack is empty")
	}
	m.drop(len(m.stack) - 1)
	return nil
}

func (m *machine) duplicate() error {
	value, err := m.top()
	if err != nil {
		return err
	}
	return m.push(value)
}

var memos = map[byte]func(*machine) error{
	'p':  (*machine).putLine,                                                // PUT
	'q':  func(m *machine) error { return m.indexed(1, m.remember) },        // BINPUT
	'r':  func(m *machine) error { return m.indexed(4, m.remember) },        // LONG_BINPUT
	0x94: func(m *machine) error { return m.remember(uint64(len(m.memo))) }, // MEMOIZE
	'g':  (*machine).getLine,                                                // GET
	'h':  func(m *machine) error { return m.indexed(1, m.recall) },          // BINGET
	'j':  func(m *machine) error { return m.indexed(4, m.recall) },          // LONG_BINGET
}

func (m *machine) indexed(size int, do func(uint64) error) error {
	at, err := m.in.uint(size)
	if err != nil {
		return err
	}
	return do(at)
}

func (m *machine) putLine() error { return m.indexedByLine(m.remember) }

func (m *machine) getLine() error { return m.indexedByLine(m.recall) }

func (m *machine) indexedByLine(do func(uint64) error) error {
	line, err := m.in.line(maxLine)
	if err != nil {
		return err
	}
	at, err := parseIndex(line)
	if err != nil {
		return err
	}
	return do(at)
}

// refused names the opcodes that exist but have no meaning in a file.
var refused = map[byte]func(*machine) error{
	0x82: refuse("the extension registry"), // EXT1
	0x83: refuse("the extension registry"), // EXT2
	0x84: refuse("the extension registry"), // EXT4
	0x97: refuse("an out-of-band buffer"),  // NEXT_BUFFER
	0x98: refuse("an out-of-band buffer"),  // READONLY_BUFFER
}
