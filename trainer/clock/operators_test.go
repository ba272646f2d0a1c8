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

// imported returns a profile of the operators of a recorded network, and the network.
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
	assertDivided(t, p, n, 4)

	unfitted := &Profile{Name: "traced", Operators: p.Operators}
	assert.Equal(t, p.Cost(Work{Kind: Steps, Count: 1, Rows: 4, Network: n}),
		unfitted.Cost(Work{Kind: Steps, Count: 1, Rows: 4, Network: n}), "without defaults")
}

// A measured time of a network precedes the prediction. Operators, and not the rates, scale it to batch sizes outside
// of the measured range; between measured sizes, it is interpolated.
func TestAMeasurementPrecedesOperators(t *testing.T) {
	p, n := imported(t)
	size, err := SizeOf(n)
	require.NoError(t, err)
	measured := func(batch int, step float64) Measurement {
		return Measurement{Fingerprint: net2net.Fingerprint(n), Batch: batch, StepSeconds: step, BatchSeconds: step / 2,
			Size: size}
	}
	p.Measured = []Measurement{measured(8, 6), measured(4, 2)}
	p.Costs.Step, p.Costs.Batch = Rates{ExampleSeconds: 1}, Rates{ExampleSeconds: 1}
	require.NoError(t, p.Validate())
	cost := func(k Kind, rows int) float64 {
		return p.Cost(Work{Kind: k, Count: 1, Rows: rows, Network: n}).Seconds()
	}
	predicted := func(rows int) operators.Prediction {
		made, err := p.Predict(n, rows)
		require.NoError(t, err)
		return made
	}
	assert.Equal(t, []float64{2, 4, 6}, []float64{cost(Steps, 4), cost(Steps, 6), cost(Steps, 8)})
	assert.InEpsilon(t, 6*predicted(32).Step/predicted(8).Step, cost(Steps, 32), 1e-6)
	assert.InEpsilon(t, 1*predicted(2).Forward/predicted(4).Forward, cost(Batches, 2), 1e-6)
	p.Operators.Rows = 0
	assert.ErrorContains(t, p.Validate(), "rows is 0")
}

// assertDivided checks that the times of layers sum to the times of the network, and that layers with weights take
// time.
func assertDivided(t *testing.T, p *Profile, n *model.Network, rows int) {
	t.Helper()
	times, err := p.LayerTimes(n, rows)
	require.NoError(t, err)
	made, err := p.Predict(n, rows)
	require.NoError(t, err)
	sheet, err := n.Sheet()
	require.NoError(t, err)
	require.Len(t, times, len(sheet)+1)
	var sum LayerTime
	for k, time := range times {
		sum.Forward, sum.Step = sum.Forward+time.Forward, sum.Step+time.Step
		if k > 0 && sheet[k-1].Parameters > 0 {
			assert.Positive(t, time.Forward, sheet[k-1].Path)
			assert.Greater(t, time.Step, time.Forward, sheet[k-1].Path)
		}
	}
	assert.InEpsilon(t, made.Step, sum.Step, 1e-9)
	assert.InEpsilon(t, made.Forward, sum.Forward, 1e-9)
}

// Operators divide the times of trees with and without residual connections, and of graphs, among their layers.
func TestOperatorsDivideTimesAmongLayers(t *testing.T) {
	for _, name := range []string{"MLP", "ConvNet3", "CIFARResNet20", "CharGPT"} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		assertDivided(t, ofDevice(), n, 16)
	}
	n, err := model.Zoo("MLP", model.ZooOptions{})
	require.NoError(t, err)
	_, err = (&Profile{Name: "empty"}).LayerTimes(n, 4)
	assert.ErrorContains(t, err, "has no cost rates and no measured operators")
}
