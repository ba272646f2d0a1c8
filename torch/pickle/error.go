package pickle

import (
	"errors"
	"fmt"
)

var (
	// ErrForbidden means that a pickle requires something that is not allowed: an unregistered function, or an opcode.
	ErrForbidden = errors.New("not allowed")
	// ErrLimit means that a pickle exceeds a limit in Options.
	ErrLimit = errors.New("a limit of pickle.Options is exceeded")
	// ErrFormat means that the bytes are not a well-formed pickle.
	ErrFormat = errors.New("malformed pickle")
)

// Error is an error of Read: the cause, and its position in the pickle.
type Error struct {
	Offset int64 // offset of the opcode, in bytes from the start of the pickle
	Opcode byte
	Err    error // cause: wraps ErrForbidden, ErrLimit, ErrFormat or another error
}

// Error formats the position and the cause.
func (e *Error) Error() string {
	return fmt.Sprintf("pickle: opcode 0x%02x at byte %d: %v", e.Opcode, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
}

func overLimit(what, field string, limit any) error {
	return fmt.Errorf("%w: more %s than Options.%s = %v", ErrLimit, what, field, limit)
}
