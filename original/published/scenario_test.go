package published

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config/decode"
	"graft/files"
	"graft/simulation/tables"
)

// originals is the folder of the original's configurations.
const originals = "../../../shared/reference/adaptation/config"

func TestTheOriginalsTablesSayWhatTheyAreOf(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(originals, "../simulations/*/config.toml"))
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skip("left out: the original's tables are not beside the tree")
	}
	for _, path := range paths {
		table, err := ReadScenario(files.OS{}, path)
		require.NoError(t, err)
		require.Equal(t, 4, table.Choices)
		require.Equal(t, int64(42), table.Seed)
		s := table.Scenario()
		require.Equal(t, tables.Scenario{Name: filepath.Base(filepath.Dir(path)), Network: s.Network, Dataset: "cifar10", Budget: 400, Start: s.Start, Decisions: 3}, s)
		require.Contains(t, []string{"ConvNet2", "ConvNet3"}, s.Network)
		require.Contains(t, []float64{70, 140, 200, 270, 330}, s.Start)
	}
}

func TestTablesOfTheOriginalWithFaults(t *testing.T) {
	for text, says := range map[string][]string{
		"": {"it has no runner.seed", "it has no runner.folder", "it has no scheduler.running_time", "it has no job.model", "it has no job.dataset"},
		"[runner]\nseed = 1.5\nfolder = 2\n[scheduler]\nrunning_time = \"a\"\nstart_time = -1\n[job]\nmodel = []\ndataset = true\n[agent]\nnum_actions = 0\naction_set_size = \"4\"\n": {
			"a.toml:2:8: runner.seed must be a whole number, and not 1.5", "a.toml:3:10: runner.folder must be a text", "running_time must be a number of seconds", "start_time must be a number of seconds",
			"job.model must be a text", "job.dataset must be a text", "num_actions must be a whole number above 0, and not 0", "action_set_size must be a whole number above 0"},
	} {
		_, err := parse("a.toml", []byte(text), (*Source).requireScenario)
		var list decode.Faults
		require.ErrorAs(t, err, &list)
		require.Len(t, list, len(says), "%v", err)
		for _, fault := range says {
			require.ErrorContains(t, err, fault)
		}
	}
	_, err := parse("a.toml", []byte("[runner]\nseed = 1\nfolder = \"a\"\n[scheduler]\nrunning_time = 2\n[job]\nmodel = \"m\"\ndataset = \"d\"\n"), (*Source).requireScenario)
	require.NoError(t, err)
}
