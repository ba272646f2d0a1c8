package trial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"graft/internal/files"
)

// asTrial makes the test binary run as a trial process.
const asTrial = "GRAFT_TEST_AS_TRIAL"

// asDying makes the trial process die by a fault as soon as the network runs.
const asDying = "GRAFT_TEST_AS_DYING"

// dying is a trace file. If asDying is set, a write to it kills the process.
type dying struct{ file *os.File }

func (d dying) Write(p []byte) (int, error) {
	n, err := d.file.Write(p)
	if os.Getenv(asDying) != "" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		select {} // until the signal comes
	}
	return n, err
}

func TestMain(m *testing.M) {
	if os.Getenv(asTrial) != "" {
		if err := Serve(files.OS{}, os.Stdin, dying{os.NewFile(TraceFD, "trace")},
			os.NewFile(ReplyFD, "reply")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(asHostile) != "" {
		if err := serveLines(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	Command = func(ctx context.Context) *exec.Cmd {
		c := exec.CommandContext(ctx, os.Args[0])
		c.Env = append(os.Environ(), asTrial+"=1")
		return c
	}
	os.Exit(m.Run())
}
