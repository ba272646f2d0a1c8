package node_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"graft/cluster"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/node"
)

// pairOfTasks has two tasks, one with count 2.
const pairOfTasks = `[machine]
gpus = 1
[[task]]
name = "nap"
count = 2
memory_mb = 4000
command = ["sleep", "0.05"]
[[task]]
name = "spin"
kind = "loop"
memory_mb = 9000
command = ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo $GRAFT_TASK"]
`

// briefly returns options for the shortest possible measurements.
func briefly(repeats int, resume bool) node.ProfileOptions {
	return node.ProfileOptions{FolderOptions: app.FolderOptions{Resume: resume}, Repeats: repeats, Seconds: 0.01}
}

func TestProfile(t *testing.T) {
	dir := t.TempDir()
	c, path := tasksOf(t, dir, pairOfTasks)
	env := machine(nil, &source{devices: []telemetry.Device{{UUID: "intel-rapl:0", Name: "package-0"}}})
	o, err := node.Profile(t.Context(), env, c, path, briefly(1, false))
	require.NoError(t, err)
	run := filepath.Join(dir, "run")
	require.Equal(t, run, o.Folder)
	require.Len(t, o.Tasks, 2)
	require.Len(t, o.Pairs, 2, "loop beside itself does not fit")
	require.Equal(t, []runs.NodeProfileFailed{{First: "loop", Second: "loop",
		Reason: "the tasks together need 18000 MiB, but the device has 16384 MiB", Full: true}}, o.Left)
	for _, p := range o.Pairs {
		require.Positive(t, p.Speed1.Mean)
		require.Positive(t, p.Speed2.Mean)
		require.NotNil(t, p.Watts)
		require.Nil(t, p.Utilization, "unknown")
		require.NotZero(t, p.Runs1*p.Runs2)
	}
	require.NotNil(t, o.Tasks[0].Label)
	require.NoDirExists(t, filepath.Join(run, "measurement-1"))

	pairs := filepath.Join(run, runs.NodePairsFile)
	profiles, err := cluster.ReadProfiles(files.OS{}, filepath.Join(run, runs.NodeAloneFile), pairs)
	require.NoError(t, err)
	require.Len(t, profiles.Scores, 2)
	require.Equal(t, [2]float64{o.Pairs[1].Speed1.Mean, o.Pairs[1].Speed2.Mean},
		profiles.Pairs[[2]cluster.Config{{Model: "nap"}, {Model: "loop"}}])
	_, err = node.Read(files.OS{}, path, []string{"machine.profiles=" + config.Quote(pairs)})
	require.NoError(t, err)

	before, err := runs.ReadNodeProfile(files.OS{}, run)
	require.NoError(t, err)
	again, err := node.Profile(t.Context(), env, c, path, briefly(2, true))
	require.NoError(t, err)
	after, err := runs.ReadNodeProfile(files.OS{}, run)
	require.NoError(t, err)
	require.Equal(t, before, after[:4], "what was measured is kept")
	require.Len(t, after, 8)
	require.Equal(t, 2, again.Repeats)
	first, second := before[0].Times[0], after[4].Times[0]
	require.InDelta(t, (first+second)/2, again.Tasks[0].Seconds.Mean, 1e-12)
	require.Equal(t, [2]float64{min(first, second), max(first, second)},
		[2]float64{again.Tasks[0].Seconds.Low, again.Tasks[0].Seconds.High})
}

func TestProfileOfTasksThatFail(t *testing.T) {
	dir := t.TempDir()
	c, path := tasksOf(t, dir, "[machine]\ngpus = 1\n[[task]]\nname = \"bad\"\n"+
		"command = [\"sh\", \"-c\", \"echo oops; exit 3\"]\n[[task]]\nname = \"good\"\ncommand = [\"true\"]\n")
	o, err := node.Profile(t.Context(), machine(nil, nil), c, path, briefly(2, false))
	require.NoError(t, err)
	require.Len(t, o.Tasks, 1)
	require.Len(t, o.Left, 3)
	require.Equal(t, "bad.1.1: exit code 3; its log is in measurement-1/logs", o.Left[0].Reason)
	require.Equal(t, runs.NodeProfileFailed{First: "bad", Second: "good", Reason: "bad was not measured alone"},
		o.Left[2])
	logs, err := filepath.Glob(filepath.Join(dir, "run", "measurement-1", "logs", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	text, err := os.ReadFile(logs[0])
	require.NoError(t, err)
	require.Equal(t, "oops\n", string(text))
}

// A stopped measurement is repeated after a resume.
func TestProfileGoesOn(t *testing.T) {
	dir := t.TempDir()
	begun, end := filepath.Join(dir, "begun"), filepath.Join(dir, "end")
	c, path := tasksOf(t, dir, fmt.Sprintf("[machine]\ngpus = 1\n[[task]]\nname = \"first\"\ncommand = [\"true\"]\n"+
		"[[task]]\nname = \"slow\"\ncommand = [\"sh\", \"-c\", %q]\n", "touch "+begun+"; "+waits(end)))
	ctx, cancel := context.WithCancel(t.Context())
	env := machine(nil, nil)
	env.Log = zaptest.NewLogger(t)
	over := make(chan error, 1)
	o := briefly(1, false)
	o.Pairs = "none"
	go func() {
		_, err := node.Profile(ctx, env, c, path, o)
		over <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, patience, 5*time.Millisecond)
	cancel()
	require.Equal(t, failure.Requeue, failure.CodeOf(t.Context(), <-over))
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	o.Resume = true
	outcome, err := node.Profile(t.Context(), env, c, path, o)
	require.NoError(t, err)
	require.Len(t, outcome.Tasks, 2)
	require.Empty(t, outcome.Left)
	require.Nil(t, outcome.Tasks[0].Label, "no pairs were measured")
}

// A task that does not complete in time is not measured.
func TestProfileEndsTasks(t *testing.T) {
	c, path := tasksOf(t, t.TempDir(), "[machine]\ngpus = 1\n[[task]]\ncommand = [\"sleep\", \"1000\"]\n")
	o := briefly(1, false)
	o.Most = 0.2
	outcome, err := node.Profile(t.Context(), machine(nil, nil), c, path, o)
	require.NoError(t, err)
	require.Empty(t, outcome.Tasks)
	require.Equal(t, `no complete run within 0.2 s; increase option "most-seconds"`, outcome.Left[0].Reason)
}

func TestProfileRefusesOptions(t *testing.T) {
	c, path := tasksOf(t, t.TempDir(), "[machine]\ngpus = 1\n[[task]]\ncommand = [\"true\"]\n")
	for _, o := range []node.ProfileOptions{{Repeats: -1}, {Pairs: "some"}, {Seconds: 9, Most: 3},
		{Seconds: math.NaN()}} {
		_, err := node.Profile(t.Context(), machine(nil, nil), c, path, o)
		require.Equal(t, failure.Usage, failure.CodeOf(t.Context(), err), "%v", err)
	}
}
