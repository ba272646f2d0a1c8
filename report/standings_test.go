package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"graft/internal/stat"
	"graft/simulation/evaluation"
)

// Remarks say that an interval over seeds is cut, for policies in all tables only.
func TestRemarksNameCutIntervals(t *testing.T) {
	of := func(low, high float64, tables int) []evaluation.Standing {
		return []evaluation.Standing{{Policy: "whole", Tables: 2},
			{Policy: "p", Tables: tables, OverSeeds: &stat.Interval{Low: low, High: high}}}
	}
	assert.Contains(t, standingRemarks(of(0, 3, 2), "x"), cutIntervals)
	assert.Contains(t, standingRemarks(of(90, 100, 2), "x"), cutIntervals)
	assert.NotContains(t, standingRemarks(of(0.1, 3, 2), "x"), cutIntervals)
	assert.NotContains(t, standingRemarks(of(0, 0, 2), "x"), cutIntervals, "without a spread nothing is cut")
	assert.NotContains(t, standingRemarks(of(0, 3, 1), "x"), cutIntervals, "the policy is not in the table")
}
