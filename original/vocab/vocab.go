// Package vocab gives each layer of a network a token, and each token a vector that is
// drawn once and never trained. The key of a layer is its PyTorch print.
//
// A vocabulary has two notations: a JSON file, and the two pickles of the original, with
// all that is wrong in the published ones. Pickles are read as they are, never executed.
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

// NoneLayer is the key of token 0, which is no layer's.
const NoneLayer = "none-layer"

// Entry is the token of a key.
type Entry struct {
	Key string `json:"key"` // a layer as PyTorch prints it
	ID  int    `json:"id"`  // its token: the place of its vector
}

// Vocabulary is made by New, Build or Read and has no useful zero value.
type Vocabulary struct {
	Entries []Entry     // in the order in which they came
	Vectors [][]float32 // by token, all equally long; some may be no key's
	Source  string      // the file it was read from; empty for none

	ids map[string]int
}

// New checks that the parts of a vocabulary fit each other. Keys may share a token:
// those of the published one do.
func New(entries []Entry, vectors [][]float32) (*Vocabulary, error) {
	v := &Vocabulary{Entries: entries, Vectors: vectors, ids: make(map[string]int, len(entries))}
	var faults validate.Faults
	if len(vectors) == 0 || len(vectors[0]) == 0 {
		return nil, errors.New("there are no vectors")
	}
	faults.When(len(entries) == 0, "there are no keys")
	for id, vector := range vectors {
		if err := sound(vector, len(vectors[0])); err != nil {
			faults = append(faults, fmt.Errorf("the vector of token %d %w", id, err))
		}
	}
	for _, e := range entries {
		if _, twice := v.ids[e.Key]; twice {
			faults = append(faults, fmt.Errorf("%q is there twice", e.Key))
		}
		faults.When(e.ID < 0 || e.ID >= len(vectors), "%q has the token %d, and there are %d vectors", e.Key, e.ID,
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
		return fmt.Errorf("has %d numbers, where the first has %d", len(vector), size)
	}
	for _, x := range vector {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errors.New("has a number that is not finite")
		}
	}
	return nil
}

// Build makes a vocabulary of all layers of some networks, in the order of
// registration, behind that of none. Each has a token of its own, and a vector of
// normal numbers that are drawn from random.
func Build(networks []*model.Network, size int, random *rand.Rand) (*Vocabulary, error) {
	if size < 1 {
		return nil, fmt.Errorf("build a vocabulary: vectors of %d numbers; there must be one at least", size)
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

// Size returns the length of a vector.
func (v *Vocabulary) Size() int { return len(v.Vectors[0]) }

// Tokens returns the tokens of a network's layers in the order of registration. A layer
// that the vocabulary does not have is an error, an [UnknownError].
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

// Layer is a layer and where it stands.
type Layer struct {
	Path string `json:"path"`  // as in a state dict
	Key  string `json:"layer"` // as PyTorch prints it
}

// Unknown are the layers of a network that the vocabulary does not have.
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

// UnknownError says which layers of a network a vocabulary does not have.
type UnknownError struct {
	Network    string
	Vocabulary string  // where it was read from; empty for nowhere
	Layers     []Layer // never empty
}

// Error names the first of them, its place, and what to do.
func (e *UnknownError) Error() string {
	source, more := "", ""
	if e.Vocabulary != "" {
		source = " " + e.Vocabulary
	}
	if n := len(e.Layers) - 1; n > 0 {
		more = fmt.Sprintf(", nor have %d more of its layers", n)
	}
	return fmt.Sprintf("%s at %s of %s has no token in the vocabulary%s%s; "+
		"take a network that it knows ('graft vocab check' says which), "+
		"or make a vocabulary with 'graft vocab build' and learn a policy with it", e.Layers[0].Key, e.Layers[0].Path,
		e.Network, source, more)
}

// Collision is a token that several keys share, so that a policy cannot tell them
// apart.
type Collision struct {
	ID   int      `json:"id"`   // of the token
	Keys []string `json:"keys"` // in the order of the vocabulary
}

// String lists the keys.
func (c Collision) String() string {
	return fmt.Sprintf("token %d is that of %s", c.ID, strings.Join(c.Keys, " and of "))
}

// Collisions are the tokens that several keys share, smallest first.
func (v *Vocabulary) Collisions() []Collision {
	var found []Collision
	for id := range v.Vectors {
		if keys := v.Keys(id); len(keys) > 1 {
			found = append(found, Collision{ID: id, Keys: keys})
		}
	}
	return found
}

// Keys returns the keys of a token; nil if no key has it.
func (v *Vocabulary) Keys(id int) []string {
	var keys []string
	for _, e := range v.Entries {
		if e.ID == id {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

// LayerKeys are the printed layers in the order of registration: the keys of
// the original's vocabularies.
func LayerKeys(n *model.Network) []string {
	var names []string
	for _, leaf := range n.Leaves() {
		names = append(names, leaf.Layer.String())
	}
	return names
}
