package main

import (
	"slices"
	"sync/atomic"

	"graft/trainer"
)

// snapshot is the progress of a job and the adaptations so far. It is never changed.
type snapshot struct {
	trainer.Progress
	Network     string // its name
	Adaptations []adaptation
}

// adaptation is a decision, or the return to a smaller network, and its effect.
type adaptation struct {
	trainer.Note
	After     float64 // accuracy on the validation split at the next evaluation
	Evaluated bool    // After is known
}

// monitor holds the newest snapshot of a job. The job writes it between its steps, and
// readers never block it.
type monitor struct {
	now     atomic.Pointer[snapshot]
	network string
	list    []adaptation
}

// newMonitor makes the snapshot of a job that begins or resumes, from the rows and notes
// so far.
func newMonitor(network string, p trainer.Progress, rows []trainer.Row, notes []trainer.Note) *monitor {
	m := &monitor{network: network}
	for _, n := range notes {
		m.note(n)
		for _, r := range rows {
			if r.Time > n.Time {
				m.epoch(r)
				break
			}
		}
	}
	m.watch(p)
	return m
}

func (m *monitor) read() *snapshot { return m.now.Load() }

// watch replaces the snapshot.
func (m *monitor) watch(p trainer.Progress) {
	m.now.Store(&snapshot{Progress: p, Network: m.network, Adaptations: m.list})
}

// note adds a decision or a return to a smaller network.
func (m *monitor) note(n trainer.Note) {
	if n.Event == "decision" || n.Event == "shrink" {
		m.list = append(slices.Clip(m.list), adaptation{Note: n})
	}
}

// epoch completes the adaptations before it by their effect.
func (m *monitor) epoch(r trainer.Row) {
	list := slices.Clone(m.list) // snapshots keep theirs
	for k, e := range list {
		if !e.Evaluated && r.Time > e.Time {
			list[k].After, list[k].Evaluated = r.Validation.Accuracy, true
		}
	}
	m.list = list
}
