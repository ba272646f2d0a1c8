package trainer

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch"
)

// series returns a reference whose steps take the given times, in order.
func series(seconds ...float64) func() (float64, error) {
	return func() (float64, error) {
		if len(seconds) == 0 {
			return 0, errors.New("the reference failed")
		}
		next := seconds[0]
		seconds = seconds[1:]
		return next, nil
	}
}

func TestDisturbedNetworks(t *testing.T) {
	for name, c := range map[string]struct {
		reference []float64 // before the first measurement, and after each
		networks  []int     // in the order of the measurements
		disturbed []int
	}{
		"a quiet machine":                 {[]float64{1, 1.05, 1.02, 1.09}, []int{0, 1, 2}, nil},
		"slow after one":                  {[]float64{1, 1, 1.2, 1}, []int{0, 1, 2}, []int{1, 2}},
		"slow before one":                 {[]float64{1.2, 1, 1, 1}, []int{0, 1, 2}, []int{0}},
		"measured again":                  {[]float64{1.2, 1, 1, 1, 1}, []int{0, 1, 2, 0}, nil},
		"slow again":                      {[]float64{1.2, 1, 1, 1, 1.3}, []int{0, 1, 2, 0}, []int{0}},
		"the machine gets faster":         {[]float64{1, 1, 1, 0.8}, []int{0, 1, 2}, []int{0, 1, 2}},
		"a network was not yet measured":  {[]float64{1, 1, 1}, []int{0, 2}, []int{1}},
		"a short disturbance in a row":    {[]float64{1, 1.5, 1.5, 1}, []int{0, 1, 2}, []int{0, 1, 2}},
		"a network is measured two times": {[]float64{1, 1, 1, 1, 2}, []int{0, 1, 2, 0}, nil},
	} {
		w, err := newWatch(3, series(c.reference...))
		require.NoError(t, err, name)
		for _, k := range c.networks {
			_, err := w.Measure(k, func() error { return nil })
			require.NoError(t, err, name)
		}
		assert.Equal(t, c.disturbed, w.disturbed(), name)
	}
}

func TestWatchesReturnErrors(t *testing.T) {
	_, err := newWatch(1, series())
	require.EqualError(t, err, "the reference failed")
	w, err := newWatch(1, series(1))
	require.NoError(t, err)
	_, err = w.Measure(0, func() error { return errors.New("the network failed") })
	require.EqualError(t, err, "the network failed")
	_, err = w.Measure(0, func() error { return nil })
	require.EqualError(t, err, "the reference failed")
	assert.Equal(t, []int{0}, w.disturbed())
}

// The reference trains on a device, and its steps take time.
func TestReferencesAreMeasured(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		o := MeasureOptions{Now: time.Now}
		o.EnsureDefaults()
		reference, close, err := o.newReference(s)
		require.NoError(t, err)
		defer close()
		for range 2 {
			seconds, err := reference()
			require.NoError(t, err)
			assert.Positive(t, seconds)
		}
		return nil
	}))
}
