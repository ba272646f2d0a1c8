package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/trainer/clock"
)

// An option that needs a gradient the job cannot compute is a fault with a remedy.
func TestGradientsThatCannotBeComputedAreFaults(t *testing.T) {
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"any growth": {[]string{"adapt.decider=gradient"}, ""},
		"listed":     {[]string{"adapt.decider=gradient", `adapt.actions=["widen:conv1:24", "none"]`}, ""},
		"no new units": {[]string{"adapt.decider=gradient", `adapt.kinds=["kernel"]`},
			"use only [deepen widen branch]"},
		"a listed kernel": {[]string{"adapt.decider=gradient", `adapt.actions=["kernel:conv2:5"]`},
			"or another decider"},
		"a residual sum": {[]string{"network.name=CIFARResNet20", "adapt.decider=gradient",
			`adapt.actions=["widen:conv1:32"]`}, "cannot rate widen:conv1:32"},
		"a chain in a residual network": {[]string{"network.name=CIFARResNet20", "adapt.decider=gradient"}, ""},
		"a script with a refused start": {[]string{"network.name=CIFARResNet20", "adapt.decider=script",
			`time.events=[{at="10s",change="up"}]`, "adapt.new_units=gradmax", `adapt.actions=["widen:conv1:32"]`},
			`use new_units = "copies", or widen another layer`},
		"a fixed action with a refused start": {[]string{"network.name=CIFARResNet20", "adapt.decider=fixed",
			"adapt.new_units=tiny", `adapt.actions=["widen:conv1:32"]`}, `use new_units = "copies"`},
		"a script with copies": {[]string{"network.name=CIFARResNet20", "adapt.decider=script",
			`adapt.actions=["widen:conv1:32"]`}, ""},
		"a graph with a refused start": {[]string{"network.name=CharGPT", "data.kind=text",
			"data.path=" + Quote(written(t, "a.txt", strings.Repeat("some text ", 1000))), "adapt.decider=script",
			"adapt.new_units=gradmax", `adapt.actions=["widen:tok:256"]`},
			`use new_units = "copies"`},
		"noise": {[]string{"adapt.decider=random", "adapt.new_units=firefly", "adapt.noise=0.1"},
			`remove noise, or use new_units = "copies"`},
		"a negative amplitude": {[]string{"adapt.new_units=firefly", "adapt.amplitude=-1"}, "amplitude is -1"},
	} {
		_, err := ReadJob(files.OS{}, "", append([]string{"network.name=ConvSmall"}, c.set...))
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
	}
}

// A gradient decider may reach any network, so a profile without cost rates is refused.
func TestGradientsNeedRates(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed.toml")
	require.NoError(t, WriteProfile(files.OS{}, closed, &clock.Profile{Version: 1, Name: "closed", Measured: []clock.
		Measurement{{Network: "ConvSmall", Fingerprint: "f", Batch: 64, StepSeconds: 0.01, BatchSeconds: 0.01}}}))
	_, err := ReadJob(files.OS{}, "", []string{"adapt.decider=gradient", "time.profile=" + closed})
	require.ErrorContains(t, err, "use a profile with cost rates")
}
