package trainer

import (
	"time"

	"graft/decider"
	"graft/results"
)

// Row is the record of an epoch, or of the part of one that the budget allowed.
type Row struct {
	Epoch      int           // from 0
	Time       time.Duration // on the clock, when it was evaluated
	Steps      int64         // in all
	Loss       float64       // of training, mean over the epoch's steps, in nats
	Accuracy   float64       // of training, while the weights changed
	Validation Score         // on the validation split, after the epoch
	Rate       float64       // learning rate in the epoch
	Parameters int           // of the network at its end
	Devices    int           // at its end
	Images     int64         // of training in all, as in Resources; zero means unknown
	FLOP       float64       // in all, as in Resources; zero means unknown
	DeviceTime time.Duration // in all, as in Resources; zero means unknown
	BatchRates               // of the epoch; a batch of zero means that an older graft wrote the row
}

// Note is the record of an event in a job.
type Note struct {
	// start, up, down, devices, decision, skipped, shrink, end, processes, peer lost or peer missing
	Event      results.JobEvent `json:"event"`
	Time       time.Duration    `json:"time_ns"`           // on the clock
	Epoch      int              `json:"epoch"`             // under way, from 0
	Step       int              `json:"step"`              // in the epoch
	Devices    int              `json:"devices"`           // after it
	Parameters int              `json:"parameters"`        // after it
	Before     int              `json:"parameters_before"` // parameters before it
	// on the validation split, last evaluated before it
	Accuracy          float64         `json:"accuracy"`
	Action            string          `json:"action,omitempty"`        // of a decision
	Probabilities     []float64       `json:"probabilities,omitempty"` // of all candidate actions
	Trials            []decider.Trial `json:"trials,omitempty"`        // that the decision was made by
	Took              time.Duration   `json:"took_ns,omitempty"`       // of the budget
	DistillationSteps int             `json:"lessons,omitempty"`       // steps of distillation from the larger network
	// that train from now on, in an event about their number
	Processes int `json:"processes,omitempty"`
	// images in a step from now on, in an event about their number
	Batch int `json:"batch,omitempty"`
	// a process was lost or is missing, or an action was skipped
	Why string `json:"why,omitempty"`
}

// Section is a named part of a checkpoint.
type Section struct {
	Name string
	Data []byte
}

// Recorder records epochs, events and checkpoints of a job.
type Recorder interface {
	// Epoch adds a row.
	Epoch(r Row) error
	// Note adds an event.
	Note(n Note) error
	// Save stores a checkpoint that belongs to the rows and notes so far, whole or
	// not at all.
	Save(sections []Section) error
}

type discard struct{}

func (discard) Epoch(Row) error      { return nil }
func (discard) Note(Note) error      { return nil }
func (discard) Save([]Section) error { return nil }
