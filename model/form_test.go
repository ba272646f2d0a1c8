package model

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model/form"
	"graft/torch"
)

// assertForm checks that a network's form makes the same tree, also through JSON.
func assertForm(t *testing.T, n *Network) {
	t.Helper()
	want := n.Sketch()
	tidy(want)
	again, err := FromForm(n.Form().Plain())
	require.NoError(t, err, n)
	require.Equal(t, want, again)

	text, err := json.Marshal(n.Form().Plain())
	require.NoError(t, err)
	var plain map[string]any
	require.NoError(t, json.Unmarshal(text, &plain))
	again, err = FromForm(plain)
	require.NoError(t, err)
	require.Equal(t, want, again)
	require.Equal(t, n.Form(), again.Form())
}

func TestTheZooHasForms(t *testing.T) {
	for _, e := range ZooEntries() {
		n, err := Zoo(e.Name, ZooOptions{})
		require.NoError(t, err)
		assertForm(t, n)
	}
}

func TestRandomTreesHaveForms(t *testing.T) {
	for seed := range uint64(400) {
		g := &grower{random: rand.New(rand.NewPCG(seed, 0))}
		root, out := g.container(4, 0)
		n := &Network{Root: root, Input: Shape{4, 6, 6}}
		if g.chance(2) {
			c := sequence(root, &Leaf{Layer: NewLinear(out, 3)})
			c.Flow.Body = []string{"0", PoolStep, FlattenStep, "1"}
			n.Root = c
		}
		require.NoError(t, n.Check(), "seed %d: %v", seed, n)
		assertForm(t, n)
	}
}

// grower makes random trees whose layers keep the size of an image.
type grower struct{ random *rand.Rand }

func (g *grower) chance(in int) bool { return g.random.IntN(in) == 0 }

// container returns a random container for in channels, and its number of output channels.
func (g *grower) container(in, depth int) (*Container, int) {
	c := &Container{Mark: Mark(g.random.IntN(3)), Flow: Flow{Join: Join(g.random.IntN(3))}}
	if g.chance(3) {
		c.Class = []string{"Sequential", "Block", "Odd \"<class>\"\\"}[g.random.IntN(3)]
	}
	out := g.joined(c, in, depth)
	if g.chance(3) {
		c.Flow.Then, out = g.lane(c, out, depth)
	}
	if g.chance(3) {
		g.random.Shuffle(len(c.Children),
			func(i, j int) { c.Children[i], c.Children[j] = c.Children[j], c.Children[i] })
	}
	if c.Flow.Join == Chain && c.Mark != Unmarked && g.chance(2) {
		name := []string{"layers", "body", "0"}[g.random.IntN(3)]
		return &Container{Class: c.Class, Mark: c.Mark,
			Children: []Child{{name, &Container{Children: c.Children, Flow: c.Flow}}}}, out
	}
	return c, out
}

func (g *grower) joined(c *Container, in, depth int) (out int) {
	switch c.Flow.Join {
	case Sum:
		c.Flow.Body, out = g.lane(c, in, depth)
		switch {
		case out != in:
			c.Flow.Shortcut = []string{g.add(c, &Leaf{Layer: NewConv2d(in, out, 1)})}
		case g.chance(3):
			c.Flow.Shortcut = []string{g.add(c, &Leaf{Layer: Activate(torch.Tanh)})}
		}
	case Cat:
		for range 1 + g.random.IntN(3) {
			m, gives := g.module(in, depth)
			c.Flow.Body = append(c.Flow.Body, g.add(c, m))
			out += gives
		}
	default:
		c.Flow.Body, out = g.lane(c, in, depth)
	}
	return out
}

// lane adds random modules, and some run twice. It returns their names in order, and the number of output channels.
func (g *grower) lane(c *Container, in, depth int) ([]string, int) {
	var list []string
	for range g.random.IntN(5) {
		var m Module
		m, in = g.module(in, depth)
		list = append(list, g.add(c, m))
		if again := c.Children[g.random.IntN(len(c.Children))]; g.chance(3) && !hasWeights(again.Module) &&
			again.Module != m {
			if _, leaf := again.Module.(*Leaf); leaf {
				list = append(list, again.Name)
			}
		}
	}
	return list, in
}

// add registers a child under its index or under another name.
func (g *grower) add(c *Container, m Module) string {
	stem := fmt.Sprint(len(c.Children))
	if g.chance(3) {
		stem = []string{"conv", "relu", "shortcut", "then", "7"}[g.random.IntN(5)]
	}
	body := c.Flow.Body
	name := c.Add(stem, m)
	c.Flow.Body = body
	return name
}

func (g *grower) module(in, depth int) (Module, int) {
	if depth < 4 && g.chance(3) {
		return g.container(in, depth+1)
	}
	conv := NewConv2d(in, 1+g.random.IntN(6), 3)
	conv.Padding = Both(1)
	layers := []Layer{conv, NewBatchNorm2d(in), Activate(torch.ReLU), Identity{}, Dropout{P: 0.5},
		Activation{Kind: torch.Hardswish, Inplace: true}}
	l := layers[g.random.IntN(len(layers))]
	if _, convolves := l.(Conv2d); convolves {
		in = conv.Out
	}
	return &Leaf{Layer: l}, in
}

func TestFormsSayWhatIsUnusual(t *testing.T) {
	relu := func() Module { return &Leaf{Layer: Activate(torch.ReLU)} }
	n := &Network{Input: Shape{8}, Root: sequence(
		&Container{Mark: Original, Children: []Child{{"layers", sequence(relu())}}},
		&Container{Mark: Grown, Children: []Child{{"inner", sequence(relu())}}},
		&Container{Mark: Original, Class: "Mine", Children: []Child{{"0", relu()}}},
		&Container{Flow: Flow{Join: Sum, Body: []string{"0"}, Then: []string{"0"}}, Children: []Child{{"0", relu()}}},
		&Container{Flow: Flow{Body: []string{"0", "1"}}, Children: []Child{{"1", relu()}, {"0", relu()}}},
	)}
	require.NoError(t, n.Check())
	assert.Equal(t, map[string]any{"input": []any{8}, "layers": []any{
		map[string]any{"block": []any{"ReLU()"}},
		map[string]any{"block": []any{"ReLU()"}, "mark": "grown", "inner": "inner"},
		map[string]any{"block": []any{"ReLU()"}, "class": "Mine", "inner": ""},
		map[string]any{"residual": []any{"ReLU()"}, "then": []any{map[string]any{"use": "0"}}},
		map[string]any{"sequence": []any{"ReLU()", "ReLU()"}, "order": []any{"1", "0"}},
	}}, n.Form().Plain())
	assertForm(t, n)
}

// table shortens the forms in the tests below.
type table = map[string]any

func layersForm(parts ...any) table { return table{"input": []any{8, 6, 6}, "layers": parts} }

func TestAllFaultsOfAFormAreFound(t *testing.T) {
	relu := []any{"ReLU()"}
	for shows, test := range map[string]struct {
		form table
		want string
	}{
		"an empty form": {table{}, "input is missing; expected the sizes of an example: [channels, height, width], " +
			"or [features]\none of layers, block, residual or branches is missing"},
		"a part's keys on top": {table{"input": []any{8}, "class": "X", "sequence": relu, "layers": relu},
			"class: unknown key class in a network; use name\nsequence: unknown key sequence in a network; use layers"},
		"sizes that are none": {table{"input": []any{0, "x", 1.5}, "layers": relu}, "input[0]: a size must be " +
			"an integer from 1 to 1048576, got 0\ninput[1]: a size must be an integer from 1 to 1048576, " +
			"got the string \"x\"\ninput[2]: a size must be an integer from 1 to 1048576, got 1.5"},
		"too few sizes": {table{"input": []any{3, 4}, "layers": relu},
			"input: input must be the sizes of an example: [channels, height, width], or [features]"},
		"a misspelt key on top": {table{"input": []any{8}, "layer": relu},
			"layer: unknown key \"layer\" in a network; did you mean layers?"},
		"no list": {table{"input": []any{8}, "layers": "ReLU()"},
			"layers: layers must be a list of parts, got the string \"ReLU()\""},
		"layers beside a residual": {table{"input": []any{8}, "layers": relu, "residual": relu}, "residual: residual " +
			"and layers are both given, but only one of layers, block, residual or branches is allowed"},
		"parts that are none": {layersForm(3, nil, true, []any{}), "layers[0]: a part must be a layer such as " +
			"\"ReLU()\" or a table, got 3\nlayers[1]: a part must be a layer such as \"ReLU()\" or a table, " +
			"got null\nlayers[2]: a part must be a layer such as \"ReLU()\" or a table, got true\n" +
			"layers[3]: a part must be a layer such as \"ReLU()\" or a table, got a list"},
		"unknown layers": {layersForm("RLU()", table{"block": []any{table{"layer": "Conv2d(3)"}}}),
			"layers[0]: unknown layer \"RLU\"; did you mean ReLU?\n" +
				"layers[1].block[0].layer: missing arguments; Conv2d requires out_channels, kernel_size"},
		"a layer that is no text": {layersForm(table{"layer": 3}),
			"layers[0].layer: layer must be a string such as \"ReLU()\", got 3"},
		"an empty table": {layersForm(table{}),
			"layers[0]: one of layer, sequence, block, residual or branches is missing"},
		"both a layer and a block": {layersForm(table{"layer": "ReLU()", "block": relu}), "layers[0].block: " +
			"block and layer are both given, but only one of layer, sequence, block, residual or branches is allowed"},
		"a misspelt key": {layersForm(table{"nmae": "x", "layer": "ReLU()"}, table{"blok": relu}),
			"layers[0].nmae: unknown key \"nmae\" in a part; did you mean name?\n" +
				"layers[1].blok: unknown key \"blok\" in a part; did you mean block?"},
		"keys of other kinds": {layersForm(table{"sequence": relu, "mark": "grown", "shortcut": relu, "inner": "x"},
			table{"layer": "ReLU()", "class": "X"}), "layers[0].inner: inner is not allowed in sequence; only a " +
			"block has inner\nlayers[0].mark: mark is not allowed in sequence; use a block, " +
			"which is a sequence with a mark\n" +
			"layers[0].shortcut: shortcut is not allowed in sequence; only a residual has a shortcut\n" +
			"layers[1].class: class is not allowed in layer"},
		"a name used twice": {layersForm(table{"name": "1", "layer": "ReLU()"}, "Tanh()"),
			"layers[1]: duplicate part name \"1\"; use a different name for each part"},
		"names that are none": {layersForm(table{"name": "a.b", "layer": "ReLU()"}, table{"name": "",
			"layer": "ReLU()"}, table{"name": 3, "layer": "ReLU()"}, table{"name": "pool()", "layer": "ReLU()"}),
			"layers[0].name: part name \"a.b\" must not contain dots or spaces\nlayers[1].name: " +
				"name is empty; remove the key or set a value\nlayers[2].name: name must be a string, got 3\n" +
				"layers[3].name: part name \"pool()\" is reserved for a step without a name"},
		"an unknown mark": {layersForm(table{"block": relu, "mark": "grow"}),
			"layers[0].mark: mark must be \"original\" or \"grown\", got \"grow\"; did you mean grown?"},
		"a lane of an inner": {layersForm(table{"block": relu, "then": relu, "order": []any{}}),
			"layers[0].then: then is allowed only in a block with inner = \"\", which holds its parts itself\n" +
				"layers[0].order: order is allowed only in a block with inner = \"\", which holds its parts itself"},
		"an inner that is none": {layersForm(table{"block": relu, "inner": 3}, table{"block": relu, "inner": "a b"}),
			"layers[0].inner: inner must be a string, got 3\n" +
				"layers[1].inner: part name \"a b\" must not contain dots or spaces"},
		"uses of what is not there": {layersForm(table{"use": "relu"}, table{"name": "relu", "layer": "ReLU()"},
			table{"use": "rellu"}, table{"use": 3}), "layers[0].use: no earlier part of this container is named " +
			"\"relu\"\nlayers[2].use: no earlier part of this container is named \"rellu\"; did you mean relu?\n" +
			"layers[3].use: use must be a string, got 3"},
		"a use of weights": {layersForm("BatchNorm2d(8)", table{"use": "0", "name": "x"}),
			"layers[1].name: name is not allowed together with the key use, which runs an existing part\n" +
				"layers[1].use: \"0\" has weights, but only parts without weights may run more than once"},
		"an order that is none": {layersForm(table{"sequence": []any{"ReLU()", "Tanh()"}, "order": []any{"0", "0",
			"x", 3}}, table{"sequence": relu, "order": "0"}), "layers[0].order[1]: order contains \"0\" twice\n" +
			"layers[0].order[2]: order contains \"x\", which is not a part of this container\n" +
			"layers[0].order[3]: order must contain names, got 3\nlayers[0].order: order does not contain \"1\"\n" +
			"layers[1].order: order must be a list of names, got the string \"0\""},
		"shapes that do not fit": {layersForm("ReLU()", table{"block": []any{table{"name": "conv",
			"layer": "Conv2d(4, 8, 3)"}}}), "layers[1].block[0].layer: 1.layers.conv: Conv2d(4, 8, kernel_size=(3, " +
			"3), stride=(1, 1)) expects 4 channels, got 8 (the previous layer, 0, ReLU(), outputs 8x6x6)"},
		"a sum that does not fit": {layersForm(table{"residual": []any{"Conv2d(8, 8, 3)"}}),
			"layers[0].residual: 0: the body outputs 8x4x4 and the shortcut 8x6x6; a sum needs equal shapes"},
		"the network's own does not": {table{"input": []any{8, 6, 6}, "branches": []any{}},
			"branches: the network: the concatenation has no branches"},
		"a step that does not fit": {layersForm("flatten()", "pool()"),
			"layers[1]: pool(): AdaptiveAvgPool2d(output_size=(1, 1)) expects images of shape [channels, height, " +
				"width], " +
				"got 288 (the previous layer, flatten(), Flatten(start_dim=1, end_dim=-1), outputs 288)"},
	} {
		n, err := FromForm(test.form)
		assert.Nil(t, n, shows)
		assert.EqualError(t, err, test.want, shows)
	}
}

func TestFormsAreBounded(t *testing.T) {
	deep := []any{}
	for range deepestForm {
		deep = []any{table{"sequence": deep}}
	}
	_, err := FromForm(layersForm(deep...))
	assert.ErrorContains(t, err, "parts are nested more than 32 levels deep")
	_, err = FromForm(layersForm(deep[0].(table)["sequence"].([]any)...))
	assert.NoError(t, err)

	_, err = FromForm(layersForm(make([]any, mostInOne+1)...))
	assert.EqualError(t, err, "layers: got 10001 parts in one list, expected at most 10000")
	var many []any
	for range mostParts / mostInOne {
		many = append(many, table{"sequence": make([]any, mostInOne)})
	}
	_, err = FromForm(layersForm(many...))
	assert.Equal(t, 1, strings.Count(err.Error(), "more than 100000 parts"))
}

func TestFormPathsNeverLookAlike(t *testing.T) {
	assert.Equal(t, "layers[2].block[0]", form.Path([]any{"layers", 2, "block", 0}))
	assert.Equal(t, `"layers[2]"."a.b".""`, form.Path([]any{"layers[2]", "a.b", ""}))
}
