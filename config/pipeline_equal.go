package config

import (
	"encoding/json"
	"fmt"
	"slices"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/simulation/grid"
	"graft/simulation/tables"
)

// checkRuns reports scenarios that share at least half of their runs with an earlier scenario. Learning refuses their
// tables, see [tables.Table.SameRuns]; this check does so before anything is simulated.
func (p *Pipeline) checkRuns(fsys files.FS, r *decode.Reading) {
	if len(p.scenarios) < len(p.Pipeline.Scenarios) {
		return // some are faulty
	}
	known := map[*Simulation]*plannedRuns{}
	for k, m := range p.scenarios {
		runs := m.plannedRuns(fsys)
		if known[m] = runs; runs == nil {
			continue
		}
		for at, other := range p.scenarios[:k] {
			if before := known[other]; before != nil && runs.same(before) {
				r.Blame("pipeline.scenarios", fmt.Sprintf("scenarios[%d]: %s and %s (scenarios[%d]) share at least "+
					"half of their runs; remove one of them, or give them different seeds with run.seed: equal runs "+
					"count twice in training, and do not test policies that learned from them", k, m.Simulate.Name,
					other.Simulate.Name, at), k)
				break
			}
		}
	}
}

// plannedRuns identifies the runs of a scenario before they are simulated.
type plannedRuns struct {
	*Simulation
	cause tables.Cause
	known map[string]bool // sequences, see sequences
}

// mostCompared is the maximum number of sequences of a scenario for which runs are compared before the simulation.
const mostCompared = 10_000

// plannedRuns returns the runs of a scenario. It returns nil if they cannot be compared: runs on a wall clock differ,
// or the network or the sequences are not yet known.
func (m *Simulation) plannedRuns(fsys files.FS) *plannedRuns {
	if m.profile == nil || m.network == nil || m.Simulate.Design != grid.All {
		return nil
	}
	form, err := json.Marshal(m.network.Form().Plain())
	if err != nil {
		return nil
	}
	cause, err := m.cause(fsys, form, fmt.Sprintf("%+v", m.Data), "")
	if err != nil {
		return nil // reading the scenario or its simulation reports it
	}
	return &plannedRuns{Simulation: m, cause: cause}
}

// sequences returns the sequences of the scenario; nil if there are too many, or if an action does not fit.
func (p *plannedRuns) sequences() map[string]bool {
	if p.known != nil {
		return p.known
	}
	p.known = map[string]bool{}
	list, all, err := p.ground(p.network).Sequences(mostCompared)
	if err != nil || all > mostCompared {
		return p.known
	}
	for _, sequence := range list {
		p.known[tables.Tuple(sequence)] = true
	}
	return p.known
}

// same reports whether two scenarios share at least half of the runs of the smaller one.
func (p *plannedRuns) same(other *plannedRuns) bool {
	if p.cause.Key() != other.cause.Key() || p.decisions() != other.decisions() {
		return false
	}
	ours, theirs := p.sequences(), other.sequences()
	sequences, seeds := 0, 0
	for sequence := range ours {
		if theirs[sequence] {
			sequences++
		}
	}
	for _, seed := range p.seeds() {
		if slices.Contains(other.seeds(), seed) {
			seeds++
		}
	}
	return sequences*seeds > 0 &&
		2*sequences*seeds >= min(len(ours)*p.Simulate.Seeds, len(theirs)*other.Simulate.Seeds)
}

// content identifies a scenario without its name and seeds, as [tables.Scenario.Content] does for its table.
func (m *Simulation) content() string {
	if m.network == nil {
		return ""
	}
	form, err := json.Marshal(m.network.Form().Plain())
	if err != nil {
		return ""
	}
	o := m.Options()
	return fmt.Sprintf("%s %v %v %d %v %v %d %+v %s", form, o.Timeline.Budget, m.firstDecision(), m.decisions(),
		o.Adapt.Surgery.Form, o.Adapt.Surgery.Compat, o.Batch, m.Data, m.Time.Profile)
}
