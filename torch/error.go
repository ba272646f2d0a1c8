package torch

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of errors, to be tested with errors.Is.
var (
	// ErrNotLoaded means that there is no usable LibTorch.
	ErrNotLoaded = errors.New("LibTorch is not usable")
	// ErrClosed means that a tensor, a scope or one of its objects was used after it was closed.
	ErrClosed = errors.New("closed")
	// ErrDevice means that this machine lacks the requested device.
	ErrDevice = errors.New("no such device")
	// ErrOutOfMemory means that the host or the device ran out of memory.
	ErrOutOfMemory = errors.New("out of memory")
	// ErrShape means that the operator does not accept the shapes or types of its operands.
	ErrShape = errors.New("operands do not match")
	// ErrPeer means that another process of the group has ended, or did not answer before the timeout.
	ErrPeer = errors.New("lost a process of the group")
)

// Error reports a failed operation of LibTorch: its name, its operands, the cause and a remedy. All fields are
// optional.
type Error struct {
	Op      string // name of the operator or call
	Subject string // operands with their shapes, or the path of a file
	Cause   error
	Remedy  string
	kind    error
}

// Error formats all fields in one line.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Subject != "" {
		b.WriteString(" " + e.Subject)
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap returns the cause and the kind of the error, for errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Cause, e.kind} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// newError makes an error from LibTorch's message: its first sentence without the C++ trace, and a remedy if one is
// known.
func newError(op, message string, operands ...*Tensor) *Error {
	text, _, _ := strings.Cut(message, "\nException raised from")
	text = strings.Join(strings.Fields(text), " ")
	e := &Error{Op: op, Subject: describe(operands), Cause: errors.New(text), kind: ErrShape}
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(text, "peer lost: "):
		e.kind = ErrPeer
	case strings.Contains(lower, "out of memory"), strings.Contains(lower, "can't allocate"),
		strings.Contains(lower, "not enough memory"):
		e.kind, e.Remedy = ErrOutOfMemory, "use a smaller batch or a smaller network"
	case strings.Contains(lower, "cuda"):
		e.kind = ErrDevice
	}
	return e
}

// describe formats the operands by type and shape: "of float32 [2 3] and int64 [4]".
func describe(operands []*Tensor) string {
	if len(operands) == 0 {
		return ""
	}
	parts := make([]string, len(operands))
	for k, t := range operands {
		parts[k] = t.brief()
	}
	return "of " + strings.Join(parts, " and ")
}
