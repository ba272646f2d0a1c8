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

	reading *decode.Reading
}

// Question asks for the difference between two arms.
type Question struct {
	Question string // text of the question, for people; may be empty
	Arm      string // arm whose difference is computed
	Against  string // arm that is subtracted
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

// checkArms reports arms that no sweep has.
func (f *File) checkArms(arms []string) error {
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
	if err := f.finish(); err != nil {
		return runs.AsConfigFault(fmt.Errorf("read contrasts: %w", err))
	}
	return nil
}

// maxListed is the maximum number of names in an error.
const maxListed = 30
