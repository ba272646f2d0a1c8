// Package report turns runs into reports: one run with its details or several side by side, as
// text, Markdown, CSV, JSON and HTML.
package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"graft/config"
	"graft/results/document"
	"graft/results/runs"
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
	d.Say(fmt.Sprintf("%s of %s on %s in %s, placement %s", document.Plural(r.Jobs, "job"), r.Trace, document.Plural(r.GPUs, "GPU"), document.Plural(r.Pools, "virtual cluster"), r.Placement))
	if r.Compat == config.CompatLucid {
		d.Say("the faults of Lucid's simulator are kept")
	}
	for _, f := range r.Refused {
		d.Say(fmt.Sprintf("left out: %s: %s, job %s for one", document.Plural(f.Jobs, "job"), f.Why, f.Example))
	}
	d.Show(overviewTable(r))
	d.Say("Times in seconds; completion is from submission to end. Intervals of 95% are over days of submission.", clusterDifferences(r))
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
	t := document.NewTable("SCHEDULER", ">COMPLETION [s]", ">95%", ">MEDIAN [s]", ">P99 [s]", ">QUEUE [s]", ">P99.9 [s]", ">SLOWDOWN", ">FAIRNESS", ">LAST END [s]", ">USED", ">PREEMPTED")
	for _, c := range r.Cells {
		f := c.All
		t.Add(c.Name(), document.SecondsCell(f.Completion.Mean), daysText(c.Mean), document.SecondsCell(f.Completion.Median), document.SecondsCell(f.Completion.P99), document.SecondsCell(f.Queue.Mean), document.SecondsCell(f.Queue.P999),
			document.SecondsCell(f.Slowdown), document.RatioCell(f.Fairness), strconv.FormatInt(f.Last, 10), document.PercentCell(c.Used), strconv.Itoa(f.Preemptions))
	}
	return t
}

func daysText(i runs.ClusterInterval) string {
	if i.Low == nil {
		return "-"
	}
	return "[" + document.Plain("%.0f", *i.Low) + ", " + document.Plain("%.0f", *i.High) + "]"
}

// clusterDifferences has a line for each simulation, with its difference from the first scheduler.
func clusterDifferences(r *runs.ClusterOutcome) string {
	var lines []string
	for _, c := range r.Cells {
		if c.Against == nil || c.Against.Mean == nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s less %s: %s", c.Name(), runs.ClusterCellKey{Scheduler: r.Cells[0].Scheduler, Load: c.Load}.Folder(), intervalWords(*c.Against)))
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
	t := document.NewTable("SCHEDULER", "CORRECTED: NOW", ">COMPLETION [s]", ">95%")
	for _, c := range r.Cells {
		for _, f := range c.Fixes {
			t.Add(c.Name(), f.What, document.SignedCell(f.Worth.Mean), daysText(f.Worth))
		}
	}
	return t
}

// dividedTable has a line for each size and virtual cluster.
func dividedTable(c *runs.ClusterCell) *document.Table {
	t := document.NewTable("JOBS OF", ">JOBS", ">COMPLETION [s]", ">MEDIAN [s]", ">P99 [s]", ">QUEUE [s]", ">P99.9 [s]", ">SLOWDOWN", ">USED", ">PREEMPTED")
	for _, p := range slices.Concat(c.Sizes, c.Pools) {
		t.Add(p.Name, strconv.Itoa(p.Jobs), document.SecondsCell(p.Completion.Mean), document.SecondsCell(p.Completion.Median), document.SecondsCell(p.Completion.P99), document.SecondsCell(p.Queue.Mean), document.SecondsCell(p.Queue.P999),
			document.SecondsCell(p.Slowdown), document.PercentCell(p.Used), strconv.Itoa(p.Preemptions))
	}
	return t
}

// clusterDetail holds the outcome of a cluster simulation.
type clusterDetail struct {
	*runs.ClusterOutcome
	all bool
}

func readClusterDetail(r *runs.Run, all bool) (Detail, error) {
	report, err := runs.ReadCluster(r)
	if report == nil || err != nil {
		return nil, err
	}
	return &clusterDetail{report, all}, nil
}

func (c *clusterDetail) write(d *document.Document) {
	d.Head("schedulers")
	writeCluster(c.ClusterOutcome, d, true)
}
