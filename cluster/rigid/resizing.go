package rigid

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/schedulers"
	"graft/cluster/study"
	"graft/cluster/trace"
	"graft/internal/failure"
	"graft/internal/words"
)

// Resizing selects the jobs whose number of GPUs schedulers and failures may change. The other jobs run only on the
// number of GPUs that they request. Without options, all jobs can be resized.
type Resizing struct {
	trace.Selection // jobs that can be resized
}

// On reports whether only some jobs can be resized.
func (o *Resizing) On() bool { return len(o.Shares) > 0 || o.Selects() }

// EnsureDefaults fills unset options.
func (o *Resizing) EnsureDefaults() {
	if o.On() {
		o.Selection.EnsureDefaults()
	}
}

// shares lists the simulated shares of jobs that can be resized.
func (o *Resizing) shares() []float64 {
	if o.On() {
		return o.Shares
	}
	return []float64{1}
}

// draws reports whether a seed decides which jobs can be resized.
func (o *Resizing) draws() bool {
	return slices.ContainsFunc(o.shares(), func(share float64) bool { return share > 0 && share < 1 })
}

// resizingStream separates the draws of jobs that can be resized from the draws of their learning curves.
const resizingStream = 0x7265_7369_7a65

// resizable returns whether a job is among a share of the jobs that can be resized; nil if all jobs are. A job is among
// the same share under every scheduler.
func (o *Resizing) resizable(share float64, seed uint64) func(j *trace.Job) bool {
	if !o.On() {
		return nil
	}
	return func(j *trace.Job) bool {
		return j.Draws(seed^resizingStream).Float64() < share && o.Accepts(j)
	}
}

// validateResizing returns an error if resizing is configured and nothing resizes jobs.
func (f *File) validateResizing() error {
	if !f.Resizing.On() {
		return nil
	}
	err := f.Resizing.Validate()
	resizes := func(name string) bool {
		p, err := schedulers.Named(name)
		return err != nil || p.Resizes || schedulers.IsProgram(name) || p.Shrinks && f.shrinks()
	}
	if !slices.ContainsFunc(f.Schedule.Schedulers, resizes) && !f.hasLearning() {
		err = errors.Join(err, errors.New("resizing selects jobs that can be resized, but no scheduler resizes jobs; "+
			"add the scheduler fair or offers, or remove the section"))
	}
	return err
}

// shrinks reports whether jobs that lose some of their nodes continue on the others.
func (f *File) shrinks() bool {
	return f.Failures.Enabled() && f.Failures.OnFailure == failures.ByShrink
}

// resizing describes the jobs whose number of GPUs changes.
func (s *simulations) resizing() []string {
	names := s.named(func(p cluster.Policy) bool { return p.Resizes })
	var list []string
	if rigid := s.named(func(p cluster.Policy) bool { return !p.Shrinks }); s.shrinks() && len(rigid) > 0 {
		list = append(list, fmt.Sprintf("Jobs restart after each failure, and do not shrink, under %s.",
			strings.Join(rigid, ", ")))
	}
	if len(names) > 0 && s.sharesGPUs() {
		list = append(list, fmt.Sprintf("Under %s, a job that requests a part of a GPU counts as a job of one GPU.",
			strings.Join(names, ", ")))
	}
	if len(names) > 0 {
		speed := "the speed of a job is proportional to its GPUs"
		if len(s.Training.Models) > 0 {
			speed = "the speed of a job without a network in training.models is proportional to its GPUs"
		}
		which := "every job"
		if s.Resizing.On() {
			which = "jobs"
		}
		list = append(list, fmt.Sprintf("Schedulers that resize %s: %s; %s.", which, strings.Join(names, ", "), speed))
	}
	if s.Resizing.On() {
		list = append(list, s.whoResizes())
	}
	return list
}

// named lists the names of the schedulers that is selects.
func (s *simulations) named(is func(p cluster.Policy) bool) (names []string) {
	for _, name := range s.Schedule.Schedulers {
		if p := s.policy(name); is(p) {
			names = append(names, p.Name)
		}
	}
	return names
}

// sharesGPUs reports whether jobs of a trace share a GPU, because they request parts of one.
func (s *simulations) sharesGPUs() bool {
	part := func(j trace.Job) bool { return j.Share > 0 && j.GPUs == 1 }
	return !s.Cluster.WholeGPUs && slices.ContainsFunc(s.workloads, func(w *inputs) bool {
		return slices.ContainsFunc(w.base.Jobs, part)
	})
}

// whoResizes describes the jobs that can be resized.
func (s *simulations) whoResizes() string {
	o := &s.Resizing
	who := "the jobs"
	if o.Selects() {
		who = fmt.Sprintf("%s (%s)", words.Plural(s.selected(&o.Selection), "job"), &o.Selection)
	}
	if len(o.Shares) > 1 {
		return fmt.Sprintf("resizable N means that a share N of %s can be resized.", who)
	}
	return fmt.Sprintf("%g%% of %s can be resized.", 100*o.Shares[0], who)
}

// selected counts the selected jobs of all traces.
func (s *simulations) selected(o *trace.Selection) (jobs int) {
	for _, w := range s.workloads {
		for k := range w.base.Jobs {
			if o.Accepts(&w.base.Jobs[k]) {
				jobs++
			}
		}
	}
	return jobs
}

// selectsNone returns an error if a section selects jobs and a trace has none of them.
func (s *inputs) selectsNone(section string, o *trace.Selection) error {
	accepts := func(j trace.Job) bool { return o.Accepts(&j) }
	if !o.Selects() || slices.ContainsFunc(s.base.Jobs, accepts) {
		return nil
	}
	return failure.With(failure.Configuration, fmt.Errorf("%s selects no job (%s); change %[1]s.states, "+
		"%[1]s.min_hours or %[1]s.min_gpus", section, o))
}

// resizableParts computes the metrics of the jobs that can be resized, and of the others.
func resizableParts(o *cluster.Outcome, z *cluster.Summarizer, memory []*cluster.Job) (parts []study.Part) {
	for _, name := range []string{"resizable", "fixed"} {
		keep := func(j *cluster.Job) bool { return j.Resizable() == (name == "resizable") }
		v := groupValues(o, z, memory, keep)
		if v != nil {
			parts = append(parts, study.Part{Group: "number of GPUs", Name: name, Values: v})
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}
