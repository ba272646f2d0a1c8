package trainer

import (
	"time"

	"graft/decider"
	"graft/results"
)

// Row is the record of an epoch, or of the part of an epoch that fitted into the budget.
type Row struct {
	Epoch      int           // number of the epoch, from 0
	Time       time.Duration // time of the evaluation, on the clock
	Steps      int64         // total number of steps
	Loss       float64       // mean training loss over the epoch's steps, in nats
	Accuracy   float64       // training accuracy over the epoch's steps, measured while the weights changed
	Validation Score         // score on the validation split, after the epoch
	Rate       float64       // learning rate in the epoch
	Parameters int           // number of parameters at the end of the epoch
	Devices    int           // number of devices at the end of the epoch
	// total number of training images, counted like Resources.Images; zero means unknown
	Images int64
	// total number of floating-point operations, counted like Resources.FLOP; zero means unknown
	FLOP       float64
	DeviceTime time.Duration // total device time, counted like Resources.DeviceTime; zero means unknown
	// batch, throughput and efficiency of the epoch; a batch of zero means that an older version of graft wrote the row
	BatchRates
}

// Note is the record of an event in a job.
type Note struct {
	// kind of the event: start, up, down, devices, decision, skipped, too late, shrink, end, processes, peer lost or
	// peer missing
	Event      results.JobEvent `json:"event"`
	Time       time.Duration    `json:"time_ns"`           // time of the event on the clock
	Epoch      int              `json:"epoch"`             // current epoch, from 0
	Step       int              `json:"step"`              // number of steps done in the epoch
	Devices    int              `json:"devices"`           // number of devices after the event
	Parameters int              `json:"parameters"`        // number of parameters after the event
	Before     int              `json:"parameters_before"` // number of parameters before the event
	// last validation accuracy before the event
	Accuracy      float64         `json:"accuracy"`
	Action        string          `json:"action,omitempty"`        // action of a decision
	Probabilities []float64       `json:"probabilities,omitempty"` // probability of each candidate action
	Trials        []decider.Trial `json:"trials,omitempty"`        // trials on which the decision is based
	Gains         []decider.Gain  `json:"gains,omitempty"`         // gains on which the decision is based
	Took          time.Duration   `json:"took_ns,omitempty"`       // time that the event took from the budget
	// number of distillation steps after the event
	DistillationSteps int `json:"lessons,omitempty"`
	// number of training processes after an event that changes it; zero for other events
	Processes int `json:"processes,omitempty"`
	// number of images per step after an event that changes it; zero for other events
	Batch int `json:"batch,omitempty"`
	// reason why a process was lost or is missing, why an action was skipped or too late, or why the job ended before
	// its budget
	Why string `json:"why,omitempty"`
}

// Section is a named part of a checkpoint.
type Section struct {
	Name string
	Data []byte
}

// Recorder records epochs, events and checkpoints of a job.
type Recorder interface {
	// Epoch records the metrics of an epoch.
	Epoch(r Row) error
	// Note records an event.
	Note(n Note) error
	// Save stores a checkpoint that matches the rows and notes so far. Saving is atomic.
	Save(sections []Section) error
	// Keep stores a checkpoint as Save does, and keeps it. At is the time on the clock of the job.
	Keep(at time.Duration, sections []Section) error
}

type discard struct{}

func (discard) Epoch(Row) error                     { return nil }
func (discard) Note(Note) error                     { return nil }
func (discard) Save([]Section) error                { return nil }
func (discard) Keep(time.Duration, []Section) error { return nil }
