package learning

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"graft/decider"
	"graft/simulation"
	"graft/torch/weights"
)

// Keys of a learner's state in a safetensors file: the trainer's tensors, the best member if any, and the learning
// state as JSON under learnerKey.
const (
	learnerKey     = "graft.learner"
	learnerVersion = 1
	bestPrefix     = "best."
)

// origin is a digest of the inputs of learning.
func origin(trees, held []*simulation.Tree, o Options) string {
	h := sha256.New()
	fmt.Fprintf(h, "%+v\n", o)
	for _, list := range [][]*simulation.Tree{trees, held} {
		for _, t := range list {
			fmt.Fprintln(h, t.Digest())
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Set returns the complete state of the learner. A restored learner takes bit-identical steps.
func (l *Learner) Set() (*weights.Set, error) {
	text, err := json.Marshal(l.progress)
	if err != nil {
		return nil, fmt.Errorf("save a learning checkpoint: %w", err)
	}
	set := &weights.Set{Metadata: map[string]string{learnerKey: string(text)}}
	if err := l.trainer.Save(set); err != nil {
		return nil, err
	}
	if l.best == nil {
		return set, nil
	}
	best, err := l.Policy()
	if err != nil {
		return nil, err
	}
	tensors, err := best.Set()
	if err != nil {
		return nil, err
	}
	for _, t := range tensors.Tensors {
		t.Name = bestPrefix + t.Name
		set.Tensors = append(set.Tensors, t)
	}
	return set, nil
}

// Restore loads the state that Set returned. The learner must have the same trees and options as the saved one.
func (l *Learner) Restore(set *weights.Set) error {
	text, ok := set.Metadata[learnerKey]
	if !ok {
		return errors.New("resume learning: the file is not a learning checkpoint")
	}
	var now progress
	if err := json.Unmarshal([]byte(text), &now); err != nil {
		return fmt.Errorf("resume learning: the file's header is damaged: %w", err)
	}
	if now.Version != learnerVersion || now.Origin != l.Origin {
		return errors.New("resume learning: the checkpoint was written with other tables, other options or " +
			"another version of graft; start over, or use the same tables, options and version")
	}
	if err := l.trainer.Restore(set); err != nil {
		return err
	}
	l.progress, l.best = now, nil
	if now.BestStep == 0 {
		return nil
	}
	best, err := l.policy.Set()
	if err != nil {
		return err
	}
	for k := range best.Tensors {
		t, ok := set.Find(bestPrefix + best.Tensors[k].Name)
		if !ok {
			return fmt.Errorf("resume learning: tensor %s is missing", bestPrefix+best.Tensors[k].Name)
		}
		t.Name = best.Tensors[k].Name
		best.Tensors[k] = t
	}
	p, err := decider.StructuralOf(best)
	if err != nil {
		return fmt.Errorf("resume learning: %w", err)
	}
	l.best = p.Members[0]
	return nil
}
