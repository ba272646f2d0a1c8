package study

import (
	"context"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"graft/internal/parallel"
)

// Job describes how to run a study: its plan, its run folder and the receiver of progress reports.
type Job struct {
	Env
	World  string // name of the world
	Folder string // run folder; empty writes nothing
	Inputs string // digest of all inputs; cells with a different digest are simulated again
	Study  Study  // prepared study
	Plan   *Plan  // plan of the study
	// Tell receives the progress after each simulation, one call at a time. Nil means that nobody receives the
	// progress.
	Tell func(Progress)

	telling             sync.Mutex
	told                int // number of finished cells
	cells, ablations    []Cell
	results, withQuirks []*saved
}

// Progress reports how much of a study is done, and the result of the latest simulation.
type Progress struct {
	Done, Of int     // number of finished cells, and of all cells
	Metric   *Metric // metric that ranks schedulers; nil if there is none, or if the cell lacks it
	Value    float64 // value of the metric in the cell
}

// tell reports a finished cell.
func (j *Job) tell(values Values) {
	if j.Tell == nil {
		return
	}
	j.telling.Lock()
	defer j.telling.Unlock()
	j.told++
	p := Progress{Done: j.told, Of: len(j.cells) + len(j.ablations)}
	if len(j.Plan.Rank) > 0 {
		if v, has := values[j.Plan.Rank[0]]; has {
			p.Metric, p.Value = j.Plan.metric(j.Plan.Rank[0]), float64(v)
		}
	}
	j.Tell(p)
}

// Run runs the simulations that are missing from the run folder, saves each result, and returns the outcome. The
// outcome does not depend on the number of workers or the order of simulations, and interruptions do not change it.
func (j *Job) Run(ctx context.Context) (*Outcome, error) {
	if err := j.Plan.Validate(); err != nil {
		return nil, fmt.Errorf("world %s: %w", j.World, err)
	}
	j.cells, j.ablations = j.Plan.cells(), j.Plan.ablations()
	j.results, j.withQuirks = make([]*saved, len(j.cells)), make([]*saved, len(j.ablations))
	n := len(j.cells)
	errs := parallel.Pool{Workers: j.Plan.Workers}.Each(ctx, n+len(j.ablations), func(k int) (err error) {
		if k < n {
			j.results[k], err = j.cell(ctx, &j.cells[k])
			return err
		}
		j.withQuirks[k-n], err = j.cell(ctx, &j.ablations[k-n])
		return err
	})
	if err := ctx.Err(); err != nil {
		return nil, err // return it once, instead of once per cell
	}
	if err := errs.Join(); err != nil {
		return nil, err
	}
	return j.outcome(ctx)
}

// cell returns the result of a cell: a saved one, or a new one, which it saves.
func (j *Job) cell(ctx context.Context, c *Cell) (*saved, error) {
	folder := j.Plan.folder(c)
	if s := j.restore(folder); s != nil {
		j.tell(s.Values)
		return s, nil
	}
	if err := j.begin(c, folder); err != nil {
		return nil, err
	}
	r, err := j.Study.Simulate(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.name(c), err)
	}
	s := newSaved(j.Inputs, r)
	if err := j.save(folder, s); err != nil {
		return nil, err
	}
	j.log(c, r)
	j.tell(s.Values)
	return s, nil
}

// name describes a cell in errors.
func (j *Job) name(c *Cell) string {
	text := "scheduler " + j.Plan.Schedulers[c.Scheduler].Name
	if len(j.Plan.Workloads) > 1 {
		text += ", workload " + j.Plan.Workloads[c.Workload]
	}
	if point := j.Plan.Points[c.Point].Name; point != "" {
		text += ", " + point
	}
	if len(c.Quirks) > 0 {
		text += fmt.Sprintf(", quirks %v", c.Quirks)
	}
	return text
}

func (j *Job) log(c *Cell, r *Result) {
	fields := []zap.Field{zap.String("cell", j.name(c))}
	if len(j.Plan.Schedulers[c.Scheduler].Seeds) > 1 {
		fields = append(fields, zap.Uint64("seed", c.Seed))
	}
	for _, key := range j.Plan.Rank {
		if v, has := r.Values[key]; has {
			fields = append(fields, zap.Float64(key, float64(v)))
		}
	}
	j.Log.Info("simulated cell", fields...)
}
