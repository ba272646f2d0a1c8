package decider

import (
	"errors"
	"fmt"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
)

// Foreign is a policy that another program trained.
type Foreign interface {
	Decider
	// FitsBlocks returns an error if the number of the policy's actions does not match the number of blocks in a
	// network. It uses only the blocks, so it can be called when the network's layers are still unknown.
	FitsBlocks(n *model.Network) error
	// FitsGrown returns an error if the policy cannot choose an action for a network, or for a network that results
	// from one of its actions.
	FitsGrown(n *model.Network, surgery net2net.Options) error
	// Digest returns a SHA-256, in hex, of the policy's weights and vocabulary. The digest does not cover the options.
	Digest() (string, error)
}

// FormOptions determines how another program's policy decides.
type FormOptions struct {
	Sample bool   // draws actions; false takes the most likely action
	Seed   uint64 // seed of the drawn actions
}

// Form is the policy file format of another program. The package that reads the format registers it.
type Form struct {
	File string // name of the policy's file in its folder
	// Read reads a policy and the vocabulary that its training used.
	Read func(fsys files.FS, policy, vocabulary string, o FormOptions) (Foreign, error)
}

var forms []*Form

// RegisterForm adds a policy file format. Call RegisterForm during package initialization.
func RegisterForm(f *Form) { forms = append(forms, f) }

// FormFiles lists the names of the policy files in all registered formats.
func FormFiles() (names []string) {
	for _, f := range forms {
		names = append(names, f.File)
	}
	return names
}

// ReadForeign reads a policy with the first registered format that recognises it.
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
