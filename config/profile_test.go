package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/net2net"
	"graft/trainer/clock"
	"graft/trainer/operators"
)

// fullProfile sets every key.
func fullProfile() *clock.Profile {
	rates := clock.Rates{CallSeconds: 1e-3, ExampleSeconds: 2e-6, LayerSeconds: 3e-5, OperationSeconds: 4e-11,
		GroupedSeconds: 5e-10, ByteSeconds: 6e-11, ParameterSeconds: 7e-9}
	miss := clock.FitError{Median: 0.04, Worst: 0.3, Network: "ConvNet3 widen:conv1:96"}
	return &clock.Profile{Version: 1, Name: "laptop", Device: "a \"laptop\"",
		Made: clock.Provenance{Date: "2026-01-31", Graft: "v1.2.3", Torch: "1.13.0",
			Device: "cpu", Threads: 2, Rounds: 7, Optimizer: "adam", Exact: true, Steady: true},
		Costs: clock.Costs{Step: rates, Batch: rates, GraphStep: rates, GraphBatch: rates, ChannelBlock: 16,
			DecisionSeconds: 0.01, SurgerySeconds: 0.02, CommunicationShare: 0.1},
		Fit: clock.Fit{Networks: 30, Step: miss, Batch: miss, NewStep: miss, NewBatch: miss},
		Measured: []clock.Measurement{
			{Network: "ConvNet2", Fingerprint: "ab\"c", Batch: 64, StepSeconds: 0.012, StepSpread: 1e-4,
				BatchSeconds: 1e-9, BatchSpread: 1e-12, Class: "ConvNet2", Graph: true,
				Size: clock.Size{Layers: 5, Operations: 4705066, Grouped: 3, Bytes: 451792, Parameters: 10602,
					Padding8: 8, Padding16: 16}},
			{Network: "ConvNet2", Actions: []net2net.Action{{Kind: "widen", Target: "conv1", Size: 48}},
				Fingerprint: "d", Batch: 64, StepSeconds: 0.013, BatchSeconds: 0.004}}}
}

// tracedProfile has operators measured in a trace.
func tracedProfile() *clock.Profile {
	p := &clock.Profile{Name: "traced", Device: "a trace", Operators: operators.Table{Network: "ConvSmall", Rows: 64,
		Steps: 3, StepSeconds: 0.01, RestHost: 1e-3, Recorded: 12, Plain: 0.009, Measured: []operators.Measurement{
			{Name: "conv2d", Shapes: "64x3x32x32 16 16x3x3x3", Calls: 2, Operations: 1e8, Bytes: 1e6, ForwardHost: 2e-3,
				BackwardHost: 4e-3, ForwardRecorded: 5, BackwardRecorded: 9}}}}
	p.EnsureDefaults()
	return p
}

// deviceProfile has measured operators of graft's own steps.
func deviceProfile() *clock.Profile {
	p := &clock.Profile{Name: "device", Device: "a processor", GraftOperators: operators.Device{Path: operators.Fast,
		Networks: 2, Operators: []operators.Operator{{Name: "linear", Points: []string{
			"64 3072 10 0 0 0 0 4096 3.93e+06 912000 0.0015 0.003 0.001",
			"32 100 10 0 0 0 0 64 64000 18080 1e-05 2e-05 8e-06"}},
			{Name: "relu", Points: []string{"10000 10 1 0 0 0 0 64 10000 80000 1e-05 0 1e-05"}}}},
		Processes: []clock.Processes{{Count: 2, Slowdown: 1.25, WaitSeconds: 1e-4,
			Exchanges: []clock.Exchange{{Bytes: 64, Seconds: 1e-4}, {Bytes: 1 << 20, Seconds: 2e-3}}}}}
	p.EnsureDefaults()
	return p
}

func TestProfilesAreWrittenAndReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.toml")
	for _, p := range append(clock.Profiles(), fullProfile(), tracedProfile(), deviceProfile()) {
		require.NoError(t, WriteProfile(files.OS{}, path, p))
		assert.Equal(t, p, must(FindProfile(files.OS{}, path)))
	}
	assert.ErrorContains(t, WriteProfile(files.OS{}, path, &clock.Profile{}), "the profile has no name; set name")
	golden(t, "testdata/profiles/full.toml", FormatProfile(fullProfile()))
	golden(t, "testdata/profiles/traced.toml", FormatProfile(tracedProfile()))
	golden(t, "testdata/profiles/device.toml", FormatProfile(deviceProfile()))
	steady := must(FindProfile(files.OS{}, "steady"))
	assert.Equal(t, "steady", steady.Name)
	_, err := FindProfile(files.OS{}, "steddy")
	assert.ErrorContains(t, err, `unknown profile "steddy"`)
}

func FuzzReadProfile(f *testing.F) {
	paths := must(filepath.Glob("testdata/profiles/faults/*.toml"))
	for _, path := range append(paths, "testdata/profiles/full.toml", "testdata/profiles/traced.toml",
		"testdata/profiles/device.toml") {
		f.Add(string(must(os.ReadFile(path))))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseProfile("a.toml", []byte(text))
		if err != nil {
			var list Faults
			require.ErrorAs(t, err, &list)
			assert.NotEmpty(t, list.Error())
			return
		}
		again, err := parseProfile("b.toml", []byte(FormatProfile(p)))
		require.NoError(t, err, FormatProfile(p))
		assert.Equal(t, FormatProfile(p), FormatProfile(again))
	})
}

// Jobs on profiles that earlier versions read keep their digests, unless measurements correct the rates.
func TestDigestsOfRatesStay(t *testing.T) {
	for _, p := range clock.Profiles() {
		if p.Computed.On() { // earlier versions had no computed profiles
			continue
		}
		for _, key := range []string{"computed", "graph", "class", "relatives", "exchange_seconds", "watts", "padding",
			"channel_block", "operators", "processes"} {
			assert.NotContains(t, chargedText(p), key, p.Name)
		}
	}
	assert.Contains(t, chargedText(fullProfile()), "relatives = 2")
	assert.Contains(t, chargedText(fullProfile()), "graph_step")
	assert.Contains(t, chargedText(tracedProfile()), "\noperators = 1")
	closed := fullProfile()
	closed.Costs = clock.Costs{}
	assert.NotContains(t, chargedText(closed), "relatives")
}

func TestJobsShareProfiles(t *testing.T) {
	dir := t.TempDir()
	first, again, other := filepath.Join(dir, "a.toml"), filepath.Join(dir, "b.toml"), filepath.Join(dir, "c.toml")
	text := FormatProfile(fullProfile())
	for path, text := range map[string]string{first: text, again: text, other: text + "# changed\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	read := func(path string) *clock.Profile {
		p, err := ReadProfile(files.OS{}, path)
		require.NoError(t, err)
		return p
	}
	assert.Same(t, read(first), read(again), "files with the same text")
	assert.NotSame(t, read(first), read(other))
	require.NoError(t, os.WriteFile(first, []byte("version = 1\nnam = \"a\"\n"), 0o600))
	_, err := ReadProfile(files.OS{}, first)
	assert.ErrorContains(t, err, "nam", "a file that changed is read again")
}
