package trainer

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBatchesOfExamples(t *testing.T) {
	for name, c := range map[string]struct {
		examples, batch int
		want            []int
	}{
		"an unknown number":       {0, 64, []int{64}},
		"less than a batch":       {40, 64, []int{40}},
		"full batches":            {128, 64, []int{64}},
		"a smaller batch at last": {130, 64, []int{64, 2}},
	} {
		require.Equal(t, c.want, batchesOf(c.examples, c.batch), name)
	}
}
