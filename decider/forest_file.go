package decider

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"graft/torch/weights"
)

// mostTrees limits forests, as a check for damaged files.
const mostTrees = 1 << 20

// Names of a forest's tensors: the nodes of all trees, one tree after the other, and the number of nodes per tree.
const (
	forestSizes   = "forest.sizes"
	forestFeature = "forest.feature"
	forestCut     = "forest.cut"
	forestRight   = "forest.right"
)

// forestTensors returns a forest's tensors for a file.
func forestTensors(forest []RegressionTree) []weights.Tensor {
	var sizes, feature, right []int32
	var cut []float32
	for _, t := range forest {
		sizes = append(sizes, int32(len(t.Feature)))
		feature, cut, right = append(feature, t.Feature...), append(cut, t.Cut...), append(right, t.Right...)
	}
	tensor := func(name string, dtype weights.DType, count int, values any) weights.Tensor {
		t := weights.Tensor{Name: name, DType: dtype, Shape: []int64{int64(count)}}
		t.Data, _ = binary.Append(nil, binary.LittleEndian, values) // writing numbers cannot fail
		return t
	}
	return []weights.Tensor{tensor(forestSizes, weights.Int32, len(sizes), sizes),
		tensor(forestFeature, weights.Int32, len(feature), feature), tensor(forestCut, weights.Float32, len(cut), cut),
		tensor(forestRight, weights.Int32, len(right), right)}
}

// forestOf returns the forest of a file.
func forestOf(set *weights.Set, trees int) ([]RegressionTree, error) {
	sizes, err := numbers[int32](set, forestSizes, weights.Int32, trees)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, n := range sizes {
		if n < 1 {
			return nil, fmt.Errorf("a tree of the forest has %d nodes; expected at least 1; copy the file again", n)
		}
		total += int(n)
	}
	feature, err1 := numbers[int32](set, forestFeature, weights.Int32, total)
	cut, err2 := numbers[float32](set, forestCut, weights.Float32, total)
	right, err3 := numbers[int32](set, forestRight, weights.Int32, total)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return cutForest(sizes, RegressionTree{feature, cut, right})
}

// cutForest splits the nodes of all trees into trees.
func cutForest(sizes []int32, all RegressionTree) (forest []RegressionTree, err error) {
	at := 0
	for k, n := range sizes {
		end := at + int(n)
		t := RegressionTree{all.Feature[at:end], all.Cut[at:end], all.Right[at:end]}
		if err := t.validate(len(forestFeatures)); err != nil {
			return nil, fmt.Errorf("tree %d is damaged: %w; copy the file again", k, err)
		}
		forest, at = append(forest, t), end
	}
	return forest, nil
}

// numbers reads a list of numbers of four bytes each.
func numbers[T int32 | float32](set *weights.Set, name string, dtype weights.DType, count int) ([]T, error) {
	t, ok := set.Find(name)
	if !ok || t.DType != dtype || !slices.Equal(t.Shape, []int64{int64(count)}) {
		return nil, fmt.Errorf("tensor %s is missing or has the wrong shape; copy the file again", name)
	}
	values := make([]T, count)
	_, err := binary.Decode(t.Data, binary.LittleEndian, values)
	return values, err
}
