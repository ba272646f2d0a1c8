package trainer

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/probes"
)

// A test loss of the best network that is not finite ends the job with ErrDiverged, as the last network's does. Before,
// the job ended when its outcome was written, because JSON has no NaN.
func TestLossesOfTheBestNetworkAreFinite(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		o := MeasureOptions{Batches: []int{8}, Now: time.Now}
		o.EnsureDefaults()
		m := &measuring{MeasureOptions: o, scope: s, images: map[string]*dataset.Set{}, longest: 1}
		defer m.close()
		c, err := m.candidate(clock.Subject{Name: "reference", Network: probes.Reference().Network})
		require.NoError(t, err)
		e := &c.job.evaluation
		e.Data.Test, e.Best = e.Data.Validation, &Best{}
		best, err := e.Network.Clone(s)
		require.NoError(t, err)
		e.best = &kept{network: best}
		_, err = e.testBest()
		require.NoError(t, err)
		s.Fill(s.Detach(best.State()[0].Tensor), math.NaN())
		_, err = e.testBest()
		require.ErrorIs(t, err, ErrDiverged)
		require.ErrorContains(t, err, "the test loss of the best network of epoch 0 is NaN")
		e.best = nil // the scope of the test owns the network
		return s.Err()
	}))
}
