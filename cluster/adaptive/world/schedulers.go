package world

import (
	"fmt"
	"strings"

	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/cluster/lucid"
	"graft/cluster/schedulers"
	"graft/cluster/study"
)

// Scheduler schedules adaptive jobs or rigid jobs. A rigid job always has the requested number of devices and the
// requested batch size.
type Scheduler struct {
	Name  string
	About string          // description in one line
	Kind  adaptive.Kind   // scheduler of adaptive jobs; zero for a rigid scheduler
	Rigid *cluster.Policy // scheduler of rigid jobs; nil for a scheduler of adaptive jobs
}

// quirks returns the faults of the original that the scheduler can keep.
func (s *Scheduler) quirks() []cluster.Quirk {
	if s.Rigid != nil {
		return s.Rigid.Quirks
	}
	return s.Kind.Quirks
}

// rigidPrefix distinguishes a rigid scheduler from a scheduler of adaptive jobs with the same name.
const rigidPrefix = "rigid-"

// rigidMark is the mark of rigid schedulers in tables.
const rigidMark = "*"

// rigidOptions let lucid profile jobs on one node, since a study has a single pool.
var rigidOptions = schedulers.Options{Lucid: lucid.Options{Nodes: 1, From: []string{adaptive.RigidPool},
	Echo: adaptive.RigidPool}}

// Schedulers returns all schedulers of adaptive jobs and all rigid schedulers.
func Schedulers(o adaptive.SchedulerOptions, seed uint64) (all []Scheduler) {
	for _, k := range o.Kinds(seed) {
		all = append(all, Scheduler{Name: k.Name, About: k.About, Kind: k})
	}
	for _, p := range rigidOptions.Kinds() {
		name, about := p.Name, p.About
		if p.Estimates != "" {
			about += " (oracle here: estimates are the true durations)"
		}
		if _, err := adaptive.Named(name); err == nil {
			name = rigidPrefix + name
		}
		all = append(all, Scheduler{Name: name, About: about, Rigid: &p})
	}
	return all
}

// named returns a scheduler by its name.
func named(name string, o adaptive.SchedulerOptions, seed uint64) (Scheduler, error) {
	var names []string
	for _, s := range Schedulers(o, seed) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scheduler{}, fmt.Errorf("unknown scheduler %q; expected one of: %s", name, strings.Join(names, ", "))
}

// known returns an error for an unknown scheduler name.
func known(name string) error {
	_, err := named(name, adaptive.SchedulerOptions{}, 0)
	return err
}

// entries lists the schedulers for help texts. The original has no rigid schedulers.
func entries() (all []study.Entry) {
	for _, s := range Schedulers(adaptive.SchedulerOptions{}, 0) {
		e := study.Entry{Name: s.Name, About: s.About}
		if s.Rigid != nil {
			e.Without = []string{CompatPollux}
		}
		all = append(all, e)
	}
	return all
}
