package runs

import (
	"cmp"
	"slices"
)

// sameAccuracy is the largest difference of mean accuracies that counts as rounding.
const sameAccuracy = 1e-9

// RankCandidates sorts sequences by the number of their completed trials, because means over other seeds are not
// comparable, and then by accuracy, the best first. It returns the number of sequences that tie as the best. It is zero
// if each sequence failed for one of the selection seeds.
func RankCandidates(list []Candidate, seeds int) (tied int) {
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(b.Validation, a.Validation))
	})
	for _, c := range list {
		if c.N == seeds && list[0].Validation-c.Validation < sameAccuracy {
			tied++
		}
	}
	return tied
}

// Failed returns the number of sequences that failed for one of the selection seeds, so they could not be selected.
func (c *ComparisonOutcome) Failed() int {
	failed := c.Tried
	for _, s := range c.Candidates {
		if s.N == len(c.SelectionSeeds) {
			failed--
		}
	}
	return failed
}
