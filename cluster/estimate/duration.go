package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"graft/cluster/trace"
	"graft/internal/validate"
)

const (
	week7 = 7 * 24 * 60 * 60 // seconds
	// mostSeconds is the maximum duration of a trace, about 270 years.
	mostSeconds = 1 << 33
)

// DurationOptions holds the options for estimating job durations.
type DurationOptions struct {
	// calendar time of the trace's time 0, from which the features month, day and hour are computed; required
	Zero time.Time
	// time in seconds at which the first model is trained; zero means Every seconds after the first job
	First int64
	Every int64                  // seconds between two models; zero means a week
	Past  bool                   // adds features of jobs that have already ended; false omits them
	Tell  func(w DurationWindow) // called after each window; nil calls nothing
	// Model holds the training options of the models. Zero fields have the defaults of Options, with two exceptions. An
	// empty Validation means ValidateBlocks, since users submit many similar jobs at once. Nil Alone excludes the date,
	// the user and the name from pairs, since most users and names have too few jobs to learn a joint effect with
	// another feature.
	Model Options
}

// EnsureDefaults replaces zero values with defaults.
func (o *DurationOptions) EnsureDefaults() {
	o.Every = cmp.Or(o.Every, week7)
	o.Model.Validation = cmp.Or(o.Model.Validation, ValidateBlocks)
	if o.Model.Alone == nil {
		o.Model.Alone = []string{"user", "name", "day", "month"}
	}
	o.Model.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (o DurationOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Zero.IsZero(), "zero is missing; set it to the date of second 0 of the trace")
	faults.When(o.Every < 1, "every is %d seconds; must be at least 1", o.Every)
	return errors.Join(append(faults, o.Model.Validate())...)
}

// jobFeature is a column of a table of jobs. It must not reveal how a job ended.
type jobFeature struct {
	name   string
	number func(j *trace.Job, at time.Time, h *history) float64
	text   func(j *trace.Job) string // replaces number
}

// jobFeatures are the features of a submitted and profiled job.
var jobFeatures = []jobFeature{
	{name: "user", text: func(j *trace.Job) string { return j.User }},
	{name: "vc", text: func(j *trace.Job) string { return j.VC }},
	{name: "name", text: func(j *trace.Job) string { return j.Name }},
	{name: "model", text: func(j *trace.Job) string { return j.Trains().Model }},
	{name: "dataset", text: func(j *trace.Job) string { return j.Trains().Dataset }},
	{name: "gpus", number: func(j *trace.Job, _ time.Time, _ *history) float64 { return j.Devices() }},
	{name: "cpus", number: func(j *trace.Job, _ time.Time, _ *history) float64 { return float64(j.CPUs) }},
	{name: "batch", number: func(j *trace.Job, _ time.Time, _ *history) float64 { return float64(j.Trains().Batch) }},
	{name: "amp", number: func(j *trace.Job, _ time.Time, _ *history) float64 { return truth(j.Trains().AMP) }},
	{name: "gpu_util", number: func(j *trace.Job, _ time.Time, _ *history) float64 { return j.Trains().GPUUtil }},
	{name: "gmem_util", number: func(j *trace.Job, _ time.Time, _ *history) float64 { return j.Trains().MemoryUtil }},
	{name: "gmem", number: func(j *trace.Job, _ time.Time, _ *history) float64 { return j.Trains().Memory }},
	{name: "month", number: func(_ *trace.Job, at time.Time, _ *history) float64 { return float64(at.Month()) }},
	{name: "day", number: func(_ *trace.Job, at time.Time, _ *history) float64 { return float64(at.Day()) }},
	{name: "hour", number: func(_ *trace.Job, at time.Time, _ *history) float64 { return float64(at.Hour()) }},
	{name: "weekday", number: func(_ *trace.Job, at time.Time, _ *history) float64 { return float64(weekday(at)) }},
}

// pastFeatures are features from jobs that have ended.
var pastFeatures = []jobFeature{
	{name: "past_mean", number: func(j *trace.Job, _ time.Time, h *history) float64 {
		return h.kinds[kindOfJob(j)].mean()
	}},
	{name: "past_usual", number: func(j *trace.Job, _ time.Time, h *history) float64 {
		return h.kinds[kindOfJob(j)].usual()
	}},
	{name: "past_last", number: func(j *trace.Job, _ time.Time, h *history) float64 {
		return h.kinds[kindOfJob(j)].latest()
	}},
	{name: "past_count", number: func(j *trace.Job, _ time.Time, h *history) float64 {
		return h.kinds[kindOfJob(j)].size()
	}},
	{name: "past_user_usual", number: func(j *trace.Job, _ time.Time, h *history) float64 {
		return h.users[j.User].usual()
	}},
	{name: "past_alike_usual", number: func(j *trace.Job, _ time.Time, h *history) float64 {
		return h.alike[likenessOf(j)].usual()
	}},
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// dateOf returns the date of a job's submission.
func (o DurationOptions) dateOf(j *trace.Job) time.Time {
	return o.Zero.Add(time.Duration(j.Submit) * time.Second)
}

func (o DurationOptions) features() []jobFeature {
	if !o.Past {
		return jobFeatures
	}
	return append(jobFeatures[:len(jobFeatures):len(jobFeatures)], pastFeatures...)
}

func (f *jobFeature) value(j *trace.Job, at time.Time, h *history) Value {
	if f.text != nil {
		return Value{Text: f.text(j)}
	}
	return Value{Number: f.number(j, at, h)}
}

// DurationTable returns a table with the features of each job at its submission, in the order of the jobs. The target
// is the job's duration in seconds.
func DurationTable(jobs []trace.Job, o DurationOptions) (*Table, error) {
	o.EnsureDefaults()
	if err := errors.Join(o.Validate(), checkJobs(jobs)); err != nil {
		return nil, fmt.Errorf("read durations: %w", err)
	}
	features := o.features()
	values := make([][]Value, len(features))
	for k := range values {
		values[k] = make([]Value, len(jobs))
	}
	texts := make([]levelCap, len(features))
	replay(jobs, func(row int, h *history) {
		at := o.dateOf(&jobs[row])
		for k := range features {
			values[k][row] = features[k].value(&jobs[row], at, h)
			values[k][row].Text = texts[k].keep(values[k][row].Text)
		}
	})
	t := new(Table)
	for k, f := range features {
		t.addValues(f.name, f.text != nil, values[k])
	}
	t.SetTarget(mapped(jobs, func(j trace.Job) float64 { return float64(j.Duration) }))
	return t, t.Err()
}

// levelCap keeps the first texts of a column up to its limit, so that a job's row does not depend on later jobs. Other
// texts are missing.
type levelCap struct{ known map[string]bool }

func (c *levelCap) keep(text string) string {
	switch {
	case text == "" || c.known[text]:
		return text
	case len(c.known) == mostLevels:
		return ""
	case c.known == nil:
		c.known = map[string]bool{}
	}
	c.known[text] = true
	return text
}

func (t *Table) addValues(name string, text bool, values []Value) {
	if text {
		t.AddTexts(name, mapped(values, func(v Value) string { return v.Text }))
		return
	}
	t.AddNumbers(name, mapped(values, func(v Value) float64 { return v.Number }))
}

func checkJobs(jobs []trace.Job) error {
	if len(jobs) == 0 {
		return errors.New("the trace has no jobs; name another trace")
	}
	for k := range jobs {
		if j := &jobs[k]; j.Duration < 0 || j.Duration > mostSeconds || j.Submit < -mostSeconds ||
			j.Submit > mostSeconds {
			return fmt.Errorf("job %s: the submission at second %d or the duration of %d seconds is out of range; "+
				"correct the trace (the maximum is %d seconds)", j.ID, j.Submit, j.Duration, int64(mostSeconds))
		}
	}
	return nil
}
