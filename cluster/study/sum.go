package study

import (
	"context"
	"maps"
	"math"
	"slices"

	"graft/internal/stat"
)

// outcome combines the results.
func (j *Job) outcome(ctx context.Context) (*Outcome, error) {
	p := j.Plan
	o := &Outcome{
		Folder: j.Folder, World: j.World, Title: p.Title, Remarks: slices.Clone(p.Remarks), Facts: maps.Clone(p.Facts),
		Jobs: p.Jobs, Against: j.against(), Metrics: p.Metrics, Ranked: p.Rank, Points: p.Points,
		Workloads: p.Workloads, Rankings: []Ranking{}, References: []Reference{}, Ablation: []Effect{},
		Left: []LeftOut{},
	}
	for k := range p.Schedulers {
		s := &p.Schedulers[k]
		o.Schedulers = append(o.Schedulers, Candidate{s.Name, s.Draws(), s.Learned, s.Mark})
	}
	if p.References != nil {
		var err error
		if o.References, err = p.References(ctx); err != nil {
			return nil, err
		}
	}
	j.addCells(o)
	j.addSummaries(o)
	j.addChanges(o)
	j.addFromBaseline(o)
	for point := range p.Points {
		j.rank(o, point)
	}
	j.addEffects(o)
	if p.Remark != nil {
		o.Remarks = append(o.Remarks, p.Remark(o)...)
	}
	return o, nil
}

func (j *Job) against() string {
	if j.Plan.Against != "" {
		return j.Plan.Against
	}
	return j.Plan.Schedulers[0].Name
}

// addCells adds each simulation, with its intervals over jobs.
func (j *Job) addCells(o *Outcome) {
	p, most := j.Plan, 0
	for k := range j.cells {
		c, s := &j.cells[k], j.results[k]
		out := CellOutcome{
			Point: p.Points[c.Point].Name, Workload: p.Workloads[c.Workload], Scheduler: p.Schedulers[c.Scheduler].Name,
			Seed: c.Seed, Folder: p.folder(c), Values: s.Values, Parts: s.Parts, Left: s.Left, Facts: s.Facts,
		}
		if len(p.Workloads) == 1 {
			out.Interval = p.interval(OfMean, c.Point, c.Workload, s.floats())
		}
		if base := j.baseline(c); p.PairJobs && base != nil && base != s {
			out.Difference = p.interval(OfDifference, c.Point, c.Workload, s.less(base))
		}
		if n := leftJobs(s.Left); n > most {
			o.Left, most = s.Left, n
		}
		o.Cells = append(o.Cells, out)
	}
	correct(o.Cells, p.pairsSeeds())
}

// family identifies the cells whose p-values are corrected together, because they have the same baseline.
type family struct {
	point, workload string
	seed            uint64
}

// correct sets the p-values of the differences. With bySeed, each seed has its own baseline.
func correct(cells []CellOutcome, bySeed bool) {
	values, families := map[family][]float64{}, make([]family, len(cells))
	for k, c := range cells {
		of := family{c.Point, c.Workload, 0}
		if bySeed {
			of.seed = c.Seed
		}
		p := math.NaN()
		if d := c.Difference; d.Whole() {
			p = stat.Interval{Mean: float64(d.Mean), Low: float64(d.Low), High: float64(d.High)}.PValue()
		}
		families[k], values[of] = of, append(values[of], p)
	}
	for of := range values {
		values[of] = stat.Holm(values[of])
	}
	for k := range cells {
		of := families[k]
		cells[k].P, values[of] = known(values[of][0]), values[of][1:]
	}
}

func leftJobs(list []LeftOut) (n int) {
	for _, l := range list {
		n += l.Jobs
	}
	return n
}

// baseline is the first result of the baseline on the workload of a cell or, with PairSeeds, the result of the cell's
// seed; nil if they are not compared.
func (j *Job) baseline(c *Cell) *saved {
	at := j.Plan.scheduler(j.against())
	for k := range j.cells {
		b := &j.cells[k]
		if b.Scheduler == at && b.Point == c.Point && b.Workload == c.Workload && (!j.Plan.pairsSeeds() ||
			b.Seed == c.Seed) {
			return j.results[k]
		}
	}
	return nil
}

// addSummaries adds each scheduler at each point.
func (j *Job) addSummaries(o *Outcome) {
	for p, point := range o.Points {
		for k, s := range o.Schedulers {
			var cells []CellOutcome
			var values []Values
			for _, c := range o.Cells {
				if c.Point == point.Name && c.Scheduler == s.Name {
					cells, values = append(cells, c), append(values, c.Values)
				}
			}
			runs := max(1, len(cells)/len(o.Workloads))
			o.Summaries = append(o.Summaries, Summary{Point: point.Name, Scheduler: s.Name, Cells: len(cells),
				Values: merged(o.Metrics, values, runs), Parts: mergedParts(o.Metrics, cells, runs),
				Interval: j.summaryInterval(p, k, cells)})
		}
	}
}

// summaryInterval returns the interval of a scheduler's cells at a point; nil if there is none.
func (j *Job) summaryInterval(point, scheduler int, cells []CellOutcome) *Interval {
	switch {
	case len(cells) == 1:
		return cells[0].Interval
	case j.Plan.Crossed == nil || len(j.Plan.Workloads) > 1:
		return nil
	}
	var samples [][]float64
	for _, s := range j.seeds(point, scheduler) {
		samples = append(samples, s.floats())
	}
	return j.Plan.Crossed(point, samples)
}

// rank adds the rankings of a point. A single workload has no rankings.
func (j *Job) rank(o *Outcome, point int) {
	p := j.Plan
	if len(p.Workloads) < 2 {
		return
	}
	for _, key := range p.Rank {
		m := p.metric(key)
		r := Ranking{Point: p.Points[point].Name, Metric: key, Unit: m.Unit, Against: o.Against,
			Bounds: o.bounds(p.Points[point].Name, key), Higher: m.Better == Higher}
		for k := range p.Schedulers {
			r.Add(p.Schedulers[k].Name, p.Schedulers[k].Learned, j.table(point, k, key))
		}
		r.Finish()
		o.Rankings = append(o.Rankings, r)
	}
}

// bounds returns the values of a reference that no scheduler can beat, by workload.
func (o *Outcome) bounds(point, key string) []float64 {
	list := []float64{}
	for _, r := range o.References {
		if r.Bound && r.Point == point && r.Metric == key {
			for _, v := range r.Values {
				list = append(list, float64(v))
			}
			return list
		}
	}
	return list
}

// table returns a metric of a scheduler by workload and seed; NaN if a cell does not have it.
func (j *Job) table(point, scheduler int, key string) [][]float64 {
	rows := make([][]float64, len(j.Plan.Workloads))
	for k := range j.cells {
		c := &j.cells[k]
		if c.Point != point || c.Scheduler != scheduler {
			continue
		}
		v, has := j.results[k].Values[key]
		if !has {
			v = Number(math.NaN())
		}
		rows[c.Workload] = append(rows[c.Workload], float64(v))
	}
	return rows
}

// addEffects adds the effect of each quirk.
func (j *Job) addEffects(o *Outcome) {
	for _, a := range j.Plan.Ablation {
		for point := range max(1, j.Plan.AblatePoints) {
			none := j.withQuirk(a.Scheduler, point, "")
			for _, q := range a.Quirks {
				e := j.effect(point, none, j.withQuirk(a.Scheduler, point, q.Name))
				e.Point, e.Scheduler = j.Plan.Points[point].Name, j.Plan.Schedulers[a.Scheduler].Name
				e.Quirk, e.Fixed = q.Name, q.Fixed
				o.Ablation = append(o.Ablation, e)
			}
		}
	}
}

// withQuirk returns the results of an ablation with one quirk or without quirks.
func (j *Job) withQuirk(scheduler, point int, quirk string) (list []*saved) {
	if quirk == "" && j.Plan.NoQuirks {
		return j.plain(scheduler, point)
	}
	for k := range j.ablations {
		c := &j.ablations[k]
		if c.Scheduler == scheduler && c.Point == point &&
			(quirk == "" && len(c.Quirks) == 0 || slices.Contains(c.Quirks, quirk)) {
			list = append(list, j.withQuirks[k])
		}
	}
	return list
}

// plain returns the results of the cells that an ablation compares with if cells keep no quirk.
func (j *Job) plain(scheduler, point int) (list []*saved) {
	runs, workloads := max(1, j.Plan.Schedulers[scheduler].Learned), max(1, j.Plan.AblateWorkloads)
	for k := range j.cells {
		c := &j.cells[k]
		if c.Scheduler == scheduler && c.Point == point && c.Run < runs && c.Workload < workloads {
			list = append(list, j.results[k])
		}
	}
	return list
}

func (j *Job) effect(point int, without, with []*saved) (e Effect) {
	var samples []float64
	for k, s := range with {
		e.Changed += s.changed(without[k])
		samples = append(samples, s.less(without[k])...)
	}
	e.Without, e.With = j.ranked(without), j.ranked(with)
	if len(samples) > 0 {
		e.Difference = j.Plan.interval(OfQuirk, point, 0, samples)
	}
	return e
}

// ranked returns the means of the ranked metrics.
func (j *Job) ranked(list []*saved) Values {
	var values []Values
	for _, s := range list {
		values = append(values, s.Values)
	}
	all := merged(j.Plan.Metrics, values, 1)
	maps.DeleteFunc(all, func(key string, _ Number) bool { return !slices.Contains(j.Plan.Rank, key) })
	return all
}
