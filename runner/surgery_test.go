package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/surgery"
	"graft/torch/weights"
)

// A normalisation without a weight cannot compensate for padding, so only whole copies fit.
func TestNormalisationsWithoutWeightsTakeWholeCopies(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "net.toml"), `name = "Net"
input = {value = "x", dtype = "float32", shape = ["batch=4", 4]}
output = "y"
modules = [{path = "", class = "Net"}, {path = "a", class = "Linear"}, {path = "b", class = "Linear"}]
tensors = [{name = "a.weight", role = "parameter", dtype = "float32", shape = [8, 4]},
  {name = "b.weight", role = "parameter", dtype = "float32", shape = [3, 8]}]
operators = ["h = linear.default(input=%x, weight=@a.weight) in a",
  "n = layer_norm.default(input=%h, normalized_shape=[8])", "y = linear.default(input=%n, weight=@b.weight) in b"]
`)
	fails(t, failure.Failed, "11 is not a multiple of 8, and a normalisation over the axis has no weight", "surgery",
		"--model", path, "--action", "widen:a:11", "--verify")
	require.Contains(t, must(t, "surgery --model "+path+" --action widen:a:16 --verify"), "kept")
}

// hashes returns the digests of a file's tensors by name.
func hashes(t *testing.T, path string) map[string]string {
	t.Helper()
	set, err := weights.Read(files.OS{}, path, weights.Options{})
	require.NoError(t, err)
	all := map[string]string{}
	for _, tensor := range set.Tensors {
		summary, err := weights.Describe(tensor)
		require.NoError(t, err)
		all[tensor.Name] = summary.SHA256
	}
	return all
}

// A network grows, is written, and shrinks back to its original weights.
func TestSurgeryThereAndBack(t *testing.T) {
	at := func(name string) string { return filepath.Join(t.TempDir(), name) }
	begin, grown, network, record, back, first := at("begin.pth"), at("grown.pth"), at("grown.toml"), at("record.json"),
		at("back.pth"), at("first.json")
	done(t, "surgery", "--model", "ConvNet2", "--action", "none", "--out", begin)
	o := graft("surgery", "--model", "ConvNet2", "--weights", begin, "--action", "deepen:1", "--action",
		"widen:conv2:48", "--action", "branch:fc", "--out", grown, "--model-out", network, "--record", record,
		"--verify", "--rows", "64")
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Contains(t, o.stdout, "wrote "+network)
	require.NotContains(t, o.stdout, "NOT KEPT")
	o = done(t, "surgery", "--model", network, "--weights", grown, "--replay", record, "--shrink", "0", "--out", back,
		"--model-out", first, "--verify", "--rows", "64")
	require.Regexp(t, `take back branch:fc +24730 .*\ntake back widen:conv2:48 +19914 .*\ntake back deepen:1 +10602 `,
		o.stdout)
	require.Equal(t, hashes(t, begin), hashes(t, back))
	again := []string{"surgery", "--model", first, "--weights", back, "--replay", record, "--json", "--out"}
	fails(t, failure.Usage, "are the same file: choose another output file", append(again, back, "--force")...)
	fails(t, failure.Usage, "already exists: choose another file, or replace it with --force", append(again, begin)...)
	o = done(t, append(again, begin, "--force")...)
	require.Equal(t, hashes(t, grown), hashes(t, begin), "a replay gives the same weights")
	report := decoded[surgery.Report](t, o.stdout)
	require.Len(t, report.Changes, 3)
	fails(t, failure.Usage, "--shrink is 3, but "+record+" has 3 changes", "surgery", "--model", network, "--weights",
		grown, "--replay", record, "--shrink", "3")
	require.Equal(t, 10602, report.ParametersBefore)
}

// A change that does not preserve the function is not written, and the exit code shows it.
func TestSurgeryVerifies(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.pth")
	o := fails(t, failure.Failed, "", "surgery", "--model", "ConvNet2", "--action", "deepen:0", "--compat", "original",
		"--verify", "--rows", "64", "--out", out)
	require.Contains(t, o.stdout, "NOT KEPT")
	require.Contains(t, o.stderr, "the network's function changed: in train mode")
	require.Contains(t, o.stderr, "; no files were written; ")
	require.NoFileExists(t, out)
	o = fails(t, failure.Failed, "a larger --tolerance accepts the change", "surgery", "--model", "ConvNet2",
		"--action", "deepen:0", "--compat", "original", "--verify", "--rows", "64")
	require.NotContains(t, o.stderr, "no files were written", "none was asked for")
	fails(t, failure.Failed, "read the batch: ", "surgery", "--model", "ConvNet2", "--action", "deepen:0", "--batch",
		out)
	done(t, "surgery", "--model", "ConvNet2", "--action", "widen:conv1:64", "--noise", "0.1", "--verify", "--rows",
		"64", "--tolerance", "10", "--float64")
}

func TestSurgeryRefuses(t *testing.T) {
	folder := t.TempDir()
	broken := write(t, filepath.Join(folder, "broken.toml"), "input = [3, 8, 8]\nlayers = [\"Conv2D(3, 4, 3)\"]\n")
	damaged := filepath.Join(folder, "damaged.pth")
	write(t, damaged, "no weights")
	allFail(t, "surgery", map[string]wrongCall{
		"no model":  {[]string{"--action", "none"}, failure.Usage, "--model"},
		"no action": {[]string{"--model", "ConvNet2"}, failure.Usage, "--action"},
		"unknown model": {[]string{"--model", "ConvNet22", "--action", "none"}, failure.Usage,
			"did you mean ConvNet2?"},
		"bad action": {[]string{"--model", "ConvNet2", "--action", "dig:1"}, failure.Usage, `unknown operation "dig"`},
		"bad shape": {[]string{"--model", "ConvNet2", "--action", "none", "--input", "3by3"}, failure.Usage,
			"3x32x32"},
		"bad form": {[]string{"--model", "ConvNet2", "--action", "none", "--form", "round"}, failure.Usage,
			"expected one of: [identity residual opposite stacked]"},
		"form without a new block": {[]string{"--model", "ConvNet2", "--action", "widen:conv1:64", "--form",
			"residual"}, failure.Usage, "no action adds one"},
		"bad tolerance": {[]string{"--model", "ConvNet2", "--action", "none", "--tolerance", "nan"}, failure.Usage,
			"--tolerance is NaN"},
		"endless tolerance": {[]string{"--model", "ConvNet2", "--action", "none", "--tolerance", "inf"}, failure.Usage,
			"--tolerance is +Inf"},
		"bad noise": {[]string{"--model", "ConvNet2", "--action", "none", "--noise", "nan"}, failure.Usage,
			"--noise is NaN"},
		"one path twice": {[]string{"--model", "ConvNet2", "--action", "none", "--model-out", "a.json", "--record",
			"./a.json"}, failure.Usage, "--model-out and --record are both a.json: choose another output file"},
		"bad network format": {[]string{"--model", "ConvNet2", "--action", "none", "--model-out", "net.pth"},
			failure.Usage, "expected a file name that ends in .toml, .json"},
		"bad record format": {[]string{"--model", "ConvNet2", "--action", "none", "--record", "record.toml"},
			failure.Usage, "expected a file name that ends in .json"},
		"own input": {[]string{"--model", broken, "--action", "none", "--model-out", broken, "--force"}, failure.Usage,
			"are the same file: choose another output file"},
		"bad format": {[]string{"--model", "ConvNet2", "--action", "none", "--out", "x.txt"}, failure.Usage, "txt"},
		"bad file":   {[]string{"--model", broken, "--action", "none"}, failure.Configuration, "did you mean Conv2d?"},
		"bad weights": {[]string{"--model", "ConvNet2", "--weights", damaged, "--action", "none"}, failure.Damaged,
			"damaged.pth"},
		"shrink nothing": {[]string{"--model", "ConvNet2", "--action", "none", "--shrink", "0"}, failure.Usage,
			"--replay"},
		"no record": {[]string{"--model", "ConvNet2", "--replay", filepath.Join(folder, "none.json")}, failure.Failed,
			"none.json"},
		"refused": {[]string{"--model", "ConvNet2", "--action", "widen:fc:20"}, failure.Failed, "the network's output"},
	})
}

// Surgery in double precision runs imported networks, whose file states the types of their tensors.
func TestSurgeryOfImportedNetworksInDoublePrecision(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write(t, at("net.toml"), `name = "Net"
input = {value = "x", dtype = "float32", shape = ["batch=2", 3, 4, 4]}
output = "linear"
modules = [{path = "", class = "Net"}, {path = "conv", class = "Conv2d"}, {path = "norm", class = "BatchNorm2d"},
  {path = "fc", class = "Linear"}]
tensors = [
  {name = "conv.weight", role = "parameter", dtype = "float32", shape = [4, 3, 3, 3]},
  {name = "norm.weight", role = "parameter", dtype = "float32", shape = [4]},
  {name = "norm.bias", role = "parameter", dtype = "float32", shape = [4]},
  {name = "fc.weight", role = "parameter", dtype = "float32", shape = [5, 4]},
  {name = "norm.running_mean", role = "buffer", dtype = "float32", shape = [4]},
  {name = "norm.running_var", role = "buffer", dtype = "float32", shape = [4]},
  {name = "norm.num_batches_tracked", role = "buffer", dtype = "int64", shape = []},
]
operators = [
  "conv2d = conv2d.default(input=%x, weight=@conv.weight) in conv",
  "norm = batch_norm.default(input=%conv2d, weight=@norm.weight, bias=@norm.bias, running_mean=@norm.running_mean, `+
		`running_var=@norm.running_var, momentum=0.1, eps=1e-05) in norm",
  "mean = mean.dim(self=%norm, dim=[2, 3])",
  "linear = linear.default(input=%mean, weight=@fc.weight) in fc",
]
`)
	done(t, "surgery", "--model", at("net.toml"), "--action", "widen:conv:6", "--float64", "--verify", "--rows", "8",
		"--tolerance", "1e-12", "--out", at("wide.safetensors"), "--model-out", at("wide.toml"))
	write(t, at("in.json"), `{"inputs": [{"shape": [1, 3, 4, 4], "values": [`+strings.Repeat("1, ", 47)+`1]}]}`)
	done(t, "model", "forward", at("wide.toml"), "--weights", at("wide.safetensors"), "--inputs", at("in.json"))
}
