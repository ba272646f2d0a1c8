package rigid

import (
	"cmp"
	"errors"
	"slices"

	"graft/cluster"
	"graft/cluster/trace"
	"graft/internal/failure"
)

// corrected reports whether the faults of the originals are corrected.
func (s *inputs) corrected() bool {
	return s.Cluster.Compat == compatNone
}

// quirks returns the faults of a scheduler's original that are kept.
func (s *inputs) quirks(p cluster.Policy) cluster.Quirks {
	if s.corrected() {
		return nil
	}
	return p.AllQuirks()
}

// ready reads the schedulers' inputs before anything is written. It returns an error if something is missing or no
// simulation is possible. Simulations share the data.
func (s *inputs) ready() error {
	if err := s.base.Validate(); err != nil {
		return failure.With(failure.Configuration, err)
	}
	if err := s.refuse(); err != nil {
		return err
	}
	if err := errors.Join(s.needsLimits(), s.selectsNone("growth", &s.Growth.Selection),
		s.selectsNone("resizing", &s.Resizing.Selection)); err != nil {
		return err
	}
	for _, name := range s.Schedule.Schedulers {
		p := s.policy(name)
		if _, err := s.with(p, 1); err != nil {
			return err
		}
		if p.Profiles && s.base.Profiles == nil {
			return invalid("%s needs profiles of single models and of pairs; set cluster.data (option data) to a "+
				"folder that contains single_data.csv and colocate_info.csv", name)
		}
	}
	for _, factor := range s.Schedule.ArrivalFactors {
		one, err := s.with(cluster.Policy{}, factor)
		if err != nil {
			return err
		}
		if err := one.Validate(); err != nil {
			return invalid("apply arrival factor %g: %w", factor, err)
		}
	}
	return nil
}

// with returns the study with the estimates for a scheduler and with arrivals factor times as fast.
func (s *inputs) with(p cluster.Policy, factor float64) (*cluster.Study, error) {
	study := s.base
	if study.Estimates == nil && s.source(p) != "" {
		var err error
		if study.Estimates, err = s.estimated(p); err != nil {
			return nil, err
		}
	}
	if factor != 1 {
		study.Jobs = slices.Clone(study.Jobs)
		first := max(study.Begin, study.Jobs[0].Submit)
		for k := range study.Jobs {
			if j := &study.Jobs[k]; j.Submit > first {
				j.Submit = first + int64(min(float64(j.Submit-first)/factor, never))
			}
		}
	}
	return &study, nil
}

// never is a second after the end of every simulation.
const never = 1 << 62

// Sources of estimates that are not files.
const (
	exactDurations = "exact"  // the true durations
	userLimits     = "limits" // the time limits that users requested
)

// source returns the source of a scheduler's estimates; empty means none. A scheduler that only uses estimates if they
// exist gets the users' time limits, as schedulers of real clusters do.
func (s *inputs) source(p cluster.Policy) string {
	source := cmp.Or(s.Schedule.Estimates, p.Estimates)
	if source == "" && p.Foresees && s.corrected() && hasLimits(s.base.Jobs) {
		return userLimits
	}
	return source
}

// oracle reports whether a scheduler uses the true durations of jobs.
func (s *inputs) oracle(p cluster.Policy) bool {
	source := s.source(p)
	estimates := p.Estimates != "" || p.Foresees || p.Estimable
	return p.Oracle || source == exactDurations && estimates || source == "" && p.Foresees
}

func hasLimits(jobs []trace.Job) bool {
	return slices.ContainsFunc(jobs, func(j trace.Job) bool { return j.Limit > 0 })
}

// limits returns the time limits of the jobs. A job without one gets the longest limit of the trace.
func limits(jobs []trace.Job) ([]float64, error) {
	if !hasLimits(jobs) {
		return nil, invalid("the trace has no user time limits; set schedule.estimates (option estimates) to another " +
			"source of durations, or use a trace in slurm or swf format that has time limits")
	}
	longest := slices.MaxFunc(jobs, func(a, b trace.Job) int { return cmp.Compare(a.Limit, b.Limit) }).Limit
	list := make([]float64, len(jobs))
	for k, j := range jobs {
		list[k] = float64(cmp.Or(j.Limit, longest))
	}
	return list, nil
}

// estimated returns the estimates for a scheduler. Each source is read once.
func (s *inputs) estimated(p cluster.Policy) ([]float64, error) {
	source := s.source(p)
	if known := s.estimates[source]; known != nil {
		return known, nil
	}
	list, err := s.readEstimates(source, p.Name)
	if err == nil {
		s.estimates[source] = list
	}
	return list, err
}

func (s *inputs) readEstimates(source, policy string) ([]float64, error) {
	path := source
	switch source {
	case userLimits:
		return limits(s.base.Jobs)
	case exactDurations:
		list := make([]float64, len(s.base.Jobs))
		for k := range list {
			list[k] = float64(s.base.Jobs[k].Duration)
		}
		return list, nil
	case "lgb":
		path = s.data.LGB
	case "ebm":
		path = s.data.EBM
	}
	if path == "" {
		return nil, invalid("%s needs estimated durations of jobs, but cluster.data (option data) has no file "+
			"*_%s*.csv; set schedule.estimates (option estimates) to a file, such as one that 'graft cluster "+
			"estimate' writes, to exact (true durations) or to limits (users' time limits)", policy, source)
	}
	list, err := cluster.ReadEstimates(s.env.Files, path, s.base.Jobs)
	return list, err
}
