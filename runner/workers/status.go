package workers

import (
	"context"

	"graft/fleet"
)

// Status describes the workers of a run folder.
type Status struct {
	Engine string `json:"engine"` // name of the workers' engine
	// name of the batch of workers; empty if no workers were started from this folder
	Batch       string              `json:"batch"`
	Cancelled   bool                `json:"cancelled"`         // the batch was cancelled
	Workers     []fleet.WorkerState `json:"workers"`           // state of each worker by number
	EngineError string              `json:"trouble,omitempty"` // error that the engine returned; empty if none
}

// StatusOf polls the engine that runs a batch of workers. If f is nil, it returns a status without workers.
func StatusOf(ctx context.Context, engine string, f *fleet.Fleet) Status {
	s := Status{Engine: engine, Workers: []fleet.WorkerState{}}
	if f == nil {
		return s
	}
	s.Engine, s.Batch, s.Cancelled = f.Engine(), f.Batch().Key, f.Cancelled()
	states, err := f.Workers(ctx)
	if err != nil {
		s.EngineError = err.Error()
		return s
	}
	s.Workers = states
	return s
}
