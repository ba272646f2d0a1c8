package adaptive

import (
	"context"
	"encoding/json"
	"path/filepath"

	"go.uber.org/zap"

	"graft/cluster"
	"graft/config"
	"graft/internal/files"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/runner/app"
)

// study holds the simulations of a run.
type study struct {
	env     *app.Env
	config  *config.Adaptive
	folder  string
	outcome *runs.AdaptiveOutcome
	at      []int       // workload of each cell, by its place
	times   [][]float64 // times to completion of each cell, by job
}

// newStudy lists the simulations, workload by workload.
func newStudy(env *app.Env, c *config.Adaptive, folder string) *study {
	o := &runs.AdaptiveOutcome{Data: c.Adaptive.Data, Nodes: c.Adaptive.Nodes, Devices: c.Adaptive.Devices,
		Interval: c.Adaptive.Interval, Compat: c.Adaptive.Compat, Quirks: append([]string{}, c.Quirks()...),
		Workloads: []string{}}
	s := &study{env: env, config: c, folder: folder, outcome: o}
	for at, w := range c.Workloads() {
		o.Workloads, o.Jobs = append(o.Workloads, w.Name), o.Jobs+len(w.Study.Jobs)
		for _, name := range c.Schedule.Schedulers {
			d, _ := c.Scheduler(name, 0) // it was validated
			seeds := 1
			if d.Draws() {
				seeds = c.Schedule.Seeds
			}
			for k := range seeds {
				cell := runs.AdaptiveCell{Workload: w.Name, Scheduler: name, Rigid: d.Rigid != nil}
				if d.Draws() {
					cell.Seed = c.Schedule.Seed + uint64(k)
				}
				o.Cells, s.at = append(o.Cells, cell), append(s.at, at)
			}
		}
	}
	s.times = make([][]float64, len(o.Cells))
	return s
}

// simulate runs the simulations, several at a time.
func (s *study) simulate(ctx context.Context) error {
	errs := s.pool().Each(ctx, len(s.outcome.Cells), func(k int) error { return s.cell(ctx, k) })
	if err := ctx.Err(); err != nil {
		return err // and not once for each simulation
	}
	return errs.Join()
}

func (s *study) pool() parallel.Pool { return parallel.Pool{Workers: s.config.Schedule.Workers} }

// cell runs a simulation and saves its outcome, unless it was saved before.
func (s *study) cell(ctx context.Context, k int) error {
	if s.restore(k) {
		return nil
	}
	c := &s.outcome.Cells[k]
	r, err := s.result(ctx, s.at[k], c.Scheduler, c.Seed, s.config.Quirks())
	if err != nil {
		return err
	}
	r.summarize(c)
	s.times[k] = r.times()
	s.env.Log.Info("simulated", zap.String("workload", c.Workload), zap.String("scheduler", c.Scheduler),
		zap.Int("jobs", c.Jobs), zap.Float64("jct_s", app.Rounded(c.Mean)))
	return s.save(k, r)
}

// result simulates a workload under a scheduler.
func (s *study) result(ctx context.Context, workload int, scheduler string, seed uint64,
	quirks cluster.Quirks) (*result, error) {
	d, err := s.config.Scheduler(scheduler, seed)
	if err != nil {
		return nil, err
	}
	jobs := s.config.Workloads()[workload].Study
	jobs.Options.Quirks = quirks
	if d.Rigid != nil {
		return rigid(ctx, jobs, d)
	}
	return adapting(ctx, jobs, d.Kind)
}

// cellFile keeps a simulation that ended, in its folder, until the run has its outcome.
const cellFile = "cell.json"

// largestCell limits the size of a cellFile, in bytes.
const largestCell = 1 << 30

// savedCell is the content of a cellFile.
type savedCell struct {
	Inputs string // digest of what was simulated
	Cell   *runs.AdaptiveCell
	Times  []float64 // to completion, by job
}

func (s *study) inputs() string { return runs.DigestOfTexts(s.config.Digest(), s.env.Version) }

func (s *study) path(k int, name string) string {
	return filepath.Join(s.folder, s.outcome.CellFolder(&s.outcome.Cells[k]), name)
}

// restore reads a simulation that ended before the run was killed, and returns whether there is one of the
// same inputs.
func (s *study) restore(k int) bool {
	text, err := files.ReadAll(s.env.Files, s.path(k, cellFile), largestCell)
	var saved savedCell
	if err != nil || json.Unmarshal(text, &saved) != nil || saved.Inputs != s.inputs() || saved.Cell == nil {
		return false
	}
	s.outcome.Cells[k], s.times[k] = *saved.Cell, saved.Times
	return true
}

// save writes the tables of a simulation, and last the file from which it is restored.
func (s *study) save(k int, r *result) error {
	if err := s.env.Files.MkdirAll(filepath.Dir(s.path(k, cellFile))); err != nil {
		return err
	}
	files.RemoveLeftovers(s.env.Files, filepath.Dir(s.path(k, cellFile)))
	text, err := json.Marshal(savedCell{s.inputs(), &s.outcome.Cells[k], s.times[k]})
	if err != nil {
		return err
	}
	for _, file := range []struct{ name, text string }{{runs.AdaptiveJobsFile, r.jobTable()},
		{runs.AdaptiveRoundsFile, roundColumns + r.rounds.String()},
		{runs.AdaptiveAllocationsFile, allocationColumns + r.allocations.String()}, {cellFile, string(text)}} {
		if err := s.env.WriteText(s.path(k, file.name), file.text); err != nil {
			return err
		}
	}
	return nil
}

// forget removes what was saved: the run has its outcome.
func (s *study) forget() error {
	for k := range s.outcome.Cells {
		if err := s.env.Files.Remove(s.path(k, cellFile)); err != nil && !runs.NotThere(err) {
			return err
		}
	}
	return nil
}

// compare fills in what compares schedulers: job by job on each workload, and by means over workloads and
// seeds.
func (s *study) compare() {
	o, first := s.outcome, -1
	for k := range o.Cells {
		c := &o.Cells[k]
		if first < 0 || o.Cells[first].Workload != c.Workload {
			first = k
			continue
		}
		differences := make([]float64, c.Jobs)
		for job := range differences {
			differences[job] = s.times[k][job] - s.times[first][job]
		}
		if i := stat.MeanInterval(differences, 1); c.Jobs > 1 {
			c.Against = &i
		}
	}
	if len(o.Workloads) > 1 {
		o.JCT = s.ranking()
	}
}

// ranking compares the means of all workloads.
func (s *study) ranking() *runs.Ranking {
	r := &runs.Ranking{Against: s.config.Schedule.Schedulers[0], Bounds: []float64{}}
	for _, name := range s.config.Schedule.Schedulers {
		means, seeds := make([][]float64, len(s.outcome.Workloads)), 0
		for k, c := range s.outcome.Cells {
			if c.Scheduler == name {
				means[s.at[k]] = append(means[s.at[k]], c.Mean)
			}
		}
		if d, err := s.config.Scheduler(name, 0); err == nil && d.Draws() {
			seeds = s.config.Schedule.Seeds
		}
		r.Standings = append(r.Standings, runs.NewElasticStanding(name, seeds, means, nil))
	}
	r.Rank()
	return r
}
