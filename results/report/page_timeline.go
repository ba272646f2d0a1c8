package report

import (
	"fmt"
	"graft/results"
	"graft/results/document"
	"graft/results/page"
	"strings"
)

// hasTimeline is implemented by details with events.
type hasTimeline interface{ timeline() *page.Timeline }

// looks maps the looks of events to marks on a timeline.
var looks = map[results.Look]page.Kind{results.Plain: page.Plain, results.Up: page.Up, results.Down: page.Down, results.Choice: page.Decision}

func (j *JobDetail) timeline() *page.Timeline {
	t := &page.Timeline{Title: "Events of the job over its time", Unit: "s"}
	for _, e := range j.Events {
		name := string(e.Event)
		if what := e.what(); what != "" {
			name += " " + what
		}
		t.Events = append(t.Events, page.Event{At: e.Time, Name: document.Printable(name), Detail: document.Printable(e.consequences()), Kind: looks[e.Event.Traits().Look]})
	}
	return t
}

// consequences describes the changes of an event in words.
func (e *eventRow) consequences() string {
	list := []string{document.Plural(e.Devices, "device")}
	if e.Before != e.Parameters {
		list = append(list, fmt.Sprintf("%s parameters, %s before", whole(e.Parameters), whole(e.Before)))
	} else {
		list = append(list, whole(e.Parameters)+" parameters")
	}
	switch {
	case e.Accuracy != nil && e.After != nil:
		list = append(list, fmt.Sprintf("accuracy %s%% before and %s%% after it", document.ShareCell(e.Accuracy), document.ShareCell(e.After)))
	case e.Accuracy != nil:
		list = append(list, fmt.Sprintf("accuracy %s%%", document.ShareCell(e.Accuracy)))
	}
	if e.Took > 0 {
		list = append(list, fmt.Sprintf("took %.4f s", e.Took))
	}
	return strings.Join(list, ", ")
}

// whole separates thousands by no-break spaces.
func whole(n int) string { return strings.ReplaceAll(document.Thousands(n), " ", "\u00a0") }
