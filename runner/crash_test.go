package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

// crashVariable makes the test process crash in the given way.
const crashVariable = "GRAFT_TEST_CRASH"

// hoard takes all memory that the process can get.
var hoard [][]byte

// TestCrashes is the body of processes that crash in ways that no command of graft does.
func TestCrashes(*testing.T) {
	switch os.Getenv(crashVariable) {
	case "panic":
		go func() { panic("a fault") }()
	case "nil":
		var m map[string]int
		go func() { m["a"]++ }()
	case "memory":
		for {
			hoard = append(hoard, make([]byte, 1<<28))
		}
	case "stack":
		var f func(int) int
		f = func(n int) int { return f(n+1) + 1 }
		f(0)
	default:
		return
	}
	time.Sleep(patience)
}

// A crash exits with a code that no error has, so a script does not mistake it for a wrong command line.
func TestACrashHasItsOwnCode(t *testing.T) {
	for _, how := range []string{"panic", "nil", "memory", "stack"} {
		p := exec.Command("sh", "-c", `ulimit -v 4000000; exec "$0" -test.run '^TestCrashes$'`, os.Args[0])
		p.Env = append(os.Environ(), crashVariable+"="+how)
		require.Error(t, p.Run())
		require.Equal(t, int(failure.Crashed), p.ProcessState.ExitCode(), how)
	}
	little := exec.Command("sh", "-c", `ulimit -v 500000; exec "$0" -test.run '^TestIsGraft$'`, os.Args[0])
	little.Env = append(os.Environ(), asProcess+`=["version"]`)
	require.Error(t, little.Run())
	require.Equal(t, int(failure.Crashed), little.ProcessState.ExitCode(), "the runtime itself cannot start")

	folder := filepath.Join(t.TempDir(), "run")
	p, out := process(t, brief(folder, "--set", "time.budget=9000h", "--set", "time.events=[]")...)
	(&steered{t: t, folder: folder}).await("events.jsonl")
	require.NoError(t, p.Process.Signal(syscall.SIGABRT))
	// The signal itself ends the process if it reaches a thread of LibTorch instead of a Go thread.
	code := left(t, p)
	byIt := p.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGABRT
	require.True(t, code == failure.Crashed || byIt, "%d %s", code, out)
	fails(t, failure.Usage, "unknown command", "crash")
	require.NotEqual(t, failure.Usage, failure.Crashed)
}

// digestOf returns the digest that a job prints.
func digestOf(t *testing.T, printed string) string {
	found := regexp.MustCompile(`digest ([0-9a-f]{12})`).FindStringSubmatch(printed)
	require.Len(t, found, 2, printed)
	return found[1]
}

// A job that was killed at any moment, even before its run folder is complete, continues with the same command.
func TestResumeAfterAnEarlyKill(t *testing.T) {
	digest := digestOf(t, done(t, brief(filepath.Join(t.TempDir(), "run"))...).stdout)
	for name, make := range map[string]func(folder string){
		"no folder":       func(string) {},
		"an empty folder": func(folder string) { require.NoError(t, os.MkdirAll(folder, 0o755)) },
		"half a folder": func(folder string) {
			require.NoError(t, os.MkdirAll(filepath.Join(folder, "checkpoints"), 0o755))
			write(t, filepath.Join(folder, "lock"), "")
			write(t, filepath.Join(folder, "config.toml"), "half")
		},
		"a killed process": func(folder string) {
			p, _ := process(t, brief(folder)...)
			require.Eventually(t, func() bool { _, err := os.Stat(folder); return err == nil }, patience,
				time.Millisecond)
			require.NoError(t, p.Process.Kill())
			_ = left(t, p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "run")
			make(folder)
			require.Equal(t, digest, digestOf(t, done(t, brief(folder, "--resume")...).stdout))
		})
	}
}
