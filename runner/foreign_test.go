package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/torch/weights"
)

// foreignNetwork writes the file of an imported network for 16 × 16 images, with one given operator, and its weights.
func foreignNetwork(t *testing.T, dir, operator string) (network, set string) {
	operators := "\"" + strings.Join([]string{"z = zeros.default(size=[0, 3])", operator, "m = mean.default(self=%a)",
		"f = flatten.using_ints(self=%x, start_dim=1)", "l = linear.default(input=%f, weight=@fc.weight) in fc",
		"y = add.Tensor(self=%l, other=%m)"}, "\", \"") + "\""
	network = write(t, filepath.Join(dir, "net.toml"), fmt.Sprintf(`name = "Net"
input = {value = "x", dtype = "float32", shape = ["batch=2", 3, 16, 16]}
output = "y"
modules = [{path = "", class = "Net"}, {path = "fc", class = "Linear", extra = "768, 10"}]
tensors = [{name = "fc.weight", role = "parameter", dtype = "float32", shape = [10, 768]}]
operators = [%s]
`, operators))
	w, err := weights.FromFloat32s("fc.weight", []int64{10, 768}, make([]float32, 7680))
	require.NoError(t, err)
	set = filepath.Join(dir, "net.safetensors")
	require.NoError(t, weights.Write(files.OS{}, set, &weights.Set{Tensors: []weights.Tensor{w}}))
	return network, set
}

// foreignJob writes a job that trains a network.
func foreignJob(t *testing.T, dir, network, set string) string {
	return write(t, filepath.Join(dir, "job.toml"), fmt.Sprintf(`network = {file = %q, weights = %q}
data = {synthetic = {size = 16}}
adapt = {decider = "none", actions = []}
`, network, set))
}

// A network that crashes LibTorch, or that takes more memory than its shapes suggest, is refused by each command that
// would run it. The process survives.
func TestForeignNetworksAreTried(t *testing.T) {
	longOnly(t, "foreign networks in every command")
	inputs := write(t, filepath.Join(t.TempDir(), "in.json"),
		fmt.Sprintf(`{"inputs": [{"shape": [1, 3, 16, 16], "values": [%s0]}]}`, strings.Repeat("0, ", 767)))
	for operator, c := range map[string]struct{ job, forward string }{
		"a = reflection_pad2d.default(self=%x, padding=[])": {"a list of 0 items, where 4 are needed",
			"a list of 0 items, where 4 are needed"},
		"a = _weight_norm.default(v=%z, g=%z)":      {"cannot infer the shapes of the results", "a tensor is empty"},
		"a = ones.default(size=[2000000, 2000000])": {"for the memory of any machine", "for the memory of any machine"},
		"a = ones.default(size=[200000, 200000])": {"three quarters of this machine's memory",
			"three quarters of this machine's memory"},
		"a = softmax.int(self=%x, dim=7)": {"Dimension out of range", "Dimension out of range"},
	} {
		dir := t.TempDir()
		network, set := foreignNetwork(t, dir, operator)
		job := foreignJob(t, dir, network, set)
		for _, command := range []string{"config check " + job,
			"train --folder " + filepath.Join(dir, "run") + " " + job} {
			fails(t, failure.Configuration, c.job, strings.Fields(command)...)
		}
		fails(t, failure.Configuration, c.forward, "profile", "--only", "--out", filepath.Join(dir, "p.json"), network)
		fails(t, failure.Failed, c.forward, "model", "forward", network, "--weights", set, "--inputs", inputs)
		require.NoDirExists(t, filepath.Join(dir, "run"))
	}
}

// A network that passes the check computes the same in a separate process as in this one.
func TestForeignNetworksCompute(t *testing.T) {
	dir := t.TempDir()
	network, set := foreignNetwork(t, dir, "a = add.Scalar(self=%x, other=0.5)")
	inputs := write(t, filepath.Join(dir, "in.json"),
		fmt.Sprintf(`{"inputs": [{"shape": [1, 3, 16, 16], "values": [%s1]}]}`, strings.Repeat("1, ", 767)))
	out := filepath.Join(dir, "out.json")
	done(t, "model", "forward", network, "--weights", set, "--inputs", inputs, "--out", out)
	require.Contains(t, contents(t, out), `"logits_eval":[1.5,1.5`)
	done(t, "config", "check", foreignJob(t, dir, network, set))
}
