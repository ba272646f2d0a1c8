package fleet

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

	"graft/files"
)

// process is a process of this machine. The kernel reuses its ID, so the start counts.
type process struct {
	ID    int    `json:"id"`
	Start uint64 `json:"start"` // in the kernel's ticks since the machine was started
}

// alive says whether the process runs.
func (p process) alive(fsys files.FS) bool {
	start, err := startOf(fsys, p.ID)
	return err == nil && start == p.Start
}

const (
	processesFolder = "/proc"
	// maxEnviron bounds the bytes of a process's environment, of which the kernel allows
	// two megabytes unless its limits were raised.
	maxEnviron = 16 << 20
)

// startOf returns the start of a process that runs.
func startOf(fsys files.FS, id int) (uint64, error) {
	text, err := files.ReadAll(fsys, filepath.Join(processesFolder, strconv.Itoa(id), "stat"), maxText)
	if err != nil {
		return 0, err
	}
	// The name, in brackets, may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return 0, fmt.Errorf("process %d has ended", id)
	}
	return strconv.ParseUint(fields[start], 10, 64)
}

// sweepProcesses kills all processes whose environment has all of some variables, until
// there is none. Those of other users cannot be read and are left alone.
func sweepProcesses(t Tools, variables []string) error {
	const (
		rounds = 200 // for processes that start others, or are busy in the kernel
		pause  = 10 * time.Millisecond
	)
	for range rounds {
		found, err := processesWith(t.Files, variables)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, p := range found {
			_ = syscall.Kill(p.ID, syscall.SIGKILL)
		}
		_ = t.Clock.Wait(context.Background(), pause)
	}
	return fmt.Errorf("processes with %s cannot be killed", strings.Join(variables, " "))
}

// processesWith are the living processes with some variables, without this one.
func processesWith(fsys files.FS, variables []string) (found []process, err error) {
	entries, err := fsys.ReadDir(processesFolder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil || id == os.Getpid() {
			continue
		}
		text, err := files.ReadAll(fsys, filepath.Join(processesFolder, entry.Name(), "environ"), maxEnviron)
		if err != nil || !hasAll(string(text), variables) {
			continue
		}
		if start, err := startOf(fsys, id); err == nil {
			found = append(found, process{id, start})
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
