package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A warning comes only where a profile makes wider layers free and the file may widen.
func TestFreeWidthIsWarnedOf(t *testing.T) {
	const script, widen = "adapt.decider=script", `adapt.actions=["deepen:conv1", "widen:conv2:48"]`
	for name, tc := range map[string]struct {
		set   []string
		warns bool
	}{
		"no decider":            {nil, false},
		"a script that widens":  {[]string{script, widen}, true},
		"a script that deepens": {[]string{script, `adapt.actions=["deepen:conv1"]`}, false},
		"random actions":        {[]string{"adapt.decider=random"}, true},
		"random deepening":      {[]string{"adapt.decider=random", `adapt.kinds=["deepen"]`}, false},
		"a profile that counts": {[]string{script, widen, "time.profile=round-gpu"}, false},
		"the wall clock":        {[]string{script, widen, "time.clock=wall"}, false},
	} {
		warnings := must(parseJob("a.toml", "", tc.set...)).Warnings()
		assert.Equal(t, tc.warns, len(warnings) == 1, "%s: %v", name, warnings)
	}
	assert.Contains(t, must(parseJob("a.toml", "", script, widen)).Warnings()[0], "profile steady")
	assert.Empty(t, must(readScenario(t, aScenario)).Warnings())
	assert.Len(t, must(readScenario(t, aScenario, `simulate.actions=["widen:conv1:48", "none"]`)).Warnings(), 1)
	assert.Empty(t, must(readScenario(t, aScenario, `simulate.actions=["widen:conv1:48", "none"]`, "time.profile=round-gpu")).Warnings())
}
