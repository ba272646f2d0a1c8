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

// RunOptions holds the seed and the output of training a policy. Paths in all sections use the operating system's
// syntax and are relative to the working directory.
type RunOptions struct {
	Seed int64 // Seed of the initial parameters and of randomly drawn actions. Default 1.
	// Path of the run folder. Empty lets the command choose a path, such as runs/NAME for a file NAME.toml.
	Folder string `result:"none"`
	Every  int    // Number of episodes per row of the learning table. Zero means 100.
	// Wall-clock time between two checkpoints. Zero means 30 s.
	Checkpoint time.Duration `result:"none" config:"checkpoint_every,was=checkpoint"`
	// Writes TensorBoard event files in addition to the run folder's tables. Default false.
	Tensorboard bool `result:"none"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *RunOptions) EnsureDefaults() {
	o.Every = cmp.Or(o.Every, 100)
	o.Checkpoint = cmp.Or(o.Checkpoint, 30*time.Second)
}

// Validate returns an error that lists every invalid option.
func (o RunOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Every < 1, "every is %d; must be at least 1", o.Every)
	faults.When(o.Checkpoint < 0, "checkpoint_every is %v; must not be negative", o.Checkpoint)
	return errors.Join(faults...)
}

// TableOptions names the table to train on and selects how it is read.
type TableOptions struct {
	// Path of the training table: a table folder in graft's or the original system's format, or a data.pkl file of the
	// original system. Required.
	File string
	// Initial network to which the table's sequences of actions are applied: a name in the zoo or a network file. Empty
	// means the network that is named in the table's folder. If the table is a data.pkl file instead of a folder, empty
	// means ConvNet2.
	Network string
	// Actions that the numbers 0, 1, 2, … stand for if the table is a data.pkl file. A table folder already lists its
	// actions. Empty means one action per block that the original system can deepen, in order, followed by "none".
	Actions []net2net.Action
	// Version of the deepen operation that was used to grow the networks in the table. "original" inserts layers as the
	// original system does. "original-without-norm" inserts the same layers without batch normalisation. Empty means
	// graft's version.
	Compat net2net.Compat
	// Path of the vocabulary: a folder, a graft vocabulary file, or NAME.ids.pkl with NAME.embeddings.pkl in the same
	// folder. Required.
	Vocabulary string
	// Starts each sequence with token 0, as the original system's first policies did. Default false.
	Prefix bool
	// Draws and discards the random numbers that the original system uses for initial weights, so that later random
	// draws equal the original system's draws. Default false.
	DiscardDraws bool `config:",was=waste"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *TableOptions) EnsureDefaults() {
	o.Network = cmp.Or(o.Network, "ConvNet2")
}

// Validate returns an error that lists every invalid option.
func (o TableOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.File == "", "file is missing; set it to the training table")
	faults.When(o.Vocabulary == "", "vocabulary is missing; set it to a folder or file, such as NAME.ids.pkl")
	faults.When(len(o.Actions) == 1, "actions: a single action leaves no choice; add another action, such as \"none\"")
	return errors.Join(faults...)
}

// PolicyOptions holds the sizes of a policy and its initial weights.
type PolicyOptions struct {
	learn.PolicyOptions // sizes of the policy's layers
	// Expected length of a token's vector in the vocabulary. Zero accepts vectors of any length.
	Embedding int
	// Path of initial weights, a .pth or .safetensors file; its embedding is ignored. Empty draws random weights.
	Weights string
}

// EnsureDefaults sets zero fields to their defaults.
func (o *PolicyOptions) EnsureDefaults() { o.PolicyOptions.EnsureDefaults() }

// Validate returns an error that lists every invalid option.
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
