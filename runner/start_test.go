package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mapsVariable names the file into which a process of this test writes what it has mapped.
const mapsVariable = "GRAFT_TEST_MAPS"

// tellMaps writes what this process has mapped, if that is wanted.
func tellMaps() {
	to := os.Getenv(mapsVariable)
	if to == "" {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err == nil {
		err = os.WriteFile(to, maps, 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// opened are the libraries of tensors that a command line has opened by its end, and how
// long it took.
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
		name := filepath.Base(strings.TrimSpace(line))
		if strings.HasPrefix(name, "libgrafttorch") || strings.HasPrefix(name, "libtorch") || strings.HasPrefix(name, "libc10") {
			list = append(list, name)
		}
	}
	return slices.Compact(list), took
}

// Commands that need no tensor do not open LibTorch, which alone takes longer than they do.
func TestLibTorchIsOpenedOnlyWhenUsed(t *testing.T) {
	file := jobFile(t, "[time]\nbudget = \"10s\"\n")
	var all []time.Duration
	for _, line := range []string{
		"version", "", "help train", "evaluate --help", "train --help", "config check " + file, "config show " + file, "config schema", "config schema --markdown",
		"model list", "model show ConvNet2", "profile show steady", "completion bash", "__complete train --set run.", "man " + t.TempDir(),
	} {
		list, took := opened(t, strings.Fields(line)...)
		require.Empty(t, list, "graft %s", line)
		all = append(all, took)
	}
	slices.Sort(all)
	t.Logf("measured: %d commands that need no tensor take %v in the median, %v at most, on a machine that does other things as well",
		len(all), all[len(all)/2].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
	list, _ := opened(t, "surgery", "--model", "ConvNet2", "--action", "deepen:0", "--rows", "2")
	require.Contains(t, list, "libgrafttorch.so", "it is seen where it is opened")
}
