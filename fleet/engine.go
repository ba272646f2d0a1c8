package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"graft/files"
)

// Engine starts workers and says what became of them. It retries nothing and keeps
// nothing that is not in a Handle or in the batch's folder, so that any process can go
// on with another's batch.
type Engine interface {
	// Submit starts those workers of a batch that are to be started and are not alive:
	// what is alive under its key stays as it is and is found again.
	Submit(ctx context.Context, b Batch) (Handle, error)
	// Poll says for each worker what is known of it, by number. An error says that
	// nothing could be learned, not that anything was lost.
	Poll(ctx context.Context, h Handle) ([]WorkerState, error)
	// Cancel ends all workers, first kindly, and returns when none is left.
	Cancel(ctx context.Context, h Handle) error
}

// Handle finds a batch again. It is data, and goes into a journal.
type Handle struct {
	Engine  string   `json:"engine"`
	Key     string   `json:"key"`
	Folder  string   `json:"folder"`
	Workers int      `json:"workers"`
	Jobs    []string `json:"jobs,omitempty"` // Slurm's numbers, the latest last
}

// State is how a worker is.
type State string

// The states.
const (
	Unknown State = "unknown" // the engine knows nothing of it: to be started again
	Waiting State = "waiting" // until there is room for it
	Running State = "running"
	Done    State = "done"    // it has said that no task is left
	Again   State = "again"   // it was interrupted through no fault of its own: to be started again
	Failed  State = "failed"  // with an exit code, by a signal, or out of memory
	Stopped State = "stopped" // it was cancelled
)

// Live says whether a worker runs or will.
func (s State) Live() bool { return s == Waiting || s == Running }

// WorkerState is what is known of a worker.
type WorkerState struct {
	Worker int    `json:"worker"`           // from 0
	State  State  `json:"state"`            // Unknown where there is nothing to know
	Exit   int    `json:"exit,omitempty"`   // its exit code, when it has ended by itself
	Host   string `json:"host,omitempty"`   // where it runs or ran
	Detail string `json:"detail,omitempty"` // why, in the engine's words
	Log    string `json:"log"`              // path of what it has printed
}

// againCode is the exit code of a worker that wants to be started again.
const againCode = 75

// ended is the state of a worker that ended by itself.
func ended(code int) State {
	switch code {
	case 0:
		return Done
	case againCode:
		return Again
	}
	return Failed
}

// Tools are what engines and fleets need from outside.
type Tools struct {
	// Files is the disk. Required.
	Files files.FS
	// Clock is the time. Required.
	Clock Clock
	// Grace is how long a cancelled worker has until it is killed; zero is 10 s. Slurm
	// goes by its own setting.
	Grace time.Duration
	// Patience is how long a command of Slurm's may take; zero is 30 s.
	Patience time.Duration
}

// ensureDefaults fills in what zero stands for.
func (t *Tools) ensureDefaults() {
	if t.Grace == 0 {
		t.Grace = 10 * time.Second
	}
	if t.Patience == 0 {
		t.Patience = 30 * time.Second
	}
}

// kind is an engine that there is.
type kind struct {
	make   func(Tools) Engine
	refuse func(Resources) error // lists what the engine does not know
}

// engines are all there are. A new one is a new file and a line here.
var engines = map[string]kind{
	"local": {newLocal, Resources.local},
	"slurm": {newSlurm, Resources.slurm},
}

// Engines are the names of all engines.
func Engines() []string { return slices.Sorted(maps.Keys(engines)) }

// NewEngine makes an engine by its name.
func NewEngine(name string, t Tools) (Engine, error) {
	e, ok := engines[name]
	if !ok {
		return nil, noEngine(name)
	}
	if t.Files == nil || t.Clock == nil {
		return nil, errors.New("make an engine: no files or no clock was handed in")
	}
	t.ensureDefaults()
	return e.make(t), nil
}

func noEngine(name string) error {
	return fmt.Errorf("there is no engine %q; there are %s", name, strings.Join(Engines(), ", "))
}

// ValidateFor lists all that is wrong with a batch for an engine, which refuses what it
// does not know.
func (b Batch) ValidateFor(engine string) error {
	e, ok := engines[engine]
	if !ok {
		return errors.Join(noEngine(engine), b.Validate())
	}
	return errors.Join(b.Validate(), e.refuse(b.Resources))
}

// blank is what is known of workers before anything is.
func (h Handle) blank() []WorkerState {
	states := make([]WorkerState, h.Workers)
	for k := range states {
		states[k] = WorkerState{Worker: k, State: Unknown, Log: LogPath(h.Folder, k)}
	}
	return states
}
