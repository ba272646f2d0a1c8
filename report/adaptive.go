package report

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"graft/config"
	"graft/report/document"
	"graft/report/runs"
)

// PrintAdaptive writes the outcome for people.
func PrintAdaptive(o *runs.AdaptiveOutcome, w io.Writer) error {
	d := &document.Document{}
	writeAdaptive(o, d)
	if o.Folder != "" {
		d.Say("results in " + o.Folder)
	}
	return d.Print(w)
}

func writeAdaptive(o *runs.AdaptiveOutcome, d *document.Document) {
	d.Say(fmt.Sprintf("%s of %s on %s of %s", document.Plural(o.Jobs, "job"), document.SomeOf(o.Workloads, 4),
		document.Plural(o.Nodes, "node"), document.Plural(o.Devices, "device")))
	if o.Compat == config.CompatPollux {
		d.Say("the faults of Pollux's simulator are kept")
	} else if len(o.Quirks) > 0 {
		d.Say("faults that are kept: " + document.SomeOf(o.Quirks, len(o.Quirks)))
	}
	for _, name := range o.Workloads {
		if len(o.Workloads) > 1 {
			d.Head("%s", name)
		}
		d.Show(adaptiveTable(o, name))
	}
	d.Say("JCT is from submission to the end of a job and QUEUE from submission to its first start, "+
		"in seconds. RESTARTS counts how often jobs that had devices got others or lost them. "+
		"GOODPUT is the useful work of a device; 1 is a device alone with the smallest batch.",
		"Differences are from the first scheduler, job by job; intervals of 95% are over the jobs of a workload.")
	if rigidIn(o) {
		d.Say("Under schedulers marked *, jobs keep the batch and the devices that their users ask for, " +
			"or fewer devices under fair.")
	}
	writeSearches(o, d)
	if o.JCT != nil {
		d.Head("mean JCT, s")
		d.Show(rankingTable(o.JCT, "scheduler"))
		d.Say(fmt.Sprintf("DIFFERENCE is from %s, workload by workload; intervals of 95%% are over workloads and "+
			"seeds. Schedulers that do not differ from the best of a rank beyond noise share it.", o.JCT.Against))
	}
	writeAdaptiveWorth(o.Worth, d)
}

// writeSearches says how far decisions are from the upper bound, over all workloads of a scheduler.
func writeSearches(o *runs.AdaptiveOutcome, d *document.Document) {
	all := map[string]*runs.AdaptiveSearch{}
	for _, c := range o.Cells {
		if c.Search == nil {
			continue
		}
		s := all[c.Scheduler]
		if s == nil {
			s = &runs.AdaptiveSearch{}
			all[c.Scheduler] = s
		}
		s.Gap += c.Search.Gap * float64(c.Search.Decisions)
		s.Decisions += c.Search.Decisions
		s.WorstGap = max(s.WorstGap, c.Search.WorstGap)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		d.Say(fmt.Sprintf("Over %s of %s the objective is within %.2f%% of its upper bound on average, "+
			"and within %.2f%% at worst.", document.Plural(s.Decisions, "decision"), name,
			100*s.Gap/float64(s.Decisions), 100*s.WorstGap))
	}
}

func rigidIn(o *runs.AdaptiveOutcome) bool {
	for _, c := range o.Cells {
		if c.Rigid {
			return true
		}
	}
	return false
}

// adaptiveTable has a row for each simulation of a workload.
func adaptiveTable(o *runs.AdaptiveOutcome, workload string) *document.Table {
	t := document.NewTable("scheduler").Numbers("", "%.1f", "mean JCT").Numbers("", "", "difference").
		Numbers("", "%.1f", "median", "p99").Numbers("", "%.0f", "makespan", "queue").
		Numbers("", "%.1f", "device-hours").Numbers("", "", "restarts").Numbers("", "%.2f", "goodput")
	for _, c := range o.Cells {
		if c.Workload != workload {
			continue
		}
		difference := document.Missing()
		if c.Against != nil {
			difference = document.Value(c.Against.Mean, "").As("%+.1f")
			difference.Low, difference.High = &c.Against.Low, &c.Against.High
		}
		name := filepath.Base(o.CellFolder(&c))
		if c.Rigid {
			name += " *"
		}
		t.Add(name, c.Mean, difference, c.Median, c.P99, c.Makespan, c.Queue, c.DeviceHours, c.Restarts, c.Goodput)
	}
	return t
}

func writeAdaptiveWorth(w *runs.AdaptiveWorth, d *document.Document) {
	if w == nil {
		return
	}
	d.Head("what faults of the original are worth on %s", w.Workload)
	t := document.NewTable("scheduler", "quirk").Numbers("", "%.1f", "mean JCT", "with quirk").
		Numbers("", "%+.1f", "difference").Numbers("", "", "jobs changed").Texts("corrected")
	for _, q := range w.Quirks {
		t.Add(q.Scheduler, q.Quirk, q.Without, q.Mean, q.Mean-q.Without, q.Changed, q.Fixed)
	}
	d.Show(t)
	d.Say("Each fault is kept alone; MEAN JCT is without any.")
}

// adaptiveDetail is the outcome of simulations of adaptive jobs.
type adaptiveDetail struct{ *runs.AdaptiveOutcome }

func readAdaptiveDetail(r *runs.Run, _ bool) (Detail, error) {
	o, err := runs.OutcomeOf[runs.AdaptiveOutcome](r)
	if o == nil || err != nil {
		return nil, err
	}
	return &adaptiveDetail{o}, nil
}

func (a *adaptiveDetail) write(d *document.Document) {
	d.Head("schedulers")
	writeAdaptive(a.AdaptiveOutcome, d)
}
