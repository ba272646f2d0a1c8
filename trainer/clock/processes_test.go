package clock

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
)

// measuredTogether returns simple times of two and of four processes.
func measuredTogether() []Processes {
	return []Processes{
		{Count: 2, Slowdown: 1.5, WaitSeconds: 1e-4, Exchanges: []Exchange{{64, 1e-4}, {1000, 2e-4}, {5000, 1e-3}}},
		{Count: 4, Slowdown: 2, WaitSeconds: 2e-4, Exchanges: []Exchange{{64, 2e-4}, {5000, 3e-3}}}}
}

// The time of an exchange is interpolated linearly between measured sizes.
func TestExchangesAreInterpolated(t *testing.T) {
	s := measuredTogether()[0]
	for bytes, want := range map[int64]float64{1: 1e-4, 64: 1e-4, 532: 1.5e-4, 1000: 2e-4, 3000: 6e-4, 5000: 1e-3,
		9000: 1.8e-3} {
		assert.InEpsilon(t, want, s.Seconds(bytes), 1e-9, bytes)
	}
	one := Processes{Exchanges: []Exchange{{100, 1e-3}}}
	assert.InEpsilon(t, 2e-3, one.Seconds(200), 1e-9)
}

// A step on several devices costs a device's share of the batch, slowed down, and the exchanges of the gradients and of
// each batch normalisation. The cost is linear between measured numbers of processes, and beyond them.
func TestProcessesAreCharged(t *testing.T) {
	n, err := model.Zoo("BatchNormConvolution", model.ZooOptions{Input: model.Shape{3, 8, 8}})
	require.NoError(t, err)
	p := &Profile{Name: "together", Processes: measuredTogether(), Costs: Costs{Step: Rates{ExampleSeconds: 1e-3},
		Batch: Rates{ExampleSeconds: 1e-3}}}
	require.NoError(t, p.Validate())
	cost := func(k Kind, devices int) float64 {
		return p.Cost(Work{Kind: k, Count: 1, Rows: 40, Network: n, Devices: devices}).Seconds()
	}
	require.InDelta(t, 40e-3, cost(Steps, 1), 1e-9)
	messages := Messages(n)
	require.Equal(t, 4*int64(n.Parameters()), messages[0])
	require.Greater(t, len(messages), 2, "it has batch normalisations")
	require.Equal(t, messages[1], messages[2]+8)
	for k, share := range []float64{20e-3, 10e-3} {
		s := &p.Processes[k]
		want := share*s.Slowdown + float64(len(messages))*s.WaitSeconds
		for _, bytes := range messages {
			want += s.Seconds(bytes)
		}
		assert.InDelta(t, want, cost(Steps, s.Count), 2e-9, s.Count)
		assert.InDelta(t, want-share*s.Slowdown, p.ExchangeSeconds(Work{Network: n, Devices: s.Count}), 1e-12)
	}
	assert.InDelta(t, 2*40e-3/4, cost(Batches, 4), 1e-9, "whole batches are divided, and processes slow each other")
	alone := 14e-3 // for 14 of 40 images, the largest share on three devices
	at := func(k int) float64 { return p.Processes[k].step(alone, n) }
	assert.InDelta(t, (at(0)+at(1))/2, cost(Steps, 3), 2e-9)
	alone = 5e-3
	assert.InDelta(t, at(1)+2*(at(1)-at(0)), cost(Steps, 8), 2e-9)
	assert.Zero(t, p.ExchangeSeconds(Work{Network: n, Devices: 1}))
}

// A fit recovers the slowdown and the wait from the times of steps.
func TestProcessesAreFitted(t *testing.T) {
	made := measuredTogether()[0]
	var steps []TogetherStep
	for k, name := range []string{"BatchNormConvolution", "MLP", "ConvNet", "CIFARResNet20"} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		alone := 1e-2 * float64(k+1)
		steps = append(steps, TogetherStep{Network: n, Alone: alone, Step: made.step(alone, n)})
	}
	fitted := Processes{Count: 2, Exchanges: made.Exchanges}
	fitted.Fit(steps)
	assert.InEpsilon(t, made.Slowdown, fitted.Slowdown, 1e-3)
	assert.InEpsilon(t, made.WaitSeconds, fitted.WaitSeconds, 1e-3)
	assert.Equal(t, 4, fitted.Steps)
	assert.InDelta(t, 0, fitted.WorstError, 1e-3, "the other steps predict each step")
	fitted.Fit(nil)
	assert.Equal(t, 1.0, fitted.Slowdown)
	assert.Zero(t, fitted.WaitSeconds)
	fitted.Fit(steps[1:2]) // one step cannot tell them apart
	assert.Zero(t, fitted.WaitSeconds)
	assert.Greater(t, fitted.Slowdown, 1.0)
}

func TestProcessFaults(t *testing.T) {
	for text, change := range map[string]func(s []Processes){
		"count is 1; must be from 2":          func(s []Processes) { s[0].Count = 1 },
		"slowdown is 0":                       func(s []Processes) { s[0].Slowdown = 0 },
		"wait_seconds is -1":                  func(s []Processes) { s[1].WaitSeconds = -1 },
		"exchanges is empty":                  func(s []Processes) { s[1].Exchanges = nil },
		"sizes must be positive and increase": func(s []Processes) { s[0].Exchanges[1].Bytes = 64 },
		"errors of 0.2 in the median":         func(s []Processes) { s[0].MedianError = 0.2 },
		"takes 0 seconds":                     func(s []Processes) { s[0].Exchanges[1].Seconds = 0 },
		"numbers of processes must increase":  func(s []Processes) { s[0].Count = 8 },
		"2 processes are listed twice":        func(s []Processes) { s[1].Count = 2 },
	} {
		p := &Profile{Name: "bad", Processes: measuredTogether(), Costs: Costs{Step: Rates{CallSeconds: 1},
			Batch: Rates{CallSeconds: 1}}}
		change(p.Processes)
		assert.ErrorContains(t, p.Validate(), text)
	}
	p := &Profile{Name: "bad", Processes: measuredTogether(), Costs: Costs{Step: Rates{CallSeconds: 1},
		Batch: Rates{CallSeconds: 1}, ExchangeSeconds: 1}}
	assert.ErrorContains(t, p.Validate(), "remove one of them")
}
