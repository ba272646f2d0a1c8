// Package transformer builds transformers as graphs: language models such as GPT and LLaMA, and encoders.
package transformer

import (
	"errors"
	"fmt"
	"math"

	"graft/torch/weights"
)

// Config describes a transformer. For Norm, Positions, MLP and Task, zero selects the first constant of the type.
type Config struct {
	Vocabulary int  // number of tokens
	Context    int  // maximum sequence length
	Width      int  // width of the residual stream
	Heads      int  // number of query heads
	Groups     int  // number of key and value heads; zero means Heads
	Size       int  // size of a head; zero means Width/Heads
	Hidden     int  // number of hidden units in a feed-forward layer; zero means 4 times Width
	Depth      int  // number of blocks
	Norm       Norm // kind of the norms of the stream; zero means LayerNorm
	// puts norms after the residual sums, as in the original transformer; false puts a norm at the start of each branch
	Post      bool
	Positions Positions          // encoding of positions; zero means Learned
	MLP       MLP                // kind of the feed-forward layers; zero means GELU
	Untied    bool               // gives the head its own weights; false uses the weights of the embedding
	NoBias    bool               // removes the bias of linear layers
	Stacked   bool               // computes queries, keys and values in one layer, qkv, as in GPT-2
	Full      bool               // lets every token attend to all other tokens; false limits it to earlier tokens
	Base      float64            // base of rotary positions; zero means 10,000
	Scale     float64            // scale of attention scores; zero means 1 over the square root of Size
	Eps       float64            // epsilon of norms; zero means 1e-5
	EpsOf     map[string]float64 // epsilon of single norms, by the path of the norm
	// dropout probability after the embedding, in attention, and after each layer that adds to the residual stream;
	// zero means none
	Dropout float64
	Task    Task // kind of labels that the output predicts; zero means NextToken
	Classes int  // number of classes for the tasks TextLabel and TokenLabel
	// the last token of the vocabulary pads short texts and is masked; requires Full
	Padded    bool
	EmbedNorm bool // adds a norm after the embedding, as in BERT
	// probability that the branches of the last block are dropped for an example (stochastic depth); it decreases in
	// equal steps to zero for the first block
	DropPath float64
	DType    weights.DType // data type of the parameters; zero means float32
}

// Task is the kind of labels that a network predicts.
type Task int

// Kinds of labels.
const (
	NextToken  Task = iota // a logit for each token of the vocabulary, at each position
	TextLabel              // a logit for each class, at the first token, as in BERT
	TokenLabel             // a logit for each class, at each position
)

// Norm names a kind of normalisation.
type Norm int

// Kinds of normalisation.
const (
	LayerNorm Norm = iota
	RMSNorm
)

// Positions names an encoding of the positions of tokens.
type Positions int

// Encodings of positions.
const (
	Learned      Positions = iota
	RotaryHalves           // rotates dimension i with i + size/2 (LLaMA's weights in Hugging Face's layout)
	RotaryPairs            // rotates dimension 2i with 2i + 1 (Su et al., RoFormer, 2021)
	None
)

// MLP names a kind of feed-forward layer.
type MLP int

// Kinds of feed-forward layers.
const (
	GELU MLP = iota
	ReLU
	SwiGLU // gated unit (Shazeer, GLU Variants Improve Transformer, 2020)
)

// EnsureDefaults replaces zero values with defaults.
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

// Validate returns an error if no network can be built from the configuration.
func (c Config) Validate() error {
	sizes := []struct {
		name  string
		value int
	}{{"vocabulary", c.Vocabulary}, {"context", c.Context}, {"width", c.Width}, {"heads", c.Heads},
		{"groups", c.Groups}, {"size of a head", c.Size}, {"hidden", c.Hidden}, {"depth", c.Depth}}
	for _, s := range sizes {
		if s.value < 1 || s.value > math.MaxInt32 {
			return fmt.Errorf("transformer: %s is %d; must be positive", s.name, s.value)
		}
	}
	switch {
	case (c.Task == NextToken) != (c.Classes == 0) || c.Classes < 0:
		return fmt.Errorf("transformer: classes is %d; must be positive for classification and 0 for next-token "+
			"prediction", c.Classes)
	case c.Padded && !c.Full:
		return errors.New("transformer: padding requires full attention; set full = true")
	case c.Heads%c.Groups != 0:
		return fmt.Errorf("transformer: heads is %d; must be a multiple of groups (%d)", c.Heads, c.Groups)
	case c.rotary() && c.Size%2 != 0:
		return fmt.Errorf("transformer: rotary positions require an even head size, got %d", c.Size)
	case c.Dropout < 0 || c.Dropout >= 1 || c.DropPath < 0 || c.DropPath >= 1:
		return fmt.Errorf("transformer: dropout is %v and stochastic depth is %v; both must be at least 0 and below 1",
			c.Dropout, c.DropPath)
	}
	return nil
}

func (c Config) rotary() bool { return c.Positions == RotaryHalves || c.Positions == RotaryPairs }

// eps returns the epsilon of a norm.
func (c Config) eps(path string) float64 {
	if e, ok := c.EpsOf[path]; ok {
		return e
	}
	return c.Eps
}
