package published

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config/decode"
	"graft/files"
	"graft/original/bilstm"
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
	assert.Equal(t, &Run{Seed: 42, Folder: "simulation_a", Network: "ConvNet2", Dataset: "cifar10", Start: 70, Vocabulary: "models",
		Table: "../results/simulation_b/data.pkl", Source: "../results/simulation_c/agent.finalmodel.pth",
		Policy: bilstm.Shape{Actions: 4, Embedding: 16, Hidden: 50, Memory: 16, Linear: 128, Time: 8}}, r)
	r, err = parse("config.toml", []byte("[agent]\nsave_file = \"a/data.pkl\"\n"), (*Source).requireZoo)
	require.NoError(t, err)
	assert.Equal(t, &Run{Table: "a/data.pkl"}, r)
}

func TestFaultsOfRunsHaveTheirPlaces(t *testing.T) {
	for text, says := range map[string]string{
		"[runner]\nseed = \"one\"":     "c.toml:2:8: runner.seed must be a whole number, and not \"one\"",
		"[job]\nmodel = \"ConvNe2\"":   "c.toml:2:9: job.model is a class of the original's that is not here; did you mean ConvNet",
		"[scheduler]\nstart_time = -1": "c.toml:2:14: scheduler.start_time must be a number of seconds, and not -1",
		"[agent]\npolicyfile = [1]":    "agent.policyfile must be a text",
		"[agent":                       "c.toml:1:",
	} {
		_, err := parse("c.toml", []byte(text), (*Source).requireZoo)
		var faults decode.Faults
		require.ErrorAs(t, err, &faults, text)
		assert.ErrorContains(t, err, says)
	}
	_, err := Read(files.OS{}, filepath.Join(t.TempDir(), "config.toml"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "has a file config.toml")
}

func TestThePathsOfTheOriginalLeadBeside(t *testing.T) {
	for folder, want := range map[string]string{"runs/a": "runs/b/data.pkl", "runs/a/": "runs/b/data.pkl", ".": "../b/data.pkl", "a": "b/data.pkl"} {
		assert.Equal(t, want, filepath.ToSlash(beside(folder, "../results/b/data.pkl")))
	}
	assert.False(t, strings.HasPrefix(beside("runs/a", "/etc/passwd"), "/"), "and never to another place")
}
