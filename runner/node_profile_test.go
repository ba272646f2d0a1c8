package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

// Each fault has an error message and an exit code. A pair that does not fit is not a fault.
func TestNodeProfileSaysWhatIsWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "fails.toml", "[machine]\ngpus = 1\n[executor]\ndevices = \"cpu\"\n[[task]]\nname = \"a\"\n"+
		"command = [\"false\"]\n")
	write(t, "large.toml", "[machine]\ngpus = 1\n[executor]\ndevices = \"cpu\"\n[[task]]\nname = \"a\"\n"+
		"command = [\"true\"]\nmemory_mb = 9000\n")
	write(t, "simulated.toml", "[machine]\ngpus = 1\n[[task]]\nname = \"a\"\nduration = \"1s\"\n")
	for args, c := range map[string]struct {
		code failure.Code
		says string
	}{
		"none.toml":               {failure.Failed, "none.toml: no such file"},
		"simulated.toml":          {failure.Configuration, "task a has no command; add command"},
		"large.toml --repeats 0":  {failure.Usage, "--repeats is 0; must be between 1 and 1000"},
		"large.toml --pairs some": {failure.Usage, `--pairs is "some"; expected all or none`},
		"large.toml --seconds 0":  {failure.Usage, "must be positive"},
		"fails.toml --repeats 1":  {failure.Partial, "a.1.1: exit code 1; its log is in measurement-1/logs"},
		"large.toml --seconds 0.01": {failure.Done,
			"a with a: the tasks together need 18000 MiB, but the device has 16384 MiB"},
		"large.toml --resume --json x": {failure.Usage, "accepts 1 arg"},
	} {
		o := graft(append([]string{"node", "profile"}, strings.Fields(args)...)...)
		require.Equal(t, c.code, o.code, "%s: %s", args, o.stderr)
		require.Contains(t, strings.Join(strings.Fields(o.stdout+o.stderr), " "), c.says, args)
	}
}
