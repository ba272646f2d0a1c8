package net2net_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/pythontest"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// startCase is a network with a layer to widen.
type startCase struct {
	input              model.Shape
	layers             []model.Layer
	producer, consumer int  // indices of the layers around the new units
	incoming           bool // GradMax sets the incoming weights to zero
}

const startRows, startClasses = 96, 6

func convolution(in, out, kernel, stride, padding int, bias bool) model.Conv2d {
	c := model.NewConv2d(in, out, kernel)
	c.Stride, c.Padding, c.Bias = model.Both(stride), model.Both(padding), bias
	return c
}

// startCases returns networks of all kinds that starts support.
func startCases() map[string]startCase {
	pooled := []model.Layer{convolution(4, 3, 3, 1, 1, true), model.Flatten{}}
	head := func(layers ...model.Layer) []model.Layer {
		return append(append(layers, pooled...), model.NewLinear(3*6*6, startClasses))
	}
	return map[string]startCase{
		"linear and ReLU": {model.Shape{7}, []model.Layer{model.NewLinear(7, 6), model.Activate(torch.ReLU),
			model.NewLinear(6, 5), model.Activate(torch.Tanh), model.NewLinear(5, startClasses)}, 0, 2, false},
		"linear and tanh": {model.Shape{7}, []model.Layer{model.NewLinear(7, 6), model.Activate(torch.Tanh),
			model.NewLinear(6, 5), model.Activate(torch.ReLU), model.NewLinear(5, startClasses)}, 0, 2, true},
		"linear without bias": {model.Shape{7}, []model.Layer{model.NewLinear(7, 6), model.Activate(torch.Tanh),
			model.Linear{In: 6, Out: 5}, model.Activate(torch.Sigmoid), model.NewLinear(5, startClasses)}, 2, 4, false},
		"convolutions": {model.Shape{2, 6, 6}, head(convolution(2, 4, 3, 1, 1, true), model.Activate(torch.Tanh)),
			0, 2, true},
		"convolutions with norm": {model.Shape{2, 6, 6}, head(convolution(2, 4, 3, 1, 1, false),
			model.NewBatchNorm2d(4), model.Activate(torch.ReLU)), 0, 3, false},
		"convolutions without padding": {model.Shape{2, 9, 9}, []model.Layer{convolution(2, 4, 3, 2, 0, true),
			model.Activate(torch.ReLU), convolution(4, 3, 2, 1, 0, true), model.Flatten{},
			model.NewLinear(3*3*3, startClasses)}, 0, 2, false},
		"linear and tanh, no bias": {model.Shape{7}, []model.Layer{model.Linear{In: 7, Out: 6},
			model.Activate(torch.Tanh), model.NewLinear(6, 5), model.Activate(torch.ReLU),
			model.NewLinear(5, startClasses)}, 0, 2, true},
		"convolutions, no bias": {model.Shape{2, 6, 6}, head(convolution(2, 4, 3, 1, 1, false),
			model.Activate(torch.Tanh)), 0, 2, true},
		"pool and flatten": {model.Shape{2, 6, 6}, []model.Layer{convolution(2, 4, 3, 1, 1, true),
			model.Activate(torch.Tanh), model.NewAvgPool2d(model.Both(2)), model.Flatten{},
			model.NewLinear(4*3*3, 5), model.Activate(torch.Tanh), model.NewLinear(5, startClasses)}, 0, 4, true},
	}
}

// network returns the case's network with weights in float64, options with a batch, and the labels.
func (c startCase) network(t testing.TB, s *torch.Scope) (*model.Network, net2net.Options, []int64) {
	root := &model.Container{Class: "Drawn"}
	for k, l := range c.layers {
		root.Children = append(root.Children, model.Child{Name: fmt.Sprint(k), Module: &model.Leaf{Layer: l}})
	}
	n := &model.Network{Input: c.input, Root: root}
	require.NoError(t, n.Check())
	random := s.NewGenerator(torch.CPU, 11)
	require.NoError(t, n.Materialize(s, model.Placement{DType: torch.Float64, Random: random}))
	for _, e := range n.State() {
		if e.Slot.Role == model.Scale {
			s.Copy(e.Tensor, drawn(s, random, 0.5, 1.5, e.Slot.Shape...))
		}
	}
	labels := make([]int64, startRows)
	for k := range labels {
		labels[k] = int64(k % startClasses)
	}
	o := net2net.Options{Batch: drawn(s, random, -2, 2, append([]int{startRows}, c.input...)...), Seed: 4}
	o.Loss = net2net.CrossEntropy(torch.From(s, labels, startRows))
	return n, o, labels
}

func drawn(s *torch.Scope, random *torch.Generator, low, high float64, shape ...int) *torch.Tensor {
	x := s.Zeros(torch.Float64, torch.CPU, shape...)
	s.Uniform(x, low, high, random)
	return x
}

type plainTensor struct {
	Shape  []int     `json:"shape"`
	Values []float64 `json:"values"`
}

func plainOf(t testing.TB, x *torch.Tensor) plainTensor {
	values, err := torch.Values[float64](x)
	require.NoError(t, err)
	return plainTensor{x.Shape(), values}
}

// described returns the case in the form that the Python scripts read.
func (c startCase) described(t testing.TB, n *model.Network, o net2net.Options, labels []int64) map[string]any {
	var layers []map[string]any
	for k, leaf := range n.Leaves() {
		layer := map[string]any{}
		switch l := c.layers[k].(type) {
		case model.Linear:
			layer["kind"] = "linear"
		case model.Conv2d:
			layer["kind"], layer["stride"], layer["padding"] = "conv", l.Stride.H, l.Padding.H
		case model.BatchNorm:
			layer["kind"], layer["eps"] = "norm", l.Eps
		case model.AvgPool2d:
			layer["kind"] = "avgpool"
		case model.Flatten:
			layer["kind"] = "flatten"
		case model.Activation:
			layer["kind"] = map[torch.Activation]string{torch.ReLU: "relu", torch.Tanh: "tanh",
				torch.Sigmoid: "sigmoid"}[l.Kind]
		}
		var tensors []plainTensor
		for at, w := range leaf.Weights {
			if leaf.Layer.Slots()[at].Role.Trained() {
				tensors = append(tensors, plainOf(t, w))
			}
		}
		layer["tensors"] = tensors
		layers = append(layers, layer)
	}
	return map[string]any{"layers": layers, "producer": c.producer, "consumer": c.consumer, "incoming": c.incoming,
		"inputs": plainOf(t, o.Batch), "labels": labels, "count": 3, "start": o.Start, "amplitude": o.Amplitude}
}

func (c startCase) action() net2net.Action {
	channels := 0
	switch l := c.layers[c.producer].(type) {
	case model.Linear:
		channels = l.Out
	case model.Conv2d:
		channels = l.Out
	}
	return net2net.Action{Kind: "widen", Target: fmt.Sprint(c.producer), Size: channels + 3}
}

// python runs a script on a value and decodes its result.
func python(t testing.TB, path, script string, in, out any) {
	text, err := json.Marshal(in)
	require.NoError(t, err)
	command := exec.Command(path, "-W", "ignore", script)
	command.Stdin = bytes.NewReader(text)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	got, err := command.Output()
	require.NoError(t, err, "%s", stderr.String())
	require.NoError(t, json.Unmarshal(got, out))
}

// addedTo returns the values that a change adds to a tensor.
func addedTo(c *net2net.Change, name string) []float64 {
	for _, m := range c.Moves {
		if m.Name == name && m.Added != nil {
			return m.Added[0].Values
		}
	}
	return nil
}

const startTol = 1e-6 // relative to the largest value; both sides compute in float64

func requireNear(t testing.TB, what string, want, got []float64) {
	t.Helper()
	require.Len(t, got, len(want), what)
	scale := 1e-9
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for k := range want {
		require.InDelta(t, want[k], got[k], startTol*scale, "%s, value %d", what, k)
	}
}

// expected holds Python's results for a case.
type expected struct {
	In, Bias, Out, Mean, Var []float64
	Gain                     float64
}

// The weights of new units equal the papers' formulas, which PyTorch evaluates on the whole network.
func TestStartsEqualTheFormulas(t *testing.T) {
	compareStarts(t, pythontest.Find(t, "torch"), "testdata/starts.py", slices.Sorted(maps.Keys(startCases()))...)
}

// The weights of new units equal the weights of GroMo, a library that grows networks in PyTorch. GroMo includes the
// bias in GradMax's bypass, so the layers have none.
func TestStartsEqualGroMo(t *testing.T) {
	path := os.Getenv("GRAFT_PEERS")
	if path == "" {
		t.Skip("left out: no Python with PyTorch and gromo; name one in GRAFT_PEERS")
	}
	compareStarts(t, path, "testdata/starts_gromo.py", "linear and tanh, no bias", "convolutions, no bias")
}

func compareStarts(t *testing.T, path, script string, names ...string) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		var asked []map[string]any
		var check []func(want expected)
		for _, name := range names {
			c := startCases()[name]
			for _, start := range []net2net.Start{"gradmax", "tiny"} {
				n, o, labels := c.network(t, s)
				o.Start = start
				if start == "tiny" {
					o.Amplitude = 0.25
				}
				asked = append(asked, c.described(t, n, o, labels))
				check = append(check, func(want expected) {
					t.Run(fmt.Sprintf("%s, %s", start, name), func(t *testing.T) { c.check(t, n, o, want) })
				})
			}
		}
		var want []expected
		python(t, path, script, asked, &want)
		for k, one := range check {
			one(want[k])
		}
		return s.Err()
	}))
}

// check compares a change with Python's results.
func (c startCase) check(t *testing.T, n *model.Network, o net2net.Options, want expected) {
	if o.Start == "gradmax" {
		gain, err := net2net.Gain(n, c.action(), o)
		require.NoError(t, err)
		if want.Gain == 0 {
			want.Gain = gain // GroMo does not compute it
		}
		require.InEpsilon(t, want.Gain, gain, startTol)
	}
	change, err := net2net.Apply(n, c.action(), o)
	require.NoError(t, err)
	require.Empty(t, change.Notes, "a unit started at random")
	producer, consumer := fmt.Sprint(c.producer), fmt.Sprint(c.consumer)
	requireNear(t, "incoming", want.In, addedTo(change, producer+".weight"))
	requireNear(t, "outgoing", want.Out, addedTo(change, consumer+".weight"))
	if want.Bias != nil {
		requireNear(t, "bias", want.Bias, addedTo(change, producer+".bias"))
	}
	if want.Mean != nil {
		norm := fmt.Sprint(c.producer + 1)
		requireNear(t, "mean", want.Mean, addedTo(change, norm+".running_mean"))
		requireNear(t, "variance", want.Var, addedTo(change, norm+".running_var"))
		requireNear(t, "shift", want.Mean, addedTo(change, norm+".bias"))
	}
}

// BenchmarkStarts adds 16 channels to a layer of ConvSmall with 32 channels.
func BenchmarkStarts(b *testing.B) {
	for _, start := range net2net.Starts()[1:] {
		b.Run(string(start), func(b *testing.B) {
			require.NoError(b, torch.With(func(s *torch.Scope) error {
				n, err := model.Zoo("ConvSmall", model.ZooOptions{})
				require.NoError(b, err)
				require.NoError(b, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
				const rows = 256 // the default of adapt.rows
				labels := make([]int64, rows)
				for k := range labels {
					labels[k] = int64(k % 10)
				}
				batch := s.To(drawn(s, s.NewGenerator(torch.CPU, 2), -1, 1, rows, 3, 32, 32), torch.Float32, torch.CPU)
				o := net2net.Options{Batch: batch, Start: start,
					Loss: net2net.CrossEntropy(torch.From(s, labels, rows))}
				for b.Loop() {
					b.StopTimer()
					err := torch.With(func(inner *torch.Scope) error {
						twin, err := n.Clone(inner)
						require.NoError(b, err)
						b.StartTimer()
						_, err = net2net.Apply(twin, net2net.Action{Kind: "widen", Target: "conv2", Size: 48}, o)
						b.StopTimer()
						return err
					})
					require.NoError(b, err)
					b.StartTimer()
				}
				return s.Err()
			}))
		})
	}
}
