package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gpuReport is the report.json of scripts/gpu.sh.
type gpuReport struct {
	Version  int    `json:"version"`
	CUDA     bool   `json:"cuda"`
	Machine  string `json:"machine"`
	Failures int    `json:"failures"`
	Steps    []struct {
		Step    string `json:"step"`
		State   string `json:"state"`
		Seconds int    `json:"seconds"`
		Limit   int    `json:"limit_s"`
		Last    string `json:"last"`
	} `json:"steps"`
}

// gpuTree returns a checkout whose programs only print their arguments, and whose graft reports the given number of
// GPUs.
func gpuTree(t *testing.T, gpus string) string {
	tree := t.TempDir()
	program := func(path, text string) {
		path = filepath.Join(tree, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	program("scripts/gpu.sh", strings.TrimPrefix(contents(t, "../scripts/gpu.sh"), "#!/bin/sh\n"))
	program("scripts/library.sh", "echo library is ready")
	program("build/gpu/graft", `[ "$*" != "doctor --json" ] || { echo '{"libtorch":{"cuda_devices":`+gpus+
		`}}'; exit; }; echo "graft $*"; [ $1 != train ] || echo '{"outputs_moved_by": 1e-06}'`)
	program("build/gpu/bench", `echo "bench $*"; echo 'a "figure" \ and	a tab'`)
	for _, name := range []string{"torch", "trainer", "telemetry"} {
		program("build/gpu/"+name+".test", `echo "`+name+` $*"`)
	}
	for _, folder := range []string{"torch", "trainer", "internal/telemetry"} {
		require.NoError(t, os.MkdirAll(filepath.Join(tree, folder), 0o755))
	}
	return tree
}

// runGPU runs the script in a tree, with a Python that seems to have PyTorch.
func runGPU(t *testing.T, tree string, env ...string) (r gpuReport, text string, err error) {
	t.Helper()
	python := filepath.Join(tree, "python")
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\necho PyTorch\n"), 0o755))
	command := exec.Command(filepath.Join(tree, "scripts/gpu.sh"), "run", "report")
	command.Env = append(os.Environ(), append([]string{"GRAFT_PYTHON=" + python, "LIBTORCH=" + tree}, env...)...)
	out, err := command.CombinedOutput()
	require.NoError(t, json.Unmarshal([]byte(contents(t, filepath.Join(tree, "report/report.json"))), &r), string(out))
	require.Equal(t, 1, r.Version)
	return r, contents(t, filepath.Join(tree, "report/report.txt")), err
}

// Without a GPU, steps that need one are reported as left out. With a GPU, all steps run.
func TestReportsOfGPUs(t *testing.T) {
	r, text, err := runGPU(t, gpuTree(t, "0"))
	require.NoError(t, err)
	states := map[string]string{}
	for _, s := range r.Steps {
		states[s.Step] = s.State + ": " + s.Last
	}
	require.Len(t, states, 16)
	needing := "energy demo profile profile-bfloat16 epoch gpt gpt-85m gpt-graphs gpt-85m-graphs program grid"
	for _, name := range strings.Fields(needing) {
		require.Equal(t, "left out: no CUDA device", states[name])
	}
	require.Equal(t, "pass: torch -test.run CUDA -test.v", states["tests-torch"])
	require.Contains(t, text, "no CUDA device")
	require.False(t, r.CUDA)

	r, text, err = runGPU(t, gpuTree(t, "2"))
	require.NoError(t, err)
	require.True(t, r.CUDA)
	for _, s := range r.Steps {
		require.Equal(t, "pass", s.State, s.Step)
	}
	require.Equal(t, `a "figure" \ and a tab`, r.Steps[12].Last)
	require.Contains(t, text, "bench epoch -device cuda:0 -images 12800")
}

// A step that fails or times out is reported, and the other steps run while time is left. The limit is longer if a busy
// machine does not come as far as the step that times out.
func TestFailuresOnGPUs(t *testing.T) {
	tree := gpuTree(t, "1")
	require.NoError(t, os.WriteFile(filepath.Join(tree, "build/gpu/torch.test"),
		[]byte("#!/bin/sh\necho 'losses differ'\nexit 1\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "build/gpu/telemetry.test"),
		[]byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
	var r gpuReport
	var text string
	var err error
	limit, states := 9, map[string]string{}
	for ; ; limit *= 4 {
		r, text, err = runGPU(t, tree, fmt.Sprint("LIMIT=", limit))
		require.Error(t, err)
		for _, s := range r.Steps {
			states[s.Step] = s.State + ": " + s.Last
		}
		if states["energy"] == "timeout: " || limit > 100 {
			break
		}
	}
	require.Equal(t, "failed, 1: losses differ", states["tests-torch"])
	require.Equal(t, "pass: trainer -test.run CUDA -test.v", states["tests-trainer"])
	require.Equal(t, "timeout: ", states["energy"])
	require.Equal(t, fmt.Sprintf("left out: no time is left of %d s", limit), states["grid"])
	require.Equal(t, 12, r.Failures)
	require.Contains(t, text, "losses differ")

	r, _, err = runGPU(t, gpuTree(t, "1"), "STEPS=doctor demo")
	require.NoError(t, err)
	require.Len(t, r.Steps, 2)
	archive := filepath.Join(tree, "build/gpu.tar.gz")
	packed, err := exec.Command("tar", "-czf", archive, "-C", tree, "build/gpu").CombinedOutput()
	require.NoError(t, err, string(packed))
	require.NoError(t, os.RemoveAll(filepath.Join(tree, "build/gpu")))
	r, _, err = runGPU(t, tree, "STEPS=doctor")
	require.NoError(t, err)
	require.Equal(t, "graft doctor", r.Steps[0].Last)

	require.NoError(t, os.RemoveAll(filepath.Join(tree, "build")))
	out, err := exec.Command(filepath.Join(tree, "scripts/gpu.sh"), "run").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "run scripts/gpu.sh build where Go is")
}
