package rigid

import (
	"fmt"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/curves"
	"graft/cluster/study"
	"graft/internal/words"
)

// growthMetrics are the metrics of simulations of jobs whose networks grow.
var growthMetrics = []study.Metric{
	{Name: "accuracy", Unit: "share", Title: "accuracy", About: "mean accuracy of the networks at the ends of all " +
		"jobs, computed from learning curves", Better: study.Higher, Format: "%.2f%%", Main: true},
	{Name: "accuracy_never", Unit: "share", Title: "never grown", About: "mean accuracy that the networks would have " +
		"without growth after their work in the trace", Better: study.Neutral, Format: "%.2f%%"},
	{Name: "grown", Unit: "jobs", Title: "grown", About: "jobs whose networks grew", Better: study.Neutral,
		Format: "%.0f", Total: true},
	{Name: "worse", Unit: "jobs", Title: "worse", About: "jobs that growth made worse: they ended with a " +
		"lower accuracy, or needed more work, than without growth", Better: study.Lower, Format: "%.0f", Total: true},
	{Name: "missed", Unit: "jobs", Title: "missed", About: "jobs that ended without the accuracy at which they were " +
		"to end", Better: study.Lower, Format: "%.0f", Total: true},
}

// compared are the metrics whose differences between settings and from the baseline are reported.
var compared = []string{"jct_mean_s", "queue_mean_s", "accuracy_share", "live_jct_mean_s", "allocated_gpu_h",
	"energy_kwh"}

// readGrowth reads the learning curves.
func (s *inputs) readGrowth() error {
	if !s.Growth.On() {
		return nil
	}
	list, err := curves.Read(s.env.Files, s.Growth.Curves)
	if err != nil {
		return fmt.Errorf("growth.curves: %w", err)
	}
	s.population = curves.NewPopulation(s.Growth, list)
	if s.base.Speed == nil {
		s.base.Speed = cluster.LinearSpeed{Profiles: s.base.Profiles}
	}
	s.base.Speed = s.population.Speed(s.base.Speed)
	return nil
}

// setting is a combination of swept values.
type setting struct {
	factor    float64 // of the arrivals
	resizable float64 // share of the jobs that can be resized
	growing   float64 // share of the jobs that can grow
	adapts    bool    // whether live jobs that end by their losses adapt
}

// settings lists the combinations of swept values, in the order of the points of the plan.
func (f *File) settings() (list []setting) {
	growing := []float64{0}
	if f.Growth.On() {
		growing = f.Growth.Shares
	}
	for _, factor := range f.Schedule.ArrivalFactors {
		for _, resizable := range f.Resizing.shares() {
			for _, share := range growing {
				list = append(list, setting{factor, resizable, share, false})
				if f.Live.Waits() {
					list = append(list, setting{factor, resizable, share, true})
				}
			}
		}
	}
	return list
}

// adapting reports whether settings differ in the adaptation of jobs.
func (f *File) adapting() bool { return f.Growth.On() || f.Live.Waits() || f.Resizing.On() }

// points returns the points of the plan.
func (f *File) points() (list []study.Point) {
	points := f.Schedule.Points()
	if !f.adapting() {
		return points
	}
	all := f.settings()
	each := len(all) / len(points)
	for k, at := range all {
		p := points[k/each]
		one := study.Point{Name: p.Name, Values: map[string]float64{}}
		for key, value := range p.Values {
			one.Values[key] = value
		}
		add := func(name string) { one.Name = strings.TrimPrefix(one.Name+", "+name, ", ") }
		if f.Resizing.On() {
			if one.Values["resizable_share"] = at.resizable; len(f.Resizing.Shares) > 1 {
				add(fmt.Sprintf("resizable %g", at.resizable))
			}
		}
		if f.Growth.On() {
			if one.Values["growing_share"] = at.growing; len(f.Growth.Shares) > 1 {
				add(fmt.Sprintf("growing %g", at.growing))
			}
		}
		if f.Live.Waits() {
			if one.Values["live_adapts"] = 0; at.adapts {
				one.Values["live_adapts"] = 1
				add("live jobs adapt")
			} else {
				add("live jobs never adapt")
			}
		}
		list = append(list, one)
	}
	return list
}

// withAdaptation adds the adaptation of jobs to a plan.
func (s *simulations) withAdaptation(p *study.Plan) {
	if !s.adapting() {
		return
	}
	p.PairSeeds = true
	all, least := s.settings(), 0.0
	if s.Growth.On() {
		p.Metrics, least = slices.Concat(p.Metrics, growthMetrics), slices.Min(s.Growth.Shares)
		p.Remarks = append(p.Remarks, s.aboutGrowth()...)
		asks := func(c Scheduler) bool { return c.IsLearned() || c.Kind.Name == "offers" }
		if s.Growth.NoiseScale > 0 && !slices.ContainsFunc(s.candidates, asks) {
			p.Remarks = append(p.Remarks, "growth.noise_scale has no effect: only offers and learned schedulers "+
				"give jobs more GPUs than they request.")
		}
	}
	if n := s.fewerLive(); n > 0 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("live.count is %d, but a trace has only %s with GPUs; all of them "+
			"are live.", s.Live.Count, words.Plural(n, "job")))
	}
	if s.Live.Waits() {
		p.Metrics, p.Remarks = slices.Concat(p.Metrics, liveMetrics), append(p.Remarks, s.aboutLive())
	}
	resizable := slices.Min(s.Resizing.shares())
	for k := range all {
		p.Bases = append(p.Bases, slices.Index(all, setting{all[k].factor, resizable, least, false}))
	}
}

// aboutGrowth describes what is simulated.
func (s *simulations) aboutGrowth() []string {
	o, ends := &s.Growth, "Jobs end after their work in the trace."
	if o.Ends == curves.ByAccuracy {
		ends = fmt.Sprintf("Jobs end when their networks are as accurate as without growth after their work in the "+
			"trace, at the latest after %g times this work.", o.MostWork)
	}
	knowledge := "Jobs decide with the median effect of growth over all curves."
	if o.Knowledge == curves.OwnKnowledge {
		knowledge = "Jobs decide with the effect of growth in their own curves (oracle)."
	}
	shares := fmt.Sprintf("%g%% of these jobs can grow.", 100*o.Shares[0])
	if len(o.Shares) > 1 {
		shares = "growing N means that a share N of these jobs can grow."
	}
	return []string{"Accuracies are computed from " + o.Curves + ": no network is trained. Networks grow, but do not " +
		"shrink.", s.whoGrows(), ends, knowledge, shares}
}

// whoGrows describes the jobs whose networks can grow.
func (s *simulations) whoGrows() string {
	o := &s.Growth
	if !o.Selects() {
		return "Every job counts as a training whose network can grow, whatever it ran; growth.states, " +
			"growth.min_hours and growth.min_gpus select jobs."
	}
	return fmt.Sprintf("Only %s can grow: %s.", words.Plural(s.selected(&o.Selection), "job"), &o.Selection)
}

// addGrowth adds the metrics of networks that grow.
func addGrowth(v study.Values, o *cluster.Outcome) {
	jobs, grown, worse, missed, accuracy, never := 0, 0, 0, 0, 0.0, 0.0
	for _, p := range o.Pools {
		l, learns := p.Learner.(*curves.Learner)
		if !learns {
			continue
		}
		for _, j := range p.Jobs {
			r := l.Result(j)
			jobs++
			accuracy, never = accuracy+r.Accuracy, never+r.Never
			if r.Network.Total() > 0 {
				grown++
			}
			if r.Worse {
				worse++
			}
			if r.Missed {
				missed++
			}
		}
	}
	if jobs > 0 {
		v["accuracy_share"], v["accuracy_never_share"] = finite(accuracy/float64(jobs)), finite(never/float64(jobs))
		v["grown_jobs"], v["worse_jobs"] = study.Number(grown), study.Number(worse)
		v["missed_jobs"] = study.Number(missed)
	}
}
