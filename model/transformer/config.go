// Package transformer builds transformers as graphs: language models in the manner of GPT and LLaMA, and encoders.
package transformer

import (
	"errors"
	"fmt"
	"math"

	"graft/torch/weights"
)

// Config describes a transformer. The zero value of most fields is the first of their choices.
type Config struct {
	Vocabulary int                // tokens
	Context    int                // longest sequence
	Width      int                // of the residual stream
	Heads      int                // of the queries
	Groups     int                // key and value heads; zero means Heads
	Size       int                // of a head; zero means Width/Heads
	Hidden     int                // units of a feed-forward; zero means 4 times Width
	Depth      int                // blocks
	Norm       Norm               // of the stream; zero means LayerNorm
	Post       bool               // norms stand behind the sums, as in the first transformer, not before the branches
	Positions  Positions          // zero means Learned
	MLP        MLP                // zero means GELU
	Untied     bool               // the head has weights of its own, not those of the embedding
	NoBias     bool               // linear layers have no bias
	Stacked    bool               // queries, keys and values are one layer, qkv, as in GPT-2
	Full       bool               // every token sees all others, not only those before it
	Base       float64            // of rotary positions; zero means 10,000
	Scale      float64            // of scores; zero means 1 over the root of Size
	Eps        float64            // of norms; zero means 1e-5
	EpsOf      map[string]float64 // of some norms, by path
	// probability after the embedding, in attention, and after each layer that writes; zero means none
	Dropout float64
	Task    Task // zero means NextToken
	Classes int  // labels of the other tasks
	// the last token of the vocabulary fills up short texts, and no token sees it; needs Full
	Padded    bool
	EmbedNorm bool // a norm stands behind the embedding, as in BERT
	// probability that the last block's branches are dropped for an example; those before it have less, in
	// equal steps from zero
	DropPath float64
	DType    weights.DType // zero means float32
}

// Task says which labels a network's output is for.
type Task int

// The tasks.
const (
	NextToken  Task = iota // a logit for each token of the vocabulary, at each token
	TextLabel              // a logit for each class, by the first token, as in BERT
	TokenLabel             // a logit for each class, at each token
)

// Norm is a normalisation.
type Norm int

// The normalisations.
const (
	LayerNorm Norm = iota
	RMSNorm
)

// Positions tells how a network knows the places of tokens.
type Positions int

// The positions.
const (
	Learned      Positions = iota
	RotaryHalves           // dimension i turns with i + size/2 (LLaMA's weights in Hugging Face's layout)
	RotaryPairs            // dimension 2i turns with 2i + 1 (Su et al., RoFormer, 2021)
	None
)

// MLP is a feed-forward.
type MLP int

// The feed-forwards.
const (
	GELU MLP = iota
	ReLU
	SwiGLU // Shazeer, GLU Variants Improve Transformer, 2020
)

// EnsureDefaults fills in what zero stands for.
func (c *Config) EnsureDefaults() {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.Groups, c.Heads)
	if c.Heads > 0 {
		set(&c.Size, c.Width/c.Heads)
	}
	set(&c.Hidden, 4*c.Width)
	if c.Base == 0 {
		c.Base = 10000
	}
	if c.Eps == 0 {
		c.Eps = 1e-5
	}
	if c.DType == weights.Invalid {
		c.DType = weights.Float32
	}
}

// Validate reports a configuration of which no network can be made.
func (c Config) Validate() error {
	sizes := []struct {
		name  string
		value int
	}{{"vocabulary", c.Vocabulary}, {"context", c.Context}, {"width", c.Width}, {"heads", c.Heads},
		{"groups", c.Groups}, {"size of a head", c.Size}, {"hidden", c.Hidden}, {"depth", c.Depth}}
	for _, s := range sizes {
		if s.value < 1 || s.value > math.MaxInt32 {
			return fmt.Errorf("transformer: %s is %d; it must be positive", s.name, s.value)
		}
	}
	switch {
	case (c.Task == NextToken) != (c.Classes == 0) || c.Classes < 0:
		return fmt.Errorf("transformer: %d classes; a network for labels needs them, and one for next tokens has none",
			c.Classes)
	case c.Padded && !c.Full:
		return errors.New("transformer: padding is for networks whose tokens see all others; set full")
	case c.Heads%c.Groups != 0:
		return fmt.Errorf("transformer: %d heads are not a multiple of %d groups", c.Heads, c.Groups)
	case c.rotary() && c.Size%2 != 0:
		return fmt.Errorf("transformer: rotary positions turn pairs, and a head has an odd size of %d", c.Size)
	case c.Dropout < 0 || c.Dropout >= 1 || c.DropPath < 0 || c.DropPath >= 1:
		return fmt.Errorf("transformer: dropout is %v and stochastic depth %v; they must be at least 0 and below 1",
			c.Dropout, c.DropPath)
	}
	return nil
}

func (c Config) rotary() bool { return c.Positions == RotaryHalves || c.Positions == RotaryPairs }

// eps is the epsilon of a norm.
func (c Config) eps(path string) float64 {
	if e, ok := c.EpsOf[path]; ok {
		return e
	}
	return c.Eps
}
