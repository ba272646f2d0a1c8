package main

import (
	"slices"
	"sync/atomic"

	"graft/trainer"
)

// moment is where a job stands, with what it decided. Nothing in it changes.
type moment struct {
	trainer.Progress
	network string // its class
	decided []effect
}

// effect is what a decision, or the loss of devices, did to a job.
type effect struct {
	trainer.Note
	after     float64 // accuracy on the validation split when it was evaluated next
	evaluated bool    // it was
}

// board is where a job puts up where it stands. It writes there between its steps,
// and waits for nobody who reads.
type board struct {
	now     atomic.Pointer[moment]
	network string
	decided []effect
}

// newBoard is what is known of a job before it begins or goes on.
func newBoard(network string, p trainer.Progress, rows []trainer.Row, notes []trainer.Note) *board {
	b := &board{network: network}
	for _, n := range notes {
		b.note(n)
		for _, r := range rows {
			if r.Time > n.Time {
				b.epoch(r)
				break
			}
		}
	}
	b.watch(p)
	return b
}

func (b *board) read() *moment { return b.now.Load() }

// watch puts up where the job stands.
func (b *board) watch(p trainer.Progress) {
	b.now.Store(&moment{Progress: p, network: b.network, decided: b.decided})
}

// note adds what changed the network, or was to.
func (b *board) note(n trainer.Note) {
	if n.Event == "decision" || n.Event == "shrink" {
		b.decided = append(slices.Clip(b.decided), effect{Note: n})
	}
}

// epoch adds what the changes before it led to.
func (b *board) epoch(r trainer.Row) {
	decided := slices.Clone(b.decided) // what was put up stays as it is
	for k, e := range decided {
		if !e.evaluated && r.Time > e.Time {
			decided[k].after, decided[k].evaluated = r.Validation.Accuracy, true
		}
	}
	b.decided = decided
}
