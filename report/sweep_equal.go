package report

import (
	"fmt"
	"slices"

	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
)

// equalText names the cases whose trials ended with the same networks: the keys in which they differ had no effect. It
// is empty if there are none.
func equalText(o *runs.SweepOutcome) string {
	var groups [][]*runs.CaseOutcome
	for k := range o.Cases {
		c := o.Cases[k]
		at := slices.IndexFunc(groups, func(g []*runs.CaseOutcome) bool { return isEqualCase(g[0], c) })
		if at < 0 {
			groups = append(groups, nil)
			at = len(groups) - 1
		}
		groups[at] = append(groups[at], c)
	}
	var parts []string
	for _, g := range groups {
		if len(g) > 1 {
			var names []string
			for _, c := range g {
				names = append(names, document.Printable(c.Name))
			}
			parts = append(parts, words.Some(names, 6))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("Equal in every trial: %s. The keys in which they differ had no effect.", words.Some(parts, 4))
}

// isEqualCase reports whether two cases have the same seeds, and the same final networks.
func isEqualCase(a, b *runs.CaseOutcome) bool {
	return len(a.Trials) > 0 && slices.EqualFunc(a.Trials, b.Trials, func(a, b runs.TrialOutcome) bool {
		return a.Seed == b.Seed && a.Digest != "" && a.Digest == b.Digest
	})
}
