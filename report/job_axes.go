package report

import (
	"fmt"
	"slices"

	"graft/net2net"
	"graft/report/document"
	"graft/report/runs"
	"graft/trainer"
)

// explainActions describes the axes that actions widened, by the names in the last saved network of the job.
func explainActions(r *runs.Run, events []eventRow) error {
	widen := func(text string) (net2net.Action, bool) {
		a, err := net2net.ParseAction(text)
		return a, err == nil && a.Kind == "widen"
	}
	if !slices.ContainsFunc(events, func(e eventRow) bool { _, is := widen(e.Action); return is }) {
		return nil
	}
	saved, err := trainer.SavedNetwork(r.Files, r.Path)
	if err != nil || saved == nil {
		return err
	}
	for k := range events {
		if a, is := widen(events[k].Action); is {
			events[k].Meaning = net2net.Meaning(saved, a)
		}
	}
	return nil
}

// meanings has a line per action with a meaning.
func meanings(events []eventRow) (lines []string) {
	for _, e := range events {
		if e.Meaning != "" {
			lines = append(lines, fmt.Sprintf("%s: %s.", document.Printable(e.Action), document.Printable(e.Meaning)))
		}
	}
	return slices.Compact(lines)
}
