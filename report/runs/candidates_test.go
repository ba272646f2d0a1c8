package runs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"graft/report/runs"
)

func TestCandidatesAreRanked(t *testing.T) {
	of := func(name string, accuracy float64, trials int) runs.Candidate {
		return runs.Candidate{Sequence: []string{name}, Validation: accuracy, N: trials}
	}
	for name, c := range map[string]struct {
		list   []runs.Candidate
		order  string
		tied   int
		failed int // of four that were tried
	}{
		"by accuracy":                      {[]runs.Candidate{of("a", 0.5, 2), of("b", 0.7, 2)}, "ba", 1, 2},
		"the first of equals first":        {[]runs.Candidate{of("a", 0.5, 2), of("b", 0.5, 2)}, "ab", 2, 2},
		"a failed seed is no advantage":    {[]runs.Candidate{of("a", 0.9, 1), of("b", 0.7, 2)}, "ba", 1, 3},
		"each sequence failed for a seed":  {[]runs.Candidate{of("a", 0.9, 1), of("b", 0.7, 1)}, "ab", 0, 4},
		"a failed sequence does not tie":   {[]runs.Candidate{of("a", 0.7, 1), of("b", 0.7, 2)}, "ba", 1, 3},
		"no sequence has completed trials": {nil, "", 0, 4},
	} {
		assert.Equal(t, c.tied, runs.RankCandidates(c.list, 2), name)
		order := ""
		for _, one := range c.list {
			order += one.Sequence[0]
		}
		assert.Equal(t, c.order, order, name)
		o := runs.ComparisonOutcome{SelectionSeeds: []int64{1, 2}, Candidates: c.list}
		o.Tried = 4
		assert.Equal(t, c.failed, o.Failed(), name)
	}
}
