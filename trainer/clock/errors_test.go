package clock

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"graft/net2net"
	"graft/trainer/operators"
)

// Errors are grouped by family, batch, growth and processes.
func TestErrorsAreGrouped(t *testing.T) {
	grown := []net2net.Action{{Kind: "deepen", Target: "conv1"}}
	p := &Profile{Measured: []Measurement{
		{Network: "A", Batch: 32, StepSeconds: 1, StepPredictedSeconds: 1.1},
		{Network: "A", Actions: grown, Batch: 32, StepSeconds: 2, StepPredictedSeconds: 2.64},
		{Network: "B", Batch: 64, StepSeconds: 1, StepPredictedSeconds: 0.7},
		{Network: "B", Batch: 128, StepSeconds: 1}},
		Processes: []Processes{{Count: 2, Steps: 36, MedianError: 0.05, WorstError: 0.3}, {Count: 4}}}
	assert.Empty(t, p.Errors(), "no operators of graft")
	p.GraftOperators.Operators = []operators.Operator{{Name: "linear"}}
	want := []GroupError{{"family", "A", 2, 0.21, 0.32}, {"family", "B", 1, 0.3, 0.3}, {"batch", "32", 2, 0.21, 0.32},
		{"batch", "64", 1, 0.3, 0.3}, {"growth", "before", 2, 0.2, 0.3}, {"growth", "after", 1, 0.32, 0.32},
		{"growth", "after / before", 1, 0.2, 0.2}, {"processes", "2", 36, 0.05, 0.3}}
	got := p.Errors()
	assert.Len(t, got, len(want))
	for k, w := range want {
		assert.Equal(t, []any{w.By, w.Value, w.Steps}, []any{got[k].By, got[k].Value, got[k].Steps})
		assert.InDelta(t, w.Median, got[k].Median, 1e-9)
		assert.InDelta(t, w.Worst, got[k].Worst, 1e-9)
	}
}
