package clock

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/trainer/costs/kineto"
	"graft/trainer/operators"
)

// imported is a profile of the operators of a recorded network.
func imported(t *testing.T) (*Profile, *model.Network) {
	t.Helper()
	n, err := model.Zoo("BatchNormConvolution", model.ZooOptions{})
	require.NoError(t, err)
	trace, err := kineto.Read(files.OS{}, "../operators/testdata/BatchNormConvolution.json.gz")
	require.NoError(t, err)
	table, err := operators.FromTrace(trace, n, 0)
	require.NoError(t, err)
	p := &Profile{Name: "traced", Operators: *table}
	p.EnsureDefaults()
	require.NoError(t, p.Validate())
	return p, n
}

// Measured operators charge the network, its grown versions and other batch sizes, without rates.
func TestOperatorsAreCharged(t *testing.T) {
	p, n := imported(t)
	require.False(t, p.Closed())
	require.False(t, p.WidthIsFree())
	cost := func(n *model.Network, k Kind, rows int) float64 {
		w := Work{Kind: k, Count: 1, Rows: rows, Network: n}
		require.NoError(t, p.Knows(w))
		return p.Cost(w).Seconds()
	}
	base := cost(n, Steps, 4)
	made, err := p.Predict(n, 4)
	require.NoError(t, err)
	assert.InDelta(t, made.Step, base, 1e-9)
	assert.InDelta(t, made.Forward, cost(n, Batches, 4), 1e-9)
	assert.Greater(t, cost(n, Steps, 64), base)
	grown, err := Adapted(Subject{Network: n}, 1)
	require.NoError(t, err)
	for _, s := range grown {
		assert.Greater(t, cost(s.Network, Steps, 4), base, s.String())
	}
	_, err = p.LayerTimes(n, 4)
	assert.ErrorContains(t, err, "has no cost rates, which divide times among layers")

	unfitted := &Profile{Name: "traced", Operators: p.Operators}
	assert.Equal(t, p.Cost(Work{Kind: Steps, Count: 1, Rows: 4, Network: n}),
		unfitted.Cost(Work{Kind: Steps, Count: 1, Rows: 4, Network: n}), "without defaults")
}

// A measured time of a network precedes the prediction.
func TestAMeasurementPrecedesOperators(t *testing.T) {
	p, n := imported(t)
	p.Measured = []Measurement{{Fingerprint: net2net.Fingerprint(n), Batch: 4, StepSeconds: 2, BatchSeconds: 1}}
	require.NoError(t, p.Validate())
	assert.Equal(t, 2.0, p.Cost(Work{Kind: Steps, Count: 1, Rows: 4, Network: n}).Seconds())
	assert.Less(t, p.Cost(Work{Kind: Steps, Count: 1, Rows: 8, Network: n}).Seconds(), 1.0)
	p.Operators.Rows = 0
	assert.ErrorContains(t, p.Validate(), "rows is 0")
}
