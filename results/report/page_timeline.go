package report

import (
	"fmt"
	"graft/results/document"
	"graft/results/page"
	"strings"
)

// hasTimeline is implemented by details with events.
type hasTimeline interface{ timeline() *page.Timeline }

func (j *JobDetail) timeline() *page.Timeline {
	t := &page.Timeline{Title: "Events of the job over its time", Unit: "s"}
	for _, e := range j.Events {
		name := string(e.Event)
		if what := e.what(); what != "" {
			name += " " + what
		}
		t.Events = append(t.Events, page.Event{At: e.Time, Name: document.Printable(name), Detail: document.Printable(e.consequences()), Look: e.Event.Traits().Look})
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
		list = append(list, fmt.Sprintf("accuracy %s%% before and %s%% after it", document.ValueText(*e.Accuracy, document.UnitShare), document.ValueText(*e.After, document.UnitShare)))
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
