package coprocess

import (
	"strings"
	"sync"
)

// lastLines is the number of lines of a program's messages that errors quote, and mostKept the bytes that are kept.
const (
	lastLines = 16
	mostKept  = 4096
)

// Tail keeps the end of what is written to it, such as the messages of a process. It is safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// Write appends text and keeps only the last 4,096 bytes.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-mostKept):]...)
	t.text = t.text[max(0, len(t.text)-mostKept):]
	return len(b), nil
}

// String returns the last lines, each indented.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(strings.TrimSpace(string(t.text)), "?")
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-lastLines):], "\n  ")
}
