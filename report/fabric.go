package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"graft/report/document"
	"graft/report/runs"
)

// PrintFabric writes the outcome for people.
func PrintFabric(o *runs.FabricOutcome, w io.Writer) error {
	d := &document.Document{}
	writeFabric(o, d)
	if o.Folder != "" {
		d.Say("results in " + o.Folder)
	}
	return d.Print(w)
}

func writeFabric(o *runs.FabricOutcome, d *document.Document) {
	d.Say(fmt.Sprintf("%s of %s on %s of %s, with the same jobs under each decider", document.Plural(o.Seeds,
		"episode"), document.Plural(o.Jobs, "job"), o.Network, document.Plural(o.Servers, "server")))
	for k := range o.Points {
		p := &o.Points[k]
		if p.Name != "" {
			d.Head("%s", p.Name)
		}
		d.Show(fabricTable(p))
		if p.Hopeless > 0 {
			d.Say(fmt.Sprintf("Not even an empty cluster lets %.1f%% of the jobs start in time at any degree: "+
				"all deciders block them.", 100*p.Hopeless))
		}
	}
	d.Say("BLOCKED is the share of the jobs that were not started, COMPLETION their mean time from arrival " +
		"to completion in seconds and P99 its 99th percentile, SPEEDUP the time on one server over it. " +
		"HELD is the share of the servers' time that jobs have, BUSY that in which they compute.")
	if o.Seeds > 1 {
		for k := range o.Points {
			p := &o.Points[k]
			d.Head("%s", strings.TrimPrefix(p.Name+": jobs blocked, %", ": "))
			d.Show(rankingTable(&p.Blocked, "decider"))
			if none := noDifference(p); none != "" {
				d.Say(none)
			}
		}
		d.Say(fmt.Sprintf("DIFFERENCE is from %s, episode by episode; intervals of 95%% are over episodes. "+
			"Deciders that do not differ from the best of a rank beyond noise share it.", o.Against))
	}
	writeWorth(o.Worth, d)
}

func fabricTable(p *runs.FabricPoint) *document.Table {
	t := document.NewTable("decider").Numbers(document.UnitShare, "%.1f%%", "blocked").
		Numbers("", "%.4g", "completion", "p99").Numbers("", "%.2f", "speedup").
		Numbers(document.UnitShare, "%.0f%%", "held", "busy").Numbers("", "%.3g", "GB/s").Texts("causes", "degrees")
	for _, c := range p.Cells {
		name := c.Decider
		if c.Degree > 0 {
			name = fmt.Sprintf("%s (%d)", name, c.Degree)
		}
		t.Add(name, c.Blocked, c.Completion, c.Tail, c.Speedup, c.Held, c.Busy, c.Throughput/1e9, causes(c.Causes),
			degrees(c.Degrees))
	}
	return t
}

// causes lists why jobs were blocked, in percent of those that were.
func causes(counts map[string]int) string {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	var list []string
	for _, cause := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s %.0f%%", cause, 100*float64(counts[cause])/float64(sum)))
	}
	return strings.Join(list, ", ")
}

// degrees lists the degrees of jobs that started, with their shares.
func degrees(list []runs.FabricDegree) string {
	counts, sum := map[int]int{}, 0
	for _, one := range list {
		counts[one.Degree] += one.Jobs
		sum += one.Jobs
	}
	var texts []string
	for _, degree := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, fmt.Sprintf("%d: %.0f%%", degree, 100*float64(counts[degree])/float64(sum)))
	}
	return strings.Join(texts, ", ")
}

// noDifference names the deciders whose interval holds zero.
func noDifference(p *runs.FabricPoint) string {
	var names []string
	for _, s := range p.Blocked.Standings {
		if s.Difference != nil && s.Difference.Low <= 0 && s.Difference.High >= 0 {
			names = append(names, s.Scheduler)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("No difference from %s is seen for %s.", p.Blocked.Against, strings.Join(names, ", "))
}

func writeWorth(w *runs.FabricWorths, d *document.Document) {
	if w == nil {
		return
	}
	d.Head("what faults of the simulator of PAC-ML are worth under %s", w.Decider)
	t := document.NewTable("quirk").Numbers(document.UnitShare, "%.1f%%", "blocked").Numbers("", "%.4g", "completion").
		Numbers("", "", "jobs changed")
	t.Add("none", w.Blocked, document.Missing(), document.Missing())
	for _, q := range w.Quirks {
		t.Add(q.Quirk, q.Blocked, q.Completion, q.Changed)
	}
	d.Show(t)
	d.Say("Each fault is kept alone, at the first point.")
}

// fabricDetail is the outcome of training steps on a network.
type fabricDetail struct{ *runs.FabricOutcome }

func readFabricDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.FabricOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &fabricDetail{o}, nil
}

func (f *fabricDetail) write(d *document.Document) {
	d.Head("deciders")
	writeFabric(f.FabricOutcome, d)
}
