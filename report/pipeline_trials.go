package report

import (
	"fmt"
	"strings"

	"graft/report/document"
	"graft/report/runs"
)

// writeTrials adds the entries of a pipeline of trials, and the values that were selected for their cases.
func writeTrials(entries []runs.EntryOutcome, d *document.Document) {
	t := document.NewTable("entry").Numbers("", "", "cases", "trials", "failed").Texts("run")
	tuned := document.NewTable("entry", "case", "selected").Numbers(document.UnitShare, "%.2f%%", "validation").
		Texts("tried")
	for _, e := range entries {
		t.Add(e.Name, e.Cases, e.Trials, e.Failed, e.Folder)
		if e.Tuning == nil {
			continue
		}
		for _, c := range e.Tuning.Cases {
			tuned.Add(e.Name, c.Case, strings.Join(c.Set, " "), c.Accuracy, triedText(c))
		}
	}
	d.Show(t)
	if len(tuned.Rows) > 0 {
		d.Break()
		d.Show(tuned)
		d.Say("SELECTED has the highest mean validation accuracy of the values in TRIED; values whose trials " +
			"diverged are not selected.")
	}
}

// triedText lists all tried values with their accuracies.
func triedText(c runs.TunedCase) string {
	var list []string
	for _, one := range c.Tried {
		text := strings.Join(one.Set, " ") + ": "
		if one.Diverged > 0 {
			text += fmt.Sprintf("%d diverged", one.Diverged)
		} else {
			text += document.AccuracyText(*one.Accuracy)
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}
