package adaptive

import (
	"context"
	"fmt"

	"graft/cluster"
	"graft/internal/stat"
	"graft/report/runs"
)

// worth simulates the first workload with each quirk alone, and without any.
func (s *study) worth(ctx context.Context) (*runs.AdaptiveWorth, error) {
	o := &runs.AdaptiveWorth{Workload: s.outcome.Workloads[0], Quirks: []runs.AdaptiveQuirkWorth{}}
	var quirks []cluster.Quirks // of each of the further simulations
	for _, name := range s.config.Schedule.Schedulers {
		d, err := s.config.Scheduler(name, s.config.Schedule.Seed)
		if err != nil {
			return nil, err
		}
		list := d.Kind.Quirks
		if d.Rigid != nil {
			list = d.Rigid.Quirks
		}
		for k, q := range list {
			if k == 0 {
				o.Quirks, quirks = append(o.Quirks, runs.AdaptiveQuirkWorth{Scheduler: name}), append(quirks, nil)
			}
			o.Quirks = append(o.Quirks, runs.AdaptiveQuirkWorth{Scheduler: name, Quirk: q.Name, Fixed: q.Fixed})
			quirks = append(quirks, cluster.QuirksOf([]cluster.Quirk{q}))
		}
	}
	times := make([][]float64, len(quirks))
	err := s.pool().Each(ctx, len(quirks), func(k int) error {
		r, err := s.result(ctx, 0, o.Quirks[k].Scheduler, s.config.Schedule.Seed, quirks[k])
		if err != nil {
			return fmt.Errorf("with quirks %v: %w", quirks[k], err)
		}
		times[k] = r.times()
		return nil
	}).First()
	if err != nil {
		return nil, err
	}
	o.Quirks = worths(o.Quirks, times)
	return o, nil
}

// worths compares each simulation with a quirk with the one before it without any, of the same scheduler.
func worths(list []runs.AdaptiveQuirkWorth, times [][]float64) (with []runs.AdaptiveQuirkWorth) {
	with = []runs.AdaptiveQuirkWorth{}
	none := 0
	for k, q := range list {
		if q.Quirk == "" {
			none = k
			continue
		}
		q.Without, q.Mean = stat.Mean(times[none]), stat.Mean(times[k])
		for job, t := range times[k] {
			if t != times[none][job] {
				q.Changed++
			}
		}
		with = append(with, q)
	}
	return with
}
