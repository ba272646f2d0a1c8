package schedulers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic/elastictest"
	"graft/cluster/elastic/schedulers"
)

func TestConformance(t *testing.T) {
	for _, kind := range schedulers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, kind.About)
			elastictest.Run(t, kind)
		})
	}
}

func TestUnknownScheduler(t *testing.T) {
	_, err := schedulers.Named("lifo")
	require.EqualError(t, err, `unknown scheduler "lifo"; did you mean fifo; expected one of: fifo, srtf, `+
		`drf, tetris, optimus, peak, frontier`)
}
