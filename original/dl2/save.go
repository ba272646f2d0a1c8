package dl2

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"graft/learn/dense"
	"graft/learn/replay"
	"graft/torch/weights"
)

// trainerKey names the state of a training in the metadata of its file.
const trainerKey = "graft.dl2.training"

// trainerState is the state of a training without its tensors, as JSON.
type trainerState struct {
	Version int    `json:"version"`
	Origin  string `json:"origin"` // digest of options, studies and workloads
	progress
	Random  []byte             `json:"random"`
	Steps   [2]int             `json:"steps"` // steps of the optimizers
	Figures map[string]float64 `json:"figures"`
	Agents  []agentState       `json:"agents"`
}

const trainerVersion = 1

// agentState is the state of an agent without its tensors.
type agentState struct {
	Random  []byte    `json:"random"`
	Drawn   []byte    `json:"drawn"` // generator before the workloads were drawn; empty before that
	Types   int       `json:"types"`
	Next    int       `json:"next"`
	Since   int       `json:"since"`
	Updates int       `json:"updates"`
	Running bool      `json:"running"` // whether a workload is in progress
	Played  int       `json:"played"`  // number of completed slots of that workload
	Slot    slotDraws `json:"slot"`
	Beta    float64   `json:"beta"`
	Place   int       `json:"place"` // index of the next transition
}

// digest identifies the inputs of a training.
func (t *Trainer) digest() (string, error) {
	text, err := json.Marshal([]any{t.o, t.study, t.generate, t.validation})
	if err != nil {
		return "", fmt.Errorf("the speed model cannot be identified: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// Save returns the complete state of the training for [Trainer.Restore]: networks, optimizers, memories, random
// generators, and unfinished episodes as lists of their actions.
func (t *Trainer) Save() (*weights.Set, error) {
	s := &saved{set: &weights.Set{}}
	head := trainerState{Version: trainerVersion, Origin: t.origin, progress: t.at, Figures: t.figures}
	head.Random, _ = t.random.MarshalBinary() // never fails
	for k, n := range []*dense.Network{t.newest.policy, t.newest.value} {
		name := networkNames[k]
		s.putAll(name, n.Params)
		_, steps, moments := optimizerState(t.optimizers[k], n.Params)
		head.Steps[k] = *steps
		for m, list := range moments {
			s.putAll(fmt.Sprintf("%s.moment%d", name, m+1), list)
		}
	}
	if t.best != nil {
		s.putAll("best", t.best.Params)
	}
	for _, a := range t.agents {
		head.Agents = append(head.Agents, a.save(s))
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("save a DL2 training run: %w", err)
	}
	s.set.Metadata = map[string]string{trainerKey: string(text)}
	return s.set, nil
}

var networkNames = [2]string{"policy", "value"}

// Restore continues from a state that Save returned. The saved training run must have had the same options and
// workloads. After an error the trainer cannot be used.
func (t *Trainer) Restore(set *weights.Set) error {
	if err := t.restore(set); err != nil {
		return fmt.Errorf("restore a DL2 training run: %w", err)
	}
	return nil
}

func (t *Trainer) restore(set *weights.Set) error {
	head, err := t.head(set)
	if err != nil {
		return err
	}
	s := &saved{set: set}
	t.at, t.figures = head.progress, maps.Clone(head.Figures)
	if t.figures == nil {
		t.figures = map[string]float64{}
	}
	s.fail(t.random.UnmarshalBinary(head.Random))
	for k, n := range []*dense.Network{t.newest.policy, t.newest.value} {
		s.takeAll(networkNames[k], n.Params)
		t.optimizers[k] = newOptimizer(t.o.Optimizer, t.o.rate(k == 0 && t.imitates()))
		_, steps, moments := optimizerState(t.optimizers[k], n.Params)
		*steps = head.Steps[k]
		for m, list := range moments {
			s.takeAll(fmt.Sprintf("%s.moment%d", networkNames[k], m+1), list)
		}
	}
	if t.best = nil; s.has("best") {
		t.best = clone(t.newest.policy)
		s.takeAll("best", t.best.Params)
	}
	if s.err != nil {
		return s.err
	}
	if err := t.gather(); err != nil {
		return err
	}
	for k, a := range t.agents {
		if err := a.restore(s, &head.Agents[k]); err != nil {
			return fmt.Errorf("agent %d: %w", k, err)
		}
	}
	return nil
}

// head reads the state without tensors.
func (t *Trainer) head(set *weights.Set) (h trainerState, err error) {
	text, ok := set.Metadata[trainerKey]
	if !ok {
		return h, fmt.Errorf("the file has no metadata entry %s; expected a saved training run of DL2",
			trainerKey)
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return h, fmt.Errorf("the metadata entry %s is damaged: %w", trainerKey, err)
	}
	switch {
	case h.Version != trainerVersion:
		return h, fmt.Errorf("the file has format version %d; expected %d", h.Version, trainerVersion)
	case h.Origin != t.origin:
		return h, fmt.Errorf("the run was saved with different options, workloads or speeds; restore them, or start " +
			"a new run")
	case len(h.Agents) != t.o.Agents || h.Turn < 0 || h.Turn >= t.o.Agents ||
		min(h.Imitated, h.Reinforced, h.Steps[0], h.Steps[1]) < 0:
		return h, fmt.Errorf("the metadata entry %s is damaged: the number of agents or updates is out of range",
			trainerKey)
	}
	return h, nil
}

// save writes an agent. Agents are saved only between slots, so no transition waits for its reward.
func (a *agent) save(s *saved) (h agentState) {
	name := func(what string) string { return fmt.Sprintf("agent%d.%s", a.id, what) }
	h = agentState{Drawn: a.drawn, Types: a.types, Next: a.next, Since: a.since, Updates: a.updates,
		Beta: a.memory.beta}
	h.Random, _ = a.random.MarshalBinary() // never fails
	var errors []float64
	var actions []int
	switch {
	case a.lesson != nil && !a.lesson.done():
		h.Running, h.Played, errors = true, a.lesson.played, a.lesson.noise.drawn
	case a.env != nil && !a.env.Done():
		h.Running, h.Played, h.Slot, errors, actions = true, a.env.slots, a.env.slot, a.env.noise.drawn, a.env.taken
	}
	s.putInts(name("actions"), actions)
	s.put(name("errors"), errors)
	s.put(name("outcomes"), []float64{a.last.reward, a.last.jct, a.last.makespan})
	s.putAll(name("policy"), a.policy.Params)
	if a.sent != nil {
		s.putAll(name("sent.policy"), a.sent.policy.Params)
		s.putAll(name("sent.value"), a.sent.value.Params)
	}
	h.Place = a.saveMemory(s, name)
	return h
}

// saveMemory writes the memory, and returns the index of the next transition.
func (a *agent) saveMemory(s *saved, name func(what string) string) int {
	m := a.memory.State()
	var states, stored, rewards []float64
	var actions []int
	for _, t := range m.Items {
		states, stored = append(states, t.state...), append(stored, t.probabilities...)
		actions, rewards = append(actions, t.action), append(rewards, t.reward)
	}
	s.put(name("memory.states"), states)
	s.put(name("memory.probabilities"), stored)
	s.putInts(name("memory.actions"), actions)
	s.put(name("memory.rewards"), rewards)
	s.put(name("memory.sums"), m.Sums)
	s.put(name("memory.seen"), a.memory.rewards)
	return m.Next
}

func (a *agent) restore(s *saved, h *agentState) error {
	name := func(what string) string { return fmt.Sprintf("agent%d.%s", a.id, what) }
	s.takeAll(name("policy"), a.policy.Params)
	if a.sent != nil {
		s.takeAll(name("sent.policy"), a.sent.policy.Params)
		s.takeAll(name("sent.value"), a.sent.value.Params)
	}
	outcomes := s.takeSome(name("outcomes"), 3)
	a.last = seen{outcomes[0], outcomes[1], outcomes[2]}
	a.next, a.since, a.updates, a.memory.beta = h.Next, h.Since, h.Updates, h.Beta
	actions, errors := s.takeInts(name("actions")), s.take(name("errors"))
	if a.restoreMemory(s, name, h.Place); s.err != nil {
		return s.err
	}
	if min(h.Next, h.Since, h.Updates, h.Played) < 0 || !(h.Beta >= 0 && h.Beta <= 1) || h.Running && h.Next == 0 {
		return fmt.Errorf("the metadata entry %s is damaged: counts are out of range", trainerKey)
	}
	if err := a.restoreEpisode(h, actions, errors); err != nil {
		return err
	}
	return a.random.UnmarshalBinary(h.Random)
}

// restoreEpisode draws the workloads again, and replays the unfinished one up to the same slot.
func (a *agent) restoreEpisode(h *agentState, actions []int, errors []float64) (err error) {
	if len(h.Drawn) == 0 {
		return nil
	}
	if h.Types < 1 || h.Types > len(a.study.Types) {
		return fmt.Errorf("the saved workloads have %d job types; expected 1 to %d", h.Types, len(a.study.Types))
	}
	if err := a.random.UnmarshalBinary(h.Drawn); err != nil {
		return err
	}
	if err := a.draw(h.Types); err != nil || !h.Running {
		return err
	}
	s := a.workload(h.Next - 1)
	if a.imitates {
		a.lesson, err = newLesson(s, a.teacher, a.teaching(), h.Played, a.random, errors)
		return err
	}
	if a.env, err = newEnv(s, a.exploring(), a.random, newNoise(&s, a.random)); err != nil {
		return err
	}
	if err := a.env.restore(actions, h.Slot, errors); err != nil || a.env.slots == h.Played {
		return err
	}
	return errReplay
}

// restoreMemory reads the memory, and checks that it fits the networks.
func (a *agent) restoreMemory(s *saved, name func(what string) string, place int) {
	actions := s.takeInts(name("memory.actions"))
	n, inputs, outputs := len(actions), a.policy.Inputs, a.policy.Outputs()
	least := 0
	if a.imitates {
		outputs, least = 0, -1
	}
	states, stored := s.takeSome(name("memory.states"), n*inputs), s.takeSome(name("memory.probabilities"), n*outputs)
	rewards := s.takeSome(name("memory.rewards"), n)
	m := replay.State[transition]{Sums: s.take(name("memory.sums")), Next: place}
	for k, action := range actions {
		if action < least || action >= a.policy.Outputs() {
			s.fail(fmt.Errorf("a transition in the replay memory has action %d; expected an action below %d",
				action, a.policy.Outputs()))
		}
		t := transition{state: states[k*inputs:][:inputs], action: action, reward: rewards[k]}
		if outputs > 0 {
			t.probabilities = stored[k*outputs:][:outputs]
		}
		m.Items = append(m.Items, t)
	}
	a.memory.rewards = s.takeSome(name("memory.seen"), n)
	s.fail(a.memory.Restore(m))
}
