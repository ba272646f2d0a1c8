package ramp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/fabric/graph"
)

// The extremes of recorded observations follow from their seed.
func TestScales(t *testing.T) {
	var all []struct {
		Episode
		Scales Scales         `json:"jobs_params"`
		Models map[string]any `json:"model_features"`
	}
	read(t, recordings+"obs_rewards.json", &all)
	for k, folder := range []string{"toy", "small"} {
		e := &all[k]
		var profiles []*graph.Profile
		for name := range e.Models {
			e.FileOrder = append(e.FileOrder, name+".txt")
		}
		slices.Sort(e.FileOrder)
		for _, name := range e.FileOrder {
			path := filepath.FromSlash("../../../shared/reference/ramp/graphs/" + folder + "/" + name)
			file, err := os.Open(path)
			require.NoError(t, err)
			p, err := graph.ReadPipeDream(file, strings.TrimSuffix(name, ".txt"), path)
			file.Close()
			require.NoError(t, err)
			profiles = append(profiles, p)
		}
		d, err := e.draws()
		require.NoError(t, err)
		require.Equal(t, e.Scales, e.Episode.NewScales(d, profiles), folder)
	}
}
