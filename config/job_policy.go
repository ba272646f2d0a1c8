package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"graft/decider"
	"graft/files"
	"graft/model"
	"graft/original/bilstm"
	"graft/torch/weights"
)

// PolicyFile is what a structural policy is called in the folder of the run in which
// it learned.
const PolicyFile = "policy.safetensors"

// jobPolicy is a policy that a job asks: one of the original's, or a structural one.
type jobPolicy struct {
	legacy     *bilstm.Policy      // nil for a structural one
	structural *decider.Structural // nil for one of the original's
	digest     string              // of all that its decisions follow from but its options
}

// decider is whichever it is.
func (p *jobPolicy) decider() decider.Decider {
	if p.legacy != nil {
		return p.legacy
	}
	return p.structural
}

// readPolicy reads the policy that is named. Which kind it is of its file says.
func (j *Job) readPolicy(fsys files.FS) (*jobPolicy, error) {
	p, err := readStructural(fsys, j.Adapt.Policy)
	if err != nil {
		return nil, err
	}
	if p != nil {
		p.StructuralOptions = decider.StructuralOptions{Surgery: j.Adapt.Surgery, Sample: j.Adapt.Sample, Seed: uint64(j.Run.Seed)}
		digest, err := structuralDigest(p)
		return &jobPolicy{structural: p, digest: digest}, err
	}
	if j.Adapt.Vocab == "" {
		return nil, fmt.Errorf("%s is no structural policy, and one of the original's needs the vocabulary that it learned with; give the key vocab", j.Adapt.Policy)
	}
	o := bilstm.Options{Sample: j.Adapt.Sample, Seed: uint64(j.Run.Seed)}
	legacy, _, err := ReadLegacyPolicy(fsys, j.Adapt.Policy, j.Adapt.Vocab, o)
	if err != nil {
		return nil, err
	}
	digest, err := legacyDigest(legacy)
	return &jobPolicy{legacy: legacy, digest: digest}, err
}

// readStructural reads a structural policy: a file, or the one of a run's folder. What
// is another kind of file or folder is nil.
func readStructural(fsys files.FS, path string) (*decider.Structural, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w; name its file, or a folder with its file %s or, of the original's, %s", err, PolicyFile, bilstm.FileName)
	}
	if info.IsDir() {
		path = filepath.Join(path, PolicyFile)
		if _, err := fsys.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	if filepath.Ext(path) != filepath.Ext(PolicyFile) {
		return nil, nil
	}
	p, err := decider.ReadStructural(fsys, path)
	if errors.Is(err, decider.ErrNotStructural) {
		return nil, nil
	}
	return p, err
}

// structuralDigest is a SHA-256 in hex over a policy. What it says of where it comes
// from changes no decision.
func structuralDigest(p *decider.Structural) (string, error) {
	bare := *p
	bare.Notes = nil
	set, err := bare.Set()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, set.Metadata)
	writeTensors(h, set)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// legacyDigest is one over a policy of the original's and its vocabulary.
func legacyDigest(p *bilstm.Policy) (string, error) {
	h := sha256.New()
	writeTensors(h, p.Weights)
	err := p.Vocabulary.Format(h)
	return hex.EncodeToString(h.Sum(nil)), err
}

// writeTensors writes all that tensors are to a digest, which takes everything.
func writeTensors(h io.Writer, set *weights.Set) {
	for _, t := range set.Tensors {
		fmt.Fprintf(h, "%s %v %v\n", t.Name, t.DType, t.Shape)
		_, _ = h.Write(t.Data)
	}
}

// consult says why the policy does not fit the network, as far as that is known: the
// layers of a network of the zoo depend on the images.
func (j *Job) consult() error {
	if j.policy != nil && j.policy.legacy != nil && j.Network.File == "" {
		return j.policy.legacy.FitsBlocks(j.network)
	}
	return j.Suits(j.network)
}

// Suits says why the decider could not decide about a network without weights, now or,
// where it needs a vocabulary, after one of its actions; nil where it could. A
// structural policy reads what actions make as it reads any network.
func (j *Job) Suits(n *model.Network) error {
	switch {
	case j.policy == nil:
		return nil
	case j.policy.legacy != nil:
		return j.policy.legacy.FitsGrown(n, j.Adapt.Surgery)
	}
	return j.policy.structural.Fits(n)
}

// Roams says whether the decider may make networks of which nobody knows before the
// job begins: it draws among all actions that fit, or weighs them.
func (j *Job) Roams() bool {
	return j.Adapt.Decider == DecideRandom || j.policy != nil && j.policy.structural != nil
}
