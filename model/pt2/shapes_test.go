package pt2

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Computed shapes equal the shapes that archives state.
func TestShapesAreThoseOfArchives(t *testing.T) {
	for path := range cases(t) {
		data, err := os.ReadFile(path + ".pt2")
		require.NoError(t, err)
		a, err := open(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		name, err := a.findProgram()
		require.NoError(t, err)
		text, err := a.read(name, largestProgram)
		require.NoError(t, err)
		var p program
		require.NoError(t, json.Unmarshal(text, &p))
		g := importFile(t, path+".pt2").Graph
		got, err := g.Shapes()
		require.NoError(t, err, path)
		checked := 0
		for value, shape := range got {
			described := p.GraphModule.Graph.TensorValues[string(value)]
			if described == nil {
				continue
			}
			want, err := described.shape()
			require.NoError(t, err)
			checked++
			if !assert.Equal(t, append([]int{}, want...), append([]int{}, shape...), "%s: %s", path, value) {
				break
			}
		}
		assert.Greater(t, checked, len(g.Nodes)*9/10, path)
	}
}
