package decider

import (
	"errors"
	"fmt"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
)

// Foreign is a policy that another program learned.
type Foreign interface {
	Decider
	// FitsBlocks returns an error if its actions do not match a network, whose layers may still be unknown.
	FitsBlocks(n *model.Network) error
	// FitsGrown returns an error if it cannot decide about a network, or again after one of its actions.
	FitsGrown(n *model.Network, surgery net2net.Options) error
	// Digest is a SHA-256 in hex over all inputs of its decisions, except its options.
	Digest() (string, error)
}

// FormOptions configure the decisions of another program's policy.
type FormOptions struct {
	Sample bool   // draws actions; false chooses the likeliest one
	Seed   uint64 // seed of the draws
}

// Form is a file format of another program's policies. The package that reads it registers it.
type Form struct {
	File string // name of a policy's file in its folder
	// Read reads a policy, and the vocabulary of its training.
	Read func(fsys files.FS, policy, vocabulary string, o FormOptions) (Foreign, error)
}

var forms []*Form

// RegisterForm adds a form. It is called during package initialization.
func RegisterForm(f *Form) { forms = append(forms, f) }

// FormFiles lists the file names of other programs' policies in their folders.
func FormFiles() (names []string) {
	for _, f := range forms {
		names = append(names, f.File)
	}
	return names
}

// ReadForeign reads a policy with the first registered form that can read it.
func ReadForeign(fsys files.FS, policy, vocabulary string, o FormOptions) (Foreign, error) {
	var faults []error
	for _, f := range forms {
		p, err := f.Read(fsys, policy, vocabulary, o)
		if err == nil {
			return p, nil
		}
		faults = append(faults, err)
	}
	if len(faults) == 0 {
		return nil, fmt.Errorf("%s is not a graft policy; expected a policy that 'graft learn' or 'graft pipeline' "+
			"wrote",
			policy)
	}
	return nil, errors.Join(faults...)
}
