package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
