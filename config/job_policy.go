package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"graft/decider"
	"graft/internal/files"
	"graft/model"
	"graft/results"
)

// PolicyFile is the name of a structural policy's file in its run folder.
const PolicyFile = "policy.safetensors"

// jobPolicy is the policy of a job: the original's or a structural policy.
type jobPolicy struct {
	foreign    decider.Foreign     // nil for a structural policy
	structural *decider.Structural // nil for a policy of another program
	digest     string              // of all inputs of its decisions except its options
}

func (p *jobPolicy) decider() decider.Decider {
	if p.foreign != nil {
		return p.foreign
	}
	return p.structural
}

// readPolicy reads the named policy. The file determines its kind.
func (j *Job) readPolicy(fsys files.FS) (*jobPolicy, error) {
	p, err := readStructural(fsys, j.Adapt.Policy)
	if err != nil {
		return nil, err
	}
	if p != nil {
		p.StructuralOptions = decider.StructuralOptions{Actions: j.Adapt.Actions, Kinds: j.Adapt.Kinds,
			Surgery: j.Adapt.Surgery, Sample: j.Adapt.Sample, Seed: uint64(j.Run.Seed), Fallback: j.fallback()}
		digest, err := structuralDigest(p)
		return &jobPolicy{structural: p, digest: digest}, err
	}
	if err := hasPolicy(fsys, j.Adapt.Policy); err != nil {
		return nil, err
	}
	if j.Adapt.Vocab == "" {
		return nil, fmt.Errorf("%s is not a structural policy, and a policy of the original system requires its "+
			"training vocabulary; set adapt.vocabulary", j.Adapt.Policy)
	}
	foreign, err := decider.ReadForeign(fsys, j.Adapt.Policy, j.Adapt.Vocab,
		decider.FormOptions{Sample: j.Adapt.Sample, Seed: uint64(j.Run.Seed)})
	if err != nil {
		return nil, err
	}
	digest, err := foreign.Digest()
	return &jobPolicy{foreign: foreign, digest: digest}, err
}

// fallback returns the decider outside of the policy's training range; nil means the policy.
func (j *Job) fallback() decider.Decider {
	switch j.Adapt.Fallback {
	case decidePolicy:
		return nil
	case DecideRandom:
		return j.random()
	case decideGradient:
		return decider.Gradient{Random: j.random()}
	}
	return decider.None{}
}

// readStructural reads a structural policy from a file or a run folder. It returns nil for another kind of file or
// folder.
func readStructural(fsys files.FS, path string) (*decider.Structural, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w; expected a policy file, or a folder with the file %s or %s",
			err, PolicyFile, strings.Join(decider.FormFiles(), " or "))
	}
	if info.IsDir() {
		folder := path
		path = filepath.Join(folder, PolicyFile)
		if _, err := fsys.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if _, err := fsys.Stat(filepath.Join(folder, "policy", PolicyFile)); err == nil {
				return nil, fmt.Errorf("%s is the run folder of a pipeline; use its policy %s", folder,
					filepath.Join(folder, "policy"))
			}
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

// hasPolicy returns an error for a folder without the file of a policy.
func hasPolicy(fsys files.FS, path string) error {
	if info, err := fsys.Stat(path); err != nil || !info.IsDir() {
		return err
	}
	names := append([]string{PolicyFile}, decider.FormFiles()...)
	for _, name := range names {
		if _, err := fsys.Stat(filepath.Join(path, name)); err == nil {
			return nil
		}
	}
	what := "a folder"
	if m, err := results.ReadManifest(fsys, path); err == nil {
		what = strings.TrimSpace("the run folder of a " + cmp.Or(m.Kind, "run"))
	}
	return fmt.Errorf("%s (%s) contains no policy; expected the file %s; name a folder that 'graft learn' or "+
		"'graft pipeline' wrote", path, what, strings.Join(names, " or "))
}

// structuralDigest returns a SHA-256 in hex of a policy, without its origin, which changes no decision.
func structuralDigest(p *decider.Structural) (string, error) {
	bare := *p
	bare.Notes, bare.Tables = nil, nil
	set, err := bare.Set()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, set.Metadata)
	err = set.WriteContents(h)
	return hex.EncodeToString(h.Sum(nil)), err
}

// consult returns an error if the policy does not fit the network. It skips networks from the zoo, whose layers depend
// on the images.
func (j *Job) consult() error {
	if j.policy != nil && j.policy.foreign != nil && j.Network.File == "" {
		return j.policy.foreign.FitsBlocks(j.network)
	}
	return j.Fits(j.network)
}

// Fits returns an error if the decider cannot choose actions for a network. A policy with a vocabulary must also be
// able to choose actions for every network that results from one of its actions. A structural policy can read any
// network, but at least one of its actions must fit.
func (j *Job) Fits(n *model.Network) error {
	switch {
	case j.policy == nil:
		return nil
	case j.policy.foreign != nil:
		return j.policy.foreign.FitsGrown(n, j.Adapt.Surgery)
	}
	return j.policy.structural.Fits(n)
}
