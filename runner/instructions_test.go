package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/runner/train"
)

// A job limited to AVX2 has the same digest on this processor and on emulated others.
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

// With AVX2, the oneDNN of LibTorch 1.13 corrupts memory in 1×1 convolutions with a stride on few channels. graft
// computes them differently, with the same losses.
func TestStridesWithAVX2(t *testing.T) {
	network := filepath.Join(t.TempDir(), "strided.toml")
	write(t, network, `name = "Strided"
input = [3, 16, 16]
layers = [
  {name = "a", block = ["Conv2d(3, 4, 3, padding=1)", "BatchNorm2d(4)", "ReLU()"]},
  {name = "b", block = ["Conv2d(4, 8, 1, stride=2)", "BatchNorm2d(8)", "ReLU()"]},
  {name = "c", block = ["Conv2d(8, 6, 1, stride=2, padding=1)", "ReLU()"]},
  "AdaptiveAvgPool2d(1)", "Flatten()", "Linear(6, 3)",
]
`)
	loss := map[string][]float64{}
	for _, instructions := range []string{"native", "avx2"} {
		folder := filepath.Join(t.TempDir(), "run")
		args := []string{"train", "--quiet", "--folder", folder}
		for _, set := range []string{"network.file=" + config.Quote(network), "time.budget=300ms",
			"data.synthetic.size=16", "data.synthetic.train=400", "data.synthetic.test=100",
			"data.synthetic.classes=3", "train.batch=16", "run.threads=1",
			"run.instructions=" + config.Quote(instructions)} {
			args = append(args, "--set", set)
		}
		command := exec.Command(os.Args[0], args...)
		command.Env = append(os.Environ(), programVariable+"=1")
		out, err := command.CombinedOutput()
		if strings.Contains(string(out), "this processor does not support these instructions") {
			t.Skip("left out: the processor has no AVX2")
		}
		require.NoError(t, err, string(out))
		loss[instructions] = column(t, filepath.Join(folder, "epochs.csv"), "train_loss")
	}
	require.NotEmpty(t, loss["avx2"])
	require.InEpsilon(t, loss["native"][0], loss["avx2"][0], 1e-3)
}
