package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results/failure"
	"graft/results/runs"
	"graft/torch"
)

// programVariable is set where this test's program is to be graft itself, which
// starts itself for other devices.
const programVariable = "GRAFT_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "work" { // a worker of a simulation
		main()
	}
	if os.Getenv(programVariable) != "" {
		code := run(os.Args[1:], os.Stdout, os.Stderr)
		tellMaps()
		os.Exit(int(code))
	}
	code := m.Run()
	if len(unpromised.list) > 0 { // by the commands of any test
		fmt.Fprintln(os.Stderr, "what was printed with --json is not what docs/json.md says:\n"+strings.Join(unpromised.list, "\n"))
		code = 1
	}
	os.Exit(code)
}

// column returns the values of one column of a table.
func column(t *testing.T, path, name string) (values []float64) {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	for k, head := range rows[0] {
		if strings.HasPrefix(head, name) {
			for _, row := range rows[1:] {
				v, err := strconv.ParseFloat(row[k], 64)
				require.NoError(t, err)
				values = append(values, v)
			}
		}
	}
	require.NotEmpty(t, values, name)
	return values
}

// A job on two devices is trained by two processes of the program, which leave their
// logs in the run folder, and tells of them.
func TestTrainInProcesses(t *testing.T) {
	found, err := torch.Describe()
	require.NoError(t, err)
	if !found.Gloo {
		t.Skip("this LibTorch has no c10d with Gloo; build the library for another one")
	}
	t.Setenv(programVariable, "1")
	alone, together := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "together")
	two := []string{"--set", `time.events=[{at = "300ms", change = "up", devices = 2}]`, "--set", "optimizer.lr=0.001",
		"--set", `adapt.decider="none"`, "--set", "adapt.actions=[]"} // surgery makes rounding grow
	require.Equal(t, failure.Done, graft(brief(alone, two...)...).code)
	o := done(t, brief(together, append(two, "--set", "parallel.on=true")...)...)
	require.Contains(t, o.stdout, "2 of 2 devices")
	log := contents(t, filepath.Join(together, runs.LogsFolder, "process-1.log"))
	require.Contains(t, log, "follows the job's leader")
	for _, name := range []string{"train_loss", "validation_loss"} {
		want, got := column(t, filepath.Join(alone, "epochs.csv"), name), column(t, filepath.Join(together, "epochs.csv"), name)
		require.Len(t, got, len(want))
		for k := range want {
			require.LessOrEqual(t, math.Abs(got[k]-want[k]), 1e-5*want[k], "%s of epoch %d", name, k)
		}
	}
}

func TestFollowIsNotForPeople(t *testing.T) {
	t.Setenv(programVariable, "1")
	require.NotContains(t, graft("--help").stdout, "follow")
	fails(t, failure.Usage, "graft train", "follow", "nowhere.toml")
}
