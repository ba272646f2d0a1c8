package report

import (
	"fmt"
	"io"
	"slices"

	"graft/cluster/node/agent"
	"graft/internal/stat"
	"graft/report/document"
	"graft/report/runs"
)

// PrintNode writes the outcome for people.
func PrintNode(o *runs.NodeOutcome, w io.Writer) error {
	d := &document.Document{}
	writeNode(o, d)
	if o.Folder != "" {
		d.Say("results in " + o.Folder)
	}
	return d.Print(w)
}

// writePublished writes the published study.
func writePublished(p *runs.NodePublished, d *document.Document) {
	d.Say(fmt.Sprintf("the packing environment of the published study: %s on %s, seed %d",
		document.Plural(p.Episodes, "episode"), document.Plural(p.GPUs, "GPU"), p.Seed))
	t := document.NewTable("scheduler").Numbers("", "", "seeds").Numbers("", "%.1f", "reward", "lowest", "highest",
		"deviation", "placed", "tasks", "makespan")
	for _, c := range p.Cells {
		low, high := document.Missing(), document.Missing()
		if len(c.Rewards) > 0 {
			low, high = document.Value(slices.Min(c.Rewards), ""), document.Value(slices.Max(c.Rewards), "")
		}
		t.Add(c.Scheduler, learnedSeeds(c.Seeds), c.Reward, low, high, c.Deviation, c.Placed, c.Tasks, c.Makespan)
	}
	d.Show(t)
	d.Say("REWARD is the mean sum of an episode, LOWEST and HIGHEST those of seeds, DEVIATION that over episodes. " +
		"Tasks that do not fit are lost: PLACED is the mean number of those that ran.")
}

func writeNode(o *runs.NodeOutcome, d *document.Document) {
	if o.Published != nil {
		writePublished(o.Published, d)
		return
	}
	d.Say(fmt.Sprintf("%s of %s in all on %s", document.Plural(o.Workloads, "workload"),
		document.Plural(o.Tasks, "task"), document.Plural(o.GPUs, "GPU")))
	t := document.NewTable("scheduler").Numbers("", "", "seeds").Numbers("", "%.2f", "turnaround", "p95", "wait").
		Numbers("", "%.2f", "slowdown").Numbers("", "%.1f", "makespan").
		Numbers(document.UnitShare, "%.1f%%", "busy").Numbers("", "%.2f", "kJ").Numbers("", "%.1f", "stops").
		Numbers(document.UnitShare, "%.0f%%", "done")
	for _, c := range o.Cells {
		t.Add(c.Scheduler, learnedSeeds(c.Seeds), c.Turnaround, c.Tail, c.Wait, c.Slowdown, c.Makespan, c.Busy,
			c.Joules/1000, c.Stops, c.Completed)
	}
	d.Show(t)
	d.Say("TURNAROUND is the mean time from arrival to completion, in seconds as P95, WAIT and MAKESPAN are; " +
		"no scheduler has a mean below " +
		fmt.Sprintf("%.2f s. SLOWDOWN is turnaround over the time alone, BUSY the share of the GPUs' cores in use, "+
			"kJ the energy of all GPUs by the file's model of power.", stat.Mean(o.Turnaround.Bounds)))
	if o.Exact != nil {
		d.Say(fmt.Sprintf("The best schedules that stop no task have a mean turnaround of %.2f s: all were searched.",
			*o.Exact))
	}
	if o.Workloads < 2 {
		return
	}
	first, second := &o.Turnaround, &o.EnergyDelay
	titles := []string{"mean turnaround, s", "energy times mean turnaround, kJ s"}
	if o.Objective == string(agent.EnergyDelay) {
		first, second, titles[0], titles[1] = second, first, titles[1], titles[0]
	}
	d.Head("%s", titles[0])
	d.Show(rankingTable(first, "scheduler"))
	d.Head("%s", titles[1])
	d.Show(rankingTable(second, "scheduler"))
	d.Say(fmt.Sprintf("DIFFERENCE is from %s, workload by workload; intervals of 95%% are over workloads and seeds. "+
		"Schedulers that do not differ from the best of a rank beyond noise share it.", first.Against))
}

// learnedSeeds is the number of seeds; none for a scheduler that learned nothing.
func learnedSeeds(n int) document.Cell {
	if n == 0 {
		return document.Missing()
	}
	return document.Value(float64(n), "")
}

// rankingTable has a row for each scheduler, or whatever else is compared.
func rankingTable(r *runs.Ranking, what string) *document.Table {
	t := document.NewTable(what).Numbers("", "", "rank").Numbers("", "%.2f", "mean").Numbers("", "", "95%")
	if len(r.Bounds) > 0 {
		t.Numbers("", "%.3f", "over bound")
	}
	t.Numbers("", "", "difference", "better")
	for _, s := range r.Standings {
		difference, better := document.Missing(), document.Missing()
		row := []any{s.Scheduler, s.Rank, s.Mean, timeInterval(s.Interval)}
		if len(r.Bounds) > 0 {
			row = append(row, s.Excess)
		}
		if s.Scheduler != r.Against {
			better = document.Value(float64(s.Better), "").Then(" of %d", len(s.Times))
		}
		if s.Difference != nil {
			difference = document.Value(s.Difference.Mean, "").As("%+.2f")
			difference.Low, difference.High = &s.Difference.Low, &s.Difference.High
		}
		t.Add(append(row, difference, better)...)
	}
	return t
}

// nodeDetail is the outcome of tasks of one machine.
type nodeDetail struct{ *runs.NodeOutcome }

func readNodeDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.NodeOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &nodeDetail{o}, nil
}

func (n *nodeDetail) write(d *document.Document) {
	d.Head("schedulers")
	writeNode(n.NodeOutcome, d)
}
