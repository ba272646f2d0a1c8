package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"text/tabwriter"

	"graft/cluster"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

// Traces for schedulers: one generated month, and one that is ten times as long.
const (
	clusterLoad  = 0.8 // of the devices' time
	clusterTimes = 10
)

// studyCluster prints the cost of an event of a simulated cluster under each scheduler, and the growth of that cost
// with the trace.
func studyCluster(out io.Writer, rounds int) error {
	short, err := madeStudy(1)
	if err != nil {
		return err
	}
	long, err := madeStudy(clusterTimes)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nsimulation of a cluster, on one thread: %d jobs on %d GPUs in %d virtual clusters, "+
		"and the same %d times longer\n", len(short.Jobs), trace.Nodes(short.VCs)*8, len(short.VCs), clusterTimes)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "scheduler\tCPU s\tquartiles\tevents\tevents/s\tallocations/event\tcost of an event in the long "+
		"trace over the short\tquartiles")
	for _, policy := range schedulers.Kinds() {
		line, err := clusterLine(policy, short, long, rounds)
		if err != nil {
			return err
		}
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// madeStudy returns a number of generated months with the data for schedulers: estimates that are off by a factor, and
// invented profiles.
func madeStudy(times int) (*cluster.Study, error) {
	o := trace.GenerateOptions{Load: clusterLoad, Seed: 1}
	o.EnsureDefaults()
	o.Jobs, o.Days = o.Jobs*times, o.Days*times
	return studyOf(o)
}

func studyOf(o trace.GenerateOptions) (*cluster.Study, error) {
	o.EnsureDefaults()
	g, err := trace.Generate(o)
	if err != nil {
		return nil, err
	}
	s := &cluster.Study{VCs: g.VCs(), Jobs: make([]trace.Job, o.Jobs), Estimates: make([]float64, o.Jobs)}
	for k := range s.Jobs {
		if err := g.Read(&s.Jobs[k]); err != nil {
			return nil, err
		}
		// Within a factor of e, unordered.
		s.Estimates[k] = float64(s.Jobs[k].Duration) * math.Exp(math.Sin(float64(k)))
	}
	s.Profiles = cluster.MakeProfiles(s.Jobs)
	return s, nil
}

// clusterCost holds the cost of a simulation.
type clusterCost struct {
	seconds float64 // of processor time
	mallocs float64
	events  float64
}

func (c clusterCost) each() float64 { return c.seconds / c.events }

func clusterLine(policy cluster.Policy, short, long *cluster.Study, rounds int) (string, error) {
	var times, ratios []float64
	var cost clusterCost
	for range rounds {
		var err error
		if cost, err = costOf(policy, short); err != nil {
			return "", err
		}
		more, err := costOf(policy, long)
		if err != nil {
			return "", err
		}
		times, ratios = append(times, cost.seconds), append(ratios, more.each()/cost.each())
	}
	middle := median(times)
	return fmt.Sprintf("%s\t%.3f\t%s\t%.0f\t%.0f\t%.2f\t%.2f\t%s", policy.Name, middle, quartiles(times, "%.3f"),
		cost.events, cost.events/middle, cost.mallocs/cost.events, median(ratios), quartiles(ratios, "%.2f")), nil
}

// costOf simulates once, on one thread.
func costOf(policy cluster.Policy, s *cluster.Study) (clusterCost, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := processorTime()
	o, err := s.Run(context.Background(), policy, cluster.Options{Workers: 1})
	if err != nil {
		return clusterCost{}, err
	}
	seconds := processorTime() - began
	runtime.ReadMemStats(&after)
	return clusterCost{seconds, float64(after.Mallocs - before.Mallocs), float64(o.Events)}, nil
}
