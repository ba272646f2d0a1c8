package torch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/torch/weights"
)

// pythonLines runs a script of testdata and decodes the lines of JSON that it prints.
func pythonLines[T any](t *testing.T, script string, input any, arguments ...string) (all []T) {
	t.Helper()
	text, err := json.Marshal(input)
	require.NoError(t, err)
	c := exec.Command(pythontest.Find(t, "torch"), append([]string{"-W", "ignore", filepath.Join("testdata", script)},
		arguments...)...)
	c.Env = append(c.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	var said bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(text), &said
	out, err := c.Output()
	require.NoError(t, err, said.String())
	for lines := json.NewDecoder(bytes.NewReader(out)); lines.More(); {
		var one T
		require.NoError(t, lines.Decode(&one))
		all = append(all, one)
	}
	return all
}

// pytorchCase holds the options of a training in testdata/training.py.
type pytorchCase struct {
	Rule        string  `json:"rule"`
	Seed        int64   `json:"seed"`
	Size        int     `json:"size"`
	Part        int     `json:"part"`
	ClipNorm    float64 `json:"clip_norm"`
	ClipValue   float64 `json:"clip_value"`
	Smoothing   float64 `json:"smoothing"`
	Share       float64 `json:"share"`
	Temperature float64 `json:"temperature"`
	Mixup       float64 `json:"mixup"`
	EMA         float64 `json:"ema"`
	WarmUp      int     `json:"warm_up"` // steps, for the second half of each parameter
	Exact       bool    `json:"exact"`   // warm up in graft's order of operations
}

// pytorchResult holds the results of a case.
type pytorchResult struct {
	Losses  []float64   `json:"losses"`
	Network [][]float64 `json:"network"`
	Average [][]float64 `json:"average"`
}

var pytorchCases = map[string]pytorchCase{
	"nothing":                            {},
	"a small norm":                       {ClipNorm: 0.1},
	"a norm that some gradients exceed":  {ClipNorm: 0.8, Rule: "sgd"},
	"a value":                            {ClipValue: 0.02, Rule: "sgd"},
	"smoothing":                          {Smoothing: 0.1},
	"parts":                              {Part: 6},
	"parts with a norm":                  {Part: 5, ClipNorm: 0.5, Rule: "sgd"},
	"mixup":                              {Mixup: 0.4},
	"mixup, distillation and parts":      {Mixup: 1, Share: 0.5, Temperature: 2, Part: 8, Smoothing: 0.1},
	"an average":                         {EMA: 0.9},
	"smoothing and distillation":         {Smoothing: 0.2, Share: 0.7, Temperature: 3},
	"a warm-up":                          {WarmUp: 4, Exact: true},
	"a warm-up of SGD":                   {WarmUp: 3, Exact: true, Rule: "sgd"},
	"a warm-up of AdamW, and an average": {WarmUp: 5, Exact: true, Rule: "adamw", EMA: 0.9},
}

const (
	pytorchRows    = 52
	pytorchClasses = 3
)

// trainAsInPython trains the network of testdata/training.py in Go.
func trainAsInPython(t *testing.T, s *Scope, c pytorchCase) (r pytorchResult) {
	n := newTestNet(t, s, Float32, 6, pytorchClasses)
	x, y := n.examples(t, pytorchRows, 10, pytorchClasses)
	rule := OptimizerOptions{Rule: Adam, LR: 0.01}
	if c.Rule == "sgd" {
		rule = OptimizerOptions{Rule: SGD, LR: 0.05, Momentum: 0.9}
	}
	if c.Rule == "adamw" {
		rule = OptimizerOptions{Rule: AdamW, LR: 0.01, WeightDecay: 0.1}
	}
	rule.ClipNorm, rule.ClipValue = c.ClipNorm, c.ClipValue
	b := Batches{Inputs: x, Labels: y, Size: c.Size, Random: s.NewGenerator(CPU, c.Seed),
		Smoothing: c.Smoothing, Part: c.Part, Augment: Augment{Mixup: c.Mixup},
		Average: Average{Of: n.state(), To: copies(s, n.state()), Decay: c.EMA, First: true}}
	if c.WarmUp > 0 {
		b.WarmUp = WarmUp{Born: laterHalves(t, s, n.params), Length: c.WarmUp}
	}
	if c.Share > 0 {
		b.Teacher = Teacher{Logits: pytorchTeacher(s), Temperature: c.Temperature, Share: c.Share}
	}
	f, err := Train(n.program(t, ProgramOptions{}), s.NewOptimizer(Group{Params: n.params, OptimizerOptions: rule}), b)
	require.NoError(t, err)
	r.Losses = f.Losses
	for _, p := range n.state() {
		r.Network = append(r.Network, floats(t, p))
	}
	for _, p := range b.Average.To {
		r.Average = append(r.Average, floats(t, p))
	}
	return r
}

// laterHalves returns the births of parameters whose second half along the first dimension is new.
func laterHalves(t *testing.T, s *Scope, params []*Tensor) (born []*Tensor) {
	for _, p := range params {
		shape := p.Shape()
		old := shape[0] / 2
		halves := []*Tensor{s.Zeros(Float64, CPU, append([]int{shape[0] - old}, shape[1:]...)...)}
		if old > 0 {
			halves = append([]*Tensor{s.Full(-1e9, Float64, CPU, append([]int{old}, shape[1:]...)...)}, halves...)
		}
		born = append(born, s.Cat(0, halves...))
	}
	require.NoError(t, s.Err())
	return born
}

// A parameter that warms up takes the step of an optimizer with a lower rate, up to rounding, for each rule.
func TestWarmUpIsALowerRate(t *testing.T) {
	require.NoError(t, SetThreads(1))
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	cases := []pytorchCase{{Rule: "adam"}, {Rule: "sgd"}, {Rule: "adamw"}}
	for k := range cases {
		cases[k].Seed, cases[k].Size, cases[k].WarmUp = 11, 16, 6
	}
	for k, want := range pythonLines[pytorchResult](t, "training.py", cases, pytorchInputs(t)) {
		within(t, func(s *Scope) {
			got := trainAsInPython(t, s, cases[k])
			cases[k].WarmUp = 0
			plain := trainAsInPython(t, s, cases[k])
			for _, r := range []*pytorchResult{&want, &got, &plain} {
				r.Network = r.Network[:10]            // without running means, which depend on the next two
				r.Network[1], r.Network[3] = nil, nil // biases before a BatchNorm, whose gradients are rounding errors
			}
			require.Less(t, farthest(want.Network, got.Network), 1e-6, cases[k].Rule)
			require.Greater(t, farthest(want.Network, plain.Network), 1e-3, cases[k].Rule)
		})
	}
}

// farthest returns the largest difference between tensors' values.
func farthest(a, b [][]float64) (worst float64) {
	for k := range a {
		for j := range a[k] {
			worst = max(worst, math.Abs(a[k][j]-b[k][j]))
		}
	}
	return worst
}

// state returns the parameters and the running statistics.
func (n *testNet) state() []*Tensor {
	all := n.params[:len(n.params):len(n.params)]
	for _, norm := range n.norms {
		all = append(all, norm.Mean, norm.Var)
	}
	return all
}

func copies(s *Scope, of []*Tensor) (all []*Tensor) {
	for _, t := range of {
		all = append(all, s.Clone(s.Detach(t)))
	}
	return all
}

func pytorchTeacher(s *Scope) *Tensor {
	logits := s.Zeros(Float32, CPU, pytorchRows, pytorchClasses)
	s.Normal(logits, 0, 2, s.NewGenerator(CPU, 9))
	return logits
}

// pytorchInputs writes the tensors with which testdata/training.py starts, and returns the path.
func pytorchInputs(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "inputs.pth")
	within(t, func(s *Scope) {
		n := newTestNet(t, s, Float32, 6, pytorchClasses)
		x, y := n.examples(t, pytorchRows, 10, pytorchClasses)
		all := map[string]*Tensor{"x": x, "y": y, "teacher": pytorchTeacher(s)}
		for k, p := range n.params {
			all[fmt.Sprint("p", k)] = p
		}
		set := &weights.Set{}
		for name, tensor := range all {
			w, err := tensor.Weights(name)
			require.NoError(t, err)
			set.Tensors = append(set.Tensors, w)
		}
		require.NoError(t, weights.Write(files.OS{}, path, set))
	})
	return path
}

// Each option of a step gives PyTorch's bits.
func TestStepsAreThoseOfPyTorch(t *testing.T) {
	runtime.LockOSThread() // the number of LibTorch's threads belongs to this thread
	defer runtime.UnlockOSThread()
	require.NoError(t, SetThreads(1))
	defer func() { require.NoError(t, SetThreads(DefaultThreads())) }()
	var names []string
	var cases []pytorchCase
	for name, c := range pytorchCases {
		c.Seed, c.Size = 11, 16
		if c.Rule == "" {
			c.Rule = "adam"
		}
		names, cases = append(names, name), append(cases, c)
	}
	plain := pytorchResult{}
	want := pythonLines[pytorchResult](t, "training.py", cases, pytorchInputs(t))
	require.Len(t, want, len(cases))
	within(t, func(s *Scope) { plain = trainAsInPython(t, s, pytorchCase{Rule: "adam", Seed: 11, Size: 16}) })
	for k, c := range cases {
		within(t, func(s *Scope) {
			got := trainAsInPython(t, s, c)
			assert.Zero(t, farthest(want[k].Network, got.Network), names[k])
			assert.Zero(t, farthest(want[k].Average, got.Average), names[k])
			require.InDeltaSlice(t, want[k].Losses, got.Losses, 1e-6, names[k])
			if names[k] != "nothing" {
				require.NotZero(t, farthest(plain.Network, got.Network)+farthest(plain.Average, got.Average),
					"%s has no effect", names[k])
			}
		})
	}
}
