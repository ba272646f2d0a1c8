package candidates

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"

	"graft/learn"
	"graft/torch/weights"
)

// Policy is a learned scheduler.
type Policy struct {
	Agent *learn.Set
	Notes map[string]string // facts about the origin of the policy, stored in its file

	shape  Shape
	hidden int
}

// Shape describes the observations of one kind of cluster simulation, called a world, and holds the world's name for
// policy files.
type Shape struct {
	World string // name of the world, such as elastic, used in the header keys of policy files
	Noun  string // noun for the scheduled items, for error messages
	// number of values that describe the state, and number of values that describe a candidate
	Globals, Features int
}

// policyKey is the header key that identifies a policy's file; its value is JSON.
func (s Shape) policyKey() string { return "graft." + s.World + ".scheduler" }

// learnerKey is the header key of an interrupted learner's file.
func (s Shape) learnerKey() string { return "graft." + s.World + ".learner" }

func (s Shape) model(o learn.SetOptions, random *rand.Rand) (*learn.Set, error) {
	o.Globals, o.Features = s.Globals, s.Features
	return learn.NewSet(o, random)
}

// policyPrefix is the prefix of a policy's tensors.
const policyPrefix = "scheduler."

// policyShape is the shape of the agent whose tensors a file holds.
type policyShape struct {
	Version, Globals, Features, Hidden int
}

// Set returns the content of the policy's file.
func (p *Policy) Set() (*weights.Set, error) {
	text, err := json.Marshal(policyShape{version, p.shape.Globals, p.shape.Features, p.hidden})
	if err != nil {
		return nil, fmt.Errorf("write a scheduler: %w", err)
	}
	set := &weights.Set{Metadata: map[string]string{p.shape.policyKey(): string(text)}}
	maps.Copy(set.Metadata, p.Notes)
	learn.SaveParams(p.Agent, set, policyPrefix)
	return set, nil
}

func (p *Policy) bytes() ([]byte, error) {
	set, err := p.Set()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = weights.WriteSafetensors(&b, set)
	return b.Bytes(), err
}

func readSet(text []byte) (*weights.Set, error) {
	return weights.ReadFrom(bytes.NewReader(text), int64(len(text)), weights.Options{})
}

// largestHidden limits the agent of a file.
const largestHidden = 1 << 12

// ReadPolicy reads a policy from the content of its file.
func (s Shape) ReadPolicy(set *weights.Set) (*Policy, error) {
	text, ok := set.Metadata[s.policyKey()]
	if !ok {
		return nil, fmt.Errorf("the file does not contain a learned scheduler for %s; create one with 'graft learn'",
			s.Noun)
	}
	var shape policyShape
	if err := json.Unmarshal([]byte(text), &shape); err != nil {
		return nil, fmt.Errorf("the header of the scheduler's policy file is damaged: %w", err)
	}
	if shape.Version != version || shape.Globals != s.Globals || shape.Features != s.Features || shape.Hidden < 1 ||
		shape.Hidden > largestHidden {
		return nil, fmt.Errorf("the scheduler was trained by another version of graft: it reads %d global values and "+
			"%d features; expected %d and %d; train it again", shape.Globals, shape.Features, s.Globals, s.Features)
	}
	m, err := s.model(learn.SetOptions{Hidden: shape.Hidden}, rand.New(rand.NewPCG(0, 0)))
	if err != nil {
		return nil, err
	}
	if err := learn.RestoreParams(m, set, policyPrefix); err != nil {
		return nil, err
	}
	p := &Policy{Agent: m, Notes: maps.Clone(set.Metadata), shape: s, hidden: shape.Hidden}
	delete(p.Notes, s.policyKey())
	return p, nil
}
