package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results/failure"
	"graft/work/doctor"
)

func TestDoctorPassesHere(t *testing.T) {
	report := decoded[doctor.Report](t, done(t, "doctor", "--json").stdout)
	require.True(t, report.Healthy)
	require.NotEmpty(t, report.LibTorch.Version)
	require.NotEmpty(t, report.LibTorch.Origin)
	require.Contains(t, report.Devices, "cpu")
	require.GreaterOrEqual(t, len(report.Checks), 7)
	for _, c := range report.Checks {
		require.True(t, c.Pass, "%+v", c)
		require.Empty(t, c.Remedy)
	}
	got := done(t, "doctor")
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
	require.Equal(t, int(failure.Failed), exit.ExitCode())
	var report doctor.Report
	require.NoError(t, json.Unmarshal(out, &report), string(out))
	require.False(t, report.Healthy)
	require.Nil(t, report.LibTorch)
	require.Len(t, report.Checks, 1)
	require.Contains(t, report.Checks[0].Detail, "/nowhere/lib.so")
	require.Contains(t, report.Checks[0].Remedy, "make deps")
}
