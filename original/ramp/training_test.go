package ramp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric"
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

func TestPPOTraining(t *testing.T) {
	profiles := studyProfiles(t)
	env, err := NewEnv("A", 0, profiles)
	require.NoError(t, err)
	m, err := LearnPPO(context.Background(), env, 1, 15, func(p TrainingPoint) error {
		t.Logf("%+v", p)
		return nil
	})
	require.NoError(t, err)
	for seed := range uint32(3) {
		e, err := StudyEpisode("A", seed, StudyAgent{})
		require.NoError(t, err)
		require.NoError(t, e.Draw(profiles))
		s, err := e.Study(profiles)
		require.NoError(t, err)
		w, err := fabric.NewWorld(s)
		require.NoError(t, err)
		require.NoError(t, fabric.Play(w, &Policy{m, env.Scales}))
		counts := map[int]int{}
		for k := range w.Jobs {
			if w.Jobs[k].Status == fabric.Completed {
				counts[w.Jobs[k].Degree]++
			}
		}
		t.Log(Statistics(w)["blocking_rate"], counts)
	}
}
