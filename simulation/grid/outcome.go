package grid

import (
	"bytes"
	"encoding/json"
	"fmt"

	"graft/simulation/tables"
)

// Segment is the part of a run between two decisions: the last action of its sequence,
// and the training after it until the next decision or the end of the budget. A segment
// without actions leads from the beginning to the first decision. Sequences that begin
// alike share their first segments.
type Segment struct {
	Sequence []string // of actions so far
	Seed     int64    // of the run
}

// String is the segment as people read it.
func (l Segment) String() string { return fmt.Sprintf("%s seed %d", tables.Tuple(l.Sequence), l.Seed) }

// Outcome is the result of a segment.
type Outcome struct {
	Key      string    `json:"key"`      // of its cause
	Sequence []string  `json:"sequence"` // of actions so far
	Seed     int64     `json:"seed"`     // of the run
	Left     []float64 `json:"left_s"`   // of the budget, at each decision so far and, unless it ended, at the next
	Step     []float64 `json:"step_s"`   // that a step of training took then
	Before   []float64 `json:"before"`   // accuracy then, as last evaluated
	// As in tables.Record; empty where an older graft ran the leg.
	Loss     []float64 `json:"loss,omitempty"`
	Fall     []float64 `json:"fall,omitempty"`
	Gap      []float64 `json:"gap,omitempty"`
	After    []float64 `json:"after,omitempty"`
	LastStep float64   `json:"last_step_s,omitempty"`
	Networks []string  `json:"networks"` // fingerprints then and, where it ended, in the end
	Ended    bool      `json:"ended"`    // the budget is used up
	Accuracy float64   `json:"accuracy"` // on the validation images, where it ended
	Test     float64   `json:"test"`     // accuracy on the test images, where it ended; only reported
	Weights  string    `json:"weights"`  // digest of the network in the end; empty before
	Steps    int64     `json:"steps"`    // of training, in this leg
	Epochs   []Epoch   `json:"epochs"`   // that were evaluated in this leg
	Seconds  float64   `json:"seconds"`  // that the machine took for it
	Graft    string    `json:"graft"`    // version that ran it
	LibTorch string    `json:"libtorch"` // version that ran it
	Profile  string    `json:"profile"`  // of the device whose time was counted; empty is the machine's own
}

// Epoch is a row of a segment's history.
type Epoch struct {
	Time     float64 `json:"time_s"`   // of the budget
	Loss     float64 `json:"loss"`     // of training, in nats
	Accuracy float64 `json:"accuracy"` // on the validation images
}

// Segment returns the segment of the outcome.
func (o *Outcome) Segment() Segment { return Segment{o.Sequence, o.Seed} }

func (o *Outcome) record() tables.Record {
	r := tables.Record{Sequence: o.Sequence, Left: o.Left, Accuracy: []float64{o.Accuracy}, Seeds: []int64{o.Seed},
		Step: o.Step, Before: o.Before, LastStep: o.LastStep, Networks: o.Networks, Profile: o.Profile,
		Graft: o.Graft, LibTorch: o.LibTorch}
	n := len(o.Left)
	if len(o.Loss) == n && len(o.Fall) == n && len(o.Gap) == n { // else an older graft ran a leg of it
		r.Loss, r.Fall, r.Gap = o.Loss, o.Fall, o.Gap
	}
	if len(o.After) == n {
		r.After = o.After
	}
	return r
}

// outcomeKind begins the body of an outcome's line.
const outcomeKind = `"outcome":`

// formatOutcome is the text of an outcome's file: a line with a checksum.
func formatOutcome(o *Outcome) ([]byte, error) { return tables.FormatLine(outcomeKind, o) }

// parseOutcome reads it. What is not as it was written is a Fault.
func parseOutcome(text []byte, key string) (*Outcome, error) {
	if n := len(text); n == 0 || text[n-1] != '\n' {
		return nil, tables.NewFault(tables.Damaged, "the file does not end as it was written")
	}
	b, ok := tables.LineBody(text[:len(text)-1])
	if !ok {
		return nil, tables.NewFault(tables.Damaged, "the line's checksum does not hold")
	}
	value, ok := bytes.CutPrefix(b, []byte(outcomeKind))
	if !ok || len(value) == 0 {
		return nil, tables.NewFault(tables.Damaged, "it is no outcome")
	}
	o := &Outcome{}
	if err := json.Unmarshal(value[:len(value)-1], o); err != nil {
		return nil, tables.NewFault(tables.Damaged, "it is no outcome: %v", err)
	}
	if o.Key != key {
		return nil, tables.NewFault(tables.Foreign, "it is the outcome of another leg, %s", o.Segment())
	}
	return o, nil
}
