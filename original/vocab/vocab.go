// Package vocab assigns a token to each layer of a network, and to each token a vector that is drawn once and never
// trained. The key of a layer is the text that PyTorch prints for it.
//
// A vocabulary has two formats: a JSON file, and the two pickles of the original system, including the faults of the
// published pickles. Pickles are parsed, never executed.
package vocab

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"graft/internal/validate"
	"graft/model"
)

// NoneLayer is the key of token 0, which belongs to no layer.
const NoneLayer = "none-layer"

// Entry assigns a token to a key.
type Entry struct {
	Key string `json:"key"` // text that PyTorch prints for the layer
	ID  int    `json:"id"`  // token, which is the index of its vector
}

// Vocabulary maps layers to tokens and vectors. Create it with New, Build or Read; the zero value is invalid.
type Vocabulary struct {
	Entries []Entry     // entries in the order in which they were added
	Vectors [][]float32 // vectors by token, all of the same length; a vector need not have a key
	Source  string      // path of the file that it was read from; empty if none

	ids map[string]int
}

// New creates a vocabulary from entries and the vectors of their tokens, and checks that each token has a vector. Keys
// can share a token, as in the published vocabulary.
func New(entries []Entry, vectors [][]float32) (*Vocabulary, error) {
	v := &Vocabulary{Entries: entries, Vectors: vectors, ids: make(map[string]int, len(entries))}
	var faults validate.Faults
	if len(vectors) == 0 || len(vectors[0]) == 0 {
		return nil, errors.New("no vectors")
	}
	faults.When(len(entries) == 0, "no keys")
	for id, vector := range vectors {
		if err := sound(vector, len(vectors[0])); err != nil {
			faults = append(faults, fmt.Errorf("the vector of token %d is invalid: %w", id, err))
		}
	}
	for _, e := range entries {
		if _, twice := v.ids[e.Key]; twice {
			faults = append(faults, fmt.Errorf("duplicate key %q", e.Key))
		}
		faults.When(e.ID < 0 || e.ID >= len(vectors), "%q has token %d, but there are only %d vectors", e.Key, e.ID,
			len(vectors))
		v.ids[e.Key] = e.ID
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return v, nil
}

func sound(vector []float32, size int) error {
	if len(vector) != size {
		return fmt.Errorf("got %d numbers; expected %d, as in the first vector", len(vector), size)
	}
	for _, x := range vector {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errors.New("a number is not finite")
		}
	}
	return nil
}

// Build creates a vocabulary of NoneLayer and all layers of the given networks, in the order of registration. Each
// distinct layer has its own token, with a vector of normally distributed numbers.
func Build(networks []*model.Network, size int, random *rand.Rand) (*Vocabulary, error) {
	if size < 1 {
		return nil, fmt.Errorf("build a vocabulary: vectors have %d numbers, expected at least one", size)
	}
	entries := []Entry{{Key: NoneLayer}}
	seen := map[string]bool{}
	for _, n := range networks {
		for _, key := range LayerKeys(n) {
			if !seen[key] {
				seen[key] = true
				entries = append(entries, Entry{Key: key, ID: len(entries)})
			}
		}
	}
	vectors := make([][]float32, len(entries))
	for id := range vectors {
		for range size {
			vectors[id] = append(vectors[id], float32(random.NormFloat64()))
		}
	}
	return New(entries, vectors)
}

// Size returns the length of each vector.
func (v *Vocabulary) Size() int { return len(v.Vectors[0]) }

// Tokens returns the tokens of a network's layers in the order of registration. If the vocabulary lacks a layer, the
// error is an [UnknownError].
func (v *Vocabulary) Tokens(n *model.Network) ([]int, error) {
	var tokens []int
	for _, key := range LayerKeys(n) {
		id, known := v.ids[key]
		if !known {
			return nil, &UnknownError{Network: n.Name(), Vocabulary: v.Source, Layers: v.Unknown(n)}
		}
		tokens = append(tokens, id)
	}
	return tokens, nil
}

// Layer is a layer of a network with its path.
type Layer struct {
	Path string `json:"path"`  // path of the layer in a state dict
	Key  string `json:"layer"` // text that PyTorch prints for the layer
}

// Unknown returns the layers of a network that are not in the vocabulary.
func (v *Vocabulary) Unknown(n *model.Network) []Layer {
	var unknown []Layer
	n.Walk(func(path string, m model.Module) bool {
		if leaf, ok := m.(*model.Leaf); ok {
			if _, known := v.ids[leaf.Layer.String()]; !known {
				unknown = append(unknown, Layer{Path: path, Key: leaf.Layer.String()})
			}
		}
		return true
	})
	return unknown
}

// UnknownError reports that a vocabulary lacks layers of a network.
type UnknownError struct {
	Network    string
	Vocabulary string  // path of the vocabulary's file; empty if it has none
	Layers     []Layer // missing layers; never empty
}

// Error names the first missing layer, its path, and the remedy.
func (e *UnknownError) Error() string {
	source, more := "", ""
	if e.Vocabulary != "" {
		source = " " + e.Vocabulary
	}
	if n := len(e.Layers) - 1; n > 0 {
		more = fmt.Sprintf(" (other missing layers: %d)", n)
	}
	return fmt.Sprintf("%s at %s of %s has no token in the vocabulary%s%s; "+
		"use a network that the vocabulary covers (see 'graft vocab check'), "+
		"or create a vocabulary with 'graft vocab build' and train a policy with it", e.Layers[0].Key, e.Layers[0].Path,
		e.Network, source, more)
}

// Collision is a token that several keys share, so that a policy cannot distinguish the layers with these keys.
type Collision struct {
	ID   int      `json:"id"`   // shared token
	Keys []string `json:"keys"` // keys with this token, in the order of the vocabulary
}

// String lists the keys that share the token.
func (c Collision) String() string {
	return fmt.Sprintf("token %d is shared by %s", c.ID, strings.Join(c.Keys, " and "))
}

// Collisions returns the tokens that several keys share, in ascending order.
func (v *Vocabulary) Collisions() []Collision {
	var found []Collision
	for id := range v.Vectors {
		if keys := v.Keys(id); len(keys) > 1 {
			found = append(found, Collision{ID: id, Keys: keys})
		}
	}
	return found
}

// Keys returns the keys of a token, or nil if it has none.
func (v *Vocabulary) Keys(id int) []string {
	var keys []string
	for _, e := range v.Entries {
		if e.ID == id {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// LayerKeys returns the text that PyTorch prints for each layer, in the order of registration. The texts are the keys
// of the original system's vocabularies.
func LayerKeys(n *model.Network) []string {
	var names []string
	for _, leaf := range n.Leaves() {
		names = append(names, leaf.Layer.String())
	}
	return names
}
