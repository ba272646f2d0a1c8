package export_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"graft/config"
	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/model"
	"graft/model/graph"
	"graft/model/onnx"
	"graft/model/onnx/reader"
	"graft/model/pt2"
	"graft/net2net"
	"graft/net2net/surgerytest"
	"graft/runner/app"
	"graft/runner/export"
	"graft/torch"
	"graft/torch/weights"
)

func TestMain(m *testing.M) {
	if err := torch.Load(); err != nil {
		fmt.Fprintln(os.Stderr, "export: nothing can be tested:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func env() *app.Env {
	return &app.Env{Files: files.OS{}, Now: time.Now, Log: zap.NewNop(), Version: "test"}
}

// example holds the expected values of a check in Python: a network's print, images and graft's logits in eval mode.
type example struct {
	Print  string    `json:"print"`
	Shape  []int     `json:"shape"` // shape of the images
	Images []float32 `json:"images"`
	Logits []float32 `json:"logits"`
}

// write exports a network with random weights and changed statistics, and writes its example next to it.
func write(t *testing.T, s *torch.Scope, n *model.Network, dir, name, extension string) {
	random := s.NewGenerator(torch.CPU, 5)
	for _, e := range n.State() {
		if e.Slot.Role == model.Mean {
			s.Normal(e.Tensor, 0, 0.1, random)
		}
		if e.Slot.Role == model.Var {
			s.Uniform(e.Tensor, 0.5, 1.5, random)
		}
	}
	shape := append([]int{2}, n.Input...)
	x := s.Zeros(torch.Float32, torch.CPU, shape...)
	s.Normal(x, 0, 1, random)
	p, err := n.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	var e example
	e.Print, e.Shape = n.String(), shape
	e.Images, err = torch.Values[float32](x)
	require.NoError(t, err)
	s.NoGrad(func() { e.Logits, err = torch.Values[float32](p.Forward(s, x, false, nil)) })
	require.NoError(t, err)
	text, err := json.Marshal(e)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600))
	set, err := n.Save()
	require.NoError(t, err)
	network, values := filepath.Join(dir, name+".network.toml"), filepath.Join(dir, name+".weights.safetensors")
	require.NoError(t, config.WriteNetwork(files.OS{}, network, n))
	require.NoError(t, weights.Write(files.OS{}, values, set))
	_, err = export.Run(env(), network, export.Options{Weights: values, Out: filepath.Join(dir, name+extension)})
	require.NoError(t, err, n.String())
}

// examples exports zoo networks up to some size, and random networks before and after surgery.
func examples(t *testing.T, extension string) (dir string, count int) {
	dir = t.TempDir()
	largest, drawn := 3_000_000, 60
	if os.Getenv("GRAFT_LONG") != "" {
		largest, drawn = 1<<40, 200
	}
	each := func(name string, n *model.Network, change net2net.Action) {
		count++
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 3)}))
			if change != (net2net.Action{}) {
				batch := s.Zeros(torch.Float32, torch.CPU, append([]int{16}, n.Input...)...)
				s.Normal(batch, 0, 1, s.NewGenerator(torch.CPU, 4))
				_, err := net2net.Apply(n, change, net2net.Options{Noise: 0.1, Batch: batch})
				require.NoError(t, err)
			}
			write(t, s, n, dir, name, extension)
			return s.Err()
		}))
	}
	for _, e := range model.ZooEntries() {
		if e.IsGraph() {
			continue
		}
		n, err := model.Zoo(e.Name, model.ZooOptions{})
		require.NoError(t, err)
		if n.Parameters() <= largest {
			each("zoo_"+strings.NewReplacer("-", "_", ".", "_").Replace(e.Name), n, net2net.Action{})
		}
	}
	for name, action := range map[string]net2net.Action{"resnet18": {Kind: "deepen", Target: "layer1.0"}, "convnet": {},
		"densenet": {}, "unet": {}} {
		if n := archived(t, name); n != nil {
			each("graph_"+name, n, action)
		}
	}
	type grown struct {
		network *model.Network
		action  net2net.Action
	}
	draw := rapid.Custom(func(t *rapid.T) grown {
		n := surgerytest.Network(t)
		action, ok := surgerytest.Any(net2net.Kinds()...)(t, n)
		if !ok {
			action = net2net.Action{}
		}
		return grown{n, action}
	})
	for k := range drawn {
		g := draw.Example(k)
		if batchOnly(g.network) {
			continue
		}
		each(fmt.Sprintf("drawn%d", k), g.network.Sketch(), net2net.Action{})
		if g.action != (net2net.Action{}) {
			each(fmt.Sprintf("grown%d", k), g.network.Sketch(), g.action)
		}
	}
	return dir, count
}

// archived returns a network that PyTorch exported, or nil without the reference.
func archived(t *testing.T, name string) *model.Network {
	data, err := os.ReadFile("../../../shared/reference/import/cases/" + name + ".pt2")
	if err != nil {
		t.Logf("left out: export of %s; the archives are not here", name)
		return nil
	}
	imported, err := pt2.Read(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	n, err := model.FromGraph(imported.Graph)
	require.NoError(t, err)
	return n
}

// batchOnly reports whether a network normalizes by the batch in eval mode.
func batchOnly(n *model.Network) bool {
	for _, leaf := range n.Leaves() {
		if norm, ok := leaf.Layer.(model.BatchNorm); ok && !norm.Track {
			return true
		}
	}
	return false
}

const torchCheck = `
import importlib.util, json, pathlib, sys, torch
worst = 0.0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    want = json.loads(path.with_suffix(".json").read_text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = module.load()
    assert str(net) == want["print"], (path.stem, str(net), want["print"])
    with torch.no_grad():
        logits = net(torch.tensor(want["images"]).reshape(want["shape"])).flatten()
    wanted = torch.tensor(want["logits"])
    apart = float((logits - wanted).abs().max() / wanted.abs().max().clamp_min(1))
    assert apart <= 1e-5, (path.stem, apart)
    worst = max(worst, apart)
print(worst)
`

const onnxCheck = `
import json, pathlib, sys, numpy, onnxruntime
worst = 0.0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    want = json.loads(path.with_suffix(".json").read_text())
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    images = numpy.array(want["images"], dtype=numpy.float32).reshape(want["shape"])
    logits = session.run(["output"], {"input": images})[0].flatten()
    wanted = numpy.array(want["logits"], dtype=numpy.float32)
    apart = float(abs(logits - wanted).max() / max(1, abs(wanted).max()))
    assert apart <= 1e-5, (path.stem, apart)
    worst = max(worst, apart)
print(worst)
`

// Exported modules print as graft prints the network, and compute the same outputs as graft.
func TestPyTorchComputesTheSame(t *testing.T) { check(t, ".py", "torch", torchCheck) }

// Exported ONNX models compute the same outputs as graft.
func TestONNXComputesTheSame(t *testing.T) { check(t, ".onnx", "onnxruntime", onnxCheck) }

// logitsOf computes the outputs of a graph on small whole numbers, which also serve as tokens.
func logitsOf(t *testing.T, s *torch.Scope, g *graph.Graph, set *weights.Set) []float32 {
	bound, err := g.Bind(s, torch.CPU, set)
	require.NoError(t, err)
	p, err := bound.Program(s, torch.ProgramOptions{})
	require.NoError(t, err)
	dims := g.Input.Dims()
	x := s.Zeros(torch.Float32, torch.CPU, dims...)
	s.Uniform(x, 0, 3, s.NewGenerator(torch.CPU, 2))
	dtype, _ := torch.TypeOf(g.Input.DType)
	var logits []float32
	s.NoGrad(func() { logits, err = torch.Values[float32](p.Forward(s, s.To(x, dtype, torch.CPU), false, nil)) })
	require.NoError(t, err)
	return logits
}

// Networks that PyTorch exported compute the same outputs after a write and read as ONNX.
func TestArchivesAreWrittenAsONNX(t *testing.T) {
	paths, _ := filepath.Glob("../../../shared/reference/import/cases/*.pt2")
	if len(paths) == 0 {
		t.Skip("left out: archives as ONNX; the archives are not here")
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".pt2")
		if strings.HasSuffix(name, ".train") {
			continue
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		imported, err := pt2.Read(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		n, err := model.FromGraph(imported.Graph)
		require.NoError(t, err)
		written, err := onnx.Encode(n, imported.Weights, onnx.Options{})
		require.NoError(t, err, name)
		again, err := reader.Read(bytes.NewReader(written), int64(len(written)))
		require.NoError(t, err, name)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			require.InDeltaSlice(t, logitsOf(t, s, imported.Graph, imported.Weights),
				logitsOf(t, s, again.Graph, again.Weights), 2e-5, name)
			return s.Err()
		}))
	}
}

// classed writes a network of three classes and two weight files. The records of images are for this network in one
// file, and for another network in the other. It returns a function that exports the network and returns the text.
func classed(t *testing.T) (dir string, as func(from, to string) string) {
	dir = t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	n, err := model.Zoo("ConvNet2", model.ZooOptions{Classes: 3, Input: model.Shape{1, 28, 28}})
	require.NoError(t, err)
	classes := []string{"cat", `a "dog"`, "line\nbreak"}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 3)}))
		set, err := n.Save()
		require.NoError(t, err)
		set.Metadata = app.Images{Mean: []float64{0.5}, Deviation: []float64{0.25}, Classes: classes}.Metadata()
		require.NoError(t, weights.Write(files.OS{}, at("in.safetensors"), set))
		set.Metadata = app.Images{Mean: []float64{0.5, 0.1}, Deviation: []float64{0.25, 0.1},
			Classes: classes[:2]}.Metadata()
		require.NoError(t, weights.Write(files.OS{}, at("other.safetensors"), set))
		return errors.Join(s.Err(), config.WriteNetwork(files.OS{}, at("in.toml"), n))
	}))
	return dir, func(from, to string) string {
		_, err := export.Run(env(), at("in.toml"), export.Options{Weights: at(from), Out: at(to), Force: true})
		require.NoError(t, err)
		data, err := os.ReadFile(at(to))
		require.NoError(t, err)
		return string(data)
	}
}

// Each export format names the classes if the weights record them for this network.
func TestExportsNameTheClasses(t *testing.T) {
	dir, as := classed(t)
	require.Contains(t, as("in.safetensors", "net.py"),
		"CLASSES = (\n    \"cat\",\n    \"a \\\"dog\\\"\",\n    \"line\\nbreak\",\n)\n")
	require.Contains(t, as("in.safetensors", "net.onnx"), `["cat","a \"dog\"","line\nbreak"]`)
	require.Contains(t, as("in.safetensors", "net.safetensors"), `"classes":`)
	require.Contains(t, as("in.safetensors", "net.toml"),
		`# Classes, in the order of the outputs: "cat", "a \"dog\"", "line\nbreak"`+"\n")
	_, err := config.ReadNetwork(files.OS{}, filepath.Join(dir, "net.toml"))
	require.NoError(t, err)
	require.NotContains(t, as("other.safetensors", "other.py"), "CLASSES", "a record of another network")
	require.NotContains(t, as("other.safetensors", "other.py"), "normalize")
}

// ONNX Runtime finds the classes in the properties of a model.
func TestONNXPropertiesAreRead(t *testing.T) {
	path := pythontest.Find(t, "onnxruntime")
	dir, as := classed(t)
	as("in.safetensors", "net.onnx")
	out, err := exec.Command(path, "-c", `
import json, onnxruntime, sys
session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
print({k: json.loads(v) for k, v in sorted(session.get_modelmeta().custom_metadata_map.items())})
`, filepath.Join(dir, "net.onnx")).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, `{'classes': ['cat', 'a "dog"', 'line\nbreak'], 'deviation': [0.25], 'mean': [0.5]}`,
		strings.TrimSpace(string(out)))
}

func check(t *testing.T, extension, modules, program string) {
	path := pythontest.Find(t, modules)
	dir, count := examples(t, extension)
	out, err := exec.Command(path, "-c", program, dir).CombinedOutput()
	require.NoError(t, err, string(out))
	t.Logf("measured: logits of %d networks as %s are at most %s apart, "+
		"relative to the largest logit where that is above 1", count, extension, strings.TrimSpace(string(out)))
}
