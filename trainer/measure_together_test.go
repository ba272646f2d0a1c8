package trainer

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/probes"
)

// Two members of a group measure exchanges and steps together. Rank 0 gets times that a profile accepts.
func TestProcessesAreMeasuredTogether(t *testing.T) {
	n, err := model.Zoo("BatchNormConvolution", model.ZooOptions{Input: model.Shape{3, 8, 8}})
	require.NoError(t, err)
	all := slices.Repeat([]probes.Probe{{Network: n, Rows: 8}}, atOnce+1) // more than take turns at once
	file, o := filepath.Join(t.TempDir(), "meet"), MeasureOptions{Rounds: 2, Burst: time.Millisecond, Now: time.Now}
	made, errs, steps := make([]*clock.Processes, 2), make([]error, 2), make([][]clock.TogetherStep, 2)
	var members sync.WaitGroup
	for rank := range made {
		members.Go(func() {
			errs[rank] = torch.With(func(s *torch.Scope) (err error) {
				peers := s.NewPeers(torch.PeersOptions{Rank: rank, Size: 2, File: file, Timeout: time.Minute})
				if s.Err() != nil {
					return s.Err()
				}
				one := o
				one.Quiet = float64(1 - rank) // only rank 0 has measured the reference
				if made[rank], err = MeasureTogether(context.Background(), peers, all, one); err != nil {
					return err
				}
				slow := o
				slow.Quiet = 1e-9 // the reference takes far longer
				steps[rank], err = StepsTogether(context.Background(), peers, all, slow)
				return err
			})
		})
	}
	members.Wait()
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	assert.Equal(t, 2, made[0].Count)
	require.Len(t, steps[0], len(all))
	assert.Greater(t, steps[0][0].Slowdown, 100.0, "rank 0 measures the slowdown of the reference")
	assert.InDelta(t, 1, steps[1][0].Slowdown, 0)
	assert.Positive(t, steps[0][0].Alone)
	assert.Positive(t, steps[0][0].Step)
	assert.Len(t, made[0].Exchanges, len(exchangedBytes))
	p := &clock.Profile{Name: "together", Processes: []clock.Processes{*made[0]}, Costs: clock.Costs{
		Step: clock.Rates{ExampleSeconds: 1e-3}, Batch: clock.Rates{ExampleSeconds: 1e-3}}}
	assert.NoError(t, p.Validate())
}

func TestMeasuringTogetherNeedsAGroup(t *testing.T) {
	_, err := MeasureTogether(context.Background(), nil, nil, MeasureOptions{Now: time.Now})
	assert.ErrorContains(t, err, "expected a group of at least two processes")
	_, err = MeasureTogether(context.Background(), nil, nil, MeasureOptions{})
	assert.ErrorContains(t, err, "Now is nil")
}

// There are 36 networks for measurements of several processes.
func TestTogetherProbes(t *testing.T) {
	all, err := TogetherProbes()
	require.NoError(t, err)
	assert.Len(t, all, 36)
}
