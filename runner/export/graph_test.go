package export_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/model"
	"graft/model/graph"
	"graft/runner/app"
	"graft/runner/export"
	"graft/torch"
	"graft/torch/weights"
)

// graphFiles exports a zoo network that runs as a graph, as a module and as a state dict.
func graphFiles(t *testing.T, name string, images app.Images) (dir string) {
	dir = t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 3)}))
		set, err := n.Save()
		require.NoError(t, err)
		set.Metadata = images.Metadata()
		require.NoError(t, weights.Write(files.OS{}, at("in.safetensors"), set))
		require.NoError(t, config.WriteNetwork(files.OS{}, at("in.toml"), n))
		return s.Err()
	}))
	for _, out := range []string{"net.py", "net.pth"} {
		_, err := export.Run(env(), at("in.toml"), export.Options{Weights: at("in.safetensors"), Out: at(out)})
		require.NoError(t, err)
	}
	return dir
}

// The module of a graph has the class names and prepares images, as the module of a tree does.
func TestAModuleOfAGraphNamesTheClasses(t *testing.T) {
	classes := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	dir := graphFiles(t, "Mixer32", app.Images{Mean: []float64{0.5, 0.4, 0.3}, Deviation: []float64{0.2, 0.2, 0.2},
		Classes: classes})
	text, err := os.ReadFile(filepath.Join(dir, "net.py"))
	require.NoError(t, err)
	require.Contains(t, string(text), "CLASSES = (\n    \"a\",\n    \"b\",\n")
	require.Contains(t, string(text), "def normalize(images):")
	require.Contains(t, string(text), "torch.tensor([0.5, 0.4, 0.3])")
}

// stateCheck loads the state dict strictly, into the module of the same export, and compares it with load().
const stateCheck = `
import os, sys, torch
sys.path.insert(0, sys.argv[1])
import net
state = torch.load(os.path.join(sys.argv[1], "net.pth"))
fresh, loaded = net.Network(), net.load()
fresh.load_state_dict(state, strict=True)
x = torch.arange(128).reshape(2, 64) % 256
with torch.no_grad():
    assert torch.equal(fresh.eval()(x), loaded(x))
again = net.load(os.path.join(sys.argv[1], "net.pth"))
with torch.no_grad():
    assert torch.equal(again(x), loaded(x))
for wrong in ({}, {**state, "more": torch.zeros(1)}, {**state, next(iter(state)): torch.zeros(1)}):
    try:
        fresh.load(wrong)
    except RuntimeError:
        continue
    raise AssertionError("wrong weights were taken")
print(sorted(fresh.constants))
`

// A state dict has no constants, such as the tables of rotary positions, so a strict load_state_dict accepts it. The
// module has their values.
func TestPyTorchLoadsTheStateDictOfAGraph(t *testing.T) {
	dir := graphFiles(t, "SmallLLaMA", app.Images{})
	set, err := weights.Read(files.OS{}, filepath.Join(dir, "net.pth"), weights.Options{})
	require.NoError(t, err)
	for _, w := range set.Tensors {
		require.NotContains(t, w.Name, "frequencies")
	}
	for _, again := range []string{"again.safetensors", "again.py"} {
		_, err = export.Run(env(), filepath.Join(dir, "in.toml"),
			export.Options{Weights: filepath.Join(dir, "net.pth"), Out: filepath.Join(dir, again), Force: true})
		require.NoError(t, err)
	}
	whole, err := weights.Read(files.OS{}, filepath.Join(dir, "again.safetensors"), weights.Options{})
	require.NoError(t, err)
	require.Len(t, whole.Tensors, len(set.Tensors)+1, "constants that are drawn need not be in a file")
	path := pythontest.Find(t, "torch")
	if exec.Command(path, "-W", "ignore", "-c", "import torch; torch.ops.aten.rms_norm").Run() != nil {
		t.Skip("left out: the module in PyTorch, whose version lacks aten.rms_norm (2.4 has it)")
	}
	out, err := exec.Command(path, "-W", "ignore", "-c", stateCheck, dir).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "['frequencies']", strings.TrimSpace(string(out)))
}

// An ONNX file computes in float32, and a note says that this rounds a network of float64.
func TestExportsNoteTypesThatONNXRounds(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for dtype, note := range map[weights.DType]string{weights.Float32: "", weights.Float64: "uses float64"} {
		b := graph.NewBuilder("Net", graph.Input{Value: "x", DType: dtype,
			Shape: []graph.Size{{Name: "batch", N: 2}, {N: 4}}}, dtype)
		b.Graph.Output = b.Call("softmax.int", "self", graph.Value("x"), "dim", 1)
		b.Graph.Recover(nil)
		n, err := model.FromGraph(b.Graph)
		require.NoError(t, err)
		require.NoError(t, config.WriteNetwork(files.OS{}, at("in.toml"), n))
		require.NoError(t, weights.Write(files.OS{}, at("in.safetensors"), &weights.Set{}))
		r, err := export.Run(env(), at("in.toml"),
			export.Options{Weights: at("in.safetensors"), Out: at("net.onnx"), Force: true})
		require.NoError(t, err)
		if note == "" {
			require.Empty(t, r.Notes)
			continue
		}
		require.Len(t, r.Notes, 1)
		require.Contains(t, r.Notes[0], note)
	}
}

// A network of truth values takes them as truth values or as the numbers 0 and 1.
func TestForwardOfTruthValues(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	b := graph.NewBuilder("Net", graph.Input{Value: "x", DType: weights.Bool,
		Shape: []graph.Size{{Name: "batch", N: 2}, {N: 3}}}, weights.Float32)
	b.Graph.Output = b.Call("to.dtype", "self", b.Call("logical_not.default", "self", graph.Value("x")), "dtype",
		weights.Float32)
	b.Graph.Recover(nil)
	require.NoError(t, config.WriteImported(files.OS{}, at("net.toml"), b.Graph))
	require.NoError(t, weights.Write(files.OS{}, at("net.safetensors"), &weights.Set{}))
	forward := func(text string) (*export.ForwardReport, error) {
		require.NoError(t, os.WriteFile(at("in.json"), []byte(`{"inputs": [{"shape": [1, 3], `+text+`}]}`), 0o600))
		return export.Forward(t.Context(), env(), at("net.toml"),
			export.ForwardOptions{Weights: at("net.safetensors"), Inputs: at("in.json")})
	}
	for _, text := range []string{`"dtype": "bool", "values": [true, false, true]`,
		`"dtype": "bool", "values": [1, 0, 1]`, `"values": [1, 0, 1]`} {
		r, err := forward(text)
		require.NoError(t, err, text)
		require.Equal(t, []float32{0, 1, 0}, r.Logits, text)
	}
	for text, want := range map[string]string{
		`"values": [1, 0, 2]`:                               "value 2 of the inputs is 2; Net expects false or true",
		`"dtype": "int64", "values": [1, 0, 1]`:             "inputs have the type int64; Net expects bool",
		`"dtype": "float32", "values": [true, false, true]`: "value 0 of the inputs is true; expected a number",
	} {
		_, err := forward(text)
		require.ErrorContains(t, err, want, text)
	}
}
