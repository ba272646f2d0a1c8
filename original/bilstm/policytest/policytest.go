// Package policytest generates random policies in the original system's format, for tests that need no trained policy.
package policytest

import (
	"fmt"
	"math/rand/v2"

	"graft/original/bilstm"
	"graft/original/vocab"
	"graft/torch/weights"
)

// Small holds the sizes of a policy for fast tests. It has four actions, for networks with three blocks.
var Small = bilstm.Shape{Actions: 4, Embedding: 4, Hidden: 3, Memory: 2, Linear: 5, Time: 8}

// Weights returns random weights between -1 and 1 for a policy that uses the given vocabulary. If s.Embedding differs
// from the length of the vocabulary's vectors, the weights do not match the vocabulary.
func Weights(v *vocab.Vocabulary, s bilstm.Shape, seed uint64) *weights.Set {
	random := rand.New(rand.NewPCG(seed, 0))
	set := &weights.Set{}
	add := func(name string, shape ...int64) {
		count := int64(1)
		for _, size := range shape {
			count *= size
		}
		values := make([]float32, count)
		for k := range values {
			values[k] = 2*random.Float32() - 1
		}
		set.Tensors = append(set.Tensors, tensor(name, shape, values))
	}
	memory := func(name, ending string, in, hidden int) {
		add(name+".weight_ih_l0"+ending, 4*int64(hidden), int64(in))
		add(name+".weight_hh_l0"+ending, 4*int64(hidden), int64(hidden))
		add(name+".bias_ih_l0"+ending, 4*int64(hidden))
		add(name+".bias_hh_l0"+ending, 4*int64(hidden))
	}
	set.Tensors = append(set.Tensors, Vectors(v))
	memory("encoder.encoder", "", s.Embedding, s.Hidden)
	memory("encoder.encoder", "_reverse", s.Embedding, s.Hidden)
	memory("decider.lstm", "", 2*s.Hidden, s.Memory)
	for k, size := range [][2]int{{s.Linear, s.Time + s.Memory}, {s.Linear, s.Linear}, {s.Actions, s.Linear}} {
		name := fmt.Sprintf("decider.linear%d", k+1)
		add(name+".weight", int64(size[0]), int64(size[1]))
		add(name+".bias", int64(size[0]))
	}
	return set
}

// Vectors returns the vectors of a vocabulary as the tensor that a policy's file contains.
func Vectors(v *vocab.Vocabulary) weights.Tensor {
	var values []float32
	for _, vector := range v.Vectors {
		values = append(values, vector...)
	}
	return tensor("encoder.embedder.weight", []int64{int64(len(v.Vectors)), int64(v.Size())}, values)
}

// Put replaces the first tensor of a set that has the given name by t.
func Put(set *weights.Set, name string, t weights.Tensor) {
	for k := range set.Tensors {
		if set.Tensors[k].Name == name {
			set.Tensors[k] = t
			return
		}
	}
}

// Zeros returns a float32 tensor of zeros.
func Zeros(name string, shape ...int64) weights.Tensor {
	count := int64(1)
	for _, size := range shape {
		count *= size
	}
	return tensor(name, shape, make([]float32, count))
}

// tensor returns a tensor of the given shape and values.
func tensor(name string, shape []int64, values []float32) weights.Tensor {
	t, err := weights.FromFloat32s(name, shape, values)
	if err != nil {
		panic(err) // only a mistake in this file causes it
	}
	return t
}
