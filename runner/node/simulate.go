// Package node simulates and runs the tasks of one machine, into run folders.
package node

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/cluster/node"
	"graft/cluster/node/agent"
	"graft/config"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// Simulate simulates the tasks of a configuration under its schedulers, into the run folder. A run that was
// stopped or killed begins anew when it is resumed, and ends in the same bytes; one that had ended is read.
func Simulate(ctx context.Context, env *app.Env, c *config.Node, path string,
	o app.FolderOptions) (*runs.NodeOutcome, error) {
	folder := app.Folder("", c.Run.Folder, path)
	outcome, err := app.Simulate(ctx, env, folder, c, o, runs.NodeStream, columns,
		func(run *results.Run, stream *results.Stream) (*runs.NodeOutcome, error) {
			return into(ctx, env, c, run, stream)
		})
	if err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, nil
}

// columns define the table of a run. Times are in seconds.
var columns = []results.Column{{Name: "scheduler", Kind: results.String}, {Name: "workload", Kind: results.Int},
	{Name: "seed", Kind: results.Int}, {Name: "turnaround_mean"}, {Name: "turnaround_p95"},
	{Name: "wait_mean"}, {Name: "slowdown_mean"}, {Name: "makespan"}, {Name: "busy"}, {Name: "joules"},
	{Name: "stops", Kind: results.Int}, {Name: "completed", Kind: results.Int}}

// into simulates into a run folder.
func into(ctx context.Context, env *app.Env, c *config.Node, run *results.Run,
	stream *results.Stream) (*runs.NodeOutcome, error) {
	if c.Published() {
		p, err := published(ctx, c, run)
		if err != nil {
			return nil, err
		}
		return &runs.NodeOutcome{GPUs: p.GPUs, Workloads: p.Episodes, Objective: c.Schedule.Objective,
			Cells: []runs.NodeCell{}, Published: p}, nil
	}
	s := &simulations{config: c, studies: c.Studies()}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	for _, e := range s.entrants {
		if err := s.write(env, run, stream, e); err != nil {
			return nil, err
		}
	}
	o := s.outcome()
	var err error
	o.Exact, err = s.exact(ctx)
	return o, err
}

// simulations holds the simulations of several schedulers on the same workloads.
type simulations struct {
	config   *config.Node
	studies  []node.Study
	entrants []entrant
}

// entrant is a scheduler with its results by workload and seed.
type entrant struct {
	config.NodeScheduler
	results [][]*node.Result
}

func (s *simulations) run(ctx context.Context) error {
	for _, rival := range s.config.Rivals() {
		kinds := rival.Seeds
		if len(kinds) == 0 {
			kinds = []node.Kind{rival.Kind}
		}
		e := entrant{rival, make([][]*node.Result, len(s.studies))}
		for k := range e.results {
			e.results[k] = make([]*node.Result, len(kinds))
		}
		pool := parallel.Pool{Workers: s.config.Schedule.Workers}
		err := pool.Each(ctx, len(s.studies)*len(kinds), func(at int) (err error) {
			k, seed := at/len(kinds), at%len(kinds)
			e.results[k][seed], err = s.studies[k].Run(ctx, kinds[seed], s.config.Schedule.Options(uint64(k)))
			return err
		}).First()
		if err != nil {
			return err
		}
		s.entrants = append(s.entrants, e)
	}
	return nil
}

// write writes the tables of a scheduler.
func (s *simulations) write(env *app.Env, run *results.Run, stream *results.Stream, e entrant) error {
	folder := run.Path(e.Name)
	if err := env.Files.MkdirAll(folder); err != nil {
		return err
	}
	var tasks strings.Builder
	tasks.WriteString("workload,seed,task,gpu,arrival_seconds,began_seconds,ended_seconds,run_seconds,starts," +
		"joules,completed\n")
	for k, row := range e.results {
		for seed, r := range row {
			for _, t := range r.Tasks {
				fmt.Fprintf(&tasks, "%d,%d,%s,%d,%v,%v,%v,%v,%d,%.6g,%v\n", k+1, seed+1, cell(t.Name), t.Device,
					t.Arrival.Seconds(), t.Began.Seconds(), t.Ended.Seconds(), t.Run.Seconds(), t.Starts, t.Joules,
					!t.Failed)
			}
			f := &r.Summary
			if err := stream.Append(e.Name, k+1, seed+1, f.Turnaround, f.Tail, f.Wait, f.Slowdown, f.Makespan, f.Busy,
				f.Joules, f.Stops, f.Completed); err != nil {
				return err
			}
		}
	}
	if err := env.WriteText(filepath.Join(folder, runs.NodeTasksFile), tasks.String()); err != nil {
		return err
	}
	return env.WriteText(filepath.Join(folder, runs.NodeSpansFile), spans(e.results[0][0], &s.studies[0]))
}

// cell quotes a name for CSV where that is necessary.
func cell(name string) string {
	if !strings.ContainsAny(name, "\",\r\n") {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// spans is the table of the times at which tasks ran; the group of a task is its kind, or else its flow. Lanes are
// rows of a GPU in a figure: tasks that run together have several.
func spans(r *node.Result, s *node.Study) string {
	var b strings.Builder
	b.WriteString("task,gpu,lane,from_seconds,to_seconds,cores,memory_mb,end,group\n")
	last := map[int]time.Duration{}
	for _, span := range r.Spans {
		last[span.Task] = max(last[span.Task], span.To)
	}
	for k, lane := range node.Lanes(r.Spans) {
		span := r.Spans[k]
		end := "stopped"
		if last[span.Task] == span.To {
			end = map[bool]string{false: "completed", true: "failed"}[r.Tasks[span.Task].Failed]
		}
		t := &s.Tasks[span.Task]
		fmt.Fprintf(&b, "%s,%d,%d,%v,%v,%v,%v,%s,%s\n", cell(r.Tasks[span.Task].Name), span.Device, lane,
			span.From.Seconds(), span.To.Seconds(), t.Cores, t.Memory, end, cell(cmp.Or(t.Kind, t.Flow)))
	}
	return b.String()
}

// outcome compares the schedulers.
func (s *simulations) outcome() *runs.NodeOutcome {
	c := s.config
	o := &runs.NodeOutcome{GPUs: len(c.Options().Devices), Workloads: len(s.studies), Objective: c.Schedule.Objective}
	against := s.against()
	o.Turnaround.Against, o.EnergyDelay.Against = against, against
	for k := range s.studies {
		o.Tasks += len(s.studies[k].Tasks)
		o.Turnaround.Bounds = append(o.Turnaround.Bounds, node.Bound(s.studies[k]))
	}
	cells := map[string]runs.NodeCell{}
	for _, e := range s.entrants {
		times := e.table(func(f *node.Summary) float64 { return f.Turnaround })
		products := e.table(func(f *node.Summary) float64 { return f.Delay() / 1000 })
		seeds := len(e.Seeds)
		if e.Learned() {
			seeds = max(1, seeds)
		}
		o.Turnaround.Standings = append(o.Turnaround.Standings,
			runs.NewElasticStanding(e.Name, seeds, times, o.Turnaround.Bounds))
		o.EnergyDelay.Standings = append(o.EnergyDelay.Standings, runs.NewElasticStanding(e.Name, seeds, products, nil))
		cells[e.Name] = e.cell(seeds)
	}
	o.Turnaround.Rank()
	o.EnergyDelay.Rank()
	order := &o.Turnaround
	if c.Objective() == agent.EnergyDelay {
		order = &o.EnergyDelay
	}
	for _, standing := range order.Standings {
		o.Cells = append(o.Cells, cells[standing.Scheduler])
	}
	return o
}

// exact is the mean over workloads of the best schedules; nil where they are not searched.
func (s *simulations) exact(ctx context.Context) (*float64, error) {
	m := &s.config.Machine
	if m.Cores != config.CoresWhole || m.Contention > 0 || m.Profiles != "" || len(m.Memories) > 0 {
		return nil, nil
	}
	if slices.ContainsFunc(s.studies, func(one node.Study) bool { return len(one.Tasks) > node.MostExact }) {
		return nil, nil
	}
	best := make([]float64, len(s.studies))
	err := parallel.Pool{Workers: s.config.Schedule.Workers}.Each(ctx, len(best), func(k int) (err error) {
		best[k], err = node.Exact(ctx, s.studies[k])
		return err
	}).First()
	if err != nil {
		return nil, err
	}
	return new(stat.Mean(best)), nil
}

// against is the scheduler that differences are from.
func (s *simulations) against() string {
	const usual = "best-fit"
	if wanted := s.config.Schedule.Against; wanted != "" {
		return wanted
	}
	if slices.ContainsFunc(s.entrants, func(e entrant) bool { return e.Name == usual }) {
		return usual
	}
	return s.entrants[0].Name
}

// table has a figure by workload and seed.
func (e *entrant) table(of func(f *node.Summary) float64) [][]float64 {
	rows := make([][]float64, len(e.results))
	for k, row := range e.results {
		for _, r := range row {
			rows[k] = append(rows[k], of(&r.Summary))
		}
	}
	return rows
}

// cell has the means.
func (e *entrant) cell(seeds int) runs.NodeCell {
	mean := func(of func(f *node.Summary) float64) float64 { return stat.Mean(slices.Concat(e.table(of)...)) }
	return runs.NodeCell{Scheduler: e.Name, Seeds: seeds,
		Completed:  mean(func(f *node.Summary) float64 { return float64(f.Completed) / float64(f.Tasks) }),
		Turnaround: mean(func(f *node.Summary) float64 { return f.Turnaround }),
		Tail:       mean(func(f *node.Summary) float64 { return f.Tail }), Wait: mean(func(f *node.Summary) float64 {
			return f.Wait
		}), Slowdown: mean(func(f *node.Summary) float64 { return f.Slowdown }),
		Makespan: mean(func(f *node.Summary) float64 { return f.Makespan }), Busy: mean(func(f *node.Summary) float64 {
			return f.Busy
		}), Joules: mean(func(f *node.Summary) float64 { return f.Joules }),
		Stops: mean(func(f *node.Summary) float64 { return float64(f.Stops) })}
}
