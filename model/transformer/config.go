// Package transformer builds transformers as graphs: language models like GPT and LLaMA, and encoders.
package transformer

import (
	"errors"
	"fmt"
	"math"

	"graft/torch/weights"
)

// Config describes a transformer. The zero value of most fields is their first choice.
type Config struct {
	Vocabulary int                // number of tokens
	Context    int                // maximum sequence length
	Width      int                // width of the residual stream
	Heads      int                // query heads
	Groups     int                // key and value heads; zero means Heads
	Size       int                // size of a head; zero means Width/Heads
	Hidden     int                // hidden units of a feed-forward; zero means 4 times Width
	Depth      int                // number of blocks
	Norm       Norm               // norms of the stream; zero means LayerNorm
	Post       bool               // puts norms after the sums, as in the first transformer; false before the branches
	Positions  Positions          // zero means Learned
	MLP        MLP                // zero means GELU
	Untied     bool               // the head has its own weights instead of the embedding's
	NoBias     bool               // linear layers have no bias
	Stacked    bool               // queries, keys and values are one layer, qkv, as in GPT-2
	Full       bool               // every token attends to all others, not only to earlier ones
	Base       float64            // base of rotary positions; zero means 10,000
	Scale      float64            // scale of scores; zero means 1 over the square root of Size
	Eps        float64            // epsilon of norms; zero means 1e-5
	EpsOf      map[string]float64 // epsilon of single norms, by path
	// dropout probability after the embedding, in attention, and after each layer that adds to the stream; zero means
	// none
	Dropout float64
	Task    Task // zero means NextToken
	Classes int  // labels of the other tasks
	// the last token of the vocabulary pads short texts and is masked; requires Full
	Padded    bool
	EmbedNorm bool // a norm follows the embedding, as in BERT
	// probability that the last block's branches are dropped for an example; earlier blocks have smaller ones, in equal
	// steps from zero
	DropPath float64
	DType    weights.DType // zero means float32
}

// Task is the kind of labels of a network's output.
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

// Positions is the encoding of the positions of tokens.
type Positions int

// The positions.
const (
	Learned      Positions = iota
	RotaryHalves           // rotates dimension i with i + size/2 (LLaMA's weights in Hugging Face's layout)
	RotaryPairs            // rotates dimension 2i with 2i + 1 (Su et al., RoFormer, 2021)
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

// EnsureDefaults replaces zeros by their defaults.
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

// Validate returns an error if a configuration does not describe a network.
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
		return fmt.Errorf("transformer: classes is %d; must be positive for labels and zero for next tokens",
			c.Classes)
	case c.Padded && !c.Full:
		return errors.New("transformer: padding requires full attention; set full")
	case c.Heads%c.Groups != 0:
		return fmt.Errorf("transformer: %d heads must be a multiple of %d groups", c.Heads, c.Groups)
	case c.rotary() && c.Size%2 != 0:
		return fmt.Errorf("transformer: rotary positions require heads of even size, got %d", c.Size)
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
