package grid

import (
	"bytes"
	"encoding/json"
	"fmt"

	"graft/simulation/tables"
)

// Segment is the part of a run between two decisions. It begins with the last action in Sequence, and continues with
// training until the next decision or the end of the budget. The first segment of a run has no actions and ends at the
// first decision. Sequences with a common beginning share their first segments.
type Segment struct {
	Sequence []string // actions so far
	Seed     int64    // seed of the run
}

// String describes the segment as text.
func (l Segment) String() string { return fmt.Sprintf("%s seed %d", tables.Tuple(l.Sequence), l.Seed) }

// Outcome is the result of a segment.
type Outcome struct {
	Key      string   `json:"key"`      // key of the outcome's cause
	Sequence []string `json:"sequence"` // actions so far
	Seed     int64    `json:"seed"`     // seed of the run
	// remaining budget in seconds at each decision so far and, unless the run ended, at the next decision
	Left   []float64 `json:"left_s"`
	Step   []float64 `json:"step_s"` // time of a training step at these decisions, in seconds
	Before []float64 `json:"before"` // last accuracy before these decisions
	// Loss, Fall, Gap, After, Gain and LastStep have the same meaning as the fields with these names in tables.Record.
	// They are empty if an older version of graft ran the segment.
	Loss     []float64 `json:"loss,omitempty"`
	Fall     []float64 `json:"fall,omitempty"`
	Gap      []float64 `json:"gap,omitempty"`
	After    []float64 `json:"after,omitempty"`
	Gain     []float64 `json:"gain,omitempty"`
	LastStep float64   `json:"last_step_s,omitempty"`
	// fingerprint of the network at each decision so far and, if the run ended, at the end
	Networks []string `json:"networks"`
	Ended    bool     `json:"ended"`    // the budget is used up
	Accuracy float64  `json:"accuracy"` // validation accuracy, if the run ended
	Test     float64  `json:"test"`     // test accuracy, if the run ended; only reported
	Weights  string   `json:"weights"`  // digest of the final network; empty before the end of the run
	Steps    int64    `json:"steps"`    // number of training steps in this segment
	Epochs   []Epoch  `json:"epochs"`   // epochs evaluated in this segment
	Seconds  float64  `json:"seconds"`  // wall-clock time of the segment
	Graft    string   `json:"graft"`    // version of graft that ran the segment
	LibTorch string   `json:"libtorch"` // version of LibTorch that ran the segment
	Profile  string   `json:"profile"`  // name of the device profile that charged time; empty means the wall clock
}

// Epoch is a row of a segment's history.
type Epoch struct {
	Time     float64 `json:"time_s"`   // used part of the budget
	Loss     float64 `json:"loss"`     // training loss, in nats
	Accuracy float64 `json:"accuracy"` // validation accuracy
}

// Segment returns the segment of the outcome.
func (o *Outcome) Segment() Segment { return Segment{o.Sequence, o.Seed} }

func (o *Outcome) record() tables.Record {
	r := tables.Record{Sequence: o.Sequence, Left: o.Left, Accuracy: []float64{o.Accuracy}, Seeds: []int64{o.Seed},
		Step: o.Step, Before: o.Before, LastStep: o.LastStep, Networks: o.Networks, Profile: o.Profile,
		Graft: o.Graft, LibTorch: o.LibTorch}
	n := len(o.Left)
	if len(o.Loss) == n && len(o.Fall) == n && len(o.Gap) == n { // otherwise an older graft ran one of its legs
		r.Loss, r.Fall, r.Gap = o.Loss, o.Fall, o.Gap
	}
	if len(o.After) == n {
		r.After = o.After
	}
	if len(o.Gain) == n {
		r.Gain = o.Gain
	}
	return r
}

// outcomeKind begins the body of an outcome's line.
const outcomeKind = `"outcome":`

// formatOutcome returns the text of an outcome's file: a line with a checksum.
func formatOutcome(o *Outcome) ([]byte, error) { return tables.FormatLine(outcomeKind, o) }

// parseOutcome parses it. Text that was changed is a Fault.
func parseOutcome(text []byte, key string) (*Outcome, error) {
	if n := len(text); n == 0 || text[n-1] != '\n' {
		return nil, tables.NewFault(tables.Damaged, "the file does not end with a line break")
	}
	b, ok := tables.LineBody(text[:len(text)-1])
	if !ok {
		return nil, tables.NewFault(tables.Damaged, "checksum mismatch")
	}
	value, ok := bytes.CutPrefix(b, []byte(outcomeKind))
	if !ok || len(value) == 0 {
		return nil, tables.NewFault(tables.Damaged, "the line is not an outcome")
	}
	o := &Outcome{}
	if err := json.Unmarshal(value[:len(value)-1], o); err != nil {
		return nil, tables.NewFault(tables.Damaged, "the line is not an outcome: %v", err)
	}
	if o.Key != key {
		return nil, tables.NewFault(tables.Foreign,
			"the outcome belongs to another leg (the training between two decisions): %s", o.Segment())
	}
	return o, nil
}
