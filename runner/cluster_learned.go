package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"graft/cluster/estimate"
	"graft/cluster/trace"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
	"graft/work/traces"
)

// learnedFlags are the flags of commands that learn from a trace.
type learnedFlags struct {
	trace   string // file
	format  string // of the trace; empty is to tell it
	window  string // seconds, as A..B; empty is all
	start   string // date of second zero, of traces without dates
	out     string // file that is written
	shapes  string // folder for shape functions; empty is none
	target  string // what of the target is learned
	seed    uint64 // of the rows that are held back
	workers int    // bags at once
	force   bool   // replace files
	json    bool   // print one object
}

func (f *learnedFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.trace, "trace", "", "file of the trace")
	flags.StringVar(&f.format, "format", "", "the trace's format; empty is to tell it by the first bytes")
	flags.StringVar(&f.window, "window", "", "keep jobs submitted within these seconds, as A..B, either of which may be left out")
	flags.StringVar(&f.start, "start", "", "the date of second zero, such as 2020-04-01, of a trace whose seconds have none")
	flags.StringVar(&f.out, "out", "", "the file that is written")
	flags.StringVar(&f.shapes, "shapes", "", "write what models say of each feature into this folder, as CSV and SVG")
	flags.StringVar(&f.target, "target", estimate.TargetPlain, "what is learned: plain, the mean; log, the mean by way of logarithms; median")
	flags.Uint64Var(&f.seed, "seed", 0, "of the rows that are held back while learning")
	flags.IntVar(&f.workers, "workers", 0, "how many bags are learned side by side, which changes no result; 0 is as many as processors")
	flags.BoolVar(&f.force, "force", false, "replace files that are there")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	_ = command.MarkFlagRequired("out")
	_ = command.RegisterFlagCompletionFunc("format", words(traceFormats))
	_ = command.RegisterFlagCompletionFunc("target", words(func() []string { return []string{estimate.TargetPlain, estimate.TargetLog, estimate.TargetMedian} }))
}

// model is how models learn.
func (f *learnedFlags) model() (estimate.Options, error) {
	o := estimate.Options{Target: f.target, Seed: f.seed, Workers: f.workers}
	o.EnsureDefaults()
	return estimate.Options{Target: f.target, Seed: f.seed, Workers: f.workers}, failure.With(failure.Usage, o.Validate())
}

// mayWrite looks, before anything is learned, whether files can be written afterwards.
func (f *learnedFlags) mayWrite(paths ...string) error {
	for k, path := range paths {
		if path == "" {
			continue
		}
		if slices.Contains(paths[:k], path) {
			return failure.Usagef("%s would be written twice: name another file", path)
		}
		if err := work.MayWrite(files.OS{}, path, f.force); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return fmt.Errorf("write %s: %w; make the folder first", path, err)
		}
	}
	return nil
}

// dated is a trace whose second zero has a date.
type dated struct {
	*trace.Trace
	given bool // the date is that of --start
}

// readDated reads a trace. Its jobs are in the order of submission, and there is one.
func (f *learnedFlags) readDated(path string, window *trace.Window) (*dated, error) {
	o := trace.Options{Format: f.format, Window: window}
	if err := o.Validate(); err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	read, err := trace.ReadAll(files.OS{}, path, o)
	if err != nil {
		return nil, traces.Coded(err)
	}
	if len(read.Jobs) == 0 {
		return nil, fmt.Errorf("there is no job in %s, or none in its window; there is nothing to learn", path)
	}
	d := &dated{Trace: read, given: read.Start.IsZero()}
	if d.given {
		if f.start == "" {
			return nil, failure.Usagef("the seconds of %s have no date, on which hours and weekdays depend: give that of its second zero with --start, such as 2020-04-01", path)
		}
		d.Start, err = dateOf("start", f.start)
	}
	return d, err
}

// dateOf reads a date, or a date and a time.
func dateOf(flag, text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, failure.Usagef("--%s %s: give a date such as 2020-09-01, or 2020-09-01 12:00:00", flag, text)
}

// learnedMeasure is a figure with its interval.
type learnedMeasure struct {
	Value *float64 `json:"value"` // of the rows as they are; null where it is not defined
	Low   *float64 `json:"low"`   // end of the interval of 95%, which draws runs of rows
	High  *float64 `json:"high"`  // the other end
}

func learnedMeasureOf(m estimate.Measured) learnedMeasure {
	return learnedMeasure{runs.FiniteOrNil(m.Value), runs.FiniteOrNil(m.Low), runs.FiniteOrNil(m.High)}
}

// learnedScores are how well rows were foretold.
type learnedScores struct {
	Rows int            `json:"rows"` // that a model foretold
	MAE  learnedMeasure `json:"mae"`  // mean of the absolute errors
	R2   learnedMeasure `json:"r2"`   // share of the variance that is explained
}

// learnedScoresOf is nil where nothing was foretold.
func learnedScoresOf(s estimate.Scores) *learnedScores {
	if s.Rows == 0 {
		return nil
	}
	return &learnedScores{s.Rows, learnedMeasureOf(s.MAE), learnedMeasureOf(s.R2)}
}

// text is the scores in a sentence.
func (s *learnedScores) text(unit string) string {
	return fmt.Sprintf("mean absolute error %s %s, R² %s", s.MAE.text(), unit, s.R2.text())
}

func (m learnedMeasure) text() string {
	return fourDigits(runs.Value(m.Value)) + " " + m.interval()
}

func (m learnedMeasure) interval() string {
	if m.Low == nil {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", fourDigits(*m.Low), fourDigits(runs.Value(m.High)))
}

// fourDigits is a number for people.
func fourDigits(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case math.Abs(v) >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	digits := max(0, min(4, 3-int(math.Floor(math.Log10(max(math.Abs(v), 1e-9))))))
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// learnedTerm is a feature of a model, or two, and how much it says.
type learnedTerm struct {
	Name       string   `json:"name"`       // of the features
	Features   []string `json:"features"`   // one, or two of a map
	Importance float64  `json:"importance"` // mean of what it adds, whatever its sign, in the target's unit or its logarithm's
}

// learnedTermsOf are a model's terms, the most important first.
func learnedTermsOf(m *estimate.Model) []learnedTerm {
	terms := []learnedTerm{}
	if m == nil {
		return terms
	}
	for _, t := range m.Terms() {
		terms = append(terms, learnedTerm{t.Name, t.Features, t.Importance})
	}
	slices.SortStableFunc(terms, func(a, b learnedTerm) int { return cmp.Compare(b.Importance, a.Importance) })
	return terms
}

// termTable has a line for each term.
func termTable(terms []learnedTerm, unit string) *document.Table {
	t := document.NewTable("TERM", ">IMPORTANCE ["+unit+"]", ">SHARE")
	sum := 0.0
	for _, term := range terms {
		sum += term.Importance
	}
	for _, term := range terms {
		t.Add(document.Printable(term.Name), fourDigits(term.Importance), fmt.Sprintf("%.1f%%", 100*term.Importance/max(sum, 1e-300)))
	}
	return t
}

// unitOf is a unit as a model's target has it.
func unitOf(unit, target string) string {
	if target == estimate.TargetPlain {
		return unit
	}
	return "log(1 + " + unit + ")"
}

// termNames is names with commas between them.
func termNames(terms []learnedTerm) string {
	var names []string
	for _, t := range terms {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}
