package config

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/original/bilstm"
	"graft/original/bilstm/policytest"
	"graft/original/vocab"
	"graft/torch/weights"
)

func TestARunOfTheOriginalIsRead(t *testing.T) {
	r, err := parseLegacyRun("config.toml", []byte(`
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
`), (*converter).requireZoo)
	require.NoError(t, err)
	assert.Equal(t, &LegacyRun{Seed: 42, Folder: "simulation_a", Network: "ConvNet2", Dataset: "cifar10", Start: 70, Vocabulary: "models",
		Table: "../results/simulation_b/data.pkl", Source: "../results/simulation_c/agent.finalmodel.pth",
		Policy: bilstm.Shape{Actions: 4, Embedding: 16, Hidden: 50, Memory: 16, Linear: 128, Time: 8}}, r)
	r, err = parseLegacyRun("config.toml", []byte("[agent]\nsave_file = \"a/data.pkl\"\n"), (*converter).requireZoo)
	require.NoError(t, err)
	assert.Equal(t, &LegacyRun{Table: "a/data.pkl"}, r)
}

func TestFaultsOfRunsHaveTheirPlaces(t *testing.T) {
	for text, says := range map[string]string{
		"[runner]\nseed = \"one\"":        "c.toml:2:8: runner.seed must be a whole number, and not \"one\"",
		"[job]\nmodel = \"ConvNe2\"":      "c.toml:2:9: job.model is a class of the original's that is not here; did you mean ConvNet",
		"[job]\nmodel = 3":                "c.toml:2:9: job.model must be a text",
		"[agent]\nmax_actions = 0":        "c.toml:2:15: agent.max_actions must be a whole number above 0",
		"[scheduler]\nstart_time = \"a\"": "c.toml:2:14: scheduler.start_time must be a number of seconds",
		"[scheduler]\nstart_time = -1":    "c.toml:2:14: scheduler.start_time must be a number of seconds, and not -1",
		"[agent]\npolicyfile = [1]":       "agent.policyfile must be a text",
		"[agent":                          "c.toml:1:",
	} {
		_, err := parseLegacyRun("c.toml", []byte(text), (*converter).requireZoo)
		var faults Faults
		require.ErrorAs(t, err, &faults, text)
		assert.ErrorContains(t, err, says)
	}
	_, err := ReadLegacyRun(files.OS{}, filepath.Join(t.TempDir(), "config.toml"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, "has a file config.toml")
}

// learned writes the folder of a policy that knows a network, and its vocabulary.
func learned(t *testing.T, network string) (policy, vocabulary string) {
	folder := t.TempDir()
	grown := zoo(t, network)
	for k := range 3 {
		_, err := net2net.Apply(grown, bilstm.Actions(grown)[k], net2net.Options{Compat: net2net.Original})
		require.NoError(t, err)
	}
	v, err := vocab.Build([]*model.Network{zoo(t, network), grown}, policytest.Small.Embedding, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	vocabulary = filepath.Join(folder, vocab.FileName)
	require.NoError(t, v.Write(files.OS{}, vocabulary))
	require.NoError(t, weights.Write(files.OS{}, filepath.Join(folder, bilstm.FileName), policytest.Weights(v, policytest.Small, 1)))
	require.NoError(t, os.WriteFile(filepath.Join(folder, LegacyRunFile), []byte("[agent]\nmax_actions = 4\n"), 0o600))
	return folder, vocabulary
}

func TestAPolicyDecidesAboutAJob(t *testing.T) {
	policy, vocabulary := learned(t, "ConvNet2")
	assignments := func(more ...string) []string {
		return append([]string{"network.name=ConvNet2", "adapt.decider=policy", "adapt.policy=" + policy, "adapt.vocab=" + vocabulary}, more...)
	}
	read := func(more ...string) (*Job, error) { return parseJob("a.toml", "", assignments(more...)...) }
	j, err := read()
	require.NoError(t, err)
	d, err := j.Decider()
	require.NoError(t, err)
	assert.False(t, d.(*bilstm.Policy).Sample)
	state := decider.State{Network: zoo(t, "ConvNet2"), Left: time.Minute, Budget: time.Hour}
	first, err := d.Decide(context.Background(), state)
	require.NoError(t, err)
	assert.Len(t, first.Probabilities, 4)
	require.NoError(t, j.Suits(zoo(t, "ConvNet2")))
	assert.ErrorContains(t, j.Suits(zoo(t, "ConvNet3")), "has no token in the vocabulary "+vocabulary)

	j, err = read("adapt.sample=true", "run.seed=5", "adapt.policy="+filepath.Join(policy, bilstm.FileName))
	require.NoError(t, err)
	d, err = j.Decider()
	require.NoError(t, err)
	assert.True(t, d.(*bilstm.Policy).Sample)
	assert.Equal(t, uint64(5), d.(*bilstm.Policy).Seed)

	_, err = (&Job{Adapt: j.Adapt}).Decider()
	assert.ErrorContains(t, err, "was not read; use ReadJob")
	none, err := parseJob("a.toml", "")
	require.NoError(t, err)
	require.NoError(t, none.Suits(zoo(t, "ConvNet3")), "who asks nobody needs no vocabulary")
}

func TestPoliciesThatCannotDecideAreFaultsOfTheJob(t *testing.T) {
	policy, vocabulary := learned(t, "ConvNet2")
	file := filepath.Join(t.TempDir(), "net.toml")
	require.NoError(t, WriteNetwork(files.OS{}, file, zoo(t, "ConvNet3")))
	three := "[network]\nname = \"ConvNet2\"\n[adapt]\ndecider = \"policy\"\n"
	keys := func(policy, vocab string) string { return "policy = \"" + policy + "\"\nvocab = \"" + vocab + "\"\n" }
	for name, c := range map[string]struct{ text, says string }{
		"no vocabulary":          {three + "policy = \"" + policy + "\"\n", "a.toml:5:10: " + policy + " is no structural policy, and one of the original's needs the vocabulary"},
		"no such policy":         {three + keys(policy+"x", vocabulary), "a.toml:5:10: read policy: "},
		"no such vocabulary":     {three + keys(policy, policy+"x"), "read vocabulary " + policy + "x"},
		"another decider":        {"[adapt]\n" + keys(policy, vocabulary), "policy, vocab and sample are for the decider policy, and the decider is none"},
		"a network with more":    {"[network]\nname = \"LargeConvNet\"\n[adapt]\ndecider = \"policy\"\n" + keys(policy, vocabulary), "a.toml:5:10: the policy chooses among 4 actions, and LargeConvNet has 9"},
		"a file it cannot read":  {"[network]\nfile = \"" + file + "\"\n[adapt]\ndecider = \"policy\"\n" + keys(policy, vocabulary), "Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1)) at conv1.layers.0"},
		"a configuration's kind": {three + keys(configured(t, policy, "max_actions = \"4\""), vocabulary), "config.toml:2:15: agent.max_actions must be a whole number"},
		"a configuration's size": {three + keys(configured(t, policy, "max_actions = 5"), vocabulary), "says max_actions = 5, and its weights have 4"},
	} {
		t.Run(name, func(t *testing.T) { requireFault(t, c.text, c.says) })
	}
}

// requireFault reads a job that has one fault.
func requireFault(t *testing.T, text, says string) {
	t.Helper()
	_, err := parseJob("a.toml", text)
	var faults Faults
	require.ErrorAs(t, err, &faults)
	require.ErrorContains(t, err, says)
	require.Len(t, faults, 1, err.Error())
}

// configured is a copy of a policy's folder whose configuration says otherwise.
func configured(t *testing.T, policy, line string) string {
	folder := t.TempDir()
	data, err := os.ReadFile(filepath.Join(policy, bilstm.FileName))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, bilstm.FileName), data, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, LegacyRunFile), []byte("[agent]\n"+line+"\n"), 0o600))
	return folder
}

func TestThePathsOfTheOriginalLeadBeside(t *testing.T) {
	for folder, want := range map[string]string{"runs/a": "runs/b/data.pkl", "runs/a/": "runs/b/data.pkl", ".": "../b/data.pkl", "a": "b/data.pkl"} {
		assert.Equal(t, want, filepath.ToSlash(beside(folder, "../results/b/data.pkl")))
	}
	assert.False(t, strings.HasPrefix(beside("runs/a", "/etc/passwd"), "/"), "and never to another place")
}
