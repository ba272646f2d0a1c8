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
	again := []string{"model", "forward", network, "--weights", set, "--inputs", inputs, "--out", out}
	fails(t, failure.Usage, out+" already exists: choose another file, or replace it with --force", again...)
	done(t, append(again, "--force")...)
	fails(t, failure.Usage, "are the same file", append(again[:len(again)-1], inputs, "--force")...)
	done(t, "config", "check", foreignJob(t, dir, network, set))
}

// graphText is a network of a convolution, the given operator on its result %a, which returns b, and a linear layer.
const graphText = `name = "Net"
input = {value = "x", dtype = "float32", shape = [%s]}
output = "e"
modules = [{path = "", class = "Net"}]
tensors = [
  {name = "w", role = "parameter", dtype = "float32", shape = [8, 3, 3, 3], init = "normal 0.1"},
  {name = "l", role = "parameter", dtype = "float32", shape = [10, 8], init = "normal 0.1"},
]
operators = [
  '''a = conv2d.default(input=%%x, weight=@w, stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1)''',
  '''b = %s''',
  '''d = mean.dim(self=%%b, dim=[2, 3])''',
  '''e = linear.default(input=%%d, weight=@l)''',
]
`

// A network is refused by config check if it cannot compute the job's batches, because it was exported for another
// batch size or larger images, or if its training step fails.
func TestNetworksFitTheJobsBatches(t *testing.T) {
	for name, c := range map[string]struct{ shape, operator, options, fault string }{
		"any batch":          {`"batch=2", 3, 16, 16`, "relu.default(self=%a)", "", ""},
		"any batch and size": {`"batch=2", 3, "h=32", "w=32"`, "relu.default(self=%a)", "", ""},
		"an inferred batch":  {`"batch=2", 3, 16, 16`, "reshape.default(self=%a, shape=[-1, 8, 16, 16])", "", ""},
		"another batch": {`2, 3, 16, 16`, "reshape.default(self=%a, shape=[2, 8, 16, 16])", "",
			"cannot compute a batch of 32 examples of shape 3x16x16"},
		"another batch in evaluation": {`32, 3, 16, 16`, "reshape.default(self=%a, shape=[32, 8, 16, 16])", "",
			"cannot compute a batch of 40 examples"},
		"another last batch": {`32, 3, 16, 16`, "reshape.default(self=%a, shape=[32, 8, 16, 16])",
			"train.eval_batch=32", "cannot compute a batch of 8 examples"},
		"one result for all": {`"batch=2", 3, 16, 16`, "mean.dim(self=%a, dim=[0], keepdim=true)", "",
			"it must have one row for each example"},
		"smaller images than the kernel": {`"batch=2", 3, "h=32", "w=32"`,
			"avg_pool2d.default(self=%a, kernel_size=[20, 20])", "", "the kernel covers 20 values"},
		"a step that fails": {`"batch=2", 3, 16, 16`, "dropout.default(input=%a, p=1.5)", "",
			"a training step fails on random examples"},
	} {
		dir := t.TempDir()
		file := write(t, filepath.Join(dir, "net.toml"), fmt.Sprintf(graphText, c.shape, c.operator))
		job := write(t, filepath.Join(dir, "job.toml"), fmt.Sprintf(`network = {file = %q}
data = {synthetic = {size = 16, train = 64, test = 40}, test_as_validation = true}
train = {batch = 32}
adapt = {decider = "none", actions = []}
`, file))
		arguments := []string{"config", "check", job}
		if c.options != "" {
			arguments = append(arguments, "--set", c.options)
		}
		if c.fault == "" {
			require.Contains(t, done(t, arguments...).stdout, "ok", name)
			continue
		}
		fails(t, failure.Configuration, c.fault, arguments...)
	}
}
