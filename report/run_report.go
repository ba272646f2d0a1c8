package report

import (
	"fmt"
	"graft/report/document"
	"graft/report/runs"
	"slices"
	"strings"
	"time"
)

// RunReport holds the provenance and the quantities of a run.
type RunReport struct {
	Path string `json:"path"` // path of the run folder
	Kind string `json:"kind"` // kind of the run, such as job, simulation or policies
	// whether the run is complete; if false, the quantities describe its progress
	Ended   bool       `json:"ended"`
	Created *time.Time `json:"created"` // start of the run; null if unknown
	Graft   string     `json:"graft"`   // version of graft
	Seed    *uint64    `json:"seed"`    // seed of the whole run; null if it has none
	Device  string     `json:"device"`  // device of the tensors, such as cpu; empty means unknown
	// name of the virtual clock's device profile; empty means that the run used the wall clock
	Profile string   `json:"profile"`
	Network string   `json:"network"`        // name of the initial network; empty means unknown
	Host    string   `json:"host"`           // machine on which the run started; empty means unknown
	Command []string `json:"command_line"`   // program and arguments; empty means unknown
	Config  string   `json:"config_sha256"`  // digest of the configuration; empty means unknown
	Data    string   `json:"dataset_sha256"` // digest of the dataset; empty means unknown
	// kept checkpoint of another run from which the run started; absent if it started from the beginning
	Fork string `json:"fork,omitempty"`
	// version of the LibTorch with which the run started; absent if unknown
	Library string `json:"libtorch,omitempty"`
	// part of the run used another LibTorch, before a resume or in the run of the fork; absent otherwise
	OtherLibrary bool `json:"other_libtorch,omitempty"`
	// the run resumed with another time budget than its first part; absent otherwise
	OtherBudget bool `json:"other_budget,omitempty"`
	// digest of the content of the files that the configuration names; absent if unknown
	Files string `json:"files_sha256,omitempty"`
	// changes of devices over HTTP, in words; absent without changes
	Live       string           `json:"changes_while_it_ran,omitempty"`
	Quantities []QuantityReport `json:"quantities"` // quantities of the outcome
	// Detail holds results that only this kind of run has; null if several runs are reported.
	Detail Detail `json:"detail"`

	title string // name of the kind in headings
	begun bool   // the run has no results yet
	// names and values of what the configuration lacks, in the words of comparisons
	circumstances []string
}

// QuantityReport is a quantity of a run in a report, such as the run's final accuracy.
type QuantityReport struct {
	Quantity string `json:"quantity"` // name of the quantity
	Unit     string `json:"unit"`     // unit; share means a fraction between 0 and 1, empty means a count
	Better   string `json:"better"`   // better direction: more or less; empty if neither is better
	summary
	Seeds  []int64   `json:"seeds"`  // seeds of the values; empty if the value does not belong to a seed
	Values []float64 `json:"values"` // values in the order of the seeds

	inDetail bool // the detail shows it
	own      bool // the run computed the interval
	cut      bool // the interval was clipped at a limit of the values
}

// NewRunReport creates the report of one run, without its detail.
func NewRunReport(run *runs.Run) RunReport {
	m := run.Manifest
	r := RunReport{Path: run.Path, Kind: run.Kind.Name, Ended: run.Ended, Graft: m.Graft, Device: m.Device,
		Profile: m.Profile, Network: m.Network, Host: m.Host, Command: append([]string{}, m.CommandLine...),
		Config: m.ConfigSHA256, Data: m.DatasetSHA256, Fork: m.Fork, Quantities: []QuantityReport{},
		Library: m.LibTorch, OtherLibrary: m.OtherLibTorch, OtherBudget: m.OtherBudget, Files: m.FilesSHA256,
		Live: run.LiveChanges(), begun: run.Begun, title: run.Kind.Title}
	for _, s := range run.Circumstances() {
		r.circumstances = append(r.circumstances, strings.Trim(s.Key, "()"), s.Text)
	}
	if !m.Created.IsZero() {
		r.Created = &m.Created
	}
	if run.Seeded {
		r.Seed = &m.Seed
	}
	for _, q := range run.Quantities {
		one := QuantityReport{Quantity: q.Name, Unit: q.Unit, Better: q.Better.Word(),
			summary: summarize(q.Values, q.Range(), q.Level), Seeds: append([]int64{}, q.Seeds...), Values: q.Values,
			inDetail: q.Case != "" || q.Detail}
		if q.Over != nil {
			one.Low, one.High, one.own = &q.Over.Low, &q.Over.High, true
		}
		one.cut = !one.own && q.Range().Cuts(one.Low, one.High)
		r.Quantities = append(r.Quantities, one)
	}
	return r
}

// write adds provenance and outcome.
func (r *RunReport) write(d *document.Document) {
	d.Head("%s %s", r.title, r.Path)
	state, seed := StateWord(r.Ended), ""
	if r.Created == nil { // not recorded
		state = ""
	}
	if r.Seed != nil {
		seed = fmt.Sprint(*r.Seed)
	}
	d.Know(append([]string{"state", state, "began", r.began(), "graft", r.Graft, "command",
		strings.Join(r.Command, " "), "network", r.Network, "started from", r.Fork, "device", r.where(), "seed", seed,
		"configuration", document.ShortDigest(r.Config), "images", document.ShortDigest(r.Data)},
		r.circumstances...)...)
	if r.begun {
		d.Say("The run has no results yet: it is starting, or was killed while starting.")
		return
	}
	d.Show(r.outcomeTable())
	if r.shows(func(q QuantityReport) bool { return q.own }) {
		d.Say("Intervals are over workloads and seeds or, with a single workload, over jobs.")
	} else if r.shows(hasInterval) {
		d.Say("Intervals are for the mean over seeds, by Student's t-distribution.")
	} else if r.shows(ofSeeds) {
		d.Say(fewSeeds)
	}
	if r.shows(func(q QuantityReport) bool { return q.cut }) {
		d.Say(cutIntervals)
	}
}

func hasInterval(q QuantityReport) bool { return q.Low != nil }

func ofSeeds(q QuantityReport) bool { return q.N > 1 }

// shows reports whether a quantity in the table is of a kind.
func (r *RunReport) shows(is func(QuantityReport) bool) bool {
	return slices.ContainsFunc(r.Quantities, func(q QuantityReport) bool { return !q.inDetail && is(q) })
}

// outcomeTable has a line per quantity, with seeds and intervals if any quantity has several values.
func (r *RunReport) outcomeTable() *document.Table {
	several, spread := r.shows(ofSeeds), r.shows(hasInterval)
	t := document.NewTable("outcome").Numbers("", "", "value").Texts("unit")
	if spread {
		t.Texts("95% interval")
	}
	if several {
		t.Numbers("", "", "seeds")
	}
	for _, q := range r.Quantities {
		if q.inDetail {
			continue
		}
		cells := []any{wordsOf(q.Quantity), document.Value(q.Mean, q.Unit), document.UnitText(q.Unit)}
		if spread {
			cells = append(cells, document.Between(q.Low, q.High, q.Unit))
		}
		if several {
			cells = append(cells, orMissing(float64(len(q.Seeds))))
		}
		t.Add(cells...)
	}
	return t
}

func (r *RunReport) began() string {
	if r.Created == nil {
		return ""
	}
	text := r.Created.UTC().Format("2006-01-02 15:04:05 UTC")
	if r.Host != "" {
		text += " on " + r.Host
	}
	return text
}

func (r *RunReport) where() string {
	if r.Device == "" || r.Profile == "" {
		return r.Device
	}
	return r.Device + ", time by profile " + r.Profile
}
