package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"graft/cluster/execute"
	"graft/cluster/node"
	"graft/cluster/node/world"
	"graft/internal/failure"
	"graft/internal/telemetry"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// ProfileOptions configures [Profile].
type ProfileOptions struct {
	app.FolderOptions     // options for the run folder
	Repeats           int // number of repeats of each measurement; zero means 3
	// which pairs of tasks are measured: "all" measures each pair, and each task with itself; "none" measures only
	// tasks alone; default "all"
	Pairs string
	// minimum duration of a measurement in seconds; a task that ends earlier is repeated; zero means 10
	Seconds float64
	// maximum duration of a measurement in seconds; a task that takes longer is not measured; zero means 600
	Most float64
}

// EnsureDefaults sets zero fields to their defaults.
func (o *ProfileOptions) EnsureDefaults() {
	o.Repeats, o.Pairs, o.Seconds, o.Most = cmp.Or(o.Repeats, 3), cmp.Or(o.Pairs, "all"), cmp.Or(o.Seconds, 10),
		cmp.Or(o.Most, 600)
}

// Limits of options.
const (
	mostRepeats = 1000
	mostSeconds = 1e6
)

// Validate returns an error for invalid options.
func (o *ProfileOptions) Validate() error {
	switch {
	case o.Repeats < 1 || o.Repeats > mostRepeats:
		return failure.Usagef("option \"repeats\" is %d; must be between 1 and %d", o.Repeats, mostRepeats)
	case o.Pairs != "all" && o.Pairs != "none":
		return failure.Usagef("option \"pairs\" is %q; expected all or none", o.Pairs)
	case !(o.Seconds > 0 && o.Seconds <= o.Most && o.Most <= mostSeconds):
		return failure.Usagef("option \"seconds\" is %g and option \"most-seconds\" is %g; both must be positive, "+
			"with seconds <= most-seconds <= %g", o.Seconds, o.Most, mostSeconds)
	}
	return nil
}

// profiler measures tasks on one device.
type profiler struct {
	env     *app.Env
	o       ProfileOptions
	options execute.Options
	run     *results.Run
	jobs    []execute.Job // one of each kind, with the name of the kind
	sampler *telemetry.Sampler
	at      int // index of the device in the sampler's source
	table   *runs.NodeProfileTable
	rows    []runs.NodeProfileRow
	left    []runs.NodeProfileFailed
	track   *results.Tracker
}

// Profile measures a configuration's tasks on the first device: the run time of each task when it runs alone, and the
// speeds of tasks that run in pairs. It writes the results into the run folder. A resumed run makes only the missing
// measurements.
func Profile(ctx context.Context, env *app.Env, c *world.File, path string,
	o ProfileOptions) (*runs.NodeProfileOutcome, error) {
	o.EnsureDefaults()
	jobs, err := c.Jobs()
	if err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d, err := findDevices(env, c)
	if err != nil {
		return nil, failure.With(failure.Failed, err)
	}
	p := &profiler{env: env, o: o, options: c.Execution(env.Files, d.list[:1]), jobs: kinds(jobs)}
	p.options.Kind = node.Kind{Name: "profile", About: "starts tasks immediately",
		New: func(node.SchedulerOptions) node.Scheduler { return atOnce{} }}
	if err := execute.Check(p.options, p.jobs); err != nil {
		return nil, errors.Join(failure.With(failure.Configuration, err), d.close())
	}
	folder := app.Folder("", c.Run.Folder, app.Suffixed(path, "profile"))
	if p.run, err = env.OpenRun(folder, runs.NodeProfileKind, c, o.FolderOptions); err != nil {
		return nil, errors.Join(err, d.close())
	}
	p.track = env.Track(folder, "measurements")
	outcome, err := p.into(ctx, c, d)
	p.track.StopOrEnd(ctx.Err() != nil, err)
	if err = errors.Join(app.Requeued(ctx, folder, err), p.run.Close(), d.close()); err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, nil
}

// kinds returns the first task of each kind, under the kind's name, without settings that do not affect its speed.
func kinds(jobs []execute.Job) (first []execute.Job) {
	seen := map[string]bool{}
	for _, j := range jobs {
		j.Name = j.Kind
		j.Arrival, j.After, j.Retries, j.Timeout, j.Checkpoint = 0, nil, 0, 0, false
		if !seen[j.Kind] {
			first = append(first, j)
		}
		seen[j.Kind] = true
	}
	return first
}

// into measures into the run folder.
func (p *profiler) into(ctx context.Context, c *world.File, d *devices) (outcome *runs.NodeProfileOutcome, err error) {
	if p.rows, err = runs.ReadNodeProfile(p.env.Files, p.run.Path("")); err != nil {
		return nil, err
	}
	if p.table, err = runs.OpenNodeProfile(p.run); err != nil {
		return nil, err
	}
	if d.why != "" {
		p.env.Log.Warn(d.why)
	}
	stop, err := p.sample(ctx, c, d)
	if err != nil {
		return nil, err
	}
	guarded, err := guard(p.env)
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	if err := errors.Join(p.measureAll(ctx), guarded(), stop()); err != nil {
		return nil, err
	}
	outcome = profileOutcome(p.jobs, p.rows)
	outcome.Device, outcome.Note, outcome.Left = d.names[0], d.why, append([]runs.NodeProfileFailed{}, p.left...)
	return outcome, errors.Join(writeProfiles(p.env, p.run, outcome), p.run.WriteOutcome(outcome))
}

// sample reads the device until stop is called, if it can be measured.
func (p *profiler) sample(ctx context.Context, c *world.File, d *devices) (stop func() error, err error) {
	if d.source == nil {
		return func() error { return nil }, nil
	}
	if d.index != nil {
		p.at = d.index[0]
	}
	if p.sampler, err = telemetry.NewSampler(d.source, nil, telemetry.Clock{Now: p.env.Now},
		telemetry.SamplerOptions{Interval: c.Executor.Sampling}); err != nil {
		return nil, err
	}
	sampling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan error, 1)
	go func() { over <- p.sampler.Run(sampling) }()
	return func() error {
		cancel()
		return <-over
	}, nil
}

// measureAll makes all measurements once per repeat, so that the speed of a pair is compared with runs alone at about
// the same time.
func (p *profiler) measureAll(ctx context.Context) error {
	number := 0
	for repeat := 1; repeat <= p.o.Repeats; repeat++ {
		var todo [][]int
		for k := range p.jobs {
			todo = append(todo, []int{k})
		}
		for k := range p.jobs {
			for i := k; i < len(p.jobs) && p.o.Pairs == "all"; i++ {
				todo = append(todo, []int{k, i})
			}
		}
		for _, sides := range todo {
			p.track.Note(float64(number), float64(p.o.Repeats*len(todo)))
			number++
			if err := p.measureOnce(ctx, number, repeat, sides); err != nil {
				return err
			}
		}
	}
	return nil
}

// measureOnce measures unless the run folder has the measurement, or it is impossible.
func (p *profiler) measureOnce(ctx context.Context, number, repeat int, sides []int) error {
	names := [2]string{p.jobs[sides[0]].Name}
	if len(sides) > 1 {
		names[1] = p.jobs[sides[1]].Name
	}
	was := func(f runs.NodeProfileFailed) bool { return f.First == names[0] && f.Second == names[1] }
	if p.find(repeat, names) != nil || slices.ContainsFunc(p.left, was) {
		return nil
	}
	failed := runs.NodeProfileFailed{First: names[0], Second: names[1]}
	if failed.Reason, failed.Full = p.obstacle(repeat, sides); failed.Reason == "" {
		row := runs.NodeProfileRow{Repeat: repeat, Tasks: names}
		var err error
		if failed.Reason, err = p.measure(ctx, number, sides, &row); err != nil {
			return err
		}
		if failed.Reason == "" {
			return p.keep(row)
		}
	}
	p.left = append(p.left, failed)
	p.env.Log.Warn("skipped measurement", zap.String("task", names[0]), zap.String("partner", names[1]),
		zap.String("reason", failed.Reason))
	return nil
}

// keep adds a measurement to the table.
func (p *profiler) keep(r runs.NodeProfileRow) error {
	p.rows = append(p.rows, r)
	p.env.Log.Info("measured tasks", zap.Int("repeat", r.Repeat), zap.String("task", r.Tasks[0]),
		zap.String("partner", r.Tasks[1]), zap.Float64("seconds", app.Rounded(r.Times[0])),
		zap.Float64("speed", app.Rounded(r.Speeds[0])))
	return p.table.Append(r)
}

// find returns an existing measurement; nil if there is none.
func (p *profiler) find(repeat int, names [2]string) *runs.NodeProfileRow {
	k := slices.IndexFunc(p.rows, func(r runs.NodeProfileRow) bool { return r.Repeat == repeat && r.Tasks == names })
	if k < 0 {
		return nil
	}
	return &p.rows[k]
}

// obstacle returns the reason why a pair cannot be measured, and whether it is the device's memory; empty if it can.
// The memory of a task is the file's or, if measured and larger, the peak memory while the task ran alone.
func (p *profiler) obstacle(repeat int, sides []int) (reason string, full bool) {
	if len(sides) < 2 {
		return "", false
	}
	sum := 0.0
	for _, k := range sides {
		j := &p.jobs[k]
		row := p.find(repeat, [2]string{j.Name})
		if row == nil {
			return fmt.Sprintf("%s was not measured alone", j.Name), false
		}
		memory := j.Memory
		if m := row.Use.Memory; m != nil {
			memory = max(memory, *m)
		}
		sum += memory
	}
	if most := cmp.Or(p.options.Devices[0].Memory, defaultMemory); sum > most {
		return fmt.Sprintf("the tasks together need %.0f MiB, but the device has %.0f MiB", sum, most), true
	}
	return "", false
}

// single returns the run time of a task alone in a repeat.
func (p *profiler) single(repeat, task int) time.Duration {
	return time.Duration(p.find(repeat, [2]string{p.jobs[task].Name}).Times[0] * float64(time.Second))
}
