package graph

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// sample returns a graph with a tied weight and an operator with two results.
func sample() *Graph {
	return &Graph{
		Name: "Net", Output: "y",
		Input: Input{Value: "x", DType: weights.Float32, Shape: []Size{{Name: "batch", N: 3}, {N: 4}}},
		Modules: []Module{{Class: "Net"}, {Path: "a", Class: "Linear", Extra: "4, 4"},
			{Path: "b", Class: "Mine", Print: "Mine of two\nlines", Folds: true}},
		Tensors: []Tensor{{Name: "a.weight", Role: Parameter, DType: weights.Float32, Shape: []int{4, 4}},
			{Name: "b.weight", Role: Parameter, DType: weights.Float32, Shape: []int{4, 4}, Tied: "a.weight"},
			{Name: "c", Role: Constant, DType: weights.Int64}}, Nodes: []Node{{Operator: "linear.default", Module: "a",
			Args: []Arg{{"input", Value("x")}, {"weight", Weight("b.weight")}}, Results: []Value{"l"}},
			{Operator: "chunk.default", Args: []Arg{{"self", Value("l")}, {"chunks", int64(2)}, {"dim", int64(1)}},
				Results: []Value{"p", "q"}},
			{Operator: "add.Tensor", Args: []Arg{{"self", Value("p")}, {"other", Value("q")}}, Results: []Value{"y"}}},
	}
}

func TestTheFormSaysTheGraph(t *testing.T) {
	again, err := FromForm(sample().Form().Plain())
	require.NoError(t, err)
	assert.Equal(t, sample(), again)
}

// A graph may have several inputs and outputs, but graft itself does not run it.
func TestSeveralInputsAndOutputs(t *testing.T) {
	g := sample()
	g.MoreInputs = []Input{{Value: "z", DType: weights.Int64, Shape: []Size{{Name: "batch", N: 3}}}, {Value: "s",
		DType: weights.Float32}}
	g.MoreOutputs = []Value{"l", "z"}
	again, err := FromForm(g.Form().Plain())
	require.NoError(t, err)
	assert.Equal(t, g, again)
	shapes, err := g.Shapes()
	require.NoError(t, err)
	assert.Equal(t, []int{3}, shapes["z"])
	need, err := g.Needs(nil)
	require.NoError(t, err)
	assert.Equal(t, 4.0*(6+12+3), need.Output)
	require.NoError(t, sample().Single())
	assert.ErrorContains(t, g.Single(), "3 inputs and 3 outputs")
	g.MoreOutputs[1] = "nowhere"
	assert.ErrorContains(t, g.Check(), `no operator computes the output "nowhere"`)
	g.MoreInputs[0].Value = "x"
	assert.ErrorContains(t, g.Check(), `duplicate input "x"`)
}

func TestFaultsOfFormsHaveAPlace(t *testing.T) {
	form := sample().Form().Plain()
	form["tensors"].([]any)[1].(map[string]any)["shape"] = "4x4"
	form["operators"].([]any)[2] = "add("
	form["more"] = 1
	_, err := FromForm(form)
	assert.ErrorContains(t, err, "tensors[1].shape: must be a list")
	assert.ErrorContains(t, err, "operators[2]: not an operator: column 5")
	assert.ErrorContains(t, err, "more: unknown key")
}

func TestGraphsAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Graph)
		want   string
	}{
		"a value read before it is computed": {func(g *Graph) { g.Nodes[0], g.Nodes[1] = g.Nodes[1], g.Nodes[0] },
			"no earlier operator computes"},
		"an unknown tensor": {func(g *Graph) { g.Nodes[0].Set("bias", Weight("a.bias")) },
			"reads the unknown tensor"},
		"an unknown operator":           {func(g *Graph) { g.Nodes[2].Operator = "add_.Tensor" }, "unknown operator"},
		"an unknown module":             {func(g *Graph) { g.Nodes[2].Module = "d" }, `unknown module "d"`},
		"a value twice":                 {func(g *Graph) { g.Nodes[2].Results[0] = "q" }, "duplicate or empty value"},
		"no output":                     {func(g *Graph) { g.Output = "z" }, "computes the output"},
		"an argument that divides":      {func(g *Graph) { g.Nodes[1].Set("chunks", int64(0)) }, "must be positive"},
		"a number of more than 32 bits": {func(g *Graph) { g.Nodes[1].Set("chunks", int64(1)<<32) }, "32 bits"},
		"no number":                     {func(g *Graph) { g.Nodes[1].Set("eps", 0/zero) }, "must be finite"},
		"a tie to another shape":        {func(g *Graph) { g.Tensors[1].Shape = []int{4} }, "is tied to"},
		"a parameter without gradients": {func(g *Graph) { g.Tensors[0].DType = weights.Int64 }, "no gradients"},
		"a child before its parent":     {func(g *Graph) { g.Modules[1].Path = "a.b" }, "must come before"},
		"a size of zero":                {func(g *Graph) { g.Input.Shape[0].N = 0 }, "invalid size 0"},
	} {
		g := sample()
		c.change(g)
		assert.ErrorContains(t, g.Check(), c.want, name)
	}
	assert.NoError(t, sample().Check())
}

var zero float64

func TestPrintsOfModules(t *testing.T) {
	g := &Graph{Modules: []Module{{Class: "Net"}, {Path: "l", Class: "ModuleList", Folds: true},
		{Path: "l.0", Class: "A"}, {Path: "l.1", Class: "A"}, {Path: "l.2", Class: "B", Extra: "x"},
		{Path: "m", Class: "M", Print: "Mine of two\nlines"}}}
	assert.Equal(t, "Net(\n  (l): ModuleList(\n    (0-1): 2 x A()\n    (2): B(x)\n  )\n  (m): Mine of two\n  lines\n)",
		g.String())
}
