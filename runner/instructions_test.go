package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/work/train"
)

// A job that is limited to AVX2 has one digest on this processor and on others that an emulator
// makes of it.
func TestLimitedJobsHaveOneDigest(t *testing.T) {
	emulator, err := exec.LookPath("qemu-x86_64")
	if !longTests || err != nil {
		t.Skip("left out: emulated processors take minutes; set GRAFT_LONG=1, with Debian's qemu-user")
	}
	digest := func(prefix ...string) string {
		folder := filepath.Join(t.TempDir(), "run")
		line := append(prefix, os.Args[0])
		line = append(line, brief(folder, "--json", "--set", `run.instructions="avx2"`, "--set", "run.threads=1")...)
		command := exec.Command(line[0], line[1:]...)
		command.Env = append(os.Environ(), programVariable+"=1")
		out, err := command.Output()
		require.NoError(t, err)
		var result train.Result
		require.NoError(t, json.Unmarshal(out, &result))
		require.NotEmpty(t, result.Outcome.Digest)
		return result.Outcome.Digest
	}
	want := digest()
	for _, processor := range []string{"Haswell-noTSX", "EPYC"} {
		require.Equal(t, want, digest(emulator, "-cpu", processor), processor)
	}
}
