package config

import (
	"errors"
	"fmt"
	"time"

	"graft/net2net"
	"graft/original/learn"
	"graft/torch/weights"
)

// LearningRun says where a policy learns. Paths here and in the other sections are
// those of the operating system, from the folder that graft is called in.
type LearningRun struct {
	Seed       int64         // of the first parameters and of all actions; 1 unless given
	Folder     string        // where results go; empty leaves the choice to the command
	Every      int           // episodes that a row of figures is about; zero means 100
	Checkpoint time.Duration // of the machine's time between checkpoints; zero means 30 s
	// Tensorboard is whether event files for TensorBoard are written beside the tables;
	// false writes none.
	Tensorboard bool
}

// EnsureDefaults fills in what zero stands for.
func (o *LearningRun) EnsureDefaults() {
	if o.Every == 0 {
		o.Every = 100
	}
	if o.Checkpoint == 0 {
		o.Checkpoint = 30 * time.Second
	}
}

// Validate lists all that is wrong.
func (o LearningRun) Validate() error {
	var faults []error
	if o.Every < 1 {
		faults = append(faults, fmt.Errorf("every is %d; it is at least 1", o.Every))
	}
	if o.Checkpoint < 0 {
		faults = append(faults, fmt.Errorf("checkpoint is %v; it is not negative", o.Checkpoint))
	}
	return errors.Join(faults...)
}

// LearningTable says what a policy learns from, and how it reads it.
type LearningTable struct {
	// File is a table's folder, graft's or the original's, or a data.pkl of the
	// original's alone; must be given, empty is none.
	File string
	// Network is in the zoo, or a network file: what the sequences begin with. Empty
	// means what the folder says, and ConvNet2 for a data.pkl alone.
	Network string
	// Actions are what the numbers of a data.pkl alone stand for; empty means to deepen
	// each marked block, and at last none. A folder says so itself.
	Actions    []net2net.Action
	Compat     net2net.Compat // in whose way actions are done, which decides what the policy reads; empty is ours
	Vocabulary string         // path of the vocabulary, a folder or a file, of our own or NAME.ids.pkl with NAME.embeddings.pkl beside it; must be given, empty is none
	Prefix     bool           // begin each sequence with token 0, as the original's first policies; false does not
	Waste      bool           // throw away the random numbers that the original drew for weights, to draw its actions; false does not
}

// EnsureDefaults fills in what zero stands for.
func (o *LearningTable) EnsureDefaults() {
	if o.Network == "" {
		o.Network = "ConvNet2"
	}
}

// Validate lists all that is wrong.
func (o LearningTable) Validate() error {
	var faults []error
	if o.File == "" {
		faults = append(faults, errors.New("file is not given; name the table to learn from"))
	}
	if o.Vocabulary == "" {
		faults = append(faults, errors.New("vocabulary is not given; name its folder or file, such as NAME.ids.pkl"))
	}
	if len(o.Actions) == 1 {
		faults = append(faults, errors.New("actions are one, which leaves nothing to choose"))
	}
	return errors.Join(faults...)
}

// LearningPolicy is the sizes of a policy, and what it begins with.
type LearningPolicy struct {
	learn.PolicyOptions
	Embedding int    // values of a token's vector, which are the vocabulary's; zero does not check them
	Weights   string // a policy to begin with, .pth or .safetensors, of which its embedding is not taken; empty draws a new one
}

// EnsureDefaults fills in what zero stands for.
func (o *LearningPolicy) EnsureDefaults() { o.PolicyOptions.EnsureDefaults() }

// Validate lists all that is wrong.
func (o LearningPolicy) Validate() error {
	faults := []error{o.PolicyOptions.Validate()}
	if o.Embedding < 0 {
		faults = append(faults, fmt.Errorf("embedding is %d; it is not negative", o.Embedding))
	}
	if o.Weights != "" {
		if _, err := weights.FormatOf(o.Weights); err != nil {
			faults = append(faults, fmt.Errorf("weights: %w", err))
		}
	}
	return errors.Join(faults...)
}
