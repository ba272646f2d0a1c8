package control

import (
	"slices"
	"sync/atomic"

	"graft/results"
	"graft/trainer"
)

// Snapshot is the progress of a job with its adaptations so far. A snapshot is immutable.
type Snapshot struct {
	trainer.Progress
	Network     string // name of the network
	Adaptations []Adaptation
}

// Adaptation is a decision, or the shrinking of the network after a loss of devices, with its effect on the accuracy.
type Adaptation struct {
	trainer.Note
	After     float64 // validation accuracy at the next evaluation
	Evaluated bool    // After is known
}

// Monitor holds the newest snapshot of a job. The job updates the snapshot between its steps, and readers never block
// the job.
type Monitor struct {
	now     atomic.Pointer[Snapshot]
	network string
	list    []Adaptation
}

// NewMonitor creates the monitor of a job that starts or resumes, from the epochs and events recorded so far.
func NewMonitor(network string, p trainer.Progress, rows []trainer.Row, notes []trainer.Note) *Monitor {
	m := &Monitor{network: network}
	for _, n := range notes {
		m.Note(n)
		for _, r := range rows {
			if r.Time > n.Time {
				m.Epoch(r)
				break
			}
		}
	}
	m.Watch(p)
	return m
}

// Read returns the newest snapshot.
func (m *Monitor) Read() *Snapshot { return m.now.Load() }

// Watch replaces the progress in the snapshot.
func (m *Monitor) Watch(p trainer.Progress) {
	m.now.Store(&Snapshot{Progress: p, Network: m.network, Adaptations: m.list})
}

// Note adds an event to the snapshot if it changes the network.
func (m *Monitor) Note(n trainer.Note) {
	if n.Event.Traits().Of == results.OfNetwork {
		m.list = append(slices.Clip(m.list), Adaptation{Note: n})
	}
}

// Epoch records the validation accuracy at the end of an epoch as the effect of each earlier adaptation whose effect is
// still unknown.
func (m *Monitor) Epoch(r trainer.Row) {
	list := slices.Clone(m.list) // snapshots keep the old list
	for k, e := range list {
		if !e.Evaluated && r.Time > e.Time {
			list[k].After, list[k].Evaluated = r.Validation.Accuracy, true
		}
	}
	m.list = list
}
