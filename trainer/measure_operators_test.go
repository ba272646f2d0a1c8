package trainer_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch"
	"graft/trainer"
	"graft/trainer/operators"
	"graft/trainer/probes"
)

// The listed operators are the ones that compiled networks run: trees with fused layers, and graphs. The measured times
// predict the time of a measured network.
func TestOperatorsAreMeasured(t *testing.T) {
	count := 19 // each family once
	if long {
		count = 190
	}
	for _, exact := range []bool{false, true}[:map[bool]int{false: 1, true: 2}[long]] {
		all, err := probes.Draw(probes.Options{Count: count, Seed: 5})
		require.NoError(t, err)
		for k := range all {
			all[k].Rows = min(all[k].Rows, 6)
		}
		told := 0 // networks of the round in which each one is measured
		m, err := trainer.MeasureOperators(context.Background(), all, trainer.MeasureOptions{Rounds: 1, Exact: exact,
			Burst: time.Millisecond, Now: time.Now, Tell: func(what string, _, _ int) {
				if what == "operators" {
					told++
				}
			}})
		require.NoError(t, err)
		require.Equal(t, len(all), told)
		require.LessOrEqual(t, m.Disturbed, len(all))
		d := m.Device
		require.NoError(t, d.Validate())
		assert.Equal(t, len(all), d.Networks)
		assert.Equal(t, map[bool]operators.Path{false: operators.Fast, true: operators.Exact}[exact], d.Path)
		p := operators.NewDevicePredictor(d)
		for _, one := range all {
			made, err := p.Predict(one.Network, "", one.Rows)
			require.NoError(t, err)
			assert.Positive(t, made.Forward)
			assert.Positive(t, made.Step)
			assert.Zero(t, made.Unknown)
		}
	}
}

func TestOperatorsOfOtherDevicesAreNotMeasured(t *testing.T) {
	all, err := probes.Draw(probes.Options{Count: 1})
	require.NoError(t, err)
	_, err = trainer.MeasureOperators(context.Background(), all, trainer.MeasureOptions{Now: time.Now,
		Device: torch.Device{CUDA: true}})
	require.ErrorContains(t, err, "only the CPU can be measured; import a trace for a CUDA device")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = trainer.MeasureOperators(ctx, all, trainer.MeasureOptions{Now: time.Now})
	require.ErrorIs(t, err, context.Canceled)
}
