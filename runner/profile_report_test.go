package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/runner/profile"
	"graft/trainer/clock"
	"graft/trainer/operators"
)

// A report says how many small networks were measured only while other programs ran.
func TestReportsNameDisturbedNetworks(t *testing.T) {
	p := &clock.Profile{GraftOperators: operators.Device{Path: operators.Fast, Networks: 400,
		Operators: []operators.Operator{{Name: "relu", Points: []string{"8 1 1 0 0 0 0 64 1 8 64 1e-5 0 1e-5"}}}}}
	assert.NotContains(t, profileOperatorsText(&profile.Report{Profile: p}), "slowed")
	p.Made.Disturbed = 31
	assert.Contains(t, profileOperatorsText(&profile.Report{Profile: p}), "Other programs slowed the machine down "+
		"during each measurement of 31 of 400 small networks.\nTheir times are corrected, but less exact; "+
		"measure again on a quiet machine.")
}

// A hostile profile moves neither the cursor nor the lines.
func TestProfilesHaveNoControlCharacters(t *testing.T) {
	text := "a\nb\x1b[31m"
	p := &clock.Profile{Name: text, Device: text, Made: clock.Provenance{Date: "\x1b[2J"}}
	assert.Equal(t, "a?b?[31m, a?b?[31m, 0 measurements, no rates, so other networks cannot be charged",
		describeProfile(p))
	var shown strings.Builder
	require.NoError(t, printProfile(&shown, profile.NewReport(p, "")))
	assert.True(t, strings.HasPrefix(shown.String(), "a?b?[31m: a?b?[31m\nmeasured on ?[2J by graft "), shown.String())
}
