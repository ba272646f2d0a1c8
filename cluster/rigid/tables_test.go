package rigid

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results"
)

// The used share is zero while no device is in service; NaN would be an empty cell in series.csv.
func TestUsedShareWithoutDevices(t *testing.T) {
	require.InDelta(t, 0.25, usedShare(&results.UsageRow{GPUs: 8, Idle: 6}), 0)
	require.Zero(t, usedShare(&results.UsageRow{}))
}
