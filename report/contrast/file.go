package contrast

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
	"graft/report/runs"
)

// maxContrasts is the maximum number of contrasts in a file.
const maxContrasts = 1000

// File holds the content of a contrasts file.
type File struct {
	// Name of the compared measure, such as "test accuracy" or "test loss". Default "test accuracy".
	Metric string
	// Arm from which the listing of all arms takes differences. Empty means no listing.
	Baseline string
	// Questions about two arms. Required unless baseline is set.
	Contrast []Question
	// Values in place of failed trials, such as the accuracy of chance. The report then gives each contrast with failed
	// trials twice: without these trials, and with these values. Empty means only without.
	Failed []FailedValue

	reading *decode.Reading
}

// Question asks for the difference between two arms.
type Question struct {
	Question string // text of the question, for people; may be empty
	Arm      string // arm whose difference is computed
	Against  string // arm that is subtracted
}

// FailedValue is the value of a failed trial.
type FailedValue struct {
	Sweep string  // name of the sweep, which is the last part of its path; empty means all sweeps without a value
	Value float64 // value of the compared measure; a share for accuracies
}

// dialect has no descriptions, because no reference page lists the keys of these files.
var dialect decode.Dialect

// Read reads a contrasts file. Unknown keys, measures and contradictions are errors with the exit code Configuration.
func Read(fsys files.FS, path string) (*File, error) {
	doc, err := decode.Open(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read contrasts: %w", err)
	}
	f := &File{}
	if f.reading, err = dialect.Read(doc, nil, f); err == nil {
		f.Metric = cmp.Or(f.Metric, wordsOf(runs.TestAccuracy))
		f.validate()
		err = f.finish()
	}
	if err != nil {
		return nil, runs.AsConfigFault(fmt.Errorf("read contrasts: %w", err))
	}
	return f, nil
}

func (f *File) finish() error { return f.reading.Finish() }

func wordsOf(measure string) string { return strings.ReplaceAll(measure, "_", " ") }

// measure returns the measure that the file names, or false for an unknown name.
func (f *File) measure() (runs.TrialMeasure, bool) {
	all := runs.ContrastMeasures()
	k := slices.IndexFunc(all, func(m runs.TrialMeasure) bool { return wordsOf(m.Name) == f.Metric })
	if k < 0 {
		return runs.TrialMeasure{}, false
	}
	return all[k], true
}

func (f *File) validate() {
	if _, known := f.measure(); !known {
		var names []string
		for _, m := range runs.ContrastMeasures() {
			names = append(names, wordsOf(m.Name))
		}
		f.reading.Blame("metric", fmt.Sprintf("metric: unknown measure %q%s; expected one of: %s", f.Metric,
			words.Guess(f.Metric, names), strings.Join(names, ", ")))
	}
	if len(f.Contrast) == 0 && f.Baseline == "" {
		f.reading.Blame("contrast", "the file has no contrasts; add a table [[contrast]] with the keys arm and against")
	}
	f.validateFailed()
	f.validateContrasts()
}

// validateFailed checks the values of failed trials.
func (f *File) validateFailed() {
	m, known := f.measure()
	seen := map[string]bool{}
	for k, v := range f.Failed {
		if r := valueRange(m); known && (v.Value < r.Low || v.Value > r.High) {
			f.reading.Blame("failed", fmt.Sprintf("value: %g is not a %s; expected a number from %g to %g", v.Value,
				f.Metric, r.Low, r.High), k, "value")
		}
		if seen[v.Sweep] {
			f.reading.Blame("failed", fmt.Sprintf("sweep: two values for %s; remove one of them",
				cmp.Or(v.Sweep, "all sweeps")), k)
		}
		seen[v.Sweep] = true
	}
}

// validateContrasts checks the questions.
func (f *File) validateContrasts() {
	if len(f.Contrast) > maxContrasts {
		f.reading.Blame("contrast", fmt.Sprintf("got %d contrasts; the maximum is %d", len(f.Contrast), maxContrasts))
		return
	}
	first := map[[2]string]int{}
	for k, q := range f.Contrast {
		pair := [2]string{min(q.Arm, q.Against), max(q.Arm, q.Against)}
		at, again := first[pair]
		switch {
		case q.Arm == "" || q.Against == "":
			f.reading.Blame("contrast", fmt.Sprintf("contrast %d needs the keys arm and against", k+1), k)
		case q.Arm == q.Against:
			f.reading.Blame("contrast", fmt.Sprintf("against: %q is also the arm; name another arm", q.Against), k,
				"against")
		case again:
			f.reading.Blame("contrast", fmt.Sprintf("contrast %d has the arms of contrast %d; remove one of them",
				k+1, at+1), k)
		default:
			first[pair] = k
		}
	}
}

// failedValue returns the value of a failed trial of a sweep; false if the file gives none.
func (f *File) failedValue(sweep string) (float64, bool) {
	for _, name := range []string{sweep, ""} {
		k := slices.IndexFunc(f.Failed, func(v FailedValue) bool { return v.Sweep == name })
		if k >= 0 {
			return f.Failed[k].Value, true
		}
	}
	return 0, false
}

// checkNames reports arms that no sweep has, and values of failed trials for other sweeps.
func (f *File) checkNames(arms, sweeps []string) error {
	unknown := func(arm string) bool { return arm != "" && !slices.Contains(arms, arm) }
	text := func(key, arm string) string {
		return fmt.Sprintf("%s: no sweep has an arm %q%s; the arms are: %s", key, arm, words.Guess(arm, arms),
			words.Some(arms, maxListed))
	}
	if unknown(f.Baseline) {
		f.reading.Blame("baseline", text("baseline", f.Baseline))
	}
	for k, q := range f.Contrast {
		if unknown(q.Arm) {
			f.reading.Blame("contrast", text("arm", q.Arm), k, "arm")
		}
		if unknown(q.Against) {
			f.reading.Blame("contrast", text("against", q.Against), k, "against")
		}
	}
	for k, v := range f.Failed {
		if v.Sweep != "" && !slices.Contains(sweeps, v.Sweep) {
			f.reading.Blame("failed", fmt.Sprintf("sweep: no sweep is named %q%s; the sweeps are: %s", v.Sweep,
				words.Guess(v.Sweep, sweeps), words.Some(sweeps, maxListed)), k, "sweep")
		}
	}
	if err := f.finish(); err != nil {
		return runs.AsConfigFault(fmt.Errorf("read contrasts: %w", err))
	}
	return nil
}

// maxListed is the maximum number of names in an error.
const maxListed = 30
