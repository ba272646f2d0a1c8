package bilstm

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"graft/decider"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/model"
	"graft/original/vocab"
	"graft/torch/weights"
)

// FileName is the name of a learned policy's file in the original system.
const FileName = "agent.finalmodel.pth"

// Prefix selects whether a policy reads token 0 before the tokens of the network's layers. In the original system, the
// first policies read token 0 during learning; later versions of the system did not read it.
type Prefix string

// The values of Prefix. The zero value is AsLearned.
const (
	// reads token 0 if the policy's file has 13 vectors, as in files from the time when policies learned with token 0
	AsLearned Prefix = ""
	Always    Prefix = "always" // reads token 0, whatever the file contains
	Never     Prefix = "never"  // does not read token 0, as in the last version of the original system
)

// prefixedRows is the vocabulary size of policies that learned with token 0.
const prefixedRows = 13

// embedder is the tensor of a policy's file whose number of rows shows its time. Its values equal the vocabulary's,
// from which the original took them.
const embedder = "encoder.embedder.weight"

// Options selects how a policy in the original system's format decides.
type Options struct {
	Prefix Prefix // whether token 0 is read before the layers' tokens; empty lets the policy's file decide
	// Sample draws an action, as during learning. False takes the most likely action.
	Sample      bool
	Temperature float64 // sampling temperature, see Temper; values up to 1, including zero, have no effect
	Seed        uint64  // seed of drawing actions
	// Want holds the policy sizes that the configuration requires. Zero sizes are not checked.
	Want Shape
}

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	var faults validate.Faults
	faults.Unless(slices.Contains([]Prefix{AsLearned, Always, Never}, o.Prefix),
		"prefix is %q; must be %s, %s or empty", o.Prefix, Always, Never)
	faults.When(math.IsNaN(o.Temperature) || o.Temperature < 0,
		"temperature is %v; must not be negative", o.Temperature)
	return errors.Join(faults...)
}

// Shape holds the sizes of a policy. The zero Shape means unknown sizes.
type Shape struct {
	Actions   int `json:"actions"`   // number of actions
	Embedding int `json:"embedding"` // length of a token's vector
	Hidden    int `json:"hidden"`    // units of the biLSTM, per direction
	Memory    int `json:"memory"`    // units of the LSTM
	Linear    int `json:"linear"`    // number of values between the linear layers
	Time      int `json:"time"`      // number of values that encode the time left
}

// New creates a policy from its weights. It checks that the sizes of the weights match each other, the options and the
// vocabulary that the policy was trained with.
func New(set *weights.Set, v *vocab.Vocabulary, o Options) (*Policy, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	p := &Policy{Options: o, Weights: set, Vocabulary: v}
	var err error
	if p.encoder, err = NewEncoder(v, set); err != nil {
		return nil, err
	}
	if p.memory, err = ReadLSTM(set, "decider.lstm", ""); err != nil {
		return nil, err
	}
	for k := range p.layers {
		name := fmt.Sprintf("decider.linear%d", k+1)
		if p.layers[k], err = ReadAffine(set, name+".weight", name+".bias"); err != nil {
			return nil, err
		}
	}
	return p, cmp.Or(p.joined(), p.Shape().meets(o.Want), p.compare())
}

// joined returns an error if the output of a part does not match the input of the next.
func (p *Policy) joined() error {
	joints := []struct {
		what       string
		makes, has int
	}{
		{"decider.lstm", 2 * p.encoder.Hidden(), p.memory.In()},
		{"decider.linear2", p.layers[0].Out, p.layers[1].In},
		{"decider.linear3", p.layers[1].Out, p.layers[2].In},
	}
	for _, j := range joints {
		if j.makes != j.has {
			return fmt.Errorf("%s expects %d inputs, but the previous layer has %d outputs; "+
				"the layers belong to different policies",
				j.what, j.has, j.makes)
		}
	}
	if p.Shape().Time < 1 {
		return fmt.Errorf("decider.linear1 has %d inputs, but the LSTM state has %d values; expected additional "+
			"inputs for the time left",
			p.layers[0].In, p.memory.Hidden())
	}
	return nil
}

// meets returns an error if the sizes differ from a configuration.
func (s Shape) meets(want Shape) error {
	for _, size := range []struct {
		key       string
		has, want int
	}{
		{"max_actions", s.Actions, want.Actions}, {"embedding_size", s.Embedding, want.Embedding},
		{"hidden_size", s.Hidden, want.Hidden}, {"decider_lstm_size", s.Memory, want.Memory},
		{"decider_linear_size", s.Linear, want.Linear}, {"time_encoding_size", s.Time, want.Time},
	} {
		if size.want != 0 && size.has != size.want {
			return fmt.Errorf("the configuration has %s = %d, but the weights have %d; "+
				"the two files belong to different runs", size.key, size.want, size.has)
		}
	}
	return nil
}

// compare compares the vectors of the policy's file with the vocabulary's.
func (p *Policy) compare() error {
	t, ok := p.Weights.Find(embedder)
	if !ok || len(t.Shape) != 2 || t.Shape[1] != int64(p.Vocabulary.Size()) {
		return fmt.Errorf("tensor %s is missing, or its rows do not have %d values (the length of the "+
			"vocabulary's vectors)", embedder, p.Vocabulary.Size())
	}
	values, err := t.Float32s()
	if err != nil {
		return err
	}
	p.rows = int(t.Shape[0])
	for id := range min(p.rows, len(p.Vocabulary.Vectors)) {
		if size := p.Vocabulary.Size(); !slices.Equal(values[id*size:(id+1)*size], p.Vocabulary.Vectors[id]) {
			return fmt.Errorf("the policy's vector for token %d differs from the vector in vocabulary %s; "+
				"use the vocabulary with which the policy was trained", id, p.Vocabulary.Source)
		}
	}
	return nil
}

// Shape returns the sizes of the policy, taken from its weights.
func (p *Policy) Shape() Shape {
	return Shape{Actions: p.layers[2].Out, Embedding: p.Vocabulary.Size(), Hidden: p.encoder.Hidden(),
		Memory: p.memory.Hidden(), Linear: p.layers[0].Out, Time: p.layers[0].In - p.memory.Hidden()}
}

// Prefixed reports whether the policy reads token 0 before the tokens of the network's layers.
func (p *Policy) Prefixed() bool {
	return p.Prefix == Always || p.Prefix == AsLearned && p.rows == prefixedRows
}

// Early reports whether all layers of a network are among the oldest entries of the vocabulary, which existed when
// policies still read token 0 before the tokens of the layers. It is false for the second published network, whose
// layers were added to the vocabulary later.
func (p *Policy) Early(n *model.Network) bool {
	first := p.Vocabulary.Entries[:min(prefixedRows, len(p.Vocabulary.Entries))]
	for _, key := range vocab.LayerKeys(n) {
		if !slices.ContainsFunc(first, func(e vocab.Entry) bool { return e.Key == key }) {
			return false
		}
	}
	return true
}

// Read reads a policy from a weight file or from a run folder of the original system.
func Read(fsys files.FS, path string, v *vocab.Vocabulary, o Options) (*Policy, error) {
	p, err := read(fsys, path, v, o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read policy: %w; expected a policy file, or a folder with the file %s", err, FileName)
	}
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w", path, err)
	}
	return p, nil
}

func read(fsys files.FS, path string, v *vocab.Vocabulary, o Options) (*Policy, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	set, err := decider.ReadWeights(fsys, path)
	if err != nil {
		return nil, err
	}
	return New(set, v, o)
}
