package pickle

import (
	"fmt"
	"strconv"
)

// opcodes is the allow-list: any other opcode is an error. The letters and their meaning are from CPython's
// Lib/pickletools.py.
var opcodes = table(control, textNumbers, binaryNumbers, texts, containers, memos, calls, refused)

func table(parts ...map[byte]func(*machine)) (all [256]func(*machine)) {
	for code := range all {
		all[code] = func(m *machine) { m.malformed("unknown opcode") }
	}
	for _, part := range parts {
		for code, do := range part {
			all[code] = do
		}
	}
	return all
}

var control = map[byte]func(*machine){
	0x80: (*machine).protocol,                  // PROTO
	0x95: func(m *machine) { m.uint(8) },       // FRAME: a hint for buffering
	'.':  func(m *machine) { m.done = true },   // STOP
	'(':  func(m *machine) { m.push(mark{}) },  // MARK
	'0':  (*machine).popAny,                    // POP
	'1':  func(m *machine) { m.popMark() },     // POP_MARK
	'2':  func(m *machine) { m.push(m.top()) }, // DUP
}

// newestProtocol is the protocol of Python 3.8 and later.
const newestProtocol = 5

func (m *machine) protocol() {
	if version := m.readByte(); version > newestProtocol {
		m.malformed("protocol is %d, expected at most %d", version, newestProtocol)
	}
}

// popAny also removes a mark, as POP may.
func (m *machine) popAny() {
	if len(m.stack) == 0 {
		m.malformed("the stack is empty")
		return
	}
	m.drop(len(m.stack) - 1)
}

var memos = map[byte]func(*machine){
	'p':  func(m *machine) { m.remember(m.index()) },           // PUT
	'q':  func(m *machine) { m.remember(m.uint(1)) },           // BINPUT
	'r':  func(m *machine) { m.remember(m.uint(4)) },           // LONG_BINPUT
	0x94: func(m *machine) { m.remember(uint64(len(m.memo))) }, // MEMOIZE
	'g':  func(m *machine) { m.recall(m.index()) },             // GET
	'h':  func(m *machine) { m.recall(m.uint(1)) },             // BINGET
	'j':  func(m *machine) { m.recall(m.uint(4)) },             // LONG_BINGET
}

// index reads a memo number of the text protocol.
func (m *machine) index() uint64 {
	line := m.line(maxLine)
	at, err := strconv.ParseUint(line, 10, 32)
	if err != nil {
		m.malformed("%q is not a memo number", line)
	}
	return at
}

// refused lists the opcodes that exist but are not supported in a file.
var refused = map[byte]func(*machine){
	0x82: refuse("the pickle uses the extension registry"),     // EXT1
	0x83: refuse("the pickle uses the extension registry"),     // EXT2
	0x84: refuse("the pickle uses the extension registry"),     // EXT4
	0x97: refuse("the pickle refers to an out-of-band buffer"), // NEXT_BUFFER
	0x98: refuse("the pickle refers to an out-of-band buffer"), // READONLY_BUFFER
}

func refuse(what string) func(*machine) {
	return func(m *machine) { m.fail(fmt.Errorf("%s: %w", what, ErrForbidden)) }
}
