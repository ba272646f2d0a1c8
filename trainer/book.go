package trainer

import (
	"time"

	"graft/model"
	"graft/net2net"
	"graft/torch"
)

// Row is an epoch, or the part of one that the budget allowed.
type Row struct {
	Epoch      int           // from 0
	Time       time.Duration // on the clock, when it was evaluated
	Steps      int64         // in all
	Loss       float64       // of training, the mean over the epoch's steps
	Accuracy   float64       // of training, as it went
	Validation Score         // on the validation split, after it
	Rate       float64       // the learning rate in the epoch
	Parameters int           // of the network at its end
	Devices    int           // at its end
}

// Note is something that happened to a job.
type Note struct {
	Event         string        `json:"event"`                   // start, up, down, devices, decision, shrink, end, processes, peer lost or peer missing
	Time          time.Duration `json:"time_ns"`                 // on the clock
	Epoch         int           `json:"epoch"`                   // under way, from 0
	Step          int           `json:"step"`                    // in the epoch
	Devices       int           `json:"devices"`                 // after it
	Parameters    int           `json:"parameters"`              // after it
	Before        int           `json:"parameters_before"`       // parameters before it
	Accuracy      float64       `json:"accuracy"`                // on the validation split, as last evaluated before it
	Action        string        `json:"action,omitempty"`        // what was decided or done
	Probabilities []float64     `json:"probabilities,omitempty"` // of all actions that were weighed
	Took          time.Duration `json:"took_ns,omitempty"`       // of the budget
	Lessons       int           `json:"lessons,omitempty"`       // steps for which a larger network teaches
	Processes     int           `json:"processes,omitempty"`     // that train from now on, where their number is what it tells
	Why           string        `json:"why,omitempty"`           // a process is lost or missing
}

// Section is a named part of a checkpoint.
type Section struct {
	Name string
	Data []byte
}

// Book is where a job writes down what happens.
type Book interface {
	// Epoch adds a row.
	Epoch(r Row) error
	// Note adds an event.
	Note(n Note) error
	// Save keeps a checkpoint that belongs to the rows and notes so far, whole or
	// not at all.
	Save(sections []Section) error
}

// nothing is a book that keeps nothing.
type nothing struct{}

func (nothing) Epoch(Row) error      { return nil }
func (nothing) Note(Note) error      { return nil }
func (nothing) Save([]Section) error { return nil }

func (j *Job) note(event string) Note {
	p := j.Network.Parameters()
	return Note{Event: event, Time: j.Clock.Now(), Epoch: j.Epoch, Step: j.Step, Devices: j.Devices, Parameters: p, Before: p, Accuracy: j.Validation.Accuracy}
}

func (j *Job) row() Row {
	r := Row{Epoch: j.Epoch, Time: j.Clock.Now(), Steps: j.Steps, Validation: j.Validation, Rate: j.LR,
		Parameters: j.Network.Parameters(), Devices: j.Devices}
	if j.Step > 0 {
		r.Loss, r.Accuracy = j.Loss/float64(j.Step), float64(j.Correct)/float64(j.Seen)
	}
	return r
}

// Outcome is how a job ended.
type Outcome struct {
	Epochs     int               `json:"epochs"`       // whole ones
	Steps      int64             `json:"steps"`        // of training
	Budget     time.Duration     `json:"budget_ns"`    // of the job
	Used       time.Duration     `json:"used_ns"`      // of the budget
	Deciding   time.Duration     `json:"deciding_ns"`  // of Used
	Operating  time.Duration     `json:"operating_ns"` // of Used
	Decisions  int               `json:"decisions"`    // that were made
	Parameters int               `json:"parameters"`   // of the network in the end
	Validation Score             `json:"validation"`   // what decided
	Test       Score             `json:"test"`         // only reported
	Digest     string            `json:"digest"`       // SHA-256 over the network and its weights
	Changes    []*net2net.Change `json:"-"`            // that the network under way went through and still has
}

// test looks at the test split, where there is one.
func (j *Job) test(n *model.Network) (score Score, err error) {
	if j.Data.Test.Count == 0 {
		return score, nil
	}
	if n == j.Network {
		return j.evaluate(true)
	}
	err = torch.With(func(s *torch.Scope) error {
		program, err := j.compile(s, n)
		if err == nil {
			score, err = j.look(program, j.Data.Test)
		}
		return err
	})
	return score, err
}

// finish evaluates on the test split, which decides nothing and costs no budget.
func (j *Job) finish() (*Outcome, error) {
	j.Scheduler.End(nil)
	j.show(Evaluates)
	last := j.result()
	o := &Outcome{Epochs: j.Epoch, Steps: j.Steps, Budget: j.Scheduler.Budget(), Used: j.Spent, Deciding: j.Deciding, Operating: j.Operating,
		Decisions: j.Decisions, Parameters: last.Parameters(), Validation: j.Validation, Changes: j.Changes}
	var err error
	if o.Test, err = j.test(last); err != nil {
		return nil, err
	}
	if o.Digest, err = digest(last); err != nil {
		return nil, err
	}
	j.show(Ended)
	if j.Ended {
		return o, nil
	}
	note := j.note("end")
	note.Parameters = o.Parameters
	if err := j.Book.Note(note); err != nil {
		return nil, err
	}
	j.Ended = true
	return o, j.save()
}
