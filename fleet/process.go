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
)

// process is one of this machine: its number alone may have become another's.
type process struct {
	ID    int    `json:"id"`
	Start uint64 `json:"start"` // in the kernel's ticks since the machine was started
}

// alive says whether the process runs.
func (p process) alive() bool {
	start, err := startOf(p.ID)
	return err == nil && start == p.Start
}

// startOf says when a living process was started.
func startOf(id int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
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
func sweepProcesses(clock Clock, variables []string) error {
	const (
		rounds = 200 // for processes that start others, or are busy in the kernel
		pause  = 10 * time.Millisecond
	)
	for range rounds {
		found, err := processesWith(variables)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, p := range found {
			_ = syscall.Kill(p.ID, syscall.SIGKILL)
		}
		_ = clock.Wait(context.Background(), pause)
	}
	return fmt.Errorf("processes with %s cannot be killed", strings.Join(variables, " "))
}

// processesWith are the living processes with some variables.
func processesWith(variables []string) (found []process, err error) {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || id == os.Getpid() {
			continue
		}
		if text, err := os.ReadFile(path); err != nil || !hasAll(string(text), variables) {
			continue
		}
		if start, err := startOf(id); err == nil {
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
