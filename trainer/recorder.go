package trainer

import (
	"time"

	"graft/decider"
	"graft/results"
)

// Row is the record of an epoch, or of the part of an epoch that the budget allowed.
type Row struct {
	Epoch      int           // from 0
	Time       time.Duration // time of the evaluation, on the clock
	Steps      int64         // steps in total
	Loss       float64       // mean training loss over the epoch's steps, in nats
	Accuracy   float64       // training accuracy, while the weights changed
	Validation Score         // score on the validation split, after the epoch
	Rate       float64       // learning rate in the epoch
	Parameters int           // parameters of the network at the epoch's end
	Devices    int           // devices at the epoch's end
	Images     int64         // training images in total, as in Resources; zero means unknown
	FLOP       float64       // operations in total, as in Resources; zero means unknown
	DeviceTime time.Duration // device time in total, as in Resources; zero means unknown
	BatchRates               // rates of the epoch; a batch of zero means that an older graft wrote the row
}

// Note is the record of an event in a job.
type Note struct {
	// start, up, down, devices, decision, skipped, shrink, end, processes, peer lost or peer missing
	Event      results.JobEvent `json:"event"`
	Time       time.Duration    `json:"time_ns"`           // on the clock
	Epoch      int              `json:"epoch"`             // current epoch, from 0
	Step       int              `json:"step"`              // step in the epoch
	Devices    int              `json:"devices"`           // devices after the event
	Parameters int              `json:"parameters"`        // parameters after the event
	Before     int              `json:"parameters_before"` // parameters before the event
	// last accuracy on the validation split before the event
	Accuracy          float64         `json:"accuracy"`
	Action            string          `json:"action,omitempty"`        // action of a decision
	Probabilities     []float64       `json:"probabilities,omitempty"` // probabilities of all candidate actions
	Trials            []decider.Trial `json:"trials,omitempty"`        // trials that the decision is based on
	Took              time.Duration   `json:"took_ns,omitempty"`       // budget used
	DistillationSteps int             `json:"lessons,omitempty"`       // steps of distillation from the larger network
	// number of training processes from now on, in an event that changes it
	Processes int `json:"processes,omitempty"`
	// images per step from now on, in an event that changes the batch
	Batch int `json:"batch,omitempty"`
	// reason why a process is lost or missing, or an action was skipped
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
	// Save stores a checkpoint that matches the rows and notes so far. It stores all of it or nothing.
	Save(sections []Section) error
}

type discard struct{}

func (discard) Epoch(Row) error      { return nil }
func (discard) Note(Note) error      { return nil }
func (discard) Save([]Section) error { return nil }
