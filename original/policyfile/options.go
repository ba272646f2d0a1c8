package policyfile

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"graft/internal/validate"
	"graft/net2net"
	"graft/original/learn"
	"graft/torch/weights"
)

// RunOptions holds the seed and output of a policy that learns. Paths in all sections are paths of the operating
// system, relative to the working directory.
type RunOptions struct {
	Seed   int64  // seed of the initial parameters and of all actions; default 1
	Folder string `result:"none"` // path of the run folder; empty lets the command choose
	Every  int    // episodes per row of the table; zero means 100
	// wall-clock time between checkpoints; zero means 30 s
	Checkpoint time.Duration `result:"none" config:"checkpoint_every,was=checkpoint"`
	// Tensorboard writes event files for TensorBoard in addition to the tables. False writes none.
	Tensorboard bool `result:"none"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *RunOptions) EnsureDefaults() {
	o.Every = cmp.Or(o.Every, 100)
	o.Checkpoint = cmp.Or(o.Checkpoint, 30*time.Second)
}

// Validate returns every invalid option.
func (o RunOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Every < 1, "every is %d; must be at least 1", o.Every)
	faults.When(o.Checkpoint < 0, "checkpoint_every is %v; must not be negative", o.Checkpoint)
	return errors.Join(faults...)
}

// TableOptions names the training table and configures how it is read.
type TableOptions struct {
	// File is a table's folder, graft's or the original's, or a single data.pkl of the original's. Required.
	File string
	// Network is the initial network of the sequences: a name of the zoo or a network file. Empty means the network
	// named in the folder, or ConvNet2 for a single data.pkl.
	Network string
	// Actions are the actions for the numbers in a single data.pkl. Empty means deepen for each marked block, then
	// none. A folder lists its own actions.
	Actions []net2net.Action
	// compatibility mode of the surgery, which changes the policy's input; empty means graft's own
	Compat net2net.Compat
	// path of the vocabulary: a folder, a file of graft's, or NAME.ids.pkl with NAME.embeddings.pkl in the same folder;
	// required
	Vocabulary string
	Prefix     bool // starts each sequence with token 0, as for the original's first policies
	// draws and discards the random numbers that the original draws for weights, so that actions match the original's
	DiscardDraws bool `config:",was=waste"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *TableOptions) EnsureDefaults() {
	o.Network = cmp.Or(o.Network, "ConvNet2")
}

// Validate returns every invalid option.
func (o TableOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.File == "", "file is missing; set it to the training table")
	faults.When(o.Vocabulary == "", "vocabulary is missing; set it to a folder or file, such as NAME.ids.pkl")
	faults.When(len(o.Actions) == 1, "actions: a single action leaves no choice; add another, such as none")
	return errors.Join(faults...)
}

// PolicyOptions holds the sizes of a policy and its initial weights.
type PolicyOptions struct {
	learn.PolicyOptions     // sizes of its layers
	Embedding           int // length of a token's vector in the vocabulary; zero skips the check
	// file of initial weights, .pth or .safetensors, whose embedding is ignored; empty draws random weights
	Weights string
}

// EnsureDefaults sets zero fields to their defaults.
func (o *PolicyOptions) EnsureDefaults() { o.PolicyOptions.EnsureDefaults() }

// Validate returns every invalid option.
func (o PolicyOptions) Validate() error {
	faults := validate.Faults{o.PolicyOptions.Validate()}
	faults.When(o.Embedding < 0, "embedding is %d; must not be negative", o.Embedding)
	if o.Weights != "" {
		if _, err := weights.FormatOf(o.Weights); err != nil {
			faults = append(faults, fmt.Errorf("weights: %w", err))
		}
	}
	return errors.Join(faults...)
}
