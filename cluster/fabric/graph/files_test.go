package graph

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func drawn(t *rapid.T) *Profile {
	p := &Profile{Model: rapid.StringMatching("[A-Za-z0-9_]{1,12}").Draw(t, "model")}
	value := func(name string) float64 { return math.Abs(rapid.Float64Range(0, 1e12).Draw(t, name)) }
	for k := range rapid.IntRange(1, 15).Draw(t, "nodes") {
		p.Nodes = append(p.Nodes, Node{
			ID: k + 1, Kind: rapid.StringMatching("[A-Z][a-z0-9]{0,8}").Draw(t, "kind"),
			Detail:  rapid.StringMatching("[a-z0-9=., ]{0,20}").Draw(t, "detail"),
			Forward: value("forward"), Backward: value("backward"), Activation: value("activation"),
			Parameters: value("parameters"),
		})
		for from := range k {
			if rapid.IntRange(0, 2).Draw(t, "edge") == 0 {
				p.Edges = append(p.Edges, [2]int{from, k})
			}
		}
	}
	return p
}

// A written profile reads back unchanged.
func TestFilesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawn(t)
		var text, object bytes.Buffer
		require.NoError(t, p.WritePipeDream(&text))
		again, err := ReadPipeDream(&text, p.Model, "file")
		require.NoError(t, err)
		require.Equal(t, p, again)
		require.NoError(t, p.WriteJSON(&object))
		again, err = ReadJSON(&object, "file")
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}

func TestGraphsInJSONThatAreRefused(t *testing.T) {
	one := `{"id": 1, "kind": "A", "forward_ms": 1, "backward_ms": 1, "activation_bytes": 1, "parameter_bytes": 1}`
	for text, says := range map[string]string{
		"":                         "EOF",
		"{}":                       "model is empty",
		`{"model": "m"}`:           "no nodes",
		`{"model": "m", "nods":1}`: `unknown field "nods"`,
		`{"model": "m", "operations": [` + one + `]} 1`:                        "unexpected text after the graph",
		`{"model": "m", "operations": [` + one + `]}}`:                         "unexpected text after the graph",
		`{"model": "m", "operations": [` + one + `], "edges": [[1, 2]]}`:       "edges[0] connects 1 and 2",
		`{"model": "m", "operations": [` + one + `], "edges": [[1, 1]]}`:       "dependency cycle through node 1",
		`{"model": "m", "operations": [` + one + `], "edges": [[1, 1, 1]]}`:    "edges[0] has 3 numbers; expected 2",
		`{"model": "m", "operations": [` + one + `], "edges": [[1]]}`:          "edges[0] has 1 numbers; expected 2",
		`{"model": "m", "operations": [` + one + `], "edges": [[1,1], [1,1]]}`: "as an earlier edge does",
		`{"model": "m", "Model": "n", "operations": [` + one + `]}`:            `the key "Model" is given twice`,
		`{"model": "m", "operations": [` + strings.Replace(one, `"forward_ms": 1`, `"forward_ms": -1`, 1) +
			`]}`: "forward time is -1",
		`{"model": "m", "operations": [` + one + `,` + one + `]}`: "give each node a unique number",
	} {
		_, err := ReadJSON(strings.NewReader(text), "graph.json")
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "graph.json: ")
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"model": "m", "operations": [{"id": 1, "kind": "A", "forward_ms": 1, "backward_ms": 1, ` +
		`"activation_bytes": 1, "parameter_bytes": 1}], "edges": []}`)
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ReadJSON(strings.NewReader(text), "graph.json"); err == nil {
			p.Mirror(MirrorOptions{}).Details()
		}
	})
}

func FuzzPipeDream(f *testing.F) {
	f.Add("node1 -- A(x) -- forward_compute_time=1, backward_compute_time=2, activation_size=[1; 2], " +
		"parameter_size=4\n\tnode1 -- node1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ReadPipeDream(strings.NewReader(text), "m", "file.txt"); err == nil {
			p.Mirror(MirrorOptions{}).Details()
		}
	})
}
