package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An up event that is too late for its decisions is a fault of a scenario and a warning of a job.
func TestLateEvents(t *testing.T) {
	const late = `time.events=[{at="39.98s", change="up"}]`
	_, err := readScenario(t, aScenario, late)
	require.ErrorContains(t, err, "no decisions after the up event at 39.98s fit before the end of the "+
		"40s budget; move the event earlier, raise time.budget or lower simulate.decisions")
	_, err = readScenario(t, aScenario, `time.events=[{at="10s", change="up"}, {at="10.1s", change="up"}]`)
	require.ErrorContains(t, err, "only 1 of 3 decisions after the up event at 10s fit before the next "+
		"change at 10.1s")
	_, err = readScenario(t, aScenario, `time.events=[{at="10s", change="up"}, {at="10.1s", change="up"}]`,
		"simulate.decisions=4")
	require.NoError(t, err, "four decisions come")

	// The third decision is due at 38.6 s, and later if the network grew.
	edge := must(readScenario(t, aScenario, `time.events=[{at="36.6s", change="up"}]`, "time.budget=39s"))
	require.Len(t, edge.Warnings(), 1)
	require.Contains(t, edge.Warnings()[0], "sequences with the costliest networks may not reach all decisions: only")
	require.Empty(t, must(readScenario(t, aScenario)).Warnings())

	script := []string{"adapt.decider=script", `adapt.actions=["deepen:conv1"]`, late, "time.budget=40s"}
	require.Contains(t, strings.Join(must(parseJob("a.toml", "", script...)).Warnings(), "\n"),
		"time.events: no decisions after the up event at 39.98s fit before")
	script[2] = `time.events=[{at="39.9s", change="up"}]`
	require.Contains(t, strings.Join(must(parseJob("a.toml", "", script...)).Warnings(), "\n"),
		"no decisions after the up event at 39.9s fit before", "there is time for a step, but not for surgery too")
	unchanged := append([]string{"adapt.decider=script", `adapt.actions=["none"]`}, script[2:]...)
	require.NotContains(t, strings.Join(must(parseJob("a.toml", "", unchanged...)).Warnings(), "\n"), "fit before",
		"no surgery follows")
	require.Empty(t, must(parseJob("a.toml", "", append(script, "time.clock=wall")...)).Warnings())
	require.Contains(t, strings.Join(must(parseJob("a.toml", "", late, "time.budget=40s")).Warnings(), "\n"),
		"the up event at 39.98s is never reached", "nothing decides")
}
