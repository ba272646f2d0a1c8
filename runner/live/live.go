// Package live trains the live jobs of a cluster simulation: jobs of the trace for which graft trains a network on the
// devices that a scheduler gave them.
package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"graft/cluster/live"
	"graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/sweep"
)

const (
	folder    = "live"      // folder of the trainings in the run folder
	casesFile = "live.toml" // cases of the trainings, two per timeline
)

// Check returns an error if the job file of live jobs cannot train with a timeline.
func Check(env *app.Env, o live.Options) error {
	if !o.On() {
		return nil
	}
	job, err := base(env, o)
	if err == nil && o.Waits() && job.Adapt.Decider == config.DecideNone {
		return failure.With(failure.Configuration, fmt.Errorf("live.ends is %q, but %s has no decider, so live jobs "+
			"would never adapt; set adapt.decider there, or live.ends to %q", o.Ends, o.Job, live.ByBudget))
	}
	return err
}

// base reads the job file.
func base(env *app.Env, o live.Options) (*config.Job, error) {
	example := live.Timeline{First: 1}
	s, err := config.ReadSweep(env.Files, o.Job, assignments(&example))
	if err != nil {
		return nil, runs.AsConfigFault(fmt.Errorf("live.job: %w", err))
	}
	p, err := s.Profile()
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, failure.With(failure.Configuration, fmt.Errorf("live.job: %s uses the wall clock, but live jobs "+
			"train on the virtual clock; set time.clock to \"virtual\" and time.profile to a device profile", o.Job))
	}
	if t := s.Job.Time; t.Stop > 0 || t.StopLoss > 0 || s.Job.Run.Fork != "" || s.Job.Train.Checkpoint.Keep > 0 {
		return nil, failure.With(failure.Configuration, fmt.Errorf("live.job: %s has time.stop, time.stop_loss, "+
			"run.fork or checkpoint.keep_every, which graft sets for live jobs; remove them", o.Job))
	}
	return &s.Job, nil
}

// Digest returns the digest of the job file and of the files that it names, such as a device profile.
func Digest(env *app.Env, o live.Options) (string, error) {
	job, err := base(env, o)
	if err != nil {
		return "", err
	}
	return config.Digest(job), nil
}

// assignments returns the keys that give the job a timeline, instead of a timeline of its own file.
func assignments(t *live.Timeline) []string { return append(t.Assignments(), "time.timeline=") }

// Train trains the live jobs of all simulations of a study whose tables are in a run folder. Jobs with equal timelines
// share their trainings. A rerun keeps completed trainings.
func Train(ctx context.Context, env *app.Env, o live.Options, run string, cells []study.CellOutcome) (*live.Outcome,
	error) {
	job, err := base(env, o)
	if err != nil {
		return nil, err
	}
	p := &plan{adapts: job.Adapt.Decider != config.DecideNone, never: job.Adapt.Replace(config.DecideNone),
		names: map[string]string{}}
	for _, c := range cells {
		if err := p.add(env, filepath.Join(run, c.Folder), c, job.Time.Budget.Seconds()); err != nil {
			return nil, err
		}
	}
	cases := filepath.Join(run, casesFile)
	if err := env.WriteText(cases, config.CasesText(p.cases)); err != nil {
		return nil, err
	}
	trained, err := sweep.Run(ctx, env, o.Job, sweep.Options{Folder: filepath.Join(run, folder), Resume: true,
		Seeds: o.Seeds, Cases: cases})
	if err != nil {
		return nil, fmt.Errorf("train the live jobs: %w", err)
	}
	return p.outcome(trained.Outcome)
}

// plan lists the trainings, one or two per timeline.
type plan struct {
	adapts bool     // the job has a decider
	never  []string // assignments of the arm that never adapts
	jobs   []live.Job
	names  map[string]string // names of timelines by their assignments
	cases  []config.Case
}

// add adds the live jobs of a simulation.
func (p *plan) add(env *app.Env, folder string, c study.CellOutcome, budget float64) error {
	list, err := live.ReadTable(env.Files, folder)
	if err != nil {
		return err
	}
	for _, n := range list {
		j := live.Job{Point: c.Point, Workload: c.Workload, Scheduler: c.Scheduler, Seed: c.Seed, Job: n.Job,
			Held: n.Budget, Devices: n.First, Changes: len(n.Changes), Waits: n.Waits}
		n.Scale(budget)
		j.Timeline = p.timeline(assignments(&n.Timeline))
		p.jobs = append(p.jobs, j)
	}
	return nil
}

// timeline returns the name of a timeline, and plans its trainings when it is new.
func (p *plan) timeline(set []string) string {
	key := strings.Join(set, "\n")
	if name := p.names[key]; name != "" {
		return name
	}
	name := fmt.Sprintf("timeline-%d", len(p.names)+1)
	p.names[key] = name
	p.cases = append(p.cases, config.Case{Name: live.CaseName(name, live.Adaptive), Set: set})
	if p.adapts {
		p.cases = append(p.cases, config.Case{Name: live.CaseName(name, live.Never),
			Set: append(append([]string{}, set...), p.never...)})
	}
	return name
}

// outcome adds the accuracies of the trainings to the jobs.
func (p *plan) outcome(trained *runs.SweepOutcome) (*live.Outcome, error) {
	o := &live.Outcome{Folder: folder, Jobs: p.jobs}
	for k := range o.Jobs {
		j := &o.Jobs[k]
		var err error
		if j.Adaptive, err = accuracy(trained, live.CaseName(j.Timeline, live.Adaptive)); err != nil {
			return nil, err
		}
		if p.adapts {
			never, err := accuracy(trained, live.CaseName(j.Timeline, live.Never))
			if err != nil {
				return nil, err
			}
			j.Never = &never
		}
	}
	o.Summarize()
	return o, nil
}

// accuracy returns the mean test accuracy of a case, or the validation accuracy of jobs without test data.
func accuracy(o *runs.SweepOutcome, name string) (float64, error) {
	c := o.Case(name)
	if c == nil {
		return 0, errors.New("read the outcome of the live jobs: no case " + name)
	}
	for _, measure := range []string{runs.TestAccuracy, runs.ValidationAccuracy} {
		if _, values := c.Measure(measure); len(values) > 0 {
			return stat.Mean(values), nil
		}
	}
	return 0, fmt.Errorf("read the outcome of the live jobs: case %s has no accuracy", name)
}
