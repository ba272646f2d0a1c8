package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/internal/validate"
	"graft/model"
	"graft/net2net"
)

// Scenario holds the properties that all sequences of a table share.
type Scenario struct {
	Name      string  `json:"name"`      // name of the table
	Network   string  `json:"network"`   // name of the network in the zoo, or the path of its file
	Dataset   string  `json:"dataset"`   // name of the training dataset
	Budget    float64 `json:"budget_s"`  // budget in seconds
	Start     float64 `json:"start_s"`   // part of the budget that is already used when the sequences begin, in seconds
	Decisions int     `json:"decisions"` // number of decisions per sequence
	// choices at every decision, in order; empty if the choices depend on the network
	Actions []string `json:"actions,omitempty"`
	// number of sequences if the choices depend on the network; zero means unknown
	Expected int     `json:"sequences,omitempty"`
	Origin   *Origin `json:"origin,omitempty"` // data that determine the networks of the sequences; nil means unknown
}

// Origin holds the data that determine the networks of a scenario, except their weights.
type Origin struct {
	// initial network of the sequences, in the format of model.FromForm
	Form   json.RawMessage `json:"form"`
	Deepen net2net.Form    `json:"deepen,omitempty"` // form of deepenings; empty means net2net's default
	// compatibility of deepen operations with the original system; empty means graft's own operation
	Compat net2net.Compat `json:"compat,omitempty"`
	Batch  int            `json:"batch,omitempty"` // images per step; zero means unknown
	Data   string         `json:"data,omitempty"`  // digest of the dataset; empty means unknown
}

// Network builds the initial network of the sequences, without weights.
func (o *Origin) Network() (*model.Network, error) {
	var form map[string]any
	if err := json.Unmarshal(o.Form, &form); err != nil {
		return nil, fmt.Errorf("read the initial network: %w", err)
	}
	return model.FromForm(form)
}

// Surgery returns the surgery options with which the actions of the sequences are applied.
func (o *Origin) Surgery() net2net.Options { return net2net.Options{Form: o.Deepen, Compat: o.Compat} }

// Record holds the outcome of one action sequence, over all of its seeds.
type Record struct {
	Sequence []string  `json:"sequence"`         // actions in net2net's notation
	Left     []float64 `json:"left_s"`           // remaining budget at each decision in seconds
	Accuracy []float64 `json:"accuracy"`         // final accuracy of each seed, between 0 and 1
	Seeds    []int64   `json:"seeds"`            // seeds of the runs, in the order of Accuracy
	Step     []float64 `json:"step_s,omitempty"` // time of a training step at each decision in seconds
	// most recent accuracy before each decision, averaged over the seeds
	Before []float64 `json:"before,omitempty"`
	// training loss of the last whole epoch before each decision, averaged over the seeds, as in decider.Curve; empty
	// means unknown
	Loss []float64 `json:"loss,omitempty"`
	// decrease of the logarithm of the training loss since the previous epoch, at each decision
	Fall []float64 `json:"fall,omitempty"`
	Gap  []float64 `json:"gap,omitempty"` // training accuracy minus validation accuracy, at each decision
	// After is the accuracy at the first evaluation after each decision, averaged over the seeds. Empty means unknown.
	After []float64 `json:"after,omitempty"`
	// gain of the action at each decision, as in decider.State.Gain, averaged over the seeds; zero for an action
	// without a gain; empty means unknown
	Gain []float64 `json:"gain,omitempty"`
	// time of a training step with the final network, in seconds; zero means unknown
	LastStep float64  `json:"last_step_s,omitempty"`
	Networks []string `json:"networks,omitempty"` // fingerprint of the network at each decision, and at the end
	Profile  string   `json:"profile,omitempty"`  // name of the device profile that charged time
	Graft    string   `json:"graft,omitempty"`    // version of graft that ran the sequence
	LibTorch string   `json:"libtorch,omitempty"` // version of LibTorch that ran the sequence
}

// curve is a list of a record with a value per decision that depends on the seed.
type curve struct {
	name   string
	values *[]float64
}

// curves returns the optional curves of a record, in the order of writing.
func (r *Record) curves() []curve {
	return []curve{{"loss", &r.Loss}, {"fall", &r.Fall}, {"gap", &r.Gap}, {"after", &r.After}, {"gain", &r.Gain}}
}

// Mean returns the mean accuracy over the seeds, or NaN if there are none.
func (r *Record) Mean() float64 {
	if len(r.Accuracy) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, a := range r.Accuracy {
		sum += a
	}
	return sum / float64(len(r.Accuracy))
}

// Table holds the outcomes of a scenario's action sequences. Create it with New; the zero value is not usable.
type Table struct {
	Scenario
	Records []Record
	index   map[string]int // index of a sequence in Records
}

// New creates a table from records. The records must form one tree: each sequence occurs once, and all sequences have
// the same length. Every decision must have a time, and every seed an accuracy.
func New(s Scenario, records []Record) (*Table, error) {
	t := &Table{Scenario: s, Records: records, index: make(map[string]int, len(records))}
	var faults validate.Faults
	for k := range records {
		r := &records[k]
		name := Tuple(r.Sequence)
		if err := s.fits(r); err != nil {
			faults = append(faults, fmt.Errorf("sequence %s: %w", name, err))
		}
		if other, twice := t.index[name]; twice {
			faults = append(faults, fmt.Errorf("sequence %s: duplicate in records %d and %d", name, other, k))
		}
		t.index[name] = k
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("table %s: %w", s.Name, errors.Join(faults...))
	}
	return t, nil
}

// Tuple formats a sequence as "(a, b)", for keys and messages.
func Tuple(sequence []string) string { return "(" + strings.Join(sequence, ", ") + ")" }

// fits returns the first fault of a record.
func (s Scenario) fits(r *Record) error {
	switch {
	case len(r.Sequence) != s.Decisions:
		return fmt.Errorf("got %d actions, expected %d, one per decision", len(r.Sequence), s.Decisions)
	case len(r.Left) != s.Decisions:
		return fmt.Errorf("got %d remaining times, expected %d, one per decision", len(r.Left), s.Decisions)
	case len(r.Accuracy) == 0 || len(r.Accuracy) != len(r.Seeds):
		return fmt.Errorf("got %d accuracies, expected %d, one per seed", len(r.Accuracy), len(r.Seeds))
	}
	for _, a := range r.Accuracy {
		if !(a >= 0 && a <= 1) {
			return fmt.Errorf("accuracy is %v; must be between 0 and 1", a)
		}
	}
	for _, left := range r.Left {
		if !(left >= 0 && left <= s.Budget) {
			return fmt.Errorf("remaining time is %v s; must be between 0 and the budget of %v s", left, s.Budget)
		}
	}
	for _, a := range r.Sequence {
		if len(s.Actions) > 0 && !slices.Contains(s.Actions, a) {
			return fmt.Errorf("unknown action %s; expected one of: %s", a, strings.Join(s.Actions, ", "))
		}
	}
	return nil
}

// admits returns the first fault of a record and its key before they are written.
func (s Scenario) admits(key string, r *Record) error {
	if err := s.fits(r); err != nil {
		return err
	}
	for k, seed := range r.Seeds {
		if slices.Contains(r.Seeds[:k], seed) {
			return fmt.Errorf("duplicate seed %d", seed)
		}
	}
	for _, c := range append(r.curves(), curve{"steps", &r.Step}, curve{"accuracies before", &r.Before}) {
		if n := len(*c.values); n != 0 && n != s.Decisions {
			return fmt.Errorf("got %d values of \"%s\", expected %d, one per decision", n, c.name, s.Decisions)
		}
		for _, v := range *c.values {
			if signed := c.name == "fall" || c.name == "gap"; math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && !signed {
				return fmt.Errorf("%s contains %v; must be finite and at least 0", c.name, v)
			}
		}
	}
	if !(r.LastStep >= 0) || math.IsInf(r.LastStep, 0) {
		return fmt.Errorf("the last step took %v s; must be at least 0", r.LastStep)
	}
	if n := len(r.Networks); n != 0 && n != s.Decisions+1 {
		return fmt.Errorf("got %d networks, expected one for each of %d decisions and one at the end", n, s.Decisions)
	}
	for _, a := range r.Sequence {
		if !isAction(a) {
			return fmt.Errorf("%q is not an action", a)
		}
	}
	for _, text := range append([]string{r.Profile, r.Graft, r.LibTorch}, r.Networks...) {
		if !Printable(text) {
			return fmt.Errorf("text %q contains unprintable characters", text)
		}
	}
	return checkKey(key)
}

// Find returns the record of a sequence, or nil if the table does not contain it.
func (t *Table) Find(sequence ...string) *Record {
	if k := t.Index(sequence...); k >= 0 {
		return &t.Records[k]
	}
	return nil
}

// Index returns the index of a sequence in Records, or a negative number if the table does not contain it.
func (t *Table) Index(sequence ...string) int {
	if k, ok := t.index[Tuple(sequence)]; ok {
		return k
	}
	return -1
}

// Complete returns an error if the table does not contain all sequences of the scenario's actions. The error names some
// of the missing sequences. If choices depend on the network, Complete only compares the number of sequences with the
// expected number, if that is known.
func (t *Table) Complete() error {
	some, count := t.missing()
	if gone := t.Expected - len(t.Records); len(t.Actions) == 0 && gone > 0 {
		return fmt.Errorf("table %s: %d of its %d sequences are missing; simulate them", t.Name, gone, t.Expected)
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("table %s: %s of its sequences are missing, such as %s; simulate them", t.Name, Quantity(count),
		strings.Join(some, " and "))
}

// Quantity formats a number of sequences. Numbers below 10^15 are printed with all digits, larger numbers in scientific
// notation.
func Quantity(n float64) string {
	if n < 1e15 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return strconv.FormatFloat(n, 'e', 2, 64)
}

// mostNamed limits the missing sequences that are named.
const mostNamed = 3

// missing counts the missing sequences and names the first of them.
func (t *Table) missing() (some []string, count float64) {
	if len(t.Actions) == 0 {
		return nil, 0
	}
	count = t.Sequences() - float64(len(t.index))
	t.each(nil, func(sequence []string) bool {
		if t.Find(sequence...) == nil {
			some = append(some, Tuple(sequence))
		}
		return len(some) < mostNamed && float64(len(some)) < count
	})
	return some, count
}

// Sequences returns the number of possible sequences of the scenario's actions, or zero if the choices depend on the
// network.
func (s Scenario) Sequences() float64 {
	if len(s.Actions) == 0 {
		return 0
	}
	return math.Pow(float64(len(s.Actions)), float64(s.Decisions))
}

// each visits the sequences of the table's actions in order until visit returns false.
func (t *Table) each(prefix []string, visit func([]string) bool) bool {
	if len(prefix) == t.Decisions {
		return visit(prefix)
	}
	for _, a := range t.Actions {
		if !t.each(append(slices.Clone(prefix), a), visit) {
			return false
		}
	}
	return true
}
