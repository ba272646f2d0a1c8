package main

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

	"github.com/spf13/cobra"
)

// reportOptions are the flags of `graft report`.
type reportOptions struct {
	all      bool   // every row of every table
	json     bool   // print one object
	csv      bool   // print comma-separated rows
	markdown bool   // print tables for GitHub
	html     string // write a page into this file; empty is none
	force    bool   // over a file that is no page
}

// newReportCommand is `graft report`. It needs no LibTorch.
func newReportCommand() *cobra.Command {
	var o reportOptions
	command := &cobra.Command{
		Use:   "report RUN…",
		Short: "Print what happened in runs, one by itself or many side by side",
		Long: `report reads run folders and says what happened: those of graft train, simulate and
learn, tables, and result folders of the original system. It only looks: a run that is
under way is not disturbed. RUN is the folder of a run, a folder in which such lie, or a
pattern.

Of one run it prints what was run, how it ended and what happened in between. Several are
put side by side, kind by kind: first what differs in their configurations, then what
came out. Runs that differ in nothing but their seed are one column, with the mean and
its 95% interval. What cannot be told from the first column is marked ~, and nothing is
ranked.

With --html it writes one page in place of that, with the figures of graft plot, tables
that can be sorted, the time line of each job, and how to reproduce it. The page loads
nothing: it can be kept, sent and opened as a file.

Folders that are damaged, half-written or no run's are named and left out, and the
command leaves with the code 3.`,
		Example: `  graft report runs/first
  graft report runs/base-* runs/wide-*
  graft report runs --csv >runs.csv
  graft report --html report.html runs/first`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if o.force && o.html == "" {
				return withCode(exitUsage, errors.New("--force is for --html: nothing else is written over"))
			}
			return runReport(command.Context(), command.OutOrStdout(), args, o)
		},
	}
	flags := command.Flags()
	flags.BoolVar(&o.all, "all", false, "print every row: all epochs, sequences and runs")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.csv, "csv", false, "print a row for each run and quantity, with the names of the columns before them")
	flags.BoolVar(&o.markdown, "markdown", false, "print tables as GitHub reads them")
	flags.StringVar(&o.html, "html", "", "write a page that needs nothing else into this `file`")
	flags.BoolVar(&o.force, "force", false, "write over a file that is no page of graft's")
	command.MarkFlagsMutuallyExclusive("json", "csv", "markdown", "html")
	return command
}

func runReport(ctx context.Context, w io.Writer, args []string, o reportOptions) error {
	runs, skipped := openRuns(args)
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.html != "" {
		return writePage(w, runs, skipped, o)
	}
	r, err := newRunsReport(runs, skipped, o.all)
	if err != nil {
		return err
	}
	if len(r.Runs) > 0 {
		err = r.write(w, o)
	}
	return errors.Join(err, r.err())
}

// runsReport is what `graft report --json` prints.
type runsReport struct {
	Runs    []reportedRun `json:"runs"`        // in the order of the arguments
	Skipped []skippedRun  `json:"skipped"`     // folders that could not be used, and those of which a part could not
	Side    []*comparison `json:"comparisons"` // one for each kind of run; empty where there is one run

	lone *runData // the only run; nil where there are several
	seen runDetail
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
	Quantities []quantityReport `json:"quantities"`     // what came out, as figures
	// Detail is what the kind has besides; null where several runs are reported.
	Detail runDetail `json:"detail"`
}

// quantityReport is a figure of a run.
type quantityReport struct {
	Quantity string `json:"quantity"` // its name
	Unit     string `json:"unit"`     // share is between 0 and 1; empty is a count
	Better   string `json:"better"`   // more or less; empty where neither is
	summary
	Seeds  []int64   `json:"seeds"`  // of the values; empty where the value is of no seed
	Values []float64 `json:"values"` // whose mean is the value
}

// runDetail is what a report of one run shows beside its header and quantities. It is
// printed as JSON too.
type runDetail interface {
	// write adds to the report.
	write(d *document)
}

// details read what a report of one run shows beside its quantities, by the run's kind.
// A new kind's is a new file and a line here; a kind without one has quantities alone.
var details = map[*runKind]func(r *runData, all bool) (runDetail, error){
	clusterRuns: readClusterDetail, evaluationRuns: readEvaluationDetail, jobRuns: readJobDetail, originalRuns: readOriginalDetail, pipelineRuns: readPipelineDetail,
	policiesRuns: readPoliciesDetail, policyRuns: readPolicyDetail, simulationRuns: readSimulationDetail, tableRuns: readTableDetail,
}

// detailOf is nil where the run's kind has nothing beside its quantities.
func detailOf(r *runData, all bool) (runDetail, error) {
	if read := details[r.Kind]; read != nil {
		return read(r, all)
	}
	return nil, nil
}

func newRunsReport(runs []*runData, skipped []skippedRun, all bool) (*runsReport, error) {
	r := &runsReport{Runs: make([]reportedRun, len(runs)), Skipped: append([]skippedRun{}, skipped...), Side: []*comparison{}, all: all}
	inParallel(len(runs), func(k int) { r.Runs[k] = reportRun(runs[k]) })
	for _, run := range runs {
		if run.Faults != nil {
			r.Skipped = append(r.Skipped, skippedRun{run.Path, "in part: " + run.Faults.Error(), withCode(exitPartial, run.Faults)})
		}
	}
	if len(runs) != 1 {
		r.Side = append(r.Side, compareRuns(runs)...)
		return r, nil
	}
	r.lone = runs[0]
	var err error
	if r.seen, err = detailOf(r.lone, all); err != nil {
		r.Skipped = append(r.Skipped, skippedRun{r.lone.Path, "in part: " + err.Error(), damaged(err)})
		r.seen = nil
	}
	r.Runs[0].Detail = r.seen
	return r, nil
}

func reportRun(run *runData) reportedRun {
	m := run.Manifest
	r := reportedRun{Path: run.Path, Kind: run.Kind.name, Ended: run.Ended, Graft: m.Graft, Device: m.Device, Profile: m.Profile, Network: m.Network,
		Host: m.Host, Command: append([]string{}, m.CommandLine...), Config: m.ConfigSHA256, Data: m.DatasetSHA256, Quantities: []quantityReport{}}
	if !m.Created.IsZero() {
		r.Created = &m.Created
	}
	if run.Seeded {
		r.Seed = &m.Seed
	}
	for _, q := range run.Quantities {
		r.Quantities = append(r.Quantities, quantityReport{Quantity: q.Name, Unit: q.Unit, Better: q.Aim.word(), summary: summarize(q.Values), Seeds: append([]int64{}, q.Seeds...), Values: q.Values})
	}
	return r
}

// err names what was left out, with the code that says how much there was beside it.
func (r *runsReport) err() error {
	if len(r.Skipped) == 0 {
		if len(r.Runs) == 0 {
			return errors.New("there is no run to report")
		}
		return nil
	}
	var text strings.Builder
	text.WriteString("could not be used, and is left out:")
	for _, s := range r.Skipped {
		text.WriteString("\n  " + strings.ReplaceAll(printableLines(s.line()), "\n", "\n    "))
	}
	return withCode(r.code(), errors.New(text.String()))
}

// line names a folder once, and why it is left out.
func (s skippedRun) line() string {
	if strings.Contains(s.Why, s.Path) {
		return s.Why
	}
	return s.Path + ": " + s.Why
}

// code is partial where a run is reported. Where none is it is what they have in common,
// or that they are damaged if one is.
func (r *runsReport) code() exitCode {
	if len(r.Runs) > 0 {
		return exitPartial
	}
	codes := make([]exitCode, len(r.Skipped))
	for k, s := range r.Skipped {
		codes[k] = codeOf(context.Background(), s.err)
	}
	if slices.Contains(codes, exitDamaged) {
		return exitDamaged
	}
	return slices.Max(codes)
}

func (r *runsReport) write(w io.Writer, o reportOptions) error {
	switch {
	case o.json:
		if one, ok := r.seen.(hasRanks); ok && one.ranks() != nil && !o.all {
			one.ranks().Rows = nil
		}
		return printJSON(w, r)
	case o.csv:
		return r.printCSV(w)
	case o.markdown:
		return r.document().markdown(w)
	}
	return r.document().print(w)
}

// document is the report for people.
func (r *runsReport) document() *document {
	d := &document{}
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
func (r *reportedRun) write(d *document) {
	d.head("%s %s", r.Kind, r.Path)
	state, seed := stateWord(r.Ended), ""
	if r.Created == nil { // whoever wrote it did not say
		state = ""
	}
	if r.Seed != nil {
		seed = fmt.Sprint(*r.Seed)
	}
	d.know("state", state, "began", r.began(), "graft", r.Graft, "command", strings.Join(r.Command, " "), "network", r.Network,
		"device", r.where(), "seed", seed, "configuration", shortDigest(r.Config), "images", shortDigest(r.Data))
	d.show(r.outcomeTable())
}

// outcomeTable has a line for each quantity, with intervals where one has several values.
func (r *reportedRun) outcomeTable() *table {
	spread := slices.ContainsFunc(r.Quantities, func(q quantityReport) bool { return q.Low != nil })
	t := newTable("OUTCOME", ">VALUE", "UNIT")
	if spread {
		t = newTable("OUTCOME", ">VALUE", "UNIT", "95% INTERVAL", ">SEEDS")
	}
	for _, q := range r.Quantities {
		cells := []string{strings.ReplaceAll(q.Quantity, "_", " "), shownValue(q.Mean, q.Unit), shownUnit(q.Unit)}
		if spread {
			cells = append(cells, q.interval(), cmp.Or(strings.TrimPrefix(fmt.Sprint(len(q.Seeds)), "0"), "-"))
		}
		t.add(cells...)
	}
	return t
}

func (q *quantityReport) interval() string {
	if q.Low == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", shownValue(*q.Low, q.Unit), shownValue(*q.High, q.Unit))
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

func shortDigest(digest string) string { return digest[:min(len(digest), 12)] }

// printCSV writes a row for each run and quantity.
func (r *runsReport) printCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"run", "kind", "ended", "seed", "config_sha256", "quantity", "unit", "value", "low", "high", "n"}) // the first error is kept
	for _, run := range r.Runs {
		seed := ""
		if run.Seed != nil {
			seed = fmt.Sprint(*run.Seed)
		}
		for _, q := range run.Quantities {
			_ = out.Write([]string{run.Path, run.Kind, fmt.Sprint(run.Ended), seed, run.Config, q.Quantity, q.Unit, exact(q.Mean), exactOr(q.Low), exactOr(q.High), fmt.Sprint(q.N)})
		}
	}
	out.Flush()
	return out.Error()
}

// exactOr is empty where there is no value.
func exactOr(v *float64) string {
	if v == nil {
		return ""
	}
	return exact(*v)
}
