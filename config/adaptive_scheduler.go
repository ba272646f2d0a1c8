package config

import (
	"graft/cluster"
	"graft/cluster/adaptive"
	"graft/cluster/lucid"
	"graft/cluster/schedulers"
	"graft/internal/registry"
)

// AdaptiveScheduler is a scheduler of adaptive jobs, or one of jobs that keep what their users ask for.
type AdaptiveScheduler struct {
	Name  string
	About string          // what it does, in a line
	Kind  adaptive.Kind   // without a name for a rigid one
	Rigid *cluster.Policy // nil for one of adaptive jobs
}

// Listing returns the name and the line of help.
func (s AdaptiveScheduler) Listing() (name, about string) { return s.Name, s.About }

// Draws reports whether results depend on the seed.
func (s *AdaptiveScheduler) Draws() bool { return s.Kind.Draws }

// rigidPrefix tells a rigid scheduler from that of adaptive jobs with its name.
const rigidPrefix = "rigid-"

// rigidOptions let lucid profile jobs on one of the nodes, of which a study has a single pool.
var rigidOptions = schedulers.Options{Lucid: lucid.Options{Nodes: 1, From: []string{adaptive.RigidPool},
	Echo: adaptive.RigidPool}}

// AdaptiveSchedulers are all schedulers of adaptive jobs, and all rigid ones.
func AdaptiveSchedulers(o adaptive.SchedulerOptions, seed uint64) (all registry.List[AdaptiveScheduler]) {
	for _, k := range o.Kinds(seed) {
		all = append(all, AdaptiveScheduler{Name: k.Name, About: k.About, Kind: k})
	}
	for _, p := range rigidOptions.Kinds() {
		name, about := p.Name, p.About
		if p.Estimates != "" {
			about += " (oracle here: estimates are the true durations)"
		}
		if _, err := adaptive.Named(name); err == nil {
			name = rigidPrefix + name
		}
		all = append(all, AdaptiveScheduler{Name: name, About: about, Rigid: &p})
	}
	return all
}

func adaptiveScheduler(name string, o adaptive.SchedulerOptions, seed uint64) (AdaptiveScheduler, error) {
	return AdaptiveSchedulers(o, seed).Named("scheduler", name)
}
