// Package node runs the tasks of one machine, and measures them, into run folders.
package node

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/cluster/execute"
	"graft/cluster/node"
	"graft/cluster/node/world"
	"graft/fleet"
	"graft/internal/failure"
	"graft/internal/telemetry"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/control"
)

// idleTime is the duration of the power measurement of idle devices.
const idleTime = time.Second

// RunOptions determines how tasks are run and monitored.
type RunOptions struct {
	app.FolderOptions              // options for the run folder
	Watch             WatchOptions // options for the HTTP server; zero means no server
}

// Run runs the tasks of a configuration as processes, under its first scheduler, and writes the results into the run
// folder. Resuming a stopped or killed run continues from its journal.
func Run(ctx context.Context, env *app.Env, c *world.File, path string, o RunOptions) (*runs.NodeRunOutcome, error) {
	jobs, err := c.Jobs()
	if err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	watch, err := openWatch(env, o.Watch)
	if err != nil {
		return nil, err
	}
	defer watch.close()
	d, err := findDevices(env, c)
	if err != nil {
		return nil, failure.With(failure.Failed, err)
	}
	options := c.Execution(env.Files, d.list)
	if err := execute.Check(options, jobs); err != nil {
		return nil, errors.Join(failure.With(failure.Configuration, err), d.close())
	}
	folder := app.Folder("", c.Run.Folder, app.Suffixed(path, "run"))
	run, err := env.OpenRun(folder, runs.NodeRunKind, c, o.FolderOptions)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	control.RemoveStaleFiles(env.Files, folder)
	x := &execution{env: env, config: c, devices: d, run: run, jobs: jobs, watch: watch}
	outcome, err := x.execute(ctx, options)
	x.track.StopOrEnd(ctx.Err() != nil, err)
	if err = errors.Join(app.Requeued(ctx, folder, err), run.Close(), d.close()); err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, nil
}

// execution is a run of real tasks.
type execution struct {
	env     *app.Env
	config  *world.File
	devices *devices
	run     *results.Run
	jobs    []execute.Job
	meter   *meter // nil measures nothing
	ended   int

	progress *progress
	track    *results.Tracker
	watch    *watch // nil serves nothing
}

func (x *execution) execute(ctx context.Context, o execute.Options) (*runs.NodeRunOutcome, error) {
	o.Run, o.Clock, o.Observer = x.run, fleet.NewClock(x.env.Now), x.observe
	if x.devices.why != "" {
		x.env.Log.Warn(x.devices.why)
	}
	x.progress = newProgress(len(x.jobs), x.devices.names, x.run.Path(""), o.Kind.Name)
	if err := x.readJournal(); err != nil {
		return nil, err
	}
	x.track = x.env.Track(x.run.Path(""), "tasks")
	x.trackTasks()
	stop, err := x.measure(ctx, &o)
	if err != nil {
		return nil, err
	}
	r, err := x.attend(ctx, o)
	if err = errors.Join(err, stop()); err != nil {
		return nil, err
	}
	outcome := x.outcome(r, o.Kind.Name)
	return outcome, errors.Join(x.write(r), x.run.WriteOutcome(outcome))
}

// readJournal reads the events of the run so far. The journal of a complete run must have the ends of all tasks,
// otherwise tasks would run again.
func (x *execution) readJournal() error {
	folder := x.run.Path("")
	err := results.ReadOutcome(x.env.Files, folder, &runs.NodeRunOutcome{})
	if err == nil {
		err = execute.CheckEnded(x.env.Files, folder, len(x.jobs))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return execute.Read(x.env.Files, folder, x.progress.see)
}

// attend runs the tasks, and serves the run during that time.
func (x *execution) attend(ctx context.Context, o execute.Options) (*execute.Result, error) {
	if err := x.watch.serve(x); err != nil {
		return nil, err
	}
	guarded, err := guard(x.env)
	if err != nil {
		return nil, err
	}
	r, err := execute.Run(ctx, o, x.jobs)
	return r, errors.Join(err, guarded())
}

// guard starts the process that kills tasks left by a killed executor, if there is a program for it.
func guard(env *app.Env) (stop func() error, err error) {
	if env.Program == "" {
		return func() error { return nil }, nil
	}
	return execute.StartGuard(env.Files, env.Program, "node", "guard")
}

// Guard kills the tasks of an executor if the executor is killed. The executor holds the guard's input open, so an end
// of input means that the executor has died.
func Guard(env *app.Env, executor string, in io.Reader) error {
	return execute.Guard(env.Files, fleet.NewClock(env.Now), executor, in)
}

// measure samples the devices into a table until stop is called.
func (x *execution) measure(ctx context.Context, o *execute.Options) (stop func() error, err error) {
	if x.devices.source == nil {
		return func() error { return nil }, nil
	}
	table, err := telemetry.OpenTable(x.run, runs.TelemetryStream)
	if err != nil {
		return nil, err
	}
	if x.meter, err = newMeter(ctx, x.env, x.config, x.devices, table); err != nil {
		return nil, err
	}
	o.Meter = x.meter
	sampling, cancel := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan error, 1)
	go func() { over <- x.meter.sampler.Run(sampling) }()
	return func() error {
		cancel()
		return <-over
	}, nil
}

// trackTasks writes the number of ended tasks into the run folder.
func (x *execution) trackTasks() {
	tasks := x.progress.now().Tasks
	x.track.Note(float64(tasks[TaskDone]+tasks[TaskFailed]+tasks[TaskSkipped]), float64(len(x.jobs)))
}

// observe logs the events of tasks.
func (x *execution) observe(e execute.Event) {
	_ = x.progress.see(e)
	x.trackTasks()
	if e.Kind == execute.Ended && e.End == execute.Done && e.Task >= 0 && e.Task < len(x.jobs) {
		x.track.Measure("turnaround", document.UnitSeconds, (e.At - x.jobs[e.Task].Arrival).Seconds())
	}
	fields := []zap.Field{zap.String("task", e.Name), zap.Float64("at_s", app.Rounded(e.At.Seconds()))}
	switch e.Kind {
	case execute.Opened:
		x.env.Log.Info("started executor", zap.String("confinement", e.Reason))
	case execute.Started:
		x.env.Log.Info("started task", append(fields, zap.String("device", x.devices.names[e.Device]),
			zap.Int("pid", e.Process.ID))...)
	case execute.Ended:
		if e.End == execute.Done || e.End == execute.Failed {
			x.ended++
		}
		level := x.env.Log.Info
		if e.End == execute.Failed || e.End == execute.Retried {
			level = x.env.Log.Warn
		}
		level(string(e.End), append(fields, zap.Int("exit", e.Exit), zap.String("reason", e.Reason),
			zap.Int("ended", x.ended), zap.Int("of", len(x.jobs)))...)
	case execute.Skipped, execute.TimedOut, execute.Truncated:
		x.env.Log.Warn(string(e.Kind), append(fields, zap.String("reason", e.Reason))...)
	}
}

// outcome returns the result.
func (x *execution) outcome(r *execute.Result, scheduler string) *runs.NodeRunOutcome {
	s := &r.Summary
	o := &runs.NodeRunOutcome{Scheduler: scheduler, Devices: x.devices.names, Note: x.devices.why, Tasks: s.Tasks,
		Completed: s.Completed, Turnaround: s.Turnaround, Tail: s.Tail, Wait: s.Wait, Makespan: s.Makespan,
		Stops: s.Stops, Retries: r.Retries, Cells: []runs.NodeTask{}}
	for k := range r.Jobs {
		j, t := &r.Jobs[k], &r.Tasks[k]
		task := runs.NodeTask{Name: t.Name, Device: t.Device, Arrival: t.Arrival.Seconds(), Began: seconds(j.Began),
			Ended: seconds(j.Ended), Run: j.Ran.Seconds(), Starts: j.Starts,
			Attempts: j.Attempts, Interrupted: j.Interrupted, End: string(j.End), Exit: j.Exit, Signal: j.Signal,
			Reason: j.Reason, Log: j.Log, Method: cmp.Or(j.Method, string(telemetry.MethodUnknown))}
		if j.Skipped {
			task.End = string(execute.Skipped)
		}
		if attributable(j.Method) {
			task.Joules = &j.Joules
			if idle, known := x.idle(t.Device); known {
				net := j.Joules - idle*task.Run
				task.Net = &net
			}
		}
		o.Cells = append(o.Cells, task)
	}
	return o
}

// attributable reports whether a method gives a value for the task alone.
func attributable(method string) bool {
	return method == string(telemetry.MethodCounter) || method == string(telemetry.MethodIntegrated)
}

// idle returns the power of a device without tasks.
func (x *execution) idle(device int) (watts float64, known bool) {
	if x.meter == nil || device < 0 {
		return 0, false
	}
	at := 0
	if x.meter.index != nil {
		at = x.meter.index[device]
	}
	return x.meter.idle[at].Get()
}

// seconds converts a time; nil if it never came.
func seconds(t time.Duration) *float64 {
	if t < 0 {
		return nil
	}
	v := t.Seconds()
	return &v
}

// write writes the periods in which tasks ran.
func (x *execution) write(r *execute.Result) error {
	s := &node.Study{}
	for _, j := range x.jobs {
		s.Tasks = append(s.Tasks, j.Spec)
	}
	return x.env.WriteText(x.run.Path(runs.NodeSpansFile), spans(&r.Result, s))
}

// Plan simulates the run with the estimated durations in the configuration, and returns the planned task starts.
func Plan(ctx context.Context, env *app.Env, c *world.File) (*runs.NodePlan, error) {
	jobs, err := c.Jobs()
	if err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	d, err := findDevices(env, c)
	if err != nil {
		return nil, failure.With(failure.Failed, err)
	}
	o := c.Execution(env.Files, d.list)
	placements, result, err := execute.Plan(ctx, o, jobs, "")
	if err = errors.Join(err, d.close()); err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	p := &runs.NodePlan{Scheduler: o.Kind.Name, Devices: d.names, Note: d.why, Makespan: result.Summary.Makespan}
	for _, one := range placements {
		p.Starts = append(p.Starts, runs.NodeStart{Task: one.Name, Device: d.names[one.Device], At: one.At.Seconds(),
			Until: one.Until.Seconds(), Starts: one.Starts, Program: one.Program, Command: one.Command,
			Folder: one.Folder, Env: ownVariables(one.Env)})
	}
	return p, nil
}

// ownVariables drops the variables that name the run folder, because a plan has none.
func ownVariables(env []string) (kept []string) {
	for _, v := range env {
		if !strings.HasSuffix(v, "=") {
			kept = append(kept, v)
		}
	}
	return kept
}
