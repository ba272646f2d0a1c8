// Package process finds processes of this machine by an environment variable and kills them. It finds processes even
// after they leave their process group or lose their parent.
package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"graft/internal/files"
)

// Process identifies a process on this machine. The kernel reuses process IDs, so the start time is part of the
// identity.
type Process struct {
	ID    int    `json:"id"`    // process ID
	Start uint64 `json:"start"` // time of the start in kernel ticks since boot
}

// Alive reports whether the process is running.
func (p Process) Alive(fsys files.FS) bool {
	now, err := Named(fsys, p.ID)
	return err == nil && now == p
}

const (
	folder = "/proc"
	// maxEnviron limits the bytes of a process's environment. The kernel allows two megabytes unless its limits are
	// raised.
	maxEnviron = 16 << 20
	maxStat    = 1 << 16 // bytes
)

// Named returns the process that currently has the given ID.
func Named(fsys files.FS, id int) (Process, error) {
	text, err := files.ReadAll(fsys, filepath.Join(folder, strconv.Itoa(id), "stat"), maxStat)
	if err != nil {
		return Process{}, err
	}
	// The name, in parentheses, may contain any character.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return Process{}, fmt.Errorf("process %d has exited", id)
	}
	ticks, err := strconv.ParseUint(fields[start], 10, 64)
	return Process{id, ticks}, err
}

// Found is a process that [With] returns, with its environment variables.
type Found struct {
	Process
	environ string
}

// Variable returns the value of an environment variable at the start of the process. The value is empty if the variable
// was not set.
func (f Found) Variable(name string) string {
	_, after, _ := strings.Cut("\x00"+f.environ, "\x00"+name+"=")
	value, _, _ := strings.Cut(after, "\x00")
	return value
}

// With returns all living processes, except this process, that were started with all the given environment variables,
// written as NAME=VALUE. Processes of other users cannot be read and are omitted.
func With(fsys files.FS, variables []string) (found []Found, err error) {
	entries, err := fsys.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil || id == os.Getpid() {
			continue
		}
		text, err := files.ReadAll(fsys, filepath.Join(folder, entry.Name(), "environ"), maxEnviron)
		if err != nil || !hasAll(string(text), variables) {
			continue
		}
		if p, err := Named(fsys, id); err == nil {
			found = append(found, Found{p, string(text)})
		}
	}
	return found, nil
}

func hasAll(environ string, variables []string) bool {
	for _, v := range variables {
		if !strings.Contains("\x00"+environ, "\x00"+v+"\x00") {
			return false
		}
	}
	return true
}

// Clock waits for a duration.
type Clock interface {
	// Wait waits for d and returns nil. If ctx ends, it returns an error at once.
	Wait(ctx context.Context, d time.Duration) error
}

// Sweep kills the processes that the function find returns, until none remain. It calls find again after each round,
// because a process may have started other processes, and because the kernel may delay the end of a process.
func Sweep(clock Clock, find func() ([]Found, error)) error {
	const (
		rounds = 200
		pause  = 10 * time.Millisecond
	)
	var left []Found
	for range rounds {
		found, err := find()
		if err != nil || len(found) == 0 {
			return err
		}
		for _, p := range found {
			_ = syscall.Kill(p.ID, syscall.SIGKILL)
		}
		_ = clock.Wait(context.Background(), pause)
		left = found
	}
	return fmt.Errorf("%d processes, such as process %d, do not exit after SIGKILL: they are blocked in the kernel; "+
		"check the device or file system that they use", len(left), left[0].ID)
}
