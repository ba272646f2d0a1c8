package elastic

import (
	"errors"
	"fmt"
	"slices"

	"graft/cluster/trace"
)

// TraceOptions holds the options for converting a trace's jobs to elastic jobs. The zero value keeps each job's amount
// of work.
type TraceOptions struct {
	// MaxEpochs is the number of epochs of a job whose type has length 1. Zero keeps the work of the trace: a job
	// takes as long as in the trace if it runs alone at its best speed, with at most one worker and one server for
	// each device that it had.
	MaxEpochs float64
	// maximum relative error of the estimated number of epochs, at least 0 and below 1; the error is drawn uniformly
	// between minus and plus this value; zero means no error
	EpochError float64
}

// FromTrace converts the jobs of a trace to elastic jobs, with the types, speeds and options of the study s; it ignores
// the study's own jobs. Jobs arrive in the slot of their submission, counted from the first submission, and get IDs
// from 1 in that order. A job gets the job type named after its model, or a random type if no type has that name. Jobs
// without devices or without a duration are omitted. Duplicate IDs, jobs that end before they begin, and jobs out of
// order are errors.
func FromTrace(jobs []trace.Job, s Study, o TraceOptions, from Draws) (made []Spec, leftOut int, err error) {
	m := &maker{study: s, o: o, from: from, rates: map[rateKey]float64{}}
	if made, err = m.all(jobs); err != nil {
		return nil, 0, fmt.Errorf("convert a trace to elastic jobs: %w", err)
	}
	return made, len(jobs) - len(made), nil
}

// maker converts jobs of a trace.
type maker struct {
	study Study
	o     TraceOptions
	from  Draws
	rates map[rateKey]float64 // epochs per second
}

// rateKey is the index of a type and the maximum number of workers and of servers.
type rateKey struct{ kind, most int }

func (m *maker) check(jobs []trace.Job) error {
	m.study.Options.EnsureDefaults()
	lengths := GenerateOptions{Jobs: len(jobs), MaxEpochs: m.o.MaxEpochs, EpochError: m.o.EpochError}
	lengths.EnsureDefaults()
	if err := errors.Join(lengths.Validate(), m.study.Options.Validate()); err != nil {
		return err
	}
	switch {
	case len(jobs) == 0:
		return errors.New("the trace has no jobs; name another trace, or select a longer part of it")
	case len(m.study.Types) == 0 || m.study.Speed == nil:
		return errors.New("the job types or the speed model is missing; set both")
	}
	return traceFault(jobs)
}

// traceFault returns the faults of the jobs of a trace.
func traceFault(jobs []trace.Job) error {
	found, err := trace.Check(jobs, trace.CheckOptions{})
	for _, f := range found {
		switch f.Kind {
		case trace.DuplicateID, trace.Unsorted, trace.NegativeDuration:
			err = errors.Join(err, fmt.Errorf("job %s: %s (jobs with this fault: %d); correct the trace or "+
				"remove these jobs", f.FirstID, f.Text, f.Count))
		}
	}
	return err
}

func (m *maker) all(jobs []trace.Job) (made []Spec, err error) {
	if err := m.check(jobs); err != nil {
		return nil, err
	}
	first := int64(0)
	for k := range jobs {
		j := &jobs[k]
		if !usable(j) {
			continue
		}
		if len(made) == 0 {
			first = j.Submit
		}
		slot := (float64(j.Submit) - float64(first)) / m.study.Options.Slot
		if slot > maxArrival {
			return nil, fmt.Errorf("job %s arrives %g slots after the first job; expected at most %d; use longer "+
				"slots, or a shorter part of the trace", j.ID, slot, maxArrival)
		}
		spec, err := m.job(j)
		spec.ID, spec.Arrival = len(made)+1, int(slot)
		if err = errors.Join(err, spec.fault(len(m.study.Types)), m.study.fits(spec)); err != nil {
			return nil, fmt.Errorf("job %s: %w", j.ID, err)
		}
		made = append(made, spec)
	}
	if len(made) == 0 {
		return nil, errors.New("no job of the trace has both devices and a duration; name another trace")
	}
	return made, nil
}

// job draws a job's type and length.
func (m *maker) job(j *trace.Job) (spec Spec, err error) {
	types := m.study.Types
	kind := slices.IndexFunc(types, func(t JobType) bool { return t.Name == j.Trains().Model })
	if kind < 0 {
		kind = m.from.IntN(0, len(types))
	}
	spec.Type = kind + 1
	factor := errorFactor(m.o.EpochError, m.from)
	if m.o.MaxEpochs > 0 {
		spec.Epochs = types[kind].epochs(m.o.MaxEpochs)
		spec.RealEpochs = factor * spec.Epochs
		return spec, nil
	}
	rate, err := m.rate(kind, min(j.GPUs, m.study.Options.Most))
	spec.RealEpochs = rate * float64(j.Duration)
	spec.Epochs = spec.RealEpochs / factor
	return spec, err
}

// rate returns a type's maximum epochs per second with up to most workers and servers.
func (m *maker) rate(kind, most int) (float64, error) {
	key := rateKey{kind, most}
	if rate, known := m.rates[key]; known {
		return rate, nil
	}
	t, o := &m.study.Types[kind], m.study.Options
	o.Most, o.Slot = most, 1
	if err := m.study.Speed.Check(t, most); err != nil {
		return 0, err
	}
	_, _, rate := Best(m.study.Speed, t, &o)
	if rate <= 0 {
		return 0, fmt.Errorf("the speed of type %s is 0 for all numbers of workers and servers up to %d; correct the "+
			"speeds, or remove the type", t.Name, most)
	}
	m.rates[key] = rate
	return rate, nil
}
