package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/runner/doctor"
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

// A process opens the library once, so the test of a missing one needs its own process.
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
	require.Contains(t, report.Checks[0].Remedy, "make library")
}

// Variables that name files to which a test process writes its mapped files, and its status with its memory.
const (
	mapsVariable   = "GRAFT_TEST_MAPS"
	statusVariable = "GRAFT_TEST_STATUS"
)

// tell writes what the variables request, at the end of this process.
func tell() {
	for variable, of := range map[string]string{mapsVariable: "/proc/self/maps", statusVariable: "/proc/self/status"} {
		to := os.Getenv(variable)
		if to == "" {
			continue
		}
		text, err := os.ReadFile(of)
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			panic(err)
		}
	}
}

// opened runs a command line, and returns the libraries that it opened and its duration.
func opened(t *testing.T, args ...string) (list []string, took time.Duration) {
	t.Helper()
	maps := filepath.Join(t.TempDir(), "maps")
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(self, args...)
	command.Env = append(os.Environ(), programVariable+"=1", mapsVariable+"="+maps)
	began := time.Now()
	out, err := command.CombinedOutput()
	took = time.Since(began)
	require.NoError(t, err, "%s", out)
	text := contents(t, maps)
	for line := range strings.Lines(text) {
		if at := strings.IndexByte(line, '/'); at >= 0 && strings.Contains(line, ".so") {
			list = append(list, strings.TrimSpace(line[at:]))
		}
	}
	return slices.Compact(list), took
}

// tensorLibraries returns the names of the libraries of LibTorch.
func tensorLibraries(list []string) (names []string) {
	for _, path := range list {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "libgrafttorch") || strings.HasPrefix(name, "libtorch") ||
			strings.HasPrefix(name, "libc10") {
			names = append(names, name)
		}
	}
	return names
}

// Commands that use no tensor do not open LibTorch, which alone takes longer than they do.
func TestLibTorchIsOpenedOnlyWhenUsed(t *testing.T) {
	file := jobFile(t, "[time]\nbudget = \"10s\"\nclock = \"wall\"\n") // check measures on a virtual clock
	var all []time.Duration
	for _, line := range []string{
		"version", "", "help train", "evaluate --help", "train --help", "config check " + file, "config show " + file,
		"config schema", "config schema --markdown", "model list", "model show ConvNet2", "profile show steady",
		"completion bash", "__complete train --set run.", "man " + t.TempDir(),
	} {
		list, took := opened(t, strings.Fields(line)...)
		require.Empty(t, tensorLibraries(list), "graft %s", line)
		all = append(all, took)
	}
	slices.Sort(all)
	t.Logf("measured: %d commands that need no tensor take %v in the median, %v at most, "+
		"on a machine that does other things as well", len(all), all[len(all)/2].Round(time.Millisecond),
		all[len(all)-1].Round(time.Millisecond))
	list, _ := opened(t, "surgery", "--model", "ConvNet2", "--action", "deepen:0", "--rows", "2")
	require.Contains(t, tensorLibraries(list), "libgrafttorch.so", "it is seen where it is opened")
	requireNoneUnneeded(t, list)
}

// requireNoneUnneeded checks that the libraries of films, windows and maps that Debian's LibTorch depends on, but does
// not use, were not opened. Empty libraries stand for the ones that LibTorch itself names.
func requireNoneUnneeded(t *testing.T, list []string) {
	t.Helper()
	for _, path := range list {
		name := filepath.Base(path)
		for _, unneeded := range []string{"libopencv", "libavcodec", "libQt5", "libgdal", "libgst", "libX11"} {
			if strings.HasPrefix(name, unneeded) {
				require.Equal(t, "unneeded", filepath.Base(filepath.Dir(path)), "%s: run 'make library'", path)
			}
		}
	}
}
