package world

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"graft/cluster/fabric"
	"graft/cluster/study"
	"graft/internal/failure"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/internal/words"
)

// simulations runs the cells of a file.
type simulations struct {
	*File
	points   []point
	settings settings
	plans    [][]*fabric.Plan // of Exact, by point and episode
}

// mostStates bounds the states that a search visits.
const mostStates = 100_000

// Prepare searches for the plans of the scheduler Exact, if it is requested. If a search is too large, the study fails
// before it begins.
func (s *simulations) Prepare(ctx context.Context, _ study.Env, _ bool) error {
	if !slices.Contains(s.Schedule.Schedulers, Exact) {
		return nil
	}
	episodes := s.Demand.TestCount
	s.plans = make([][]*fabric.Plan, len(s.points))
	for k := range s.plans {
		s.plans[k] = make([]*fabric.Plan, episodes)
	}
	var failed atomic.Int64
	failed.Store(math.MaxInt64)
	err := s.pool().Each(ctx, len(s.points)*episodes, func(k int) (err error) {
		if int64(k) > failed.Load() {
			return nil // the study does not start
		}
		if s.plans[k/episodes][k%episodes], err = s.search(ctx, k/episodes, k%episodes); err != nil {
			failed.Store(int64(k))
		}
		return err
	}).First()
	return cmp.Or(ctx.Err(), err)
}

func (f *File) pool() parallel.Pool { return parallel.Pool{Workers: f.Schedule.Workers} }

// search finds the degrees that block the fewest jobs of an episode.
func (s *simulations) search(ctx context.Context, point, episode int) (*fabric.Plan, error) {
	at := s.setting(point, s.Fabric.quirks())
	jobs, err := at.episode(episode)
	var plan *fabric.Plan
	if err == nil {
		plan, err = fabric.Exact(ctx, jobs, mostStates)
	}
	if err == nil {
		return plan, nil
	}
	name := strings.TrimSuffix(fmt.Sprintf("%s, %s, %s", Exact, episodeName(episode), s.points[point].name()), ", ")
	err = fmt.Errorf("%s: %w (demand.jobs is %d)", name, err, s.Demand.Jobs)
	if errors.Is(err, fabric.ErrTooLarge) {
		err = failure.With(failure.Configuration, err)
	}
	return nil, err
}

// episodeName is the name of an episode, counted from 0, as a workload.
func episodeName(k int) string { return fmt.Sprintf("episode-%d", k+1) }

// Plan lists the simulations to run: one per scheduler, episode, combination of swept values and seed.
func (s *simulations) Plan() *study.Plan {
	p := &study.Plan{
		Title: s.title(), Metrics: metrics, Rank: []string{"blocked_share", "jct_mean_s"}, Against: s.Schedule.Against,
		Workers: s.Schedule.Workers, Jobs: s.Demand.TestCount * s.Demand.Jobs, Interval: meanOnly,
		PairJobs: true, AblateWorkloads: s.Demand.TestCount, References: s.infeasible, Remark: chosenConstants,
		Facts: map[string]any{
			"network": s.Fabric.Network, "servers": s.Fabric.servers(), "episodes": s.Demand.TestCount,
			"episode_jobs": s.Demand.Jobs, "strategy": s.Fabric.Strategy, "quirks": s.Fabric.Quirks,
		},
	}
	if len(s.Vary.Networks) > 0 {
		delete(p.Facts, "network")
		delete(p.Facts, "servers")
		p.Facts["networks"] = s.Vary.Networks
	}
	for k := range s.points {
		p.Points = append(p.Points, s.points[k].plan())
	}
	for k := range s.Demand.TestCount {
		p.Workloads = append(p.Workloads, episodeName(k))
	}
	if d := s.Demand.demand(nil); d.Swing > 0 {
		load := "demand.load"
		if d.Every > 0 {
			load = "the load without swing"
		}
		p.Remarks = append(p.Remarks, fmt.Sprintf("With demand.swing = %g, the mean load is %.2f times %s.", d.Swing,
			d.Mean(), load))
	}
	for _, text := range s.Warnings() {
		p.Remarks = append(p.Remarks, "Warning: "+text)
	}
	for k := range s.schedulers {
		p.Schedulers = append(p.Schedulers, s.planned(&s.schedulers[k]))
		p.Remarks = append(p.Remarks, s.remarks(&s.schedulers[k], s.points)...)
	}
	if s.Schedule.Ablate {
		p.Ablation = []study.Ablation{{Scheduler: 0, Quirks: fabric.Quirks()}}
	}
	return p
}

func (f *File) title() string {
	return fmt.Sprintf("%s of %s each, on %s; every scheduler gets the same jobs",
		words.Plural(f.Demand.TestCount, "episode"), words.Plural(f.Demand.Jobs, "job"), f.networks())
}

// networks describes the simulated networks: the network of the cluster, or the swept ones.
func (f *File) networks() string {
	if len(f.Vary.Networks) == 0 {
		return f.Fabric.Network + " with " + words.Plural(f.Fabric.servers(), "server")
	}
	var list []string
	for _, text := range f.Vary.Networks {
		if o, err := f.Fabric.network().Renamed(text); err == nil { // validated
			list = append(list, o.Named()+" with "+words.Plural((&Options{Size: o.Size}).servers(), "server"))
		}
	}
	return words.Some(list, mostNamed)
}

// mostNamed is the maximum number of networks in a title.
const mostNamed = 4

// planned converts a scheduler to a scheduler of the plan.
func (f *File) planned(l *Scheduler) study.Scheduler {
	p := study.Scheduler{Name: l.Kind.Name, Learned: l.Policies()}
	for k := 0; l.Kind.Draws() && k < f.Schedule.Seeds; k++ {
		p.Seeds = append(p.Seeds, f.Schedule.Seed+uint64(k))
	}
	return p
}

// meanOnly returns a mean without an interval over jobs, because blocked jobs of an episode depend on each other.
func meanOnly(_ study.Of, _, _ int, samples []float64) *study.Interval {
	none := study.Number(math.NaN())
	return &study.Interval{Mean: study.Number(stat.Mean(samples)), Low: none, High: none}
}

// Simulate runs one simulation of the plan.
func (s *simulations) Simulate(ctx context.Context, c *study.Cell) (*study.Result, error) {
	quirks := s.Fabric.quirks()
	if c.Ablated {
		quirks = c.Quirks
	}
	at := s.setting(c.Point, quirks)
	d, degree, err := s.decider(ctx, c, at)
	if err != nil {
		return nil, err
	}
	w, err := at.play(ctx, c.Workload, d)
	if err != nil {
		return nil, err
	}
	r := resultOf(w)
	if degree > 0 {
		r.Facts = map[string]string{"degree": fmt.Sprint(degree)}
	}
	if c.Ablated {
		r.States = statesOf(w)
		return r, nil
	}
	return r, errors.Join(writeJobs(c.Tables, w), s.writeSpans(c, w))
}

// decider returns the decider of a cell, and the degree if it is BestConstant.
func (s *simulations) decider(ctx context.Context, c *study.Cell,
	at *setting) (d fabric.Decider, degree int, err error) {
	switch l := &s.schedulers[c.Scheduler]; l.Kind.Name {
	case BestConstant:
		degree, err = at.bestConstant(ctx)
		return fabric.Constant{Parts: degree}, degree, err
	case Exact:
		return fabric.Replay{Degrees: s.plans[c.Point][c.Workload].Degrees}, 0, nil
	default:
		kind := l.Kind
		if l.IsLearned() {
			kind = l.Kinds()[c.Run]
		}
		return kind.New(s.draws(c.Workload, c.Seed)), 0, nil
	}
}

// infeasible returns the shares of jobs that every scheduler blocks.
func (s *simulations) infeasible(ctx context.Context) (all []study.Reference, err error) {
	episodes := s.Demand.TestCount
	shares := make([]float64, len(s.points)*episodes)
	err = s.pool().Each(ctx, len(shares), func(k int) error {
		jobs, err := s.setting(k/episodes, s.Fabric.quirks()).episode(k % episodes)
		if err != nil {
			return err
		}
		n, err := jobs.Hopeless(ctx)
		shares[k] = float64(n) / float64(s.Demand.Jobs)
		return err
	}).First()
	for k := range s.points {
		all = append(all, study.NewReference("floor", "jobs that are infeasible even on an empty cluster",
			"blocked_share", s.points[k].name(), shares[k*episodes:(k+1)*episodes]))
	}
	return all, err
}

// chosenConstants states the degree of BestConstant at each point.
func chosenConstants(o *study.Outcome) []string {
	var all []string
	for _, p := range o.Points {
		k := slices.IndexFunc(o.Cells, func(c study.CellOutcome) bool {
			return c.Point == p.Name && c.Scheduler == BestConstant
		})
		if k < 0 {
			continue
		}
		text := "degree " + o.Cells[k].Facts["degree"]
		if p.Name != "" {
			text += " at " + p.Name
		}
		all = append(all, text)
	}
	if all == nil {
		return nil
	}
	return []string{fmt.Sprintf("%s has %s.", BestConstant, strings.Join(all, "; "))}
}
