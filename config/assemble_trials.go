package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/words"
)

const trialsKey = "pipeline.trials"

// MostTrials limits the trials of a sweep.
const MostTrials = 2000

// AsGiven is the name of the case that runs the unmodified job. A sweep that lists neither keys nor cases consists of
// this case alone.
const AsGiven = "as given"

// reservedEntries are names in the run folder of a pipeline of trials.
var reservedEntries = []string{"tuning", "tuned"}

// TrialsEntry is an entry of a pipeline with its checked cases.
type TrialsEntry struct {
	TrialsOptions
	Base   *Sweep      // the job without cases
	Named  []Case      // cases of the file; without a file, the unmodified job
	Study  []TrialCase // cases of the trials; if the entry is tuned, with the first candidate values
	Tuning []TrialCase // cases that select values; empty without tuning

	set []string // assignments for all trials
}

// TrialCase is a case with its job.
type TrialCase struct {
	Case
	Job *Job
}

// Assignments returns the assignments for the trials of the entry.
func (e *TrialsEntry) Assignments() []string { return e.set }

// TuneAssignments returns the assignments for the trials that select values.
func (e *TrialsEntry) TuneAssignments() []string {
	return append(slices.Concat(e.set, e.Tune.Set), fmt.Sprintf("run.seed=%d", e.firstTuneSeed()))
}

func (e *TrialsEntry) firstTuneSeed() int64 {
	if e.Tune.FirstSeed > 0 {
		return e.Tune.FirstSeed
	}
	return e.Base.Run.Seed + int64(e.Seeds)
}

// Candidates returns the combinations of values to select from; a single empty one without tuning.
func (e *TrialsEntry) Candidates() ([]Case, error) { return GridCases(e.Tune.Sweep) }

// Trials returns the number of trials, and of trials that select values.
func (e *TrialsEntry) Trials() (study, tuning int) {
	return len(e.Study) * e.Seeds, len(e.Tuning) * e.Tune.Seeds
}

// Budgets returns the sum of the budgets of all trials, and of all trials that select values.
func (e *TrialsEntry) Budgets() (study, tuning time.Duration) {
	for _, c := range e.Study {
		study += time.Duration(e.Seeds) * (c.Job.Time.Budget - c.Job.Time.Start)
	}
	for _, c := range e.Tuning {
		tuning += time.Duration(e.Tune.Seeds) * (c.Job.Time.Budget - c.Job.Time.Start)
	}
	return study, tuning
}

// Digest covers the trials of the entry and the trials that select values.
func (e *TrialsEntry) Digest() string {
	h := sha256.New()
	writeCases(h, e.Study, e.Base.Run.Seed, e.Seeds)
	_, _ = io.WriteString(h, e.TuneDigest()) // a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}

// TuneDigest covers the trials that select values.
func (e *TrialsEntry) TuneDigest() string {
	h := sha256.New()
	writeCases(h, e.Tuning, e.firstTuneSeed(), e.Tune.Seeds)
	return hex.EncodeToString(h.Sum(nil))
}

// writeCases writes everything that determines the results of trials.
func writeCases(w io.Writer, cases []TrialCase, first int64, seeds int) {
	for _, c := range cases {
		fmt.Fprintln(w, c.Name, c.Job.Digest(), first, seeds)
	}
}

// summary describes the entry in one line.
func (e *TrialsEntry) summary() string {
	trials, tuning := e.Trials()
	study, before := e.Budgets()
	text := fmt.Sprintf("%s: %s, %s, %s of budgets", e.Name, words.Plural(len(e.Study), "case"),
		words.Plural(trials, "trial"), hours(study))
	if tuning > 0 {
		text += fmt.Sprintf("; before them, %s of %s select values, %s of budgets", words.Plural(tuning, "trial"),
			words.Plural(len(e.Tuning), "case"), hours(before))
	}
	return text
}

// hours formats a sum of budgets.
func hours(d time.Duration) string { return fmt.Sprintf("%.3g hours", d.Hours()) }

// trialsSummary describes a pipeline of trials: a line for all entries, and a line per entry.
func (p *Pipeline) trialsSummary() string {
	trials, budget, lines := 0, time.Duration(0), ""
	for _, e := range p.entries {
		study, tuning := e.Trials()
		one, two := e.Budgets()
		trials, budget = trials+study+tuning, budget+one+two
		lines += "\n" + e.summary()
	}
	entries := "1 entry"
	if n := len(p.entries); n > 1 {
		entries = fmt.Sprintf("%d entries", n)
	}
	return fmt.Sprintf("runs %s of %s, %s of budgets; digest %.12s%s\n", words.Plural(trials, "trial"), entries,
		hours(budget), p.Digest(), lines)
}

// checkTrials checks each case of each entry.
func (p *Pipeline) checkTrials(fsys files.FS, r *decode.Reading) {
	if r.Broken(trialsKey) || len(p.Pipeline.Trials) == 0 || len(p.Pipeline.Trials) > mostEntries {
		return
	}
	p.checkUnused(r)
	c, names := &entryCheck{fsys: fsys, r: r, told: map[string]bool{}}, map[string]int{}
	for k, o := range p.Pipeline.Trials {
		if o.Job == "" || min(o.Seeds, o.Tune.Seeds, int(o.Tune.FirstSeed)) < 0 {
			continue // reported already
		}
		c.index = k
		if other, twice := names[o.Name]; twice {
			c.blame("name", "duplicate name %s, also used by trials[%d]; set another name in one of them", o.Name,
				other)
		} else if slices.Contains(reservedEntries, o.Name) || o.Name != filepath.Base(o.Name) ||
			strings.HasPrefix(o.Name, ".") {
			c.blame("name", "the name %q cannot be a folder name; set another name", o.Name)
		}
		names[o.Name] = k
		e := &TrialsEntry{TrialsOptions: o, set: slices.Concat(p.Pipeline.Set, o.Set)}
		if c.check(e) {
			p.entries = append(p.entries, e)
		}
	}
}

// checkUnused reports sections that a pipeline of trials does not use.
func (p *Pipeline) checkUnused(r *decode.Reading) {
	fresh := NewPipeline(ForKnown)
	fresh.EnsureDefaults()
	for _, key := range r.Differing(fresh) {
		if section, _, _ := strings.Cut(key, "."); section != "pipeline" {
			r.Blame(key, fmt.Sprintf("a pipeline of trials does not use %s; remove the key, or remove pipeline.trials",
				key))
		}
	}
}

// entryCheck checks entries of a pipeline.
type entryCheck struct {
	fsys  files.FS
	r     *decode.Reading
	index int
	told  map[string]bool // faults that were reported, since many cases share one
	found int             // faults of the current entry
}

func (c *entryCheck) blame(key, format string, args ...any) {
	c.found++
	text := fmt.Sprintf("trials[%d]: ", c.index) + fmt.Sprintf(format, args...)
	if !c.told[text] {
		c.r.Blame(trialsKey, text, c.index, key)
	}
	c.told[text] = true
}

// report reports an error in a file that the entry names, or in an assignment.
func (c *entryCheck) report(key string, err error) {
	var faults Faults
	if !errors.As(err, &faults) {
		c.blame(key, "%v", err)
		return
	}
	for _, f := range faults {
		c.found++
		if !c.told[f.String()] {
			c.r.Add(f)
		}
		c.told[f.String()] = true
	}
}

// check reads the job and all cases of an entry. It reports whether they are valid.
func (c *entryCheck) check(e *TrialsEntry) bool {
	c.found = 0
	d := c.job(e)
	if c.found > 0 {
		return false
	}
	if e.Named = []Case{{Name: AsGiven}}; e.Cases != "" {
		list, err := ReadCases(c.fsys, e.Cases)
		if err != nil {
			c.report("cases", err)
			return false
		}
		e.Named = list
	}
	study, err := GridCases(e.Sweep)
	if err != nil {
		c.blame("sweep", "%v", err)
	}
	candidates, err := e.Candidates()
	if err != nil {
		c.blame("tune", "%v", err)
	}
	c.keys(e, study, candidates)
	if c.found > 0 {
		return false
	}
	tuned := e.Named
	if e.Tune.On() {
		tuned = CombineCases(e.Named, candidates[:1])
		for k := range tuned {
			tuned[k].Name = e.Named[k].Name
		}
		e.Tuning = c.cases(d, e, "tune", CombineCases(e.Named, candidates), e.TuneAssignments(), e.Tune.Seeds)
	}
	if len(e.Sweep) > 0 {
		tuned = CombineCases(tuned, study)
	}
	e.Study = c.cases(d, e, "sweep", tuned, e.set, e.Seeds)
	return c.found == 0
}

// job reads the job of an entry without cases.
func (c *entryCheck) job(e *TrialsEntry) *Document {
	if _, err := c.fsys.Stat(e.Job); err != nil {
		c.blame("job", "%v; expected the path of a job file", err)
		return nil
	}
	d := Open(c.fsys, e.Job)
	if d.Kind() != JobKind && d.Kind() != SweepKind {
		c.blame("job", "%s is a %s file, not a job file; name a job file", e.Job, d.Kind().Noun)
		return nil
	}
	base, err := d.Sweep(e.set)
	if err != nil {
		c.report("job", err)
		return nil
	}
	if base.Fleet.Engine == Kubernetes {
		c.blame("job", "trials run on the engines local and slurm; set another fleet.engine in %s", e.Job)
	}
	e.Base = base
	if first, last := e.firstTuneSeed(), base.Run.Seed+int64(e.Seeds)-1; e.Tune.On() && first <= last &&
		first+int64(e.Tune.Seeds) > base.Run.Seed {
		c.blame("tune", "the seeds of tune, %d to %d, overlap the seeds of the other trials, %d to %d; set "+
			"tune.first_seed to %d", first, first+int64(e.Tune.Seeds)-1, base.Run.Seed, last, last+1)
	}
	return d
}

// keys checks that each key has one source: a case, sweep or tune.
func (c *entryCheck) keys(e *TrialsEntry, study, candidates []Case) {
	source := map[string]string{"run.seed": "the list of seeds"}
	for _, list := range []struct {
		key   string
		cases []Case
	}{{"sweep", study}, {"tune", candidates}} {
		if len(list.cases) == 0 {
			continue
		}
		for _, set := range list.cases[0].Set {
			key := keyOf(set)
			if by := source[key]; by != "" {
				c.blame(list.key, "%s varies %s, which %s sets too; remove one of them", list.key, key, by)
			}
			source[key] = list.key
		}
	}
	for _, one := range e.Named {
		for _, set := range one.Set {
			if by := source[keyOf(set)]; by != "" {
				c.blame("cases", "case %s sets %s, which %s sets too; remove one of them", one.Name, keyOf(set), by)
			}
		}
	}
}

// keyOf returns the key of an assignment.
func keyOf(set string) string {
	key, _, _ := strings.Cut(set, "=")
	return strings.TrimSpace(key)
}

// cases reads the job of each case.
func (c *entryCheck) cases(d *Document, e *TrialsEntry, key string, cases []Case, set []string,
	seeds int) (list []TrialCase) {
	if n := len(cases) * seeds; n > MostTrials {
		c.blame(key, "%s and %s make %d trials; the maximum is %d; use fewer values or seeds, or split the entry",
			words.Plural(len(cases), "case"), words.Plural(seeds, "seed"), n, MostTrials)
		return nil
	}
	for _, one := range cases {
		s, err := d.Sweep(slices.Concat(set, one.Set))
		if err != nil {
			c.report(key, one.Located(err))
			continue
		}
		s.Run.Folder, s.Run.Listen, s.Run.Seed = "", "", e.Base.Run.Seed
		list = append(list, TrialCase{one, &s.Job})
	}
	return list
}
