package report

import (
	"fmt"
	"slices"
	"strings"

	"graft/internal/stat"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/page"
	"graft/report/runs"
	"graft/results"
	"graft/trainer"
)

// JobDetail holds the events and epochs of a job.
type JobDetail struct {
	Events []eventRow `json:"events"` // events in order of time
	Epochs []epochRow `json:"epochs"` // last epochs; with --all, every epoch
	// Skipped is the number of epochs before the first listed epoch.
	Skipped int `json:"epochs_before"`
	// Measured is the measured energy of the job; null until the job ends, and if an older version of graft wrote the
	// run.
	Measured *runs.MeasuredEnergy `json:"measured"`
	// Advice is a warning that growing rarely pays in such a job; empty without a warning.
	Advice string `json:"advice,omitempty"`
}

// eventRow is an event of a job, such as a change of devices or an adaptation.
type eventRow struct {
	Time   float64          `json:"time_s"` // time of the event on the job's clock, in seconds
	Event  results.JobEvent `json:"event"`  // kind of the event
	Action string           `json:"action"` // surgery operation; empty means none
	// description of the tensor dimensions that the action widens, for a network that is a graph of operators
	Meaning    string `json:"action_meaning,omitempty"`
	Devices    int    `json:"devices"`
	Processes  int    `json:"processes"` // training processes after the event; zero if not stated
	Before     int    `json:"parameters_before"`
	Parameters int    `json:"parameters_after"`
	// validation accuracy in the last evaluation before the event; null if not evaluated
	Accuracy *float64 `json:"accuracy_before"`
	After    *float64 `json:"accuracy_after"` // accuracy in the next evaluation; null if not evaluated
	Took     float64  `json:"took_s"`         // time that the event took from the budget, in seconds
	// batch size after the event, in images per step; zero if the event does not state it
	Batch int    `json:"batch"`
	Why   string `json:"why"`
}

// epochRow holds the metrics of an epoch.
type epochRow struct {
	Epoch      int      `json:"epoch"`           // number of the epoch, from 0
	Time       float64  `json:"time_s"`          // time of the evaluation on the job's clock, in seconds
	Steps      int64    `json:"steps"`           // total number of steps so far
	Loss       *float64 `json:"train_loss_nats"` // null means that the epoch has no step
	Accuracy   *float64 `json:"train_accuracy"`  // null means unknown
	Validation float64  `json:"validation_loss_nats"`
	Share      float64  `json:"validation_accuracy"`
	Rate       float64  `json:"learning_rate"`
	Parameters int      `json:"parameters"`
	Devices    int      `json:"devices"`
	Images     int64    `json:"images"`                  // total number of training images so far; zero means unknown
	FLOP       float64  `json:"flop"`                    // total FLOP of training so far; zero means unknown
	DeviceTime float64  `json:"device_time_s"`           // total device time so far, in seconds; zero means unknown
	Batch      int      `json:"batch"`                   // images per step at the end of the epoch; zero means unknown
	Throughput float64  `json:"throughput_images_per_s"` // throughput of the epoch; zero if noise is not measured
	// statistical efficiency: progress per image relative to the smallest batch; zero if the noise scale is not
	// measured
	Efficiency float64  `json:"efficiency"`
	Goodput    float64  `json:"goodput_images_per_s"` // throughput times efficiency
	Joules     *float64 `json:"joules"`               // energy measured in the epoch; null means unknown
	// method of the energy measurement, or the reason why the energy is unknown; empty if not measured
	Method string `json:"energy_method"`
}

// finite returns nil for a value that is not a number.
func finite(v float64) *float64 {
	if stat.Finite(v) {
		return &v
	}
	return nil
}

// lastEpochs is the number of epochs shown without --all.
const lastEpochs = 5

func readJobDetail(r *runs.Run, all bool) (Detail, error) {
	rows, notes, err := trainer.ReadHistory(r.Files, r.Path)
	if err != nil {
		return nil, err
	}
	d := &JobDetail{Events: eventRows(rows, notes), Epochs: []epochRow{}}
	if err := explainActions(r, d.Events); err != nil {
		return nil, err
	}
	if !all {
		d.Skipped = max(0, len(rows)-lastEpochs)
	}
	segments, err := runs.ReadEnergy(r.Files, r.Path)
	if err != nil {
		return nil, err
	}
	energies := runs.EnergyOfEpochs(segments)
	for k, row := range rows[d.Skipped:] {
		energy := energies[row.Epoch]
		loss, accuracy := finite(row.Loss), finite(row.Accuracy)
		if at := d.Skipped + k; row.Steps == 0 || at > 0 && row.Steps == rows[at-1].Steps {
			loss, accuracy = nil, nil // the budget ended before the first step
		}
		d.Epochs = append(d.Epochs, epochRow{row.Epoch, row.Time.Seconds(), row.Steps, loss, accuracy,
			row.Validation.Loss, row.Validation.Accuracy, row.Rate, row.Parameters, row.Devices,
			row.Images, row.FLOP, row.DeviceTime.Seconds(), row.Batch, row.Throughput, row.Efficiency, row.Goodput,
			energy.Joules, energy.Method})
	}
	o, err := runs.OutcomeOf[runs.JobOutcome](r)
	if err == nil && o != nil {
		d.Measured = o.Measured
		if slices.ContainsFunc(d.Events, func(e eventRow) bool { return e.Parameters > e.Before && e.Before > 0 }) {
			d.Advice = trainer.GrowthAdvice(o.Epochs)
		}
	}
	return d, err
}

// eventRows lists the events with the validation accuracy before and after each.
func eventRows(rows []trainer.Row, notes []trainer.Note) []eventRow {
	list := []eventRow{}
	next := 0
	for _, n := range notes {
		for next < len(rows) && rows[next].Time <= n.Time {
			next++
		}
		e := eventRow{Time: n.Time.Seconds(), Event: n.Event, Action: n.Action, Devices: n.Devices,
			Processes: n.Processes, Before: n.Before, Parameters: n.Parameters, Took: n.Took.Seconds(), Batch: n.Batch,
			Why: n.Why}
		if next > 0 || n.Accuracy != 0 {
			e.Accuracy = &n.Accuracy
		}
		if next < len(rows) && n.Event != results.EventEnd {
			e.After = &rows[next].Validation.Accuracy
		}
		list = append(list, e)
	}
	return list
}

// timelineHead is the heading of the events.
const timelineHead = "time line"

func (j *JobDetail) write(d *document.Document) {
	events := (&document.Table{}).Numbers(document.UnitSeconds, "", "time").Texts("event", "action").
		Numbers("", "", "devices", "parameters before", "after").
		Numbers(document.UnitShare, "", "last accuracy", "next accuracy").Numbers(document.UnitSeconds, "%.4f", "took")
	for _, e := range j.Events {
		events.Add(e.Time, e.Event, e.what(), e.Devices, e.Before, e.Parameters, e.Accuracy, e.After, orMissing(e.Took))
	}
	d.Head(timelineHead)
	d.Show(events)
	d.Say(meanings(j.Events)...)
	if j.Advice != "" {
		d.Say("Note: " + j.Advice + ".")
	}
	d.Say("LAST and NEXT ACCURACY come from the evaluations before and after an event; the network trains in between.")
	if j.Skipped > 0 {
		d.Head("last %d of %s", len(j.Epochs), words.Plural(j.Skipped+len(j.Epochs), "epoch"))
	} else {
		d.Head("%s", words.Plural(len(j.Epochs), "epoch"))
	}
	epochs := (&document.Table{}).Numbers("", "", "epoch").Numbers(document.UnitSeconds, "", "time").Numbers("", "",
		"steps").Numbers(document.UnitNats, "", "train loss").Numbers(document.UnitShare, "", "accuracy").
		Numbers(document.UnitNats, "", "validation loss").Numbers(document.UnitShare, "", "accuracy").
		Numbers("", "%.3g", "rate").Numbers("", "", "parameters", "devices").
		Numbers(document.UnitSeconds, "", "device time").Numbers(document.UnitGFLOP, "", "flop")
	adapts := slices.ContainsFunc(j.Epochs, func(e epochRow) bool { return e.Efficiency > 0 })
	if adapts {
		epochs.Numbers("", "", "batch").Numbers(document.UnitImages, "%.4g", "throughput").
			Numbers(document.UnitShare, "", "efficiency").Numbers(document.UnitImages, "%.4g", "goodput")
	}
	measured := slices.ContainsFunc(j.Epochs, func(e epochRow) bool { return e.Method != "" })
	if measured {
		epochs.Numbers("J", "%.4g", "energy").Texts("measured by")
	}
	for _, e := range j.Epochs {
		cells := []any{e.Epoch, e.Time, e.Steps, e.Loss, e.Accuracy, e.Validation, e.Share, e.Rate, e.Parameters,
			e.Devices, orMissing(e.DeviceTime), orMissing(e.FLOP / 1e9)}
		if adapts {
			cells = append(cells, e.Batch, orMissing(e.Throughput), orMissing(e.Efficiency), orMissing(e.Goodput))
		}
		if measured {
			cells = append(cells, e.Joules, e.Method)
		}
		epochs.Add(cells...)
	}
	d.Show(epochs)
	if m := j.Measured; m != nil && m.Joules == nil {
		d.Say("The energy of the whole job is unknown (" + m.Method + ").")
	}
}

// orMissing returns a positive number, otherwise missing.
func orMissing(v float64) *float64 {
	if v > 0 {
		return &v
	}
	return nil
}

// what returns the action of the event or its cause.
func (e *eventRow) what() string {
	text := strings.TrimSpace(e.Action + " " + e.Why)
	if e.Processes > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s %d of %s", text, e.Processes, words.Plural(e.Devices, "device")))
	}
	return text
}

// GivenText describes the initial weights of a job in one sentence.
func GivenText(g *runs.GivenReport) string {
	text := fmt.Sprintf("started at %s with weights trained for %s: %s accuracy on the validation images",
		document.SecondsText(g.Start), words.Plural(g.Epochs, "epoch"), document.AccuracyText(g.Accuracy))
	if g.Published != nil {
		text += fmt.Sprintf(", %s published on the test images", document.AccuracyText(*g.Published))
	}
	return text
}

// hasTimeline is implemented by details with events.
type hasTimeline interface{ timeline() *page.Timeline }

func (j *JobDetail) timeline() *page.Timeline {
	t := &page.Timeline{Title: "Events of the job over time", Unit: "s"}
	for _, e := range j.Events {
		name := string(e.Event)
		if what := e.what(); what != "" {
			name += " " + what
		}
		t.Events = append(t.Events, page.Event{At: e.Time, Name: document.Printable(name),
			Detail: document.Printable(e.consequences()), Look: e.Event.Traits().Look})
	}
	return t
}

// consequences describes the changes of an event in words.
func (e *eventRow) consequences() string {
	list := []string{words.Plural(e.Devices, "device")}
	if e.Before != e.Parameters {
		list = append(list, fmt.Sprintf("%s parameters, %s before", whole(e.Parameters), whole(e.Before)))
	} else {
		list = append(list, whole(e.Parameters)+" parameters")
	}
	switch {
	case e.Accuracy != nil && e.After != nil:
		list = append(list, fmt.Sprintf("accuracy %s%% before and %s%% after",
			document.ValueText(*e.Accuracy, document.UnitShare), document.ValueText(*e.After, document.UnitShare)))
	case e.Accuracy != nil:
		list = append(list, fmt.Sprintf("accuracy %s%%", document.ValueText(*e.Accuracy, document.UnitShare)))
	}
	if e.Took > 0 {
		list = append(list, fmt.Sprintf("took %.4f s", e.Took))
	}
	return strings.Join(list, ", ")
}

// whole separates thousands by no-break spaces.
func whole(n int) string { return strings.ReplaceAll(document.Thousands(n), " ", "\u00a0") }
