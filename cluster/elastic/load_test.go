package elastic_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// constant is a speed model of one epoch per second and worker.
type constant struct{ elastic.Speed }

func (constant) Limit(_ *elastic.JobType, workers, _ int, seconds float64) float64 {
	return float64(workers) * seconds
}

// Each of two jobs needs 4 of 16 GPU slots for 300 s. More workers take more slots for less time. The last job arrives
// after 3 slots of 100 s.
func TestLoad(t *testing.T) {
	s := elastic.Study{Speed: constant{}, Types: []elastic.JobType{{Worker: elastic.Resources{elastic.GPU: 4}}},
		Jobs: []elastic.Spec{{ID: 1, Type: 1, RealEpochs: 300}, {ID: 2, Type: 1, Arrival: 3, RealEpochs: 300}},
		Options: elastic.Options{Nodes: 2, PerNode: elastic.Resources{elastic.CPU: 8, elastic.GPU: 8}, Most: 4,
			Slot: 100, AllReduce: true}}
	require.InDelta(t, 0.5, s.Load(), 1e-12)
	s.Jobs = s.Jobs[:1]
	require.True(t, math.IsNaN(s.Load()), "one time of arrival")
}
