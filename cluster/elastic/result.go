package elastic

import (
	"encoding/hex"

	"graft/internal/stat"
)

// Result is the outcome of a simulation. Times are in slots.
type Result struct {
	Slots       int       // number of simulated slots
	MeanJCT     float64   // mean time from arrival to completion
	Makespan    float64   // end of the last job
	MeanReward  float64   // mean reward over the slots
	Rewards     []float64 // reward of each slot
	Completions []Completion
	// SHA-256 over the text "slot:id:workers:servers;" of each job with tasks, ordered by slot and ID
	Allocations string
}

// Completion is the outcome of a job.
type Completion struct {
	ID      int
	Type    string
	Arrival int     // slot of arrival
	End     float64 // time of completion
	JCT     float64 // time from arrival to completion
}

// Result returns the outcome of the slots that have ended. The completed jobs are sorted by arrival and ID.
func (w *World) Result() *Result {
	r := &Result{Slots: w.slot, Rewards: w.rewards, MeanReward: stat.Mean(w.rewards),
		Allocations: hex.EncodeToString(w.allocations.Sum(nil))}
	var times []float64
	for _, j := range w.all[:w.arrived] {
		if !j.done() {
			continue
		}
		r.Completions = append(r.Completions, Completion{j.ID, j.Model.Name, j.Arrival, j.End, j.JCT()})
		times = append(times, j.JCT())
		r.Makespan = max(r.Makespan, j.End)
	}
	r.MeanJCT = stat.Mean(times)
	return r
}
