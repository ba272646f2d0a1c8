package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"graft/internal/stat"
	"graft/report/document"
	"graft/results"
	"graft/trainer"
)

// SweepKind describes the run folders that graft compare and graft train write for several trials of a job.
var SweepKind = &Kind{Name: "sweep", By: "graft compare", Title: "sweep", Titles: "sweeps",
	matches: func(f *Folder) bool { return f.Has(SweepFile) }, read: readSweepRun,
	list: sweepOverview}

// TrialMeasure describes a value that reports show for each trial.
type TrialMeasure struct {
	Name   string
	Unit   string
	Format string // format of the number in a cell
	Better Direction
	Of     func(o *JobOutcome) (float64, bool) // returns the number of a job; false if the job has none
}

// TrialMeasures lists the measures that reports show for each trial. To add a measure, add a line to the list.
func TrialMeasures() []TrialMeasure {
	return []TrialMeasure{
		{"test_accuracy", document.UnitShare, "%.2f%%", Higher, func(o *JobOutcome) (float64, bool) {
			return o.Test.Accuracy, o.Test != trainer.Score{}
		}},
		{"validation_accuracy", document.UnitShare, "%.2f%%", Higher, func(o *JobOutcome) (float64, bool) {
			return o.Validation.Accuracy, true
		}},
		{"parameters", "", "%.0f", Neutral, func(o *JobOutcome) (float64, bool) { return float64(o.Parameters), true }},
		{"used", document.UnitSeconds, "%.1f s", Neutral, func(o *JobOutcome) (float64, bool) {
			return o.Used.Seconds(), true
		}},
		{"device_time", document.UnitSeconds, "%.1f s", Neutral, func(o *JobOutcome) (float64, bool) {
			return o.DeviceTime.Seconds(), o.DeviceTime > 0
		}},
		{"flop", document.UnitGFLOP, "", Neutral, func(o *JobOutcome) (float64, bool) {
			return o.FLOP / 1e9, o.FLOP > 0
		}},
		{"energy", "J", "", Neutral, func(o *JobOutcome) (float64, bool) { return o.Joules, o.Joules > 0 }},
		{"measured_energy", "J", "", Lower,
			func(o *JobOutcome) (float64, bool) { joules, _ := o.measured(); return joules, !math.IsNaN(joules) }},
	}
}

// Measures by which cases are compared: the accuracy on the test images or, without them, on the validation images.
const (
	TestAccuracy       = "test_accuracy"
	ValidationAccuracy = "validation_accuracy"
)

// SweepOutcome is the content of outcome.json for a sweep.
type SweepOutcome struct {
	Cases      []*CaseOutcome     `json:"cases"`      // reported cases in order
	Compared   string             `json:"compared"`   // name of the measure of the paired differences
	Failed     []FailedTrial      `json:"failed"`     // trials without a result
	Comparison *ComparisonOutcome `json:"comparison"` // arms of a comparison; null for other sweeps
}

// CaseOutcome holds the trials of a case with their summaries.
type CaseOutcome struct {
	Name string   `json:"name"` // unique name of the case
	Set  []string `json:"set"`  // assignments that define the case
	// description of how the seeds share initial weights from a file; absent if each seed draws all its weights at
	// random
	Shared   string           `json:"shared_by_seeds,omitempty"`
	Trials   []TrialOutcome   `json:"trials"`   // completed trials, in the order of seeds
	Measures []MeasureSummary `json:"measures"` // summary of each measure over the trials
	// difference from the first case or, in a comparison, from the baseline; null for that case itself
	Difference *CaseDifference `json:"difference"`
}

// TrialOutcome is a completed trial.
type TrialOutcome struct {
	Seed   int64  `json:"seed"`   // seed of the trial
	Folder string `json:"folder"` // path of the job's run folder in the folder of the sweep
	// name of the case whose identical job was used instead of running this trial; empty if this trial ran
	Same    string             `json:"same_as,omitempty"`
	Digest  string             `json:"digest"`            // digest of the final network with its weights
	Actions []string           `json:"actions,omitempty"` // actions that were applied, in order
	Values  map[string]float64 `json:"values"`            // value of each measure
}

// FailedTrial is a trial without a result.
type FailedTrial struct {
	Case string `json:"case"` // name of the case
	Seed int64  `json:"seed"` // seed of the trial
	Why  string `json:"why"`  // error message
	// training diverged; absent for other failures
	Diverged bool `json:"diverged,omitempty"`
}

// MeasureSummary summarises a measure over the trials of a case.
type MeasureSummary struct {
	Measure string `json:"measure"` // name of the measure, such as test_accuracy
	Unit    string `json:"unit"`    // unit; share means a fraction between 0 and 1, empty means a count
	stat.OverSeeds
}

// CaseDifference is the mean difference between two cases over the seeds that both have.
type CaseDifference struct {
	From string `json:"from"` // name of the baseline case
	stat.OverSeeds
	// confidence level of the interval, such as 0.95; higher if corrected for several comparisons
	Level float64 `json:"level"`
	// the difference is significant: the p-value of the paired t-test or, if all differences are equal, of the
	// sign-flip test is at most one minus the confidence level
	Clear bool `json:"clear"`
	// smallest true difference that a comparison with this number of seeds detects with 80% power; null for fewer than
	// three seeds, and if all differences are equal
	Detectable *DetectableDifference `json:"detectable"`
}

// ComparisonOutcome describes how the arms of a comparison were derived from the configured job.
type ComparisonOutcome struct {
	SweepComparison
	SelectionSeeds []int64  `json:"selection_seeds"` // seeds of the trials that selected the best fixed sequence
	Best           []string `json:"best_fixed"`      // actions of the best fixed sequence; null if none was selected
	// Tied is the number of sequences that share the highest mean validation accuracy. The first of these sequences was
	// selected.
	Tied       int         `json:"tied,omitempty"`
	Candidates []Candidate `json:"candidates"` // tried sequences, best first
}

// Candidate is a fixed action sequence that was tried in order to select the best one.
type Candidate struct {
	Sequence   []string `json:"sequence"`            // actions, in order
	Validation float64  `json:"validation_accuracy"` // mean validation accuracy over the selection seeds
	N          int      `json:"n"`                   // number of completed trials
}

// value returns a trial's value of a measure.
func (t TrialOutcome) value(measure string) float64 {
	if v, has := t.Values[measure]; has {
		return v
	}
	return math.NaN()
}

// Measure returns the values of a measure, and their seeds, for the trials that have this measure.
func (c *CaseOutcome) Measure(name string) (seeds []int64, values []float64) {
	for _, t := range c.Trials {
		if v := t.value(name); !math.IsNaN(v) {
			seeds, values = append(seeds, t.Seed), append(values, v)
		}
	}
	return seeds, values
}

// Summary returns the summary of a measure, or nil if no trial has it.
func (c *CaseOutcome) Summary(name string) *MeasureSummary {
	for k := range c.Measures {
		if c.Measures[k].Measure == name {
			return &c.Measures[k]
		}
	}
	return nil
}

// Case returns a case by name, or nil if there is none.
func (o *SweepOutcome) Case(name string) *CaseOutcome {
	for _, c := range o.Cases {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Summarize computes the measures of each case, and their differences from the base case. The base case is given by
// name. The 95% intervals of all differences hold simultaneously, because they are widened by [stat.Bonferroni].
func (o *SweepOutcome) Summarize(base string) {
	o.Compared = ValidationAccuracy
	for _, c := range o.Cases {
		c.Measures = []MeasureSummary{}
		for _, m := range TrialMeasures() {
			if _, values := c.Measure(m.Name); len(values) > 0 {
				c.Measures = append(c.Measures,
					MeasureSummary{m.Name, m.Unit, stat.NewOverSeeds(values, 0.05, RangeOf(m.Unit))})
			}
		}
		if c.Summary(TestAccuracy) != nil {
			o.Compared = TestAccuracy
		}
	}
	miss := stat.Bonferroni(0.05, len(o.Cases)-1)
	for _, c := range o.Cases {
		if other := o.Case(base); other != nil && c != other {
			c.Difference = differenceOf(c, other, o.Compared, miss)
		}
	}
}

// paired returns the differences of a measure between two cases, for their common seeds.
func paired(c, other *CaseOutcome, measure string) (common []int64, values []float64) {
	seeds, ours := c.Measure(measure)
	theirSeeds, theirs := other.Measure(measure)
	for k, seed := range seeds {
		if at := slices.Index(theirSeeds, seed); at >= 0 {
			common, values = append(common, seed), append(values, stat.Difference(ours[k], theirs[at]))
		}
	}
	return common, values
}

// differenceOf returns the difference between two cases; nil without a common seed.
func differenceOf(c, other *CaseOutcome, measure string, miss float64) *CaseDifference {
	_, values := paired(c, other, measure)
	if len(values) == 0 {
		return nil
	}
	d := &CaseDifference{From: other.Name, OverSeeds: stat.NewOverSeeds(values, miss, stat.ShareDifferences),
		Level: stat.Round(1-miss, 6)}
	d.Clear = isClear(values, miss)
	d.Detectable = detectable(values, miss)
	return d
}

// isClear reports whether paired differences are significant at a level.
func isClear(values []float64, level float64) bool {
	return len(values) >= stat.FewestSeeds && stat.PairedP(values) <= level
}

// UnmarshalJSON reads an outcome. It tests the differences again, because earlier versions of graft called equal
// differences significant.
func (o *SweepOutcome) UnmarshalJSON(text []byte) error {
	type plain SweepOutcome
	if err := json.Unmarshal(text, (*plain)(o)); err != nil {
		return err
	}
	if slices.Contains(o.Cases, nil) {
		return errors.New("a case is null: the file is damaged; run the sweep again with option \"resume\"")
	}
	for _, c := range o.Cases {
		if values := o.Differences(c); len(values) > 0 && c.Difference.Level > 0 {
			c.Difference.Clear = isClear(values, 1-c.Difference.Level)
		}
	}
	return nil
}

func readSweepRun(f *Folder, r *Run) error {
	plan, err := ReadSweepPlan(f.Files, f.Path)
	if err != nil {
		return err
	}
	o := &SweepOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	if !r.Ended {
		r.Quantities = sweepProgress(f, plan)
		return nil
	}
	r.Quantities = o.quantities(plan)
	return nil
}

// sweepProgress counts the completed trials of a sweep.
func sweepProgress(f *Folder, plan *SweepPlan) []Quantity {
	ended, trials := 0, plan.Trials()
	for _, t := range trials {
		if TrialEnded(f, t) {
			ended++
		}
	}
	return []Quantity{seedless("trials", "", Neutral, float64(len(trials))),
		seedless("ended", "", Neutral, float64(ended))}
}

// TrialEnded reports whether the job of a trial has an outcome in the folder of a sweep.
func TrialEnded(f *Folder, t SweepTrial) bool {
	_, err := f.Files.Stat(filepath.Join(f.Path, t.Folder(), OutcomeFile))
	return err == nil
}

// quantities lists the numbers of trials, each measure of each case, and its paired difference.
func (o *SweepOutcome) quantities(plan *SweepPlan) []Quantity {
	list := []Quantity{seedless("trials", "", Neutral, float64(len(plan.Trials()))),
		seedless("failed", "", Lower, float64(len(o.Failed)))}
	for _, c := range o.Cases {
		for _, m := range TrialMeasures() {
			seeds, values := c.Measure(m.Name)
			list = append(list, Quantity{Name: m.Name + " of " + c.Name, Unit: m.Unit, Better: m.Better, Seeds: seeds,
				Values: values, Case: c.Name})
		}
		list = append(list, o.difference(c)...)
	}
	return finite(list...)
}

// difference returns the paired difference of a case in points; nothing if there is none.
func (o *SweepOutcome) difference(c *CaseOutcome) []Quantity {
	if c.Difference == nil || o.Case(c.Difference.From) == nil {
		return nil
	}
	seeds, values := o.pairedPoints(c)
	return []Quantity{{Name: fmt.Sprintf("difference_in_%s of %s from %s", o.Compared, c.Name, c.Difference.From),
		Unit: document.UnitPoints, Better: Higher, Seeds: seeds, Values: values, Signed: true,
		Level: c.Difference.Level, Case: c.Name}}
}

// Differences returns the differences of the compared accuracy between a case and its baseline, in points, one for each
// seed that both have. It returns nil if the case has no baseline.
func (o *SweepOutcome) Differences(c *CaseOutcome) []float64 {
	if c.Difference == nil || o.Case(c.Difference.From) == nil {
		return nil
	}
	_, values := o.pairedPoints(c)
	return values
}

// pairedPoints returns the paired differences of a case that has a baseline, in points.
func (o *SweepOutcome) pairedPoints(c *CaseOutcome) (seeds []int64, values []float64) {
	seeds, values = paired(c, o.Case(c.Difference.From), o.Compared)
	for k := range values {
		values[k] *= 100
	}
	return seeds, values
}

// ReadTrial reads the outcome of a trial's job in the folder of a sweep. The error wraps fs.ErrNotExist if the trial
// has not ended.
func ReadTrial(f *Folder, t SweepTrial) (*TrialOutcome, error) {
	path := f.At(t.Folder())
	job := &JobOutcome{Outcome: &trainer.Outcome{}}
	if err := results.ReadOutcome(f.Files, path, job); err != nil {
		return nil, fmt.Errorf("trial %s: %w", t, err)
	}
	o := &TrialOutcome{Seed: t.Seed, Folder: t.Folder(), Digest: job.Digest, Values: map[string]float64{}}
	for _, m := range TrialMeasures() {
		if v, has := m.Of(job); has {
			o.Values[m.Name] = v
		}
	}
	notes, err := results.ReadJSONLines[trainer.Note](f.Files, filepath.Join(path, "events.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("trial %s: %w", t, err)
	}
	for _, n := range notes {
		if n.Event == results.EventDecision {
			o.Actions = append(o.Actions, n.Action)
		}
	}
	return o, nil
}
