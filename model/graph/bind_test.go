package graph

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

func TestWeightsThatDoNotFitAreRefused(t *testing.T) {
	g := &Graph{Name: "Net", Tensors: []Tensor{{Name: "a", Role: Parameter, DType: weights.Float32, Shape: []int{2}},
		{Name: "b", Role: Parameter, DType: weights.Float32, Shape: []int{2}, Tied: "a"}}}
	set := &weights.Set{}
	for _, name := range []string{"a", "b"} {
		w, err := weights.FromFloat32s(name, []int64{2}, []float32{1, 2})
		require.NoError(t, err)
		set.Tensors = append(set.Tensors, w)
	}
	require.NoError(t, g.Fits(set))
	require.NoError(t, g.FitsExactly(set))
	more := &weights.Set{Tensors: append(set.Tensors[:2:2], weights.Tensor{Name: "c", Shape: []int64{4}})}
	require.ErrorContains(t, g.FitsExactly(more), "c [4] is only in the file")
	set.Tensors[1].Data[0]++
	assert.ErrorContains(t, g.Fits(set), "b and a are one tensor in the network, but differ in the file")
}
