package dl2_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
	"graft/original/dl2"
)

// flatTable is a speed table with the same speed for all counts: a job does one epoch per second.
func flatTable() elastic.Table {
	rows := make([][]float64, 20)
	for p := range rows {
		for range rows {
			rows[p] = append(rows[p], 1)
		}
	}
	return elastic.Table{"m": rows}
}

// small returns a study of jobs that take two slots of 100 seconds each, on four nodes with room for one bundle each.
func small(jobs int) elastic.Study {
	s := elastic.Study{
		Types: []elastic.JobType{{Name: "m", Worker: elastic.Resources{1, 1}, Server: elastic.Resources{1, 0},
			EpochSize: 1, Length: 1, Compute: 1, ModelSize: 1, BetweenBW: 100, WithinBW: 100}},
		Speed: flatTable(), Options: elastic.Options{Nodes: 4, PerNode: elastic.Resources{2, 1}, Most: 3, Slot: 100},
	}
	for k := range jobs {
		s.Jobs = append(s.Jobs, elastic.Spec{ID: k + 1, Type: 1, Epochs: 200, RealEpochs: 200})
	}
	return s
}

// certain returns probabilities with all weight on one action; a negative action counts from the end.
func certain(e *dl2.Env, action int) []float64 {
	p := make([]float64, e.Window.Actions())
	p[(action+len(p))%len(p)] = 1
	return p
}

func env(t *testing.T, s elastic.Study, o dl2.EnvOptions, random *numpy.Random) *dl2.Env {
	e, err := dl2.NewEnv(s, o, random)
	require.NoError(t, err)
	return e
}

// step observes the environment and takes one step.
func step(t *testing.T, e *dl2.Env, p []float64) dl2.Taken {
	e.Observe()
	taken, err := e.Step(p)
	require.NoError(t, err)
	return taken
}
