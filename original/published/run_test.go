package published

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/original/bilstm"
	"graft/simulation/tables"
)

func TestARunOfTheOriginalIsRead(t *testing.T) {
	r, err := parse("config.toml", []byte(`
[runner]
seed = 42
folder = "simulation_a"
total_episodes = 10000
[simulation]
datafile = "../results/simulation_b/data.pkl"
[job]
model = "ConvNet2"
dataset = "cifar10"
[scheduler]
start_time = 70
[agent]
decay_freq = 500
vocab = "models"
hidden_size = 50
embedding_size = 16
max_actions = 4
decider_lstm_size = 16
decider_linear_size = 128
time_encoding_size = 8
policyfile = "../results/simulation_c/agent.finalmodel.pth"
save_file = "../results/simulation_d/data.pkl"
`), (*Source).requireZoo)
	require.NoError(t, err)
	assert.Equal(t, &Run{Seed: 42, Folder: "simulation_a", Network: "ConvNet2", Dataset: "cifar10",
		Start: 70, Vocabulary: "models", Table: "../results/simulation_b/data.pkl",
		Source: "../results/simulation_c/agent.finalmodel.pth",
		Policy: bilstm.Shape{Actions: 4, Embedding: 16, Hidden: 50, Memory: 16, Linear: 128, Time: 8}}, r)
	r, err = parse("config.toml", []byte("[agent]\nsave_file = \"a/data.pkl\"\n"), (*Source).requireZoo)
	require.NoError(t, err)
	assert.Equal(t, &Run{Table: "a/data.pkl"}, r)
}

func TestFaultsOfRunsHaveTheirPlaces(t *testing.T) {
	for text, says := range map[string]string{
		"[runner]\nseed = \"one\"": "c.toml:2:8: runner.seed must be a whole number, got \"one\"",
		"[job]\nmodel = \"ConvNe2\"": "c.toml:2:9: job.model names an unsupported network class; " +
			"did you mean ConvNet",
		"[scheduler]\nstart_time = -1": "c.toml:2:14: scheduler.start_time must be a number of seconds, got -1",
		"[agent]\npolicyfile = [1]":    "agent.policyfile must be a string",
		"[agent":                       "c.toml:1:",
	} {
		_, err := parse("c.toml", []byte(text), (*Source).requireZoo)
		var faults decode.Faults
		require.ErrorAs(t, err, &faults, text)
		assert.ErrorContains(t, err, says)
	}
	_, err := Read(files.OS{}, filepath.Join(t.TempDir(), "config.toml"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "with a file config.toml")
}

func TestThePathsOfTheOriginalLeadBeside(t *testing.T) {
	for folder, want := range map[string]string{"runs/a": "runs/b/data.pkl", "runs/a/": "runs/b/data.pkl",
		".": "../b/data.pkl", "a": "b/data.pkl"} {
		assert.Equal(t, want, filepath.ToSlash(beside(folder, "../results/b/data.pkl")))
	}
	assert.False(t, strings.HasPrefix(beside("runs/a", "/etc/passwd"), "/"), "and never to another place")
}

// originals is the folder of the original's configurations.
const originals = "../../../shared/reference/adaptation/config"

func TestTheOriginalsTablesSayWhatTheyAreOf(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(originals, "../simulations/*/config.toml"))
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skip("left out: the original's tables are not beside the tree")
	}
	for _, path := range paths {
		table, err := ReadScenario(files.OS{}, path, "")
		require.NoError(t, err)
		require.Equal(t, 4, table.Choices)
		require.Equal(t, int64(42), table.Seed)
		s := table.Scenario()
		require.Equal(t, tables.Scenario{Name: filepath.Base(filepath.Dir(path)), Network: s.Network,
			Dataset: "cifar10", Budget: 400, Start: s.Start, Decisions: 3}, s)
		require.Contains(t, []string{"ConvNet2", "ConvNet3"}, s.Network)
		require.Contains(t, []float64{70, 140, 200, 270, 330}, s.Start)
	}
}

func TestTablesOfTheOriginalWithFaults(t *testing.T) {
	for text, says := range map[string][]string{
		"": {"it has no runner.seed", "it has no runner.folder", "it has no scheduler.running_time",
			"it has no job.model", "it has no job.dataset"},
		"[runner]\nseed = 1.5\nfolder = 2\n[scheduler]\nrunning_time = \"a\"\nstart_time = -1\n[job]\nmodel = []\n" +
			"dataset = true\n[agent]\nnum_actions = 0\naction_set_size = \"4\"\n": {
			"a.toml:2:8: runner.seed must be a whole number, got 1.5", "a.toml:3:10: runner.folder must be a string",
			"running_time must be a number of seconds", "start_time must be a number of seconds",
			"job.model must be a string", "job.dataset must be a string",
			"num_actions must be a whole number above 0, got 0", "action_set_size must be a whole number above 0"},
	} {
		_, err := parse("a.toml", []byte(text), (*Source).requireScenario)
		var list decode.Faults
		require.ErrorAs(t, err, &list)
		require.Len(t, list, len(says), "%v", err)
		for _, fault := range says {
			require.ErrorContains(t, err, fault)
		}
	}
	_, err := parse("a.toml", []byte("[runner]\nseed = 1\nfolder = \"a\"\n[scheduler]\nrunning_time = 2\n[job]\n"+
		"model = \"m\"\ndataset = \"d\"\n"), (*Source).requireScenario)
	require.NoError(t, err)
}
