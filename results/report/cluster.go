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

func PrintCluster(r *runs.ClusterOutcome, w io.Writer) error {
	d := &document.Document{}
	writeCluster(r, d, false)
	if r.Folder != "" {
		d.Say("results in " + r.Folder)
	}
	return d.Print(w)
}

// writeCluster adds the report to a document; all has every virtual cluster as well.
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

// overviewTable is a line for each simulation.
func overviewTable(r *runs.ClusterOutcome) *document.Table {
	t := document.NewTable("SCHEDULER", ">COMPLETION [s]", ">95%", ">MEDIAN [s]", ">P99 [s]", ">QUEUE [s]", ">P99.9 [s]", ">SLOWDOWN", ">FAIRNESS", ">LAST END [s]", ">USED", ">PREEMPTED")
	for _, c := range r.Cells {
		f := c.All
		t.Add(c.Name(), document.SecondsText(f.Completion.Mean), daysText(c.Mean), document.SecondsText(f.Completion.Median), document.SecondsText(f.Completion.P99), document.SecondsText(f.Queue.Mean), document.SecondsText(f.Queue.P999),
			document.SecondsText(f.Slowdown), document.RatioText(f.Fairness), strconv.FormatInt(f.Last, 10), document.UsedText(c.Used), strconv.Itoa(f.Preemptions))
	}
	return t
}

func daysText(i runs.ClusterInterval) string {
	if i.Low == nil {
		return "-"
	}
	return "[" + document.Plain("%.0f", *i.Low) + ", " + document.Plain("%.0f", *i.High) + "]"
}

// clusterDifferences compares the simulations to the first scheduler's, in a line for each.
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

// intervalWords is a difference with its interval, and whether that leaves zero out.
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

// fixesTable are the faults that are corrected, and what each is worth.
func fixesTable(r *runs.ClusterOutcome) *document.Table {
	t := document.NewTable("SCHEDULER", "CORRECTED: NOW", ">COMPLETION [s]", ">95%")
	for _, c := range r.Cells {
		for _, f := range c.Fixes {
			t.Add(c.Name(), f.What, document.Signed(f.Worth.Mean), daysText(f.Worth))
		}
	}
	return t
}

// dividedTable is a line for each size and virtual cluster.
func dividedTable(c *runs.ClusterCell) *document.Table {
	t := document.NewTable("JOBS OF", ">JOBS", ">COMPLETION [s]", ">MEDIAN [s]", ">P99 [s]", ">QUEUE [s]", ">P99.9 [s]", ">SLOWDOWN", ">USED", ">PREEMPTED")
	for _, p := range slices.Concat(c.Sizes, c.Pools) {
		t.Add(p.Name, strconv.Itoa(p.Jobs), document.SecondsText(p.Completion.Mean), document.SecondsText(p.Completion.Median), document.SecondsText(p.Completion.P99), document.SecondsText(p.Queue.Mean), document.SecondsText(p.Queue.P999),
			document.SecondsText(p.Slowdown), document.UsedText(p.Used), strconv.Itoa(p.Preemptions))
	}
	return t
}

// clusterDetail is the outcome of a simulation of a cluster.
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
