package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"

	"graft/cluster/elastic"
	"graft/learn"
	"graft/torch/weights"
)

// Policy is a learned scheduler.
type Policy struct {
	Agent *learn.Set
	Notes map[string]string // where it comes from; its file keeps them

	hidden int
}

// policyKey is the text of a file's header by which a policy is known, as JSON.
const policyKey = "graft.elastic.scheduler"

// policyPrefix begins the names of a policy's tensors.
const policyPrefix = "scheduler."

// policyShape says which agent the tensors of a file are of.
type policyShape struct {
	Version, Globals, Features, Hidden int
}

// Scheduler is the scheduler that takes the policy's likeliest actions. Each simulation has an agent of
// its own.
func (p *Policy) Scheduler(name string) elastic.Kind {
	kind := Scheduler(name, nil)
	kind.New = func(w *elastic.World) elastic.Scheduler { return &scheduler{newState(w), p.Agent.Twin()} }
	return kind
}

// Set is the content of the policy's file.
func (p *Policy) Set() (*weights.Set, error) {
	text, err := json.Marshal(policyShape{version, Globals, Features, p.hidden})
	if err != nil {
		return nil, fmt.Errorf("write a scheduler: %w", err)
	}
	set := &weights.Set{Metadata: map[string]string{policyKey: string(text)}}
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

// largestHidden bounds the agent of a file.
const largestHidden = 1 << 12

// ReadPolicy is the policy of a file.
func ReadPolicy(set *weights.Set) (*Policy, error) {
	text, ok := set.Metadata[policyKey]
	if !ok {
		return nil, errors.New("the file holds no scheduler of elastic jobs; 'graft learn' makes one")
	}
	var shape policyShape
	if err := json.Unmarshal([]byte(text), &shape); err != nil {
		return nil, fmt.Errorf("the header of the scheduler is damaged: %w", err)
	}
	if shape.Version != version || shape.Globals != Globals || shape.Features != Features || shape.Hidden < 1 || shape.Hidden > largestHidden {
		return nil, fmt.Errorf("the scheduler is of another version of graft: it reads %d and %d values, this one %d and %d; learn it again", shape.Globals, shape.Features, Globals, Features)
	}
	m, err := newModel(learn.SetOptions{Hidden: shape.Hidden}, rand.New(rand.NewPCG(0, 0)))
	if err != nil {
		return nil, err
	}
	if err := learn.RestoreParams(m, set, policyPrefix); err != nil {
		return nil, err
	}
	p := &Policy{Agent: m, Notes: maps.Clone(set.Metadata), hidden: shape.Hidden}
	delete(p.Notes, policyKey)
	return p, nil
}
