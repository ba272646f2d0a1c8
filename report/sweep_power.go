package report

import (
	"cmp"
	"fmt"
	"slices"

	"graft/report/document"
	"graft/report/runs"
)

// detectableText states the true difference that the seeds detect, from the arm with the smallest spread to the arm
// with the largest; empty if no difference has a spread.
func detectableText(o *runs.SweepOutcome) string {
	cases := slices.DeleteFunc(slices.Clone(o.Cases), func(c *runs.CaseOutcome) bool {
		return c.Difference == nil || c.Difference.Detectable == nil
	})
	if len(cases) == 0 {
		return ""
	}
	now, then := detectedRange(cases)
	seeds, twice := seedCounts(cases)
	return fmt.Sprintf(
		"With %s, a true difference from %s of %s is detected in %.0f%% of comparisons; %s would detect %s. "+
			"This is the power of the paired t-test at the level of these intervals (Cohen 1988), if the differences "+
			"keep their spread.", seeds, document.Printable(cases[0].Difference.From), now,
		100*cases[0].Difference.Detectable.Power, twice, then)
}

// detectedRange returns the differences that the present seeds and twice as many seeds detect.
func detectedRange(cases []*runs.CaseOutcome) (now, then string) {
	order := func(a, b *runs.CaseOutcome) int {
		return cmp.Compare(a.Difference.Detectable.Difference, b.Difference.Detectable.Difference)
	}
	least, most := slices.MinFunc(cases, order), slices.MaxFunc(cases, order)
	small, large := least.Difference.Detectable, most.Difference.Detectable
	now, then = pointsText(large.Difference)+" points", pointsText(large.Twice)+" points"
	if low := pointsText(small.Difference); len(cases) > 1 && low+" points" != now {
		now = fmt.Sprintf("%s (%s) to %s (%s)", low, document.Printable(least.Name), now, document.Printable(most.Name))
		then = pointsText(small.Twice) + " to " + then
	}
	return now, then
}

// seedCounts returns the number of seeds of the differences, and twice that number, in words.
func seedCounts(cases []*runs.CaseOutcome) (now, twice string) {
	var counts []int
	for _, c := range cases {
		counts = append(counts, c.Difference.N)
	}
	if few, many := slices.Min(counts), slices.Max(counts); few < many {
		return fmt.Sprintf("%d to %d seeds", few, many), "twice as many seeds"
	}
	return fmt.Sprintf("%d seeds", counts[0]), fmt.Sprintf("%d seeds", 2*counts[0])
}

// pointsText formats a share in points.
func pointsText(share float64) string { return fmt.Sprintf("%.2f", 100*share) }
