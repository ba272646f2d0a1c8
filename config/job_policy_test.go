package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/files"
	"graft/net2net"
	"graft/original/bilstm"
	"graft/original/bilstm/policytest"
	"graft/original/vocab"
	"graft/results"
	"graft/torch/weights"
)

// structural returns an untrained structural policy, after an optional change.
func structural(t *testing.T, seed uint64, change func(*decider.Structural)) *decider.Structural {
	p := must(decider.NewStructural(decider.StructuralShape{Hidden: 4}, decider.Scale{}, decider.Scale{}, seed))
	if change != nil {
		change(p)
	}
	return p
}

// policyFolder writes a run folder with a structural policy.
func policyFolder(t *testing.T, p *decider.Structural) string {
	folder := t.TempDir()
	require.NoError(t, p.Write(files.OS{}, filepath.Join(folder, PolicyFile)))
	return folder
}

func TestAStructuralPolicyDecidesAboutAJob(t *testing.T) {
	folder := policyFolder(t, structural(t, 1, nil))
	for _, path := range []string{folder, filepath.Join(folder, PolicyFile)} {
		j := must(parseJob("a.toml", "[adapt]\ndecider = \"policy\"\ncompat = \"original\"\n", "adapt.policy="+path,
			"adapt.sample=true", "run.seed=5"))
		d := must(j.Decider())
		p := d.(*decider.Structural)
		assert.Equal(t, decider.StructuralOptions{Sample: true, Seed: 5, Surgery: j.Adapt.Surgery,
			Fallback: decider.None{}}, p.StructuralOptions)
		assert.Equal(t, net2net.Original, p.Surgery.Compat)
		require.NoError(t, j.Fits(zoo(t, "ConvNet3")))
		assert.True(t, j.MayMakeAnyNetwork())
		assert.Equal(t, j.Digest(), must(parseJob("b.toml", j.Resolved())).Digest())
	}
	d := must(must(parseJob("a.toml", "", "adapt.decider=policy", "adapt.policy="+folder)).Decider())
	assert.False(t, d.(*decider.Structural).Sample)
	for name, roams := range map[string]bool{"none": false, "random": true} {
		other := must(parseJob("a.toml", "", "adapt.decider="+name))
		assert.Equal(t, roams, other.MayMakeAnyNetwork(), name)
	}
}

func TestStructuralPoliciesThatCannotDecideAreFaultsOfTheJob(t *testing.T) {
	sound := policyFolder(t, structural(t, 1, nil))
	cut, strange := t.TempDir(), t.TempDir()
	data := must(os.ReadFile(filepath.Join(sound, PolicyFile)))
	require.NoError(t, os.WriteFile(filepath.Join(cut, PolicyFile), data[:len(data)/2], 0o600))
	set := &weights.Set{Metadata: map[string]string{"graft.policy": `{"format": "structural", "version": 9}`}}
	require.NoError(t, weights.Write(files.OS{}, filepath.Join(strange, PolicyFile), set))
	kernels := policyFolder(t, structural(t, 1, func(p *decider.Structural) { p.Learned = []net2net.Kind{"kernel"} }))
	pipe := filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.MkdirAll(pipe, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(pipe, PolicyFile), nil, 0o600))
	run := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(run, results.ManifestFile),
		[]byte(`{"format": 1, "kind": "job"}`), 0o600))
	network := filepath.Join(t.TempDir(), "net.toml")
	require.NoError(t, WriteNetwork(files.OS{}, network, zoo(t, "MLP")))
	asks := func(policy string) string { return "[adapt]\ndecider = \"policy\"\npolicy = \"" + policy + "\"\n" }
	for name, c := range map[string]struct{ text, says string }{
		"a vocabulary": {asks(sound) + "vocabulary = \"nowhere\"\n", "a.toml:4:14: " + sound +
			" is a structural policy, which does not use a vocabulary; remove adapt.vocabulary"},
		"no policy": {"[adapt]\ndecider = \"policy\"\n", `decider is "policy", but the key "policy" is missing`},
		"a path to nowhere": {asks("nowhere"),
			"a.toml:3:10: read policy: stat nowhere: no such file or directory; expected a policy file, or a folder"},
		"a pipeline's folder": {asks(filepath.Dir(pipe)), "is the run folder of a pipeline; use its policy " + pipe},
		"an empty folder": {asks(t.TempDir()),
			"(a folder) contains no policy; expected the file policy.safetensors"},
		"a job's folder":         {asks(run), "(the run folder of a job) contains no policy"},
		"a file cut short":       {asks(cut), "copy the file again"},
		"a file of another time": {asks(strange), "version 9, is not supported; this program reads"},
		"a network from the zoo": {"[network]\nname = \"MLP\"\n" + asks(kernels),
			"a.toml:5:10: the policy chooses from actions of the kinds [kernel], but none of these actions fits " +
				"network MLP"},
		"a network of a file": {"[network]\nfile = \"" + network + "\"\n" + asks(kernels), "none of these actions " +
			"fits"},
	} {
		t.Run(name, func(t *testing.T) { requireFault(t, c.text, c.says) })
	}
}

// The digest of a job covers the policy's values, but not its notes.
func TestTheDigestKnowsThePolicy(t *testing.T) {
	folder := t.TempDir()
	digest := func(set ...string) string {
		j := must(parseJob("a.toml", "",
			append([]string{"network.name=ConvNet2", "adapt.decider=policy", "adapt.policy=" + folder}, set...)...))
		return j.Digest()
	}
	write := func(p *decider.Structural) {
		require.NoError(t, p.Write(files.OS{}, filepath.Join(folder, PolicyFile)))
	}
	write(structural(t, 1, nil))
	first := digest()
	write(structural(t, 1, func(p *decider.Structural) { p.Notes = map[string]string{"from": "elsewhere"} }))
	assert.Equal(t, first, digest(), "where it comes from")
	write(structural(t, 2, nil))
	assert.NotEqual(t, first, digest(), "other values")
	write(structural(t, 1, func(p *decider.Structural) { p.Learned = []net2net.Kind{"deepen"} }))
	assert.NotEqual(t, first, digest(), "other kinds of actions")

	legacy, vocabulary := learned(t, "ConvNet2")
	named := []string{"adapt.policy=" + legacy, "adapt.vocabulary=" + vocabulary}
	first = digest(named...)
	v := must(vocab.Read(files.OS{}, vocabulary))
	other := policytest.Weights(v, policytest.Small, 2)
	require.NoError(t, weights.Write(files.OS{}, filepath.Join(legacy, bilstm.FileName), other))
	second := digest(named...)
	assert.NotEqual(t, first, second, "other weights of one of the original's")
	v.Entries[1].Key, v.Entries[2].Key = v.Entries[2].Key, v.Entries[1].Key
	require.NoError(t, v.Write(files.OS{}, vocabulary))
	assert.NotEqual(t, second, digest(named...), "other tokens of the layers")

	file := filepath.Join(t.TempDir(), "weights.safetensors")
	require.NoError(t, weights.Write(files.OS{}, file, other))
	j, err := parseJob("a.toml", "", "network.name=ConvNet2", "adapt.decider=policy", "adapt.policy="+file,
		"adapt.vocabulary="+vocabulary)
	require.NoError(t, err, "one of the original's in the other format")
	assert.False(t, j.MayMakeAnyNetwork())
}
