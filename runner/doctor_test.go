package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctorPassesHere(t *testing.T) {
	got := graft("doctor", "--json")
	require.Equal(t, exitDone, got.code, got.stdout+got.stderr)
	var report doctorReport
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	require.True(t, report.Healthy)
	require.NotEmpty(t, report.LibTorch.Version)
	require.NotEmpty(t, report.LibTorch.Origin)
	require.Contains(t, report.Devices, "cpu")
	require.GreaterOrEqual(t, len(report.Checks), len(machineChecks)+len(deviceChecks))
	for _, c := range report.Checks {
		require.True(t, c.Pass, "%+v", c)
		require.Empty(t, c.Remedy)
	}
	got = graft("doctor")
	require.Equal(t, exitDone, got.code)
	require.Contains(t, got.stdout, report.LibTorch.Version)
	require.Contains(t, got.stdout, "pass  a network learns on cpu")
}

// The library is opened once in a process, so a missing one needs its own.
func TestDoctorExplainsAMissingLibrary(t *testing.T) {
	const alone = "GRAFT_TEST_ALONE"
	if os.Getenv(alone) != "" {
		os.Args = []string{"graft", "doctor", "--json"}
		main()
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDoctorExplainsAMissingLibrary$")
	cmd.Env = append(os.Environ(), alone+"=1", "GRAFT_LIBRARY=/nowhere/lib.so")
	out, err := cmd.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, int(exitFailed), exit.ExitCode())
	var report doctorReport
	require.NoError(t, json.Unmarshal(out, &report), string(out))
	require.False(t, report.Healthy)
	require.Nil(t, report.LibTorch)
	require.Len(t, report.Checks, 1)
	require.Contains(t, report.Checks[0].Detail, "/nowhere/lib.so")
	require.Contains(t, report.Checks[0].Remedy, "make deps")
}

func TestDemoLearns(t *testing.T) {
	for _, path := range [][]string{{"--exact"}, {"--threads", "1"}} {
		got := graft(append([]string{"demo", "--json", "--epochs", "3", "--images", "640"}, path...)...)
		require.Equal(t, exitDone, got.code, got.stderr)
		var result struct{ Epochs []demoEpoch }
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &result))
		require.Len(t, result.Epochs, 3)
		require.Less(t, result.Epochs[2].Loss, result.Epochs[0].Loss)
		require.Positive(t, result.Epochs[2].ImagesPerSecond)
	}
	got := graft("demo", "--epochs", "2", "--images", "128")
	require.Equal(t, exitDone, got.code)
	require.Regexp(t, `The loss went from \d\.\d{4} to \d\.\d{4}\.`, got.stdout)
}

func TestDemoRefuses(t *testing.T) {
	cases := map[string]struct {
		args []string
		code exitCode
		says string
	}{
		"no epoch":             {[]string{"--epochs", "0"}, exitUsage, "at least one"},
		"less than a batch":    {[]string{"--images", "63"}, exitUsage, "one batch of 64"},
		"negative threads":     {[]string{"--threads", "-1"}, exitUsage, "0 or more"},
		"a device not there":   {[]string{"--device", "cuda:99"}, exitFailed, "this machine has cpu"},
		"a device of no kind":  {[]string{"--device", "gpu"}, exitFailed, "write cpu or cuda:N"},
		"an argument too much": {[]string{"more"}, exitUsage, "more"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := graft(append([]string{"demo"}, c.args...)...)
			require.Equal(t, c.code, got.code)
			require.Empty(t, got.stdout)
			require.Contains(t, got.stderr, c.says)
		})
	}
}

func TestDemoStopsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	got := call(ctx, newRootCommand(), "demo", "--images", "64")
	require.Equal(t, exitInterrupted, got.code, got.stderr)
}
