package ramp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric/graph"
)

func studyProfiles(t testing.TB) (all []*graph.Profile) {
	t.Helper()
	for _, name := range StudyGraphs {
		path := filepath.FromSlash("../../../shared/reference/ramp/graphs/small/" + name)
		file, err := os.Open(path)
		if os.IsNotExist(err) {
			t.Skipf("left out: %s is not there; put the recorded results beside the tree", path)
		}
		require.NoError(t, err)
		p, err := graph.ReadPipeDream(file, strings.TrimSuffix(name, ".txt"), path)
		file.Close()
		require.NoError(t, err)
		all = append(all, p)
	}
	return all
}

// Each learning method gives the same bits twice. PPO takes long.
func TestTraining(t *testing.T) {
	profiles := studyProfiles(t)
	env, err := NewEnv("A", 0, profiles)
	require.NoError(t, err)
	for _, method := range Methods {
		if method == methodPPO && os.Getenv("GRAFT_LONG") == "" {
			continue
		}
		var was [][]float64
		for range 2 {
			m, err := Learn(context.Background(), method, env, 1, 1, func(p TrainingPoint) error {
				require.Equal(t, UpdateActions, p.Actions)
				return nil
			})
			require.NoError(t, err)
			if was == nil {
				was = m.Params()
				continue
			}
			require.Equal(t, was, m.Params(), method)
		}
	}
	_, err = Learn(context.Background(), "luck", env, 1, 1, nil)
	require.ErrorContains(t, err, `method "luck" is unknown`)
}

// Under the free environment, an action that is not allowed blocks the job.
func TestFreeActions(t *testing.T) {
	env, err := NewEnv("A", 0, studyProfiles(t))
	require.NoError(t, err)
	env.Free = true
	require.Nil(t, env.Observe().Mask)
	o, err := env.Act(3)
	require.NoError(t, err)
	require.Equal(t, -1.0, o.Reward)
	require.Equal(t, 1, env.world.Record.Blocked)
}
