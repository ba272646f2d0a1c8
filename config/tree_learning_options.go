package config

import (
	"cmp"
	"errors"
	"slices"

	"graft/decider"
	"graft/internal/validate"
	"graft/internal/words"
	"graft/simulation/learning"
)

// TreeLearningTables names the tables from which policies learn.
type TreeLearningTables struct {
	// Folders of the training tables, in graft's format or the original system's. Required.
	Folders []string `result:"contents"`
	// Folders of the validation tables, for early stopping. If empty, learning stops when the training objective stops
	// improving.
	HeldOut []string `result:"contents"`
}

// Validate returns an error that lists every invalid option.
func (o TreeLearningTables) Validate() error {
	if len(o.Folders) == 0 {
		return errors.New("folders is empty; list the table folders to learn from")
	}
	return nil
}

// Scenarios for which policies learn. They determine the defaults.
const (
	ForKnown = "known" // scenarios of the tables
	ForNew   = "new"   // other scenarios
)

// TreeLearningOptions determines how policies learn.
type TreeLearningOptions struct {
	// Purpose of the policies, which selects the defaults of this section. "known" is for scenarios in the tables: the
	// policies learn the best sequence of each scenario. "new" is for scenarios without a table: the defaults average
	// out noise and prevent overconfident policies. Empty means "known".
	For string `config:",one=known|new"`

	// Options holds all other keys of the section.
	learning.Options `config:",omit=seed,omit=structural_shape"`
}

// EnsureDefaults sets zero fields to their defaults.
func (o *TreeLearningOptions) EnsureDefaults() {
	o.For = cmp.Or(o.For, ForKnown)
	o.Steps = cmp.Or(o.Steps, learningOptionsFor(o.For).Steps)
	o.Options.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (o TreeLearningOptions) Validate() error {
	faults := validate.Faults{o.Options.Validate()}
	faults.Unless(slices.Contains([]string{ForKnown, ForNew}, o.For),
		"for: got %q; must be %s or %s", o.For, ForKnown, ForNew)
	return errors.Join(faults...)
}

// effort describes the length of learning.
func (o TreeLearningOptions) effort() string {
	if o.Method == learning.Forest {
		return words.Plural(o.Trees, "regression tree") + " each"
	}
	return words.Plural(o.Steps, "step") + " at most"
}

// learningOptionsFor returns the defaults for known or new scenarios; another kind gets the defaults for known ones.
func learningOptionsFor(kind string) TreeLearningOptions {
	o := learning.NewOptions()
	if kind == ForNew {
		o = learning.NewTransferOptions()
	}
	o.StructuralShape = decider.StructuralShape{} // a separate section
	return TreeLearningOptions{For: kind, Options: o}
}
