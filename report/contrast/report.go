package contrast

import (
	"fmt"
	"strings"

	"graft/internal/failure"
	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// Report holds the contrasts of a study; `graft report --contrasts FILE --json` prints it.
type Report struct {
	Metric string `json:"metric"` // name of the measure
	Unit   string `json:"unit"`   // unit of the measure; share means a fraction between 0 and 1
	// unit of differences; points, which are hundredths of a share, for shares
	DifferenceUnit string      `json:"difference_unit"`
	Better         string      `json:"better"`    // better direction: more or less; empty if neither is better
	Folders        []*Sweep    `json:"folders"`   // sweeps in the order of the arguments
	Settings       int         `json:"settings"`  // number of settings of all sweeps
	Contrasts      []*Contrast `json:"contrasts"` // contrasts in the order of the file
	// arm from which the listing takes differences; empty without a listing
	Baseline string          `json:"baseline"`
	Listing  []ListedSetting `json:"listing"` // all arms of each setting; empty without a baseline
	Notes    []string        `json:"notes"`   // trials without a value, for the arms that the contrasts compare

	measure runs.TrialMeasure
}

// New computes the contrasts in a file over sweeps. The list must contain no other runs, and no sweep twice. An unknown
// arm is an error with the exit code Configuration.
func New(f *File, list []*runs.Run) (*Report, error) {
	m, _ := f.measure()
	r := &Report{Metric: f.Metric, Unit: m.Unit, DifferenceUnit: differenceUnit(m), Better: m.Better.Word(),
		Contrasts: []*Contrast{}, Baseline: f.Baseline, Listing: []ListedSetting{}, Notes: []string{}, measure: m}
	var err error
	if r.Folders, err = foldersOf(list); err != nil {
		return nil, err
	}
	var all []*setting
	for k, run := range list {
		own, err := settingsOf(run, r.Folders[k], m)
		if err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	if err := f.checkNames(armNames(all), sweepNames(r.Folders)); err != nil {
		return nil, err
	}
	r.Settings = len(all)
	r.compute(f, all)
	return r, nil
}

// armNames lists the arms of all settings.
func armNames(all []*setting) (names []string) {
	for _, s := range all {
		for _, a := range s.arms {
			names = append(names, a.name)
		}
	}
	return runs.Unique(names)
}

func sweepNames(folders []*Sweep) (names []string) {
	for _, f := range folders {
		names = append(names, f.Name)
	}
	return names
}

func (r *Report) compute(f *File, all []*setting) {
	var values []*float64
	asked := map[string]bool{}
	for _, q := range f.Contrast {
		c := contrastOf(q, all, r.measure)
		c.addFailed(q, f, all, r.measure)
		r.Contrasts, values = append(r.Contrasts, c), append(values, c.P)
		asked[q.Arm], asked[q.Against] = true, true
	}
	for k, p := range holm(values) {
		r.Contrasts[k].Holm = p
	}
	correctFailed(r.Contrasts)
	for _, s := range all {
		if f.Baseline != "" {
			r.Listing = append(r.Listing, listingOf(s, f.Baseline, r.measure))
		}
		for _, a := range s.arms {
			if len(a.notes) > 0 && (asked[a.name] || f.Baseline != "") {
				r.Notes = append(r.Notes, fmt.Sprintf("%s: %s: %s", s.name(), a.name, strings.Join(a.notes, "; ")))
			}
		}
	}
}

// Err returns an error with the exit code Partial that names the sweeps in progress; nil if all have ended.
func (r *Report) Err() error {
	var open []string
	for _, f := range r.Folders {
		if !f.Ended {
			open = append(open, fmt.Sprintf("\n  %s: %d of %s ended", document.Printable(f.Path), f.Done,
				words.Plural(f.Trials, "trial")))
		}
	}
	if len(open) == 0 {
		return nil
	}
	return failure.With(failure.Partial, fmt.Errorf("incomplete sweeps; the report contains only the trials that have "+
		"ended; wait for the sweep or rerun its command with --resume, and repeat the report:%s",
		strings.Join(open, "")))
}

// Undecidable reports whether the sign-flip test has too few settings to find any contrast significant.
func (r *Report) Undecidable() bool {
	for _, c := range r.Contrasts {
		if n := len(c.Settings); n > 0 && float64(len(r.Contrasts))*smallestP(n) < level {
			return false
		}
	}
	return len(r.Contrasts) > 0
}

// smallestP returns the smallest p-value of a sign-flip test: all signs as observed, or all reversed.
func smallestP(n int) float64 { return stat.SignFlip(ones(n)) }

func ones(n int) []float64 {
	list := make([]float64, n)
	for k := range list {
		list[k] = 1
	}
	return list
}

// valueRange returns the range of values of a measure.
func valueRange(m runs.TrialMeasure) stat.Range { return runs.RangeOf(m.Unit) }
