package report

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"graft/results/document"
	"graft/results/failure"
	"graft/results/runs"
)

// Report is what `graft report --json` prints.
type Report struct {
	Runs    []reportedRun     `json:"runs"`        // in the order of the arguments
	Skipped []runs.SkippedRun `json:"skipped"`     // folders that could not be used, and those of which a part could not
	Side    []*comparison     `json:"comparisons"` // one for each kind of run; empty where there is one run

	lone *runs.Run // the only run; nil where there are several
	seen Detail
	all  bool
}

// reportedRun is a run in a report.
type reportedRun struct {
	Path       string           `json:"path"`           // folder of the run
	Kind       string           `json:"kind"`           // such as job, simulation or policies
	Ended      bool             `json:"ended"`          // else the quantities are where it stands
	Created    *time.Time       `json:"created"`        // when it began; null where that is not known
	Graft      string           `json:"graft"`          // the version
	Seed       *uint64          `json:"seed"`           // null where there is none for the whole
	Device     string           `json:"device"`         // what computes, such as cpu; empty is unknown
	Profile    string           `json:"profile"`        // whose time was counted; empty is the machine's own
	Network    string           `json:"network"`        // that it began with; empty is unknown
	Host       string           `json:"host"`           // machine that it began on; empty is unknown
	Command    []string         `json:"command_line"`   // program and arguments; empty is unknown
	Config     string           `json:"config_sha256"`  // digest of the configuration; empty is unknown
	Data       string           `json:"dataset_sha256"` // digest of the images; empty is unknown
	Quantities []QuantityReport `json:"quantities"`     // what came out, as figures
	// Detail is what the kind has besides; null where several runs are reported.
	Detail Detail `json:"detail"`
}

// QuantityReport is a figure of a run.
type QuantityReport struct {
	Quantity string `json:"quantity"` // its name
	Unit     string `json:"unit"`     // share is between 0 and 1; empty is a count
	Better   string `json:"better"`   // more or less; empty where neither is
	summary
	Seeds  []int64   `json:"seeds"`  // of the values; empty where the value is of no seed
	Values []float64 `json:"values"` // whose mean is the value
}

// Detail is what a report of one run shows beside its header and quantities. It is
// printed as JSON too.
type Detail interface {
	// write adds to the report.
	write(d *document.Document)
}

// details read what a report of one run shows beside its quantities, by the run's kind.
// A new kind's is a new file and a line here; a kind without one has quantities alone.
var details = map[*runs.Kind]func(r *runs.Run, all bool) (Detail, error){
	runs.ClusterKind: readClusterDetail, runs.EvaluationKind: readEvaluationDetail, runs.JobKind: readJobDetail, runs.OriginalKind: readOriginalDetail, runs.PipelineKind: readPipelineDetail,
	runs.PoliciesKind: readPoliciesDetail, runs.PolicyKind: readPolicyDetail, runs.SimulationKind: readSimulationDetail, runs.TableKind: readTableDetail,
}

// DetailOf is nil where the run's kind has nothing beside its quantities.
func DetailOf(r *runs.Run, all bool) (Detail, error) {
	if read := details[r.Kind]; read != nil {
		return read(r, all)
	}
	return nil, nil
}

func New(list []*runs.Run, skipped []runs.SkippedRun, all bool) (*Report, error) {
	r := &Report{Runs: make([]reportedRun, len(list)), Skipped: append([]runs.SkippedRun{}, skipped...), Side: []*comparison{}, all: all}
	runs.Parallel(len(list), func(k int) { r.Runs[k] = ReportRun(list[k]) })
	for _, run := range list {
		if run.Faults != nil {
			r.Skipped = append(r.Skipped, runs.SkippedRun{Path: run.Path, Why: "in part: " + run.Faults.Error(), Err: failure.With(failure.Partial, run.Faults)})
		}
	}
	if len(list) != 1 {
		r.Side = append(r.Side, compareRuns(list)...)
		return r, nil
	}
	r.lone = list[0]
	var err error
	if r.seen, err = DetailOf(r.lone, all); err != nil {
		r.Skipped = append(r.Skipped, runs.SkippedRun{Path: r.lone.Path, Why: "in part: " + err.Error(), Err: failure.AsDamage(err)})
		r.seen = nil
	}
	r.Runs[0].Detail = r.seen
	return r, nil
}

func ReportRun(run *runs.Run) reportedRun {
	m := run.Manifest
	r := reportedRun{Path: run.Path, Kind: run.Kind.Name, Ended: run.Ended, Graft: m.Graft, Device: m.Device, Profile: m.Profile, Network: m.Network,
		Host: m.Host, Command: append([]string{}, m.CommandLine...), Config: m.ConfigSHA256, Data: m.DatasetSHA256, Quantities: []QuantityReport{}}
	if !m.Created.IsZero() {
		r.Created = &m.Created
	}
	if run.Seeded {
		r.Seed = &m.Seed
	}
	for _, q := range run.Quantities {
		r.Quantities = append(r.Quantities, QuantityReport{Quantity: q.Name, Unit: q.Unit, Better: q.Aim.Word(), summary: summarize(q.Values), Seeds: append([]int64{}, q.Seeds...), Values: q.Values})
	}
	return r
}

// Err names what was left out, with the code that says how much there was beside it.
func (r *Report) Err() error {
	if len(r.Skipped) == 0 {
		if len(r.Runs) == 0 {
			return errors.New("there is no run to report")
		}
		return nil
	}
	var text strings.Builder
	text.WriteString("could not be used, and is left out:")
	for _, s := range r.Skipped {
		text.WriteString("\n  " + strings.ReplaceAll(document.PrintableLines(s.Line()), "\n", "\n    "))
	}
	return failure.With(r.code(), errors.New(text.String()))
}

// code is partial where a run is reported. Where none is it is what they have in common,
// or that they are damaged if one is.
func (r *Report) code() failure.Code {
	if len(r.Runs) > 0 {
		return failure.Partial
	}
	codes := make([]failure.Code, len(r.Skipped))
	for k, s := range r.Skipped {
		codes[k] = failure.CodeOf(context.Background(), s.Err)
	}
	if slices.Contains(codes, failure.Damaged) {
		return failure.Damaged
	}
	return slices.Max(codes)
}

// Form is a way to write a report.
type Form int

// Text is aligned columns for a terminal. JSON is one object, CSV a row for each run and
// quantity, Markdown tables for GitHub.
const (
	Text Form = iota
	Markdown
	CSV
	JSON
)

// Write writes the report in a form.
func (r *Report) Write(w io.Writer, form Form) error {
	switch form {
	case JSON:
		if one, ok := r.seen.(hasRanks); ok && one.ranks() != nil && !r.all {
			one.ranks().Rows = nil
		}
		return document.PrintJSON(w, r)
	case CSV:
		return r.printCSV(w)
	case Markdown:
		return r.document().Markdown(w)
	}
	return r.document().Print(w)
}

// document is the report for people.
func (r *Report) document() *document.Document {
	d := &document.Document{}
	if r.lone == nil {
		for _, c := range r.Side {
			c.write(d, r.all)
		}
		return d
	}
	r.Runs[0].write(d)
	if r.seen != nil {
		r.seen.write(d)
	}
	return d
}

// write adds what was run, and what came out.
func (r *reportedRun) write(d *document.Document) {
	d.Head("%s %s", r.Kind, r.Path)
	state, seed := StateWord(r.Ended), ""
	if r.Created == nil { // whoever wrote it did not say
		state = ""
	}
	if r.Seed != nil {
		seed = fmt.Sprint(*r.Seed)
	}
	d.Know("state", state, "began", r.began(), "graft", r.Graft, "command", strings.Join(r.Command, " "), "network", r.Network,
		"device", r.where(), "seed", seed, "configuration", document.ShortDigest(r.Config), "images", document.ShortDigest(r.Data))
	d.Show(r.outcomeTable())
}

// outcomeTable has a line for each quantity, with intervals where one has several values.
func (r *reportedRun) outcomeTable() *document.Table {
	spread := slices.ContainsFunc(r.Quantities, func(q QuantityReport) bool { return q.Low != nil })
	t := document.NewTable("OUTCOME", ">VALUE", "UNIT")
	if spread {
		t = document.NewTable("OUTCOME", ">VALUE", "UNIT", "95% INTERVAL", ">SEEDS")
	}
	for _, q := range r.Quantities {
		cells := []string{strings.ReplaceAll(q.Quantity, "_", " "), document.ShownValue(q.Mean, q.Unit), document.ShownUnit(q.Unit)}
		if spread {
			cells = append(cells, q.interval(), cmp.Or(strings.TrimPrefix(fmt.Sprint(len(q.Seeds)), "0"), "-"))
		}
		t.Add(cells...)
	}
	return t
}

func (q *QuantityReport) interval() string {
	if q.Low == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", document.ShownValue(*q.Low, q.Unit), document.ShownValue(*q.High, q.Unit))
}

func (r *reportedRun) began() string {
	if r.Created == nil {
		return ""
	}
	text := r.Created.UTC().Format("2006-01-02 15:04:05 UTC")
	if r.Host != "" {
		text += " on " + r.Host
	}
	return text
}

func (r *reportedRun) where() string {
	if r.Device == "" || r.Profile == "" {
		return r.Device
	}
	return r.Device + ", time as " + r.Profile + " counts it"
}

// printCSV writes a row for each run and quantity.
func (r *Report) printCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"run", "kind", "ended", "seed", "config_sha256", "quantity", "unit", "value", "low", "high", "n"}) // the first error is kept
	for _, run := range r.Runs {
		seed := ""
		if run.Seed != nil {
			seed = fmt.Sprint(*run.Seed)
		}
		for _, q := range run.Quantities {
			_ = out.Write([]string{run.Path, run.Kind, fmt.Sprint(run.Ended), seed, run.Config, q.Quantity, q.Unit, document.Exact(q.Mean), document.ExactOr(q.Low), document.ExactOr(q.High), fmt.Sprint(q.N)})
		}
	}
	out.Flush()
	return out.Error()
}
