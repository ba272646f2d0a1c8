package trial

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"graft/files"
)

// asTrial makes the test binary the process of a trial.
const asTrial = "GRAFT_TEST_AS_TRIAL"

func TestMain(m *testing.M) {
	if os.Getenv(asTrial) != "" {
		if err := Serve(files.OS{}, os.Stdin, os.NewFile(TraceFD, "trace"), os.NewFile(ReplyFD, "reply")); err != nil {
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
