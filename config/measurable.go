package config

import (
	"fmt"
	"slices"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/simulation/grid"
)

// Measurable lists the networks that 'graft profile' must measure so that the profile covers a job. It also holds the
// conditions of the measurement, such as batch sizes.
type Measurable struct {
	Network   *model.Network     // initial network, without weights
	Sequences [][]net2net.Action // sequences of actions by which the network may grow
	All       int                // number of all single actions, of which Sequences holds some
	Surgery   net2net.Options    // options for the surgery
	Batches   []int              // numbers of examples per training step and per evaluation batch
	Optimizer string             // update rule of the steps
	Exact     bool               // value of train.exact
	Job       *Job               // job, scenario's job or comparison's job
}

// Limits of the measured networks; measuring more would not be worth the time. Other networks are charged by their
// measured relatives.
const (
	mostSingle = 16 // actions on the initial network
	mostWhole  = 6  // whole sequences
)

// IsConfiguration reports whether a file is the configuration of a job, a scenario or a comparison rather than a
// network.
func IsConfiguration(fsys files.FS, path string) bool {
	doc, err := decode.Open(fsys, path)
	return err == nil && !isJSON(path) && !slices.ContainsFunc([]string{"layers", "operators", "transformer"},
		doc.Has) &&
		slices.ContainsFunc([]string{"network", "program", "time", "train", "data", "adapt", "simulate", "compare"},
			doc.Has)
}

// ReadMeasurable reads a job, a scenario or a comparison and returns the networks to measure for it. The profile that
// the file names need not exist yet. If the job runs a training program, the callback start must start the program and
// pass the program's network to SetNetwork.
func ReadMeasurable(fsys files.FS, path string, start func(*Job) error) (*Measurable, error) {
	d := Open(fsys, path)
	f, err := d.Read(nil)
	if err != nil {
		again, failed := d.Read([]string{"time.profile=steady"})
		if failed != nil {
			return nil, err
		}
		f = again
	}
	some, ok := f.(interface{ OneJob() *Job })
	if !ok {
		return nil, fmt.Errorf("read %s: expected a job, scenario, comparison or network file", path)
	}
	job := some.OneJob()
	if job.Program.On() {
		if err := start(job); err != nil {
			return nil, err
		}
	}
	switch c := f.(type) {
	case *Sweep:
		g := grid.Space{Actions: c.Compare.Actions, Kinds: c.Compare.Kinds, Decisions: c.Decisions()}
		return c.measurable(fsys, append(c.spaces(), g))
	case *Simulation:
		return c.measurable(fsys, []grid.Space{c.ground(nil)})
	}
	return job.measurable(fsys, job.spaces())
}

// spaces returns the sequences of a job's decider.
func (j *Job) spaces() []grid.Space {
	a, decisions := j.Adapt, max(1, j.Decisions())
	switch {
	case a.Decider == DecideNone:
		return nil
	case a.kind().Actions == ActionsInOrder:
		var list []grid.Space
		for k := range a.Actions { // a space with one choice per decision
			list = append(list, grid.Space{Actions: a.Actions[:k+1], Decisions: -1})
		}
		return list
	}
	return []grid.Space{{Actions: a.Actions, Kinds: a.Kinds, Decisions: decisions}}
}

func (j *Job) measurable(fsys files.FS, spaces []grid.Space) (*Measurable, error) {
	n, err := j.Declared(fsys)
	if err != nil {
		return nil, err
	}
	o := j.Options()
	o.EnsureDefaults()
	m := &Measurable{Job: j, Network: n, Surgery: j.Adapt.Surgery, Batches: []int{o.Batch},
		Optimizer: o.Optimizer.Rule.String(), Exact: o.Exact}
	for _, batch := range []int{o.EvalBatch, o.AdaptiveBatch.Most, o.MicroBatch} {
		if batch > 0 && !slices.Contains(m.Batches, batch) {
			m.Batches = append(m.Batches, batch)
		}
	}
	for _, g := range spaces {
		g.Network, g.Surgery = n, j.Adapt.Surgery
		if err := m.add(g); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// add adds the sequences of a space: single actions first, then whole sequences.
func (m *Measurable) add(g grid.Space) error {
	if g.Decisions < 0 {
		m.Sequences = append(m.Sequences, g.Actions)
		m.All++
		return nil
	}
	single := g
	single.Decisions = 1
	list, all, err := single.Sequences(mostSingle)
	if err != nil {
		return err
	}
	m.All += all
	if g.Decisions > 1 {
		whole, _, err := g.Sequences(mostWhole)
		if err != nil {
			return err
		}
		list = append(list, whole...)
	}
	for _, texts := range list {
		var sequence []net2net.Action
		for _, text := range texts {
			a, err := net2net.ParseAction(text)
			if err != nil {
				return err
			}
			if a.Kind != net2net.None {
				sequence = append(sequence, a)
			}
		}
		if len(sequence) > 0 {
			m.Sequences = append(m.Sequences, sequence)
		}
	}
	return nil
}
