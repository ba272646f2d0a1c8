package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const atShares, aScript = "adapt.when=share", "adapt.decider=script"

// A job with times of decisions needs no up event. Its warnings name the decisions that do not happen.
func TestTimesOfDecisions(t *testing.T) {
	const deepen, two = `adapt.actions=["deepen:conv1"]`, `adapt.actions=["deepen:conv1", "deepen:conv2"]`
	for name, tc := range map[string]struct {
		set       []string
		decisions int
		warns     string
	}{
		"a share":      {[]string{atShares, "adapt.at=[0.8]", aScript, deepen}, 1, ""},
		"periods":      {[]string{"adapt.when=periodic", "adapt.interval=0.25", aScript, two}, 3, ""},
		"a plateau":    {[]string{"adapt.when=plateau", aScript, two}, 3, ""},
		"no decider":   {[]string{atShares, "adapt.at=[0.9999]"}, 1, ""},
		"more actions": {[]string{atShares, "adapt.at=[0.8]", aScript, two}, 1, "the job has at most 1 decision"},
		"more than a plateau's": {[]string{"adapt.when=plateau", "adapt.max_decisions=1", aScript, two}, 1,
			"at most 1 decision"},
		"a late share": {[]string{atShares, "adapt.at=[0.5, 0.9999]", aScript, two}, 2,
			"adapt.at: only 1 of 2 decisions fit before the end of the 1m0s budget; decision 2 is due at 59.994s"},
		"shares that are past": {[]string{atShares, "adapt.at=[0.1, 0.5]", "time.start=12s", aScript, deepen}, 1,
			"adapt.at: 1 of 2 shares lie before time.start and are skipped"},
		"nothing is left": {[]string{atShares, "adapt.at=[0.1]", "time.start=12s", aScript, deepen}, 0,
			"adapt.at: all shares lie before time.start, so there are no decisions; raise the shares"},
	} {
		j := must(parseJob("a.toml", "", tc.set...))
		assert.Equal(t, tc.decisions, j.Decisions(), name)
		if tc.warns == "" {
			assert.Empty(t, j.Warnings(), name)
			continue
		}
		require.Len(t, j.Warnings(), 1, name)
		assert.Contains(t, j.Warnings()[0], tc.warns, name)
	}
}

// An action that fits at no decision is a fault, for all kinds of times of decisions.
func TestScriptsOfTimesOfDecisionsAreTried(t *testing.T) {
	events := `time.events=[{at="10s", change="up"}, {at="20s", change="down"}]`
	for _, when := range [][]string{{atShares, "adapt.at=[0.1, 0.8]"}, {"adapt.when=periodic", "adapt.interval=0.4"},
		{"adapt.when=plateau"}} {
		with := func(actions string) error {
			_, err := parseJob("a.toml", "", append([]string{aScript, events, "adapt.actions=" + actions}, when...)...)
			return err
		}
		require.NoError(t, with(`["widen:conv1:48", "widen:conv1:64"]`))
		require.NoError(t, with(`["widen:conv1:48", "widen:conv1:40"]`), "the down may come between them")
		require.ErrorContains(t, with(`["widen:conv1:48", "widen:conv1:8"]`), "widen")
		require.ErrorContains(t, with(`["deepen:nowhere"]`), "nowhere")
	}
}

// The forecast has the actions of a script at their shares, but not at a plateau.
func TestExpectedWorkAtTimesOfDecisions(t *testing.T) {
	base := []string{aScript, `adapt.actions=["deepen:conv1"]`}
	share, known := must(parseJob("a.toml", "", append(base, atShares, "adapt.at=[0.5]")...)).Expected()
	require.True(t, known)
	require.False(t, share.Open)
	require.Len(t, share.Spans, 1)
	require.Equal(t, 1, share.Spans[0].Decisions)
	require.Len(t, share.Spans[0].Work, 2)
	plateau, known := must(parseJob("a.toml", "", append(base, "adapt.when=plateau")...)).Expected()
	require.True(t, known)
	require.True(t, plateau.Open, "the network may change at a time that is unknown")
	require.Zero(t, plateau.Spans[0].Decisions)
}

func TestScenariosOfTimesOfDecisions(t *testing.T) {
	const scenario = `
[time]
budget = "40s"
[simulate]
actions = ["deepen:conv1", "deepen:conv2", "none"]
`
	read := func(set ...string) (*Simulation, error) { return readScenario(t, scenario, set...) }
	m := must(read(atShares, "adapt.at=[0.25, 0.5]"))
	require.Equal(t, 2, m.Decisions())
	require.Empty(t, m.Warnings())
	require.Equal(t, 10.0, m.firstDecision())
	require.Equal(t, 3, must(read("adapt.when=periodic", "adapt.interval=0.25")).Decisions())
	for says, set := range map[string][]string{
		`adapt.when is "plateau", so the times of decisions depend on training and differ between sequences; set ` +
			`adapt.when to "share", "periodic" or "devices"`: {"adapt.when=plateau"},
		"only 1 of 2 decisions fit before the end of the 40s budget; decision 2 is due at 39.996s; decide earlier, " +
			"raise time.budget or lower simulate.decisions": {atShares, "adapt.at=[0.25, 0.9999]"},
		"lower decisions, or add shares to adapt.at": {atShares, "adapt.at=[0.25]", "simulate.decisions=2"},
		`the "up" event before it, but adapt.when = "share" asks for a decision at 20s`: {atShares, "adapt.at=[0.5]",
			`time.events=[{at="5s",change="up"},{at="9s",change="down"}]`},
		"all shares lie before time.start": {atShares, "adapt.at=[0.1]", "time.start=8s"},
	} {
		_, err := read(set...)
		assert.ErrorContains(t, err, says)
	}
	_, err := read(atShares, "adapt.at=[0.25, 0.9999]", "simulate.decisions=1")
	require.NoError(t, err, "one decision fits")
	_, err = read(atShares, "adapt.at=[0.5]", `time.events=[{at="9s",change="down"}]`)
	require.NoError(t, err, "nothing was granted, so nothing is reverted")
	require.Equal(t, must(parseJob("a.toml", "")).Digest(), must(parseJob("a.toml", "", "adapt.when=devices")).Digest())
}
