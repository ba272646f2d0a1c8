package clock

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/net2net"
	"graft/trainer/operators"
)

// ofDevice returns a profile with operators that graft measured.
func ofDevice() *Profile {
	p := &Profile{Name: "device", GraftOperators: operators.Device{Path: operators.Fast, Networks: 3,
		Operators: []operators.Operator{
			{Name: "linear", Points: []string{"64 100 100 0 0 0 0 1024 1.28e6 92000 1e-4 2e-4 9e-5",
				"64 1000 100 0 0 0 0 1024 1.28e7 681600 1e-3 2e-3 9e-4",
				"16 50 10 0 0 0 0 64 16000 5840 1e-5 2e-5 9e-6"}},
			{Name: "loss", Points: []string{"640 64 10 0 0 0 0 1024 0 2560 3e-5 0 2e-5"}},
			{Name: "batch", Points: []string{"196608 64 3 0 0 0 0 1024 0 786432 2e-5 0 2e-5"}},
			{Name: "optimizer", Points: []string{"10000 0 0 0 0 0 0 1024 0 40000 5e-6 0 0"}}}}}
	p.EnsureDefaults()
	return p
}

// Operators that graft measured charge any network. Measured relatives correct the charges.
func TestGraftOperatorsAreCharged(t *testing.T) {
	n, err := model.Zoo("MLP", model.ZooOptions{})
	require.NoError(t, err)
	p := ofDevice()
	require.NoError(t, p.Validate())
	require.True(t, p.HasOperators())
	require.False(t, p.Closed())
	made, err := p.Predict(n, 64)
	require.NoError(t, err)
	require.Greater(t, made.Step, made.Forward)
	cost := func(n *model.Network, k Kind) float64 {
		return p.Cost(Work{Kind: k, Count: 1, Rows: 64, Network: n}).Seconds()
	}
	require.InDelta(t, made.Step, cost(n, Steps), 1e-9)
	require.InDelta(t, made.Forward, cost(n, Batches), 1e-9)

	first := Subject{Name: "MLP", Network: n}
	grown, err := Adapted(first, 1)
	require.NoError(t, err)
	plain := cost(grown[0].Network, Steps)
	size, err := SizeOf(n)
	require.NoError(t, err)
	p.Measured = []Measurement{{Network: "MLP", Class: n.Name(), Fingerprint: net2net.Fingerprint(n), Batch: 64,
		StepSeconds: 1.2 * made.Step, BatchSeconds: 0.5 * made.Forward, Size: size}}
	require.NoError(t, p.PredictMeasured(Networks([]Subject{first})))
	require.NoError(t, p.Validate())
	assert.InEpsilon(t, made.Step, p.Measured[0].StepPredictedSeconds, 1e-3)
	assert.InEpsilon(t, 1.2*plain, cost(grown[0].Network, Steps), 1e-3, "the relative corrects it")
	assert.InDelta(t, 1-1/1.2, p.Fit.NewStep.Median, 1e-3)
	assert.Zero(t, p.Fit.Step, "no other network corrects it")
	assert.InDelta(t, 1, p.Fit.NewBatch.Worst, 1e-3)
	step, batch := p.Estimate(p.Measured[0])
	assert.Equal(t, []float64{p.Measured[0].StepPredictedSeconds, p.Measured[0].BatchPredictedSeconds},
		[]float64{step, batch})

	// A second relative leaves errors of predictions that the first one corrects.
	size, err = SizeOf(grown[0].Network)
	require.NoError(t, err)
	p.Measured = append(p.Measured, Measurement{Network: "MLP", Actions: grown[0].Actions, Class: n.Name(), Batch: 64,
		Fingerprint: net2net.Fingerprint(grown[0].Network), StepSeconds: 1.2 * plain, BatchSeconds: 1, Size: size})
	require.NoError(t, p.PredictMeasured(Networks(append(grown, first))))
	assert.Less(t, p.Fit.Step.Worst, 1e-3)
	assert.InDelta(t, 1-1/1.2, p.Fit.NewStep.Median, 1e-3)
}

func TestTwoSourcesOfOperatorsAreAFault(t *testing.T) {
	p, _ := imported(t)
	p.GraftOperators = ofDevice().GraftOperators
	require.ErrorContains(t, p.Validate(), "operators and graft_operators are both set; remove one of them")
	p = ofDevice()
	p.GraftOperators.Operators[0].Points[0] = "1 2"
	require.ErrorContains(t, p.Validate(), "operators: linear: point 1: got 2 numbers; expected 14")
}
