package schedulers

import (
	"cmp"
	"fmt"
	"slices"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/cluster/schedtest"
	"graft/cluster/trace"
)

// outcome holds the result of the reference.
type outcome struct {
	kind     string
	c        *schedtest.Case
	jobs     []*tjob // in order of submission
	refused  []cluster.Refusal
	pools    []*ticker // nil for a pool without a simulation
	members  [][]*tjob
	scalings int
	stuck    bool
}

// ticked simulates a case with the reference.
func ticked(kind string, c *schedtest.Case) *outcome {
	o := &outcome{kind: kind, c: c, members: make([][]*tjob, len(c.Study.VCs))}
	nodes := make([]int, len(c.Study.VCs))
	for k, vc := range c.Study.VCs {
		nodes[k] = vc.Nodes
	}
	for k := range c.Study.Jobs {
		o.admit(k)
	}
	var echo []schedtest.Scaling
	if kind == "lucid" {
		echo = o.profile(nodes)
	}
	o.refuseLarge(nodes)
	for k, vc := range c.Study.VCs {
		var jobs []*tjob
		until := int64(0)
		for _, j := range o.members[k] {
			if j.skipped {
				until = max(until, j.Submit)
			} else {
				jobs = append(jobs, j)
			}
		}
		s := newTicker(kind, nodes[k], &c.Study, c.Options, jobs)
		s.until = until
		s.divide(vc.Name)
		if vc.Name == c.Profiler.Echo {
			s.scalings = echo
		}
		if k == 0 && len(c.Scalings) > 0 {
			s.scalings = slices.Clone(c.Scalings)
		}
		o.stuck = !s.simulate() || o.stuck
		o.pools = append(o.pools, s)
	}
	return o
}

func (o *outcome) admit(k int) {
	t := &o.c.Study.Jobs[k]
	pool := -1
	for at, vc := range o.c.Study.VCs {
		if vc.Name == t.VC {
			pool = at
		}
	}
	switch {
	case pool < 0:
		o.refused = append(o.refused, cluster.Refusal{ID: t.ID, Why: "unknown virtual cluster"})
	case t.GPUs <= 0:
		o.refused = append(o.refused, cluster.Refusal{ID: t.ID, Why: "no devices requested"})
	case t.Duration < 0:
		o.refused = append(o.refused, cluster.Refusal{ID: t.ID, Why: "negative duration"})
	default:
		j := &tjob{Job: t, index: k, arrival: t.Submit, estimate: o.c.Study.Estimates[k], priority: -1}
		j.fresh(t.Duration)
		if o.kind == "qssf" || o.kind == "lucid" {
			j.priority = j.estimate * float64(j.GPUs)
		}
		o.jobs = append(o.jobs, j)
		o.members[pool] = append(o.members[pool], j)
	}
}

// fresh resets a job to the state before its first run.
func (j *tjob) fresh(seconds int64) {
	j.remain, j.rate, j.factor, j.exclusive = float64(seconds), 1, 1, true
	j.start, j.end = cluster.Never, cluster.Never
}

// profile runs jobs in the profiler, which takes its nodes from virtual clusters. It returns the resulting node changes
// of another virtual cluster.
func (o *outcome) profile(nodes []int) (echo []schedtest.Scaling) {
	p := o.c.Profiler
	for k, vc := range o.c.Study.VCs {
		if slices.Contains(p.From, vc.Name) {
			nodes[k]--
		}
	}
	var seen []*tjob
	of := map[*tjob]*tjob{}
	until := int64(0)
	for _, j := range o.jobs {
		until = max(until, j.Submit)
		if j.GPUs <= p.Largest {
			s := &tjob{Job: j.Job, arrival: j.Submit, priority: -1}
			s.fresh(min(j.Duration, p.Limit))
			seen, of[j] = append(seen, s), s
		}
	}
	s := newTicker("profiler", p.Nodes, &o.c.Study, o.c.Options, seen)
	s.until, s.largest = until, p.Largest
	o.stuck = !s.simulate()
	for _, j := range o.jobs {
		if s := of[j]; s != nil {
			j.profiled, j.profQueue, j.queue = true, s.queue, s.queue
			if j.Duration <= p.Limit {
				j.skipped, j.start, j.end, j.nodes, j.priority = true, s.start, s.end, s.nodes, -1
			} else if !keeps(o.c.Options.Quirks, "free-profiling") {
				j.arrival = s.end
			}
		}
	}
	for k := range o.members {
		slices.SortStableFunc(o.members[k], func(a, b *tjob) int { return cmp.Compare(a.arrival, b.arrival) })
	}
	o.scalings = len(s.scalings)
	for _, sc := range s.scalings {
		echo = append(echo, schedtest.Scaling{At: sc.At, Nodes: -sc.Nodes})
	}
	return echo
}

func (o *outcome) refuseLarge(nodes []int) {
	for k := range o.members {
		o.members[k] = slices.DeleteFunc(o.members[k], func(j *tjob) bool {
			why := ""
			if !j.skipped {
				why = o.tooLarge(j, nodes[k], o.c.Study.VCs[k].Name)
			}
			if why != "" {
				o.refused = append(o.refused, cluster.Refusal{ID: j.ID, Why: why})
				o.jobs = slices.DeleteFunc(o.jobs, func(other *tjob) bool { return other == j })
			}
			return why != ""
		})
	}
}

// tooLarge returns why a job never finds a place, or an empty string.
func (o *outcome) tooLarge(j *tjob, nodes int, vc string) string {
	s := newTicker(o.kind, nodes, &o.c.Study, o.c.Options, nil)
	s.divide(vc)
	kinds, of := s.kinds(j), map[int]int{}
	for _, n := range s.nodes {
		if slices.Contains(kinds, n.kind) {
			of[n.kind] += len(n.users)
		}
	}
	largest := 0
	for _, gpus := range of {
		largest = max(largest, gpus)
	}
	switch {
	case largest == 0 && s.hasTypes() && len(kinds) < len(s.study.Types):
		return "requires GPU type " + j.GPUType + ", which its virtual cluster does not have"
	case j.GPUs > s.devices():
		return "larger than its virtual cluster"
	case j.GPUs > largest:
		return "more devices requested than its virtual cluster has of one type"
	}
	return ""
}

// seen lists the situations that occurred, for the report on coverage.
func (o *outcome) seen() (list []string) {
	note := func(what string, is bool) {
		if is {
			list = append(list, what)
		}
	}
	preempted, packed, demoted, large, slower := false, false, false, false, false
	for _, j := range o.jobs {
		preempted, packed = preempted || j.preempted > 0, packed || j.packed
		demoted = demoted || o.kind == "tiresias" && j.attained > 18_000
		large = large || j.GPUs > o.c.Study.PerNode && j.GPUs%o.c.Study.PerNode > 0
	}
	for _, j := range o.jobs {
		slower = slower || j.factor != 1 && j.start != cluster.Never
	}
	note("preemption", preempted)
	note("several types", len(o.c.Study.Types) > 1)
	note("nodes of several sizes", slices.ContainsFunc(o.c.Study.Types, func(t cluster.NodeType) bool {
		return t.GPUs > 0 && t.GPUs != o.c.Study.PerNode
	}))
	note("another speed", slower && len(o.c.Study.Types) > 0)
	note("packing", packed)
	note("demotion", demoted)
	note("a part of a node", large)
	note("a profiler that grew", o.scalings > 0)
	note("one that shrank", o.scalings > 1)
	note("a node renamed", slices.ContainsFunc(o.pools, func(p *ticker) bool { return p.renamed }))
	return list
}

// against returns the first difference between another outcome and this one.
func (o *outcome) against(got *cluster.Outcome) error {
	at := func(r cluster.Refusal) int {
		return slices.IndexFunc(o.c.Study.Jobs, func(j trace.Job) bool { return j.ID == r.ID })
	}
	slices.SortFunc(o.refused, func(a, b cluster.Refusal) int { return at(a) - at(b) })
	if fmt.Sprint(got.Refused) != fmt.Sprint(o.refused) {
		return fmt.Errorf("refused are %v and should be %v", got.Refused, o.refused)
	}
	if len(got.Jobs) != len(o.jobs) || got.Counts["profiler_scalings"] != o.scalings {
		return fmt.Errorf("%d jobs and %d scalings; there should be %d and %d", len(got.Jobs),
			got.Counts["profiler_scalings"], len(o.jobs), o.scalings)
	}
	for k, want := range o.jobs {
		if g, w := rowOf(got.Jobs[k]), want.row(); g != w {
			return fmt.Errorf("job %s\nis        %s\nshould be %s", want.ID, g, w)
		}
	}
	if err := o.changes(got); err != nil {
		return err
	}
	for k := range o.pools {
		if err := o.pool(k, got.Pools[k]); err != nil {
			return fmt.Errorf("virtual cluster %s: %w", got.Pools[k].Name, err)
		}
	}
	return nil
}

// row prints all fields of a job.
func (j *tjob) row() string {
	nodes := ""
	for _, s := range j.nodes {
		mask := uint64(0)
		for _, g := range s.gpus {
			mask |= 1 << g
		}
		nodes += fmt.Sprintf(" %d:%b", s.node, mask)
	}
	return fmt.Sprintf("start %d end %d queue %d arrival %d gpus %d preempted %d profiled %t %d skipped %t shared %t "+
		"packed %t %d %d rate %x priority %v on%s", j.start, j.end, j.queue, j.arrival, j.GPUs, j.preempted, j.profiled,
		j.profQueue, j.skipped, !j.exclusive, j.packed, j.packedAt, j.unpackedAt, j.rate, j.priority, nodes)
}

func rowOf(j *cluster.Job) string {
	nodes, known := "", lucid.Of(j)
	for _, s := range j.Nodes {
		nodes += fmt.Sprintf(" %d:%b", s.Node, s.GPUs)
	}
	return fmt.Sprintf("start %d end %d queue %d arrival %d gpus %d preempted %d profiled %t %d skipped %t shared "+
		"%t packed %t %d %d rate %x priority %v on%s", j.Start, j.End, j.Queue, j.Arrival, j.GPUs, j.Preemptions,
		known.Profiled, known.ProfileQueue, known.Skipped, known.Shared, known.Packed, known.PackedAt, known.UnpackedAt,
		lucid.Rate(j), j.Priority, nodes)
}

// changes compares the changes of the followed job.
func (o *outcome) changes(got *cluster.Outcome) error {
	g, w := "", ""
	for _, c := range got.Changes {
		g += fmt.Sprintln(c.At, c.Job.Trace.ID, c.What, c.GPUs, c.Rate)
	}
	for _, j := range o.jobs {
		if slices.Contains(o.c.Options.Follow, j.ID) {
			for _, c := range j.changes {
				w += fmt.Sprintln(c.At, j.ID, c.What, c.GPUs, c.Rate)
			}
		}
	}
	if g != w {
		return fmt.Errorf("changes are\n%sand should be\n%s", g, w)
	}
	return nil
}

// pool compares the use of a pool second by second.
func (o *outcome) pool(k int, got cluster.PoolOutcome) error {
	s, last := o.pools[k], o.pools[k].usage[len(o.pools[k].usage)-1].At
	// Devices count until the last submission, also after the last job of their pool.
	all := s.all + float64(max(0, min(got.Last, s.horizon)-last))*float64(got.InService)
	if got.Ended != last || got.Used != s.used || got.All != all || got.Nodes != s.base ||
		len(got.Jobs) != len(o.members[k]) {
		return fmt.Errorf("ended %d used %v all %v nodes %d jobs %d; should be %d %v %v %d %d",
			got.Ended, got.Used, got.All, got.Nodes, len(got.Jobs), last, s.used, all, s.base, len(o.members[k]))
	}
	events := int64(0)
	for i, j := range o.members[k] {
		if j.ID != got.Jobs[i].Trace.ID {
			return fmt.Errorf("job %d is %s and should be %s", i, got.Jobs[i].Trace.ID, j.ID)
		}
		if !j.skipped {
			events += 2
		}
	}
	samples := slices.Collect(cluster.Sampled(got.Usage, 1, got.Ended))
	if len(samples) != len(s.usage) || got.Events != events {
		return fmt.Errorf("%d events and %d samples; there should be %d and %d", got.Events, len(samples), events,
			len(s.usage))
	}
	for k, u := range s.usage {
		if u != samples[k] {
			return fmt.Errorf("use is %+v and should be %+v", samples[k], u)
		}
	}
	return nil
}
