package sweep_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/sweep"
	"graft/runner/worktest"
	"graft/torch/weights"
)

// ownNetwork is an imported network with a custom scale and a constant; its last operator can be replaced.
const ownNetwork = `name = "Own"
input = {value = "x", dtype = "float32", shape = ["batch=2", 3, 16, 16]}
output = "y"
modules = [{path = "", class = "Own"},
  {path = "fc1", class = "Linear", extra = "in_features=768, out_features=8, bias=True"},
  {path = "fc2", class = "Linear", extra = "in_features=8, out_features=3, bias=True"}]
tensors = [
  {name = "fc1.weight", role = "parameter", dtype = "float32", shape = [8, 768]},
  {name = "fc1.bias", role = "parameter", dtype = "float32", shape = [8]},
  {name = "norm", role = "parameter", dtype = "float32", shape = [8]},
  {name = "fc2.weight", role = "parameter", dtype = "float32", shape = [3, 8]},
  {name = "fc2.bias", role = "parameter", dtype = "float32", shape = [3]},
  {name = "last", role = "parameter", dtype = "float32", shape = [3]},
  {name = "mask", role = "constant", dtype = "float32", shape = [3, 16, 16]},
]
operators = [
  "m = mul.Tensor(self=%%x, other=@mask)",
  "f = flatten.using_ints(self=%%m, start_dim=1)",
  "h = linear.default(input=%%f, weight=@fc1.weight, bias=@fc1.bias) in fc1",
  "r = relu.default(self=%%h)",
  "n = mul.Tensor(self=%%r, other=@norm)",
  "z = linear.default(input=%%n, weight=@fc2.weight, bias=@fc2.bias) in fc2",
  "y = %s(self=%%z, other=@last)",
]
`

// own writes the network, and weight files with the given names.
func own(t *testing.T, last string, names ...string) (dir string) {
	dir = t.TempDir()
	path := filepath.Join(dir, "own.toml")
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, ownNetwork, last), 0o600))
	g, err := config.ReadImported(files.OS{}, path)
	require.NoError(t, err)
	for k, name := range names {
		set, err := g.Draw(uint64(k))
		require.NoError(t, err)
		for _, w := range set.Tensors {
			for at := 0; w.Name == "mask" && at < len(w.Data); at += 4 {
				binary.LittleEndian.PutUint32(w.Data[at:], math.Float32bits(1))
			}
		}
		require.NoError(t, weights.Write(files.OS{}, filepath.Join(dir, name), set))
	}
	return dir
}

func compareOwn(t *testing.T, dir string, more ...string) (*sweep.Result, error) {
	o := sweep.CompareOptions{Options: smallest(filepath.Join(t.TempDir(), "run")),
		Arms: []string{"small from scratch", "final from scratch"}}
	o.Seeds = 2
	o.Set = append(o.Set, "network.name=", "network.file="+filepath.Join(dir, "own.toml"),
		`adapt.actions=["widen:fc1:12"]`)
	o.Set = append(o.Set, more...)
	return sweep.Compare(t.Context(), worktest.Env(files.OS{}), "", o)
}

// digests returns the final digests of an arm's trials.
func digests(o *runs.SweepOutcome, arm string) (list []string) {
	for _, t := range o.Case(arm).Trials {
		list = append(list, t.Digest)
	}
	return list
}

// Seeds of an imported network share the weights of its file, and the outcome says so. Arms with fresh weights draw the
// parameters, also of modules that PyTorch does not have, and take constants from the file.
func TestSeedsSayWhatTheyShare(t *testing.T) {
	dir := own(t, "add.Tensor", "own.safetensors")
	file := filepath.Join(dir, "own.safetensors")
	r, err := compareOwn(t, dir, "network.weights="+file)
	require.NoError(t, err)
	require.Equal(t, []string{sweep.Configured, "never", "small from scratch", "final from scratch"}, names(r.Outcome))
	require.Contains(t, r.Outcome.Case("never").Shared, "all seeds start from the weights in "+file)
	require.Contains(t, r.Outcome.Case("small from scratch").Shared,
		"each seed draws its own parameters; all take their buffers and constants from "+file)
	final := digests(r.Outcome, "final from scratch")
	require.NotEqual(t, final[0], final[1])
	configured := r.Outcome.Case(sweep.Configured).Trials[0].Values["parameters"]
	require.Equal(t, configured, r.Outcome.Case("final from scratch").Trials[0].Values["parameters"])
	require.Greater(t, configured, r.Outcome.Case("small from scratch").Trials[0].Values["parameters"])
	for _, arm := range []string{"small from scratch", "final from scratch"} {
		set, err := weights.Read(files.OS{},
			filepath.Join(r.Folder, r.Outcome.Case(arm).Trials[0].Folder, "weights.safetensors"), weights.Options{})
		require.NoError(t, err)
		for _, w := range set.Tensors {
			if w.Name == "mask" {
				require.Equal(t, math.Float32bits(1), binary.LittleEndian.Uint32(w.Data),
					"%s: the constant is not drawn", arm)
			}
		}
	}
}

// Only arms that cannot run are dropped, with a reason.
func TestArmsThatCannotRunAreDropped(t *testing.T) {
	dir := own(t, "maximum.default", "own.safetensors")
	r, err := compareOwn(t, dir, "network.weights="+filepath.Join(dir, "own.safetensors"))
	require.NoError(t, err)
	require.Equal(t, []string{sweep.Configured, "never"}, names(r.Outcome))
	var dropped []string
	for _, d := range r.Outcome.Comparison.Dropped {
		dropped = append(dropped, d.Arm)
		require.Contains(t, d.Why, "the initialization of parameter last of Own is unknown")
	}
	require.Equal(t, []string{"small from scratch", "final from scratch"}, dropped)
}

// Each seed can start from its own weight file. A missing file is found before anything runs.
func TestEachSeedHasItsWeights(t *testing.T) {
	dir := own(t, "add.Tensor", "own-1.safetensors", "own-2.safetensors")
	pattern := "network.weights=" + filepath.Join(dir, "own-{seed}.safetensors")
	r, err := compareOwn(t, dir, pattern)
	require.NoError(t, err)
	require.Contains(t, r.Outcome.Case("never").Shared, "each seed starts from its own weights")
	_, err = compareOwn(t, dir, pattern, "run.seed=2")
	require.Equal(t, failure.Configuration, failure.CodeOf(t.Context(), err))
	require.ErrorContains(t, err, "seed 3")
	require.ErrorContains(t, err, "own-3.safetensors")
}
