package rigid

import (
	"io"
	"maps"
	"slices"

	"graft/cluster"
	"graft/cluster/study"
	"graft/results"
)

var seriesColumns = []results.Column{
	{Name: "time", Unit: "s", Kind: results.Int}, {Name: "used", Unit: "share"},
	{Name: "running", Unit: "jobs", Kind: results.Int}, {Name: "waiting", Unit: "jobs", Kind: results.Int},
}

// write writes the tables of a simulation.
func (s *simulations) write(t *study.Tables, o *cluster.Outcome) error {
	if t == nil {
		return nil
	}
	if err := t.WriteTo(study.JobsTable, o.WriteJobs); err != nil {
		return err
	}
	if s.Cluster.Compat == CompatLucid {
		if err := t.WriteTo("lucid_jobs", o.WriteLucidJobs); err != nil {
			return err
		}
	}
	if o.Failing {
		if err := t.WriteTo("outages", o.WriteOutages); err != nil {
			return err
		}
	}
	if s.Live.On() {
		if err := writeTimelines(t, o.Changes); err != nil {
			return err
		}
	}
	if s.Cluster.UsageEvery == 0 {
		return nil
	}
	every := s.Cluster.UsageEvery
	if err := t.WriteTo("usage", func(w io.Writer) error { return o.WriteUsage(w, every) }); err != nil {
		return err
	}
	return t.Write(study.SeriesTable, seriesColumns, func(rows *study.Rows) error {
		addSeries(rows, o, every)
		return nil
	})
}

// usedShare returns the share of the devices in service that have a job; zero while no device is in service, as for
// elastic jobs.
func usedShare(u *results.UsageRow) float64 {
	return float64(u.GPUs-u.Idle) / float64(max(1, u.GPUs))
}

// addSeries adds the usage of all virtual clusters at each time that all of them have.
func addSeries(rows *study.Rows, o *cluster.Outcome, every int64) {
	sums, pools := map[int64]results.UsageRow{}, map[int64]int{}
	for _, p := range o.Pools {
		for u := range cluster.Sampled(p.Usage, every, p.Last) {
			sum := sums[u.At]
			sum.GPUs, sum.Idle = sum.GPUs+u.GPUs, sum.Idle+u.Idle
			sum.Running, sum.Waiting = sum.Running+u.Running, sum.Waiting+u.Waiting
			sums[u.At] = sum
			pools[u.At]++
		}
	}
	for _, at := range slices.Sorted(maps.Keys(sums)) {
		if sum := sums[at]; pools[at] == len(o.Pools) {
			rows.Int(at).Float(usedShare(&sum)).Int(sum.Running).Int(sum.Waiting).End()
		}
	}
}
