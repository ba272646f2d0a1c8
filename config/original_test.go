package config

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original/bilstm"
	"graft/original/bilstm/policytest"
	"graft/original/published"
	"graft/original/vocab"
	"graft/torch/weights"
)

// originals is the folder of the original's configurations.
const originals = "../../shared/reference/adaptation/config"

// learned writes the folder of a policy that reads a network, and its vocabulary.
func learned(t *testing.T, network string) (policy, vocabulary string) {
	folder := t.TempDir()
	grown := zoo(t, network)
	for k := range 3 {
		_, err := net2net.Apply(grown, bilstm.Actions(grown)[k], net2net.Options{Compat: net2net.Original})
		require.NoError(t, err)
	}
	v := must(vocab.Build([]*model.Network{zoo(t, network), grown}, policytest.Small.Embedding,
		rand.New(rand.NewPCG(1, 0))))
	vocabulary = filepath.Join(folder, vocab.FileName)
	require.NoError(t, v.Write(files.OS{}, vocabulary))
	require.NoError(t, weights.Write(files.OS{}, filepath.Join(folder, bilstm.FileName),
		policytest.Weights(v, policytest.Small, 1)))
	require.NoError(t, os.WriteFile(filepath.Join(folder, published.ConfigFile),
		[]byte("[agent]\nmax_actions = 4\n"), 0o600))
	return folder, vocabulary
}

func TestAPolicyDecidesAboutAJob(t *testing.T) {
	policy, vocabulary := learned(t, "ConvNet2")
	assignments := func(more ...string) []string {
		return append([]string{"network.name=ConvNet2", "adapt.decider=policy", "adapt.policy=" + policy,
			"adapt.vocabulary=" + vocabulary}, more...)
	}
	read := func(more ...string) (*Job, error) { return parseJob("a.toml", "", assignments(more...)...) }
	j := must(read())
	d := must(j.Decider())
	assert.False(t, d.(*bilstm.Policy).Sample)
	state := decider.State{Network: zoo(t, "ConvNet2"), Left: time.Minute, Budget: time.Hour}
	first := must(d.Decide(context.Background(), state))
	assert.Len(t, first.Probabilities, 4)
	require.NoError(t, j.Fits(zoo(t, "ConvNet2")))
	assert.ErrorContains(t, j.Fits(zoo(t, "ConvNet3")), "has no token in the vocabulary "+vocabulary)

	j = must(read("adapt.sample=true", "run.seed=5", "adapt.policy="+filepath.Join(policy, bilstm.FileName)))
	d = must(j.Decider())
	assert.True(t, d.(*bilstm.Policy).Sample)
	assert.Equal(t, uint64(5), d.(*bilstm.Policy).Seed)

	_, err := (&Job{Adapt: j.Adapt}).Decider()
	assert.ErrorContains(t, err, "was not read; use ReadJob")
	none := must(parseJob("a.toml", ""))
	require.NoError(t, none.Fits(zoo(t, "ConvNet3")), "who asks nobody needs no vocabulary")
}

func TestPoliciesThatCannotDecideAreFaultsOfTheJob(t *testing.T) {
	policy, vocabulary := learned(t, "ConvNet2")
	file := filepath.Join(t.TempDir(), "net.toml")
	require.NoError(t, WriteNetwork(files.OS{}, file, zoo(t, "ConvNet3")))
	three := "[network]\nname = \"ConvNet2\"\n[adapt]\ndecider = \"policy\"\n"
	keys := func(policy, vocab string) string {
		return "policy = \"" + policy + "\"\nvocabulary = \"" + vocab + "\"\n"
	}
	for name, c := range map[string]struct{ text, says string }{
		"not a vocabulary": {three + "policy = \"" + policy + "\"\n",
			"a.toml:5:10: " + policy + " is not a structural policy, and a policy of the original system " +
				"requires its training vocabulary"},
		"no such policy":     {three + keys(policy+"x", vocabulary), "a.toml:5:10: read policy: "},
		"no such vocabulary": {three + keys(policy, policy+"x"), "read vocabulary " + policy + "x"},
		"another decider": {"[adapt]\n" + keys(policy, vocabulary),
			"policy, vocabulary and sample are used only by the decider \"policy\", but the decider is none"},
		"a network with more": {"[network]\nname = \"LargeConvNet\"\n[adapt]\ndecider = \"policy\"\n" +
			keys(policy, vocabulary), "a.toml:5:10: the policy chooses among 4 actions, but LargeConvNet has 9"},
		"a file it cannot read": {"[network]\nfile = \"" + file + "\"\n[adapt]\ndecider = \"policy\"\n" +
			keys(policy, vocabulary), "Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1)) at conv1.layers.0"},
		"a configuration's kind": {three + keys(configured(t, policy, "max_actions = \"4\""), vocabulary),
			"config.toml:2:15: agent.max_actions must be a whole number"},
		"a configuration's size": {three + keys(configured(t, policy, "max_actions = 5"), vocabulary),
			"has max_actions = 5, but the weights have 4"},
	} {
		t.Run(name, func(t *testing.T) { requireFault(t, c.text, c.says) })
	}
}

// requireFault reads a job that has exactly one fault.
func requireFault(t *testing.T, text, says string) {
	t.Helper()
	_, err := parseJob("a.toml", text)
	var faults Faults
	require.ErrorAs(t, err, &faults)
	require.ErrorContains(t, err, says)
	require.Len(t, faults, 1, err.Error())
}

// configured copies a policy's folder and replaces its configuration.
func configured(t *testing.T, policy, line string) string {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, bilstm.FileName),
		must(os.ReadFile(filepath.Join(policy, bilstm.FileName))), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, published.ConfigFile), []byte("[agent]\n"+line+"\n"), 0o600))
	return folder
}
