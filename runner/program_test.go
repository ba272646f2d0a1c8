package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/results"
	"graft/runner/train"
)

// decidedJob is a job with a program as its decider.
const decidedJob = `[data.synthetic]
classes = 4
size = 16
train = 200
test = 100
[time]
budget = "1s"
events = [{at = "300ms", change = "up"}]
[adapt]
decider = "./decider"
`

// refusing is a shell program that answers the handshake and then fails.
const refusing = "#!/bin/sh\nread line\necho '{\"protocol\": 1}'\nread line\necho no idea >&2\nexit 3\n"

// A job follows a program's decision, and its digest covers the program. If the program fails, the job ends with the
// program's last messages. A program that cannot start is a fault of the configuration.
func TestJobsAskPrograms(t *testing.T) {
	program := contents(t, "../scenarios/deciders/early.py")
	t.Chdir(t.TempDir())
	write(t, "job.toml", decidedJob)
	fails(t, failure.Configuration, "decider", "config", "check", "job.toml")
	write(t, "decider", program)
	fails(t, failure.Configuration, "make it executable with 'chmod +x ./decider'", "config", "check", "job.toml")
	require.NoError(t, os.Chmod("decider", 0o777))
	done(t, "config", "check", "job.toml")
	r := decoded[train.Result](t, done(t, "train", "job.toml", "--json", "--quiet", "--folder", "run").stdout)
	require.Equal(t, 1, r.Outcome.Decisions)
	action := ""
	for _, e := range r.Events {
		action += e.Action
	}
	require.True(t, strings.HasPrefix(action, "deepen:"), action)

	write(t, "decider", refusing)
	fails(t, failure.Failed, "its last messages:\n  no idea", "train", "job.toml", "--quiet", "--folder", "other")
	write(t, "decider", "#!/bin/sh\nexit 1\n")
	fails(t, failure.Configuration, "adapt.decider: ", "train", "job.toml", "--quiet", "--folder", "third")
	require.NoDirExists(t, "third")
}

// A program can replace a scheduler in a study. Its results have the program's name, and a changed program is simulated
// again.
func TestStudiesAskPrograms(t *testing.T) {
	program := contents(t, "../scenarios/schedulers/patient.py")
	t.Chdir(t.TempDir())
	done(t, "trace", "generate", "jobs.csv", "--jobs", "60", "--nodes", "2")
	line := []string{"cluster", "run", "--trace", "jobs.csv", "--nodes", "2", "--out", "run", "--scheduler",
		"fifo,./patient.py"}
	fails(t, failure.Failed, "patient.py: no such file", line...)
	write(t, "patient.py", program)
	out := done(t, line...).stdout
	require.Regexp(t, `(?m)^patient\.py +[0-9.]+ `, out)
	require.FileExists(t, filepath.Join("run", "patient.py", "jobs.csv"))
	first := outcomeOf(t)
	require.Len(t, first.Cells, 2)

	write(t, "patient.py", strings.Replace(program, "PATIENCE = 3600", "PATIENCE = 0", 1))
	done(t, append(line, "--force")...)
	require.Equal(t, first.Cells[0].Values, outcomeOf(t).Cells[0].Values)
	require.Equal(t, first.Cells[0].Values["jct_mean_s"], outcomeOf(t).Cells[1].Values["jct_mean_s"],
		"without patience it is fifo")
	require.NoError(t, os.Mkdir("other", 0o777))
	write(t, "other/patient.py", program)
	fails(t, failure.Configuration, "have the same name patient.py", append(line[:len(line)-1:len(line)-1],
		"./patient.py,other/patient.py")...)
	write(t, "patient.py", "print('hello')\n")
	fails(t, failure.Configuration, `answered "hello": expected one line of JSON`, append(line, "--force")...)
}

func outcomeOf(t *testing.T) study.Outcome {
	t.Helper()
	var o study.Outcome
	require.NoError(t, results.ReadOutcome(files.OS{}, "run", &o))
	return o
}
