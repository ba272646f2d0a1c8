package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/internal/failure"
	"graft/internal/parallel"
	"graft/report/document"
	"graft/report/runs"
)

// Report holds runs, their details and comparisons; `graft report --json` prints it.
type Report struct {
	Runs []RunReport `json:"runs"` // runs in the order of the arguments
	// folders that could not be read completely
	Skipped     []runs.SkippedRun `json:"skipped"`
	Comparisons []*comparison     `json:"comparisons"` // comparisons, one per kind of run; empty for a single run

	single *runs.Run // the only run; nil if there are several
	detail Detail
	all    bool
}

// Detail holds the part of a report that exists only for single runs, such as epochs. JSON output contains the detail
// too.
type Detail interface {
	// write adds the detail to a report.
	write(d *document.Document)
}

// details maps kinds of runs to the readers of their details. To add one, add a file and a line here. A kind without an
// entry has only quantities.
var details = map[*runs.Kind]func(r *runs.Run, all bool) (Detail, error){
	runs.ElasticLearningKind: readElasticLearningDetail, runs.ElasticComparisonKind: readElasticComparisonDetail,
	runs.ElasticCasesKind: readElasticCasesDetail,
	runs.NodeRunKind:      readNodeRunDetail, runs.NodeProfileKind: readNodeProfileDetail,
	runs.EvaluationKind: readEvaluationDetail, runs.JobKind: readJobDetail,
	runs.OriginalKind: readOriginalDetail, runs.PipelineKind: readPipelineDetail,
	runs.PoliciesKind: readPoliciesDetail, runs.PolicyKind: readPolicyDetail, runs.SimulationKind: readSimulationDetail,
	runs.SweepKind: readSweepDetail, runs.TableKind: readTableDetail, runs.CellKind: readCellDetail,
}

// DetailOf reads the detail of a run. Unless all is true, long lists in the detail are shortened. DetailOf returns nil
// if runs of this kind have no detail, or if the run has no results yet.
func DetailOf(r *runs.Run, all bool) (Detail, error) {
	if read := details[r.Kind]; read != nil && !r.Begun {
		return read(r, all)
	}
	if r.Kind.IsStudy() {
		return readStudyDetail(r, all)
	}
	return nil, nil
}

// New creates the report of runs: a single run with its detail, or several runs with comparisons. Unless all is true,
// long lists in the detail are shortened.
func New(list []*runs.Run, skipped []runs.SkippedRun, all bool) (*Report, error) {
	r := &Report{Runs: make([]RunReport, len(list)), Skipped: append([]runs.SkippedRun{}, skipped...),
		Comparisons: []*comparison{}, all: all}
	runs.AddCellResults(list)
	parallel.Do(len(list), 0, func(k int) { r.Runs[k] = NewRunReport(list[k]) })
	for _, run := range list {
		if run.Faults != nil {
			r.Skipped = append(r.Skipped, runs.SkippedRun{Path: run.Path, Why: "in part: " + run.Faults.Error(),
				Err: failure.With(failure.Partial, run.Faults)})
		}
	}
	if len(list) != 1 {
		r.Comparisons = append(r.Comparisons, compareRuns(list)...)
		return r, nil
	}
	r.single = list[0]
	var err error
	if r.detail, err = DetailOf(r.single, all); err != nil {
		r.Skipped = append(r.Skipped, runs.SkippedRun{Path: r.single.Path, Why: "in part: " + err.Error(),
			Err: failure.AsDamage(err)})
		r.detail = nil
	}
	r.Runs[0].Detail = r.detail
	return r, nil
}

// Reach adds, for each case of a sweep, the cost at which the case reaches the final validation loss of a reference
// case. The argument is the name of the reference case, or of an arm with a case for each combination of swept values.
func (r *Report) Reach(of string) error {
	sweep, ok := r.detail.(*sweepDetail)
	if !ok {
		return failure.Usagef("option \"reach\" requires exactly one completed run of trials; name its folder")
	}
	var err error
	sweep.reached = of
	sweep.Reaches, err = r.single.Reaches(sweep.SweepOutcome, of)
	return err
}

// Err returns an error that names the skipped folders. Its exit code is Partial if at least one run is reported.
func (r *Report) Err() error {
	if len(r.Skipped) == 0 {
		if len(r.Runs) == 0 {
			return errors.New("no runs to report")
		}
		return nil
	}
	var text strings.Builder
	text.WriteString("could not be used and is ignored:")
	for _, s := range r.Skipped {
		text.WriteString("\n  " + strings.ReplaceAll(document.PrintableLines(s.Line()), "\n", "\n    "))
	}
	return failure.With(r.code(), errors.New(text.String()))
}

// code returns Partial if any run is reported. Otherwise it returns Damaged if any folder is damaged, else the largest
// code of the skipped folders.
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

// Form names an output format of a report.
type Form int

const (
	Text     Form = iota // aligned columns for a terminal
	Markdown             // tables for GitHub
	Latex                // tables for LaTeX
	CSV                  // one row per pair of run and quantity
	JSON                 // one JSON object
)

// Write writes the report in a format.
func (r *Report) Write(w io.Writer, form Form) error {
	switch form {
	case JSON:
		if one, ok := r.detail.(hasRanks); ok && one.ranks() != nil && !r.all {
			one.ranks().Rows = nil
		}
		return document.PrintJSON(w, r)
	case CSV:
		return r.table().CSV(w)
	case Markdown:
		return r.document().Markdown(w)
	case Latex:
		return r.document().Latex(w)
	}
	return r.document().Print(w)
}

// document returns the report as a document.
func (r *Report) document() *document.Document {
	d := &document.Document{}
	if r.single == nil {
		for _, c := range r.Comparisons {
			c.write(d, r.all)
		}
		return d
	}
	r.Runs[0].write(d)
	if r.detail != nil {
		r.detail.write(d)
	}
	return d
}

// table has a row per run and quantity.
func (r *Report) table() *document.Table {
	t := document.NewTable("run", "kind", "ended", "seed", "config_sha256", "quantity", "unit").Numbers("", "", "value",
		"low", "high", "n")
	for _, run := range r.Runs {
		seed := ""
		if run.Seed != nil {
			seed = fmt.Sprint(*run.Seed)
		}
		for _, q := range run.Quantities {
			t.Add(run.Path, run.Kind, run.Ended, seed, run.Config, q.Quantity, q.Unit, q.Mean, q.Low, q.High, q.N)
		}
	}
	return t
}
