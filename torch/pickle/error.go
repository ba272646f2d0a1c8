package pickle

import (
	"errors"
	"fmt"
)

var (
	// ErrForbidden says that a pickle asked for something outside the
	// allow-list: a function that is not registered, or an opcode.
	ErrForbidden = errors.New("not allowed")
	// ErrLimit says that a pickle is larger than a limit in Options.
	ErrLimit = errors.New("over the limit")
	// ErrFormat says that the bytes are no well-formed pickle.
	ErrFormat = errors.New("malformed pickle")
)

// Error is what Read returns: where in the pickle it stopped, and why. The zero
// value says nothing.
type Error struct {
	Offset int64 // of the opcode, in bytes from the start of the pickle
	Opcode byte
	Err    error // wraps ErrForbidden, ErrLimit, ErrFormat or a cause from outside
}

// Error says where reading stopped and why.
func (e *Error) Error() string {
	return fmt.Sprintf("pickle: opcode 0x%02x at byte %d: %v", e.Opcode, e.Offset, e.Err)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
}

func overLimit(what, field string, limit any) error {
	return fmt.Errorf("%w: more %s than Options.%s = %v", ErrLimit, what, field, limit)
}
