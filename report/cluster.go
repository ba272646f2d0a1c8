// Package report turns runs into reports: one run with its details or several side by side, as
// text, Markdown, CSV, JSON and HTML.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"graft/config"
	"graft/report/document"
	"graft/report/runs"
)

// PrintCluster writes the outcome of a cluster simulation for people.
func PrintCluster(r *runs.ClusterOutcome, w io.Writer) error {
	d := &document.Document{}
	writeCluster(r, d, false)
	if r.Folder != "" {
		d.Say("results in " + r.Folder)
	}
	return d.Print(w)
}

// writeCluster adds the outcome to a document; with all also each virtual cluster.
func writeCluster(r *runs.ClusterOutcome, d *document.Document, all bool) {
	d.Say(fmt.Sprintf("%s of %s on %s in %s, placement %s", document.Plural(r.Jobs, "job"), r.Trace,
		document.Plural(r.GPUs, "GPU"), document.Plural(r.Pools, "virtual cluster"), r.Placement))
	if r.Compat == config.CompatLucid {
		d.Say("the faults of Lucid's simulator are kept")
	}
	for _, f := range r.Refused {
		d.Say(fmt.Sprintf("left out: %s: %s, job %s for one", document.Plural(f.Jobs, "job"), f.Why, f.Example))
	}
	d.Show(overviewTable(r))
	d.Say("Times in seconds; completion is from submission to end. Intervals of 95% are over days of submission.",
		clusterDifferences(r))
	d.Show(fixesTable(r))
	if !all {
		return
	}
	for _, c := range r.Cells {
		d.Head("%s, by size and virtual cluster", c.Name())
		d.Show(dividedTable(c))
	}
}

// overviewTable has a line for each simulation.
func overviewTable(r *runs.ClusterOutcome) *document.Table {
	t := document.NewTable("scheduler").Numbers(document.UnitSeconds, "%.1f", "completion").Numbers("", "%.0f", "95%").
		Numbers(document.UnitSeconds, "%.1f", "median", "p99", "queue", "p99.9").
		Numbers("", "%.1f", "slowdown").Numbers("", "%.3f", "fairness").Numbers(document.UnitSeconds, "%.0f",
		"last end").Numbers(document.UnitShare, "%.1f%%", "used").Numbers("", "", "preempted")
	for _, c := range r.Cells {
		f := c.All
		t.Add(c.Name(), f.Completion.Mean, overDays(c.Mean), f.Completion.Median, f.Completion.P99, f.Queue.Mean,
			f.Queue.P999, f.Slowdown, f.Fairness, f.Last, c.Used, f.Preemptions)
	}
	return t
}

func overDays(i runs.ClusterInterval) document.Cell {
	return document.Between(i.Low, i.High, document.UnitSeconds).As("%.0f")
}

// clusterDifferences has a line for each simulation, with its difference from the first scheduler.
func clusterDifferences(r *runs.ClusterOutcome) string {
	var lines []string
	for _, c := range r.Cells {
		if c.Against == nil || c.Against.Mean == nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s less %s: %s", c.Name(),
			runs.ClusterCellKey{Scheduler: r.Cells[0].Scheduler, Load: c.Load}.Folder(), intervalWords(*c.Against)))
	}
	return strings.Join(lines, "\n")
}

// intervalWords formats a difference with its interval, and marks intervals that contain zero.
func intervalWords(i runs.ClusterInterval) string {
	text := fmt.Sprintf("%+.1f s", *i.Mean)
	switch {
	case i.Low == nil:
		return text + ", of fewer than two days: nothing can be said of its spread"
	case *i.Low <= 0 && *i.High >= 0:
		return text + fmt.Sprintf(" [%.1f, %.1f] ~, inside the spread over days", *i.Low, *i.High)
	}
	return text + fmt.Sprintf(" [%.1f, %.1f]", *i.Low, *i.High)
}

// fixesTable lists the corrected faults and the effect of each correction.
func fixesTable(r *runs.ClusterOutcome) *document.Table {
	t := document.NewTable("scheduler", "correction").Numbers(document.UnitSeconds, "", "completion").Numbers("",
		"", "95%")
	for _, c := range r.Cells {
		for _, f := range c.Fixes {
			worth := document.Missing()
			if m := f.Effect.Mean; m != nil {
				worth = document.Value(*m, "").As("%+.1f")
				if math.Abs(*m) < 0.05 { // zero has no sign
					worth.Format = "%.1f"
				}
			}
			t.Add(c.Name(), f.What, worth, overDays(f.Effect))
		}
	}
	return t
}

// dividedTable has a line for each size and virtual cluster.
func dividedTable(c *runs.ClusterCell) *document.Table {
	t := document.NewTable("group").Numbers("", "", "jobs").Numbers(document.UnitSeconds, "%.1f", "completion",
		"median", "p99", "queue", "p99.9").
		Numbers("", "%.1f", "slowdown").Numbers(document.UnitShare, "%.1f%%", "used").Numbers("", "", "preempted")
	for _, p := range slices.Concat(c.Sizes, c.Pools) {
		t.Add(p.Name, p.Jobs, p.Completion.Mean, p.Completion.Median, p.Completion.P99, p.Queue.Mean, p.Queue.P999,
			p.Slowdown, p.Used, p.Preemptions)
	}
	return t
}

// clusterDetail holds the outcome of a cluster simulation.
type clusterDetail struct {
	*runs.ClusterOutcome
	all bool
}

func readClusterDetail(r *runs.Run, all bool) (Detail, error) {
	report, err := runs.OutcomeOf[runs.ClusterOutcome](r)
	if report == nil || err != nil {
		return nil, err
	}
	return &clusterDetail{report, all}, nil
}

func (c *clusterDetail) write(d *document.Document) {
	d.Head("schedulers")
	writeCluster(c.ClusterOutcome, d, true)
}
