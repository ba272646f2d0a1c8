package config

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

func TestReadCases(t *testing.T) {
	path := written(t, "cases.toml", "[small]\nnetwork.name = \"A\"\noptimizer.lr = 1.0\n[\"0 fast\"]\n"+
		"\"adapt.actions\" = [\"deepen:1\", \"none\"]\n[\"0 fast\".time]\nevents = [{at = \"5s\", change = \"up\"}]\n"+
		"start = 2\n")
	list, err := ReadCases(files.OS{}, path)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []string{`network.name="A"`, "optimizer.lr=1.0"}, list[0].Set)
	require.Equal(t, "0 fast", list[1].Name)
	require.Equal(t, []string{`adapt.actions=["deepen:1", "none"]`, `time.events=[{at = "5s", change = "up"}]`,
		"time.start=2"}, list[1].Set)
	_, err = ReadJob(files.OS{}, "", list[1].Set)
	require.Regexp(t, `^case 0 fast: \d+ faults?\n(?s:.*)cases.toml:\d+:\d+: (?s:.*)\n +\d+ \| `,
		list[1].Located(err).Error())
	require.EqualError(t, list[0].Located(errors.New("other")), "case small: other")
	for text, says := range map[string]string{"": "no cases", "a = 1\n": "a is not a table", "[a\n": "cases.toml:1"} {
		_, err := ReadCases(files.OS{}, written(t, "cases.toml", text))
		require.ErrorContains(t, err, says, text)
	}
}

func TestGridCases(t *testing.T) {
	list, err := GridCases([]string{"optimizer.lr=0.1, 0.01", `adapt.actions=["a", "b"],[],"x,y"`})
	require.NoError(t, err)
	require.Len(t, list, 6)
	require.Equal(t, Case{Name: `optimizer.lr=0.1 adapt.actions=["a", "b"]`,
		Set: []string{"optimizer.lr=0.1", `adapt.actions=["a", "b"]`}}, list[0])
	require.Equal(t, []string{"optimizer.lr=0.01", `adapt.actions="x,y"`}, list[5].Set)
	for _, sweep := range []string{"", "a", "a=", "a=1,", "a=1,1"} {
		_, err := GridCases([]string{sweep})
		require.Error(t, err, sweep)
	}
	for _, sweep := range []string{"optimizer.lr=0.1,0.10", "time.budget=60,1m", `optimizer.rule=sgd,"sgd"`,
		`adapt.actions=["deepen:conv1", "none"],[ 'deepen:conv1','none' ]`,
		`adapt.actions=["widen:a:8"],["widen:a:08"]`} {
		_, err := GridCases([]string{sweep})
		require.ErrorContains(t, err, "are the same value; list each value once", sweep)
	}
	_, err = GridCases([]string{"optimizer.lr=0.1,0.2", "time.budget=60,wrong,worse", "no.key=1,1.0"})
	require.NoError(t, err, "faults are reported with the cases")
	_, err = GridCases([]string{"a=1", "a=2"})
	require.ErrorContains(t, err, "duplicate key")
}

// Other commands read a job with options of trials as the plain job, with the same digest.
func TestJobsOfSweepsAreJobs(t *testing.T) {
	const job = "[run]\nseed = 5\n[adapt]\ndecider = \"random\"\nactions = [\"deepen:conv1\", \"none\"]\n"
	plain := must(ReadJob(files.OS{}, written(t, "a.toml", job), nil))
	path := written(t, "b.toml", job+"[fleet]\nworkers = 3\n[compare]\nseeds = 4\n")
	require.Equal(t, plain.Digest(), must(ReadJob(files.OS{}, path, nil)).Digest())
	s := must(ReadSweep(files.OS{}, path, nil))
	require.Equal(t, []int{3, 4, 3, 64}, []int{s.Fleet.Workers, s.Compare.Seeds, s.Compare.SelectionSeeds,
		s.Compare.MaxSequences})
	require.NotEqual(t, s.Digest(), must(ReadSweep(files.OS{}, path, []string{"compare.seeds=5"})).Digest())
	require.Equal(t, s.Digest(), must(ReadSweep(files.OS{}, path, []string{"fleet.workers=1"})).Digest())
	_, err := ReadSweep(files.OS{}, path, []string{`compare.arms=["newer"]`, "compare.seeds=-1"})
	require.ErrorContains(t, err, `arms: got "newer"`)
	require.ErrorContains(t, err, "seeds is -1")
}

func TestSequencesOfAComparison(t *testing.T) {
	set := []string{"network.name=ConvSmall", `time.events=[{at = "5s", change = "up"}]`, "adapt.each_epoch=true",
		"adapt.max_decisions=2", `compare.actions=["deepen:conv1", "deepen:conv2", "none"]`}
	list, all, err := must(ReadSweep(files.OS{}, "", set)).Sequences()
	require.NoError(t, err)
	require.Equal(t, 9, all)
	require.Len(t, list, 9)
	require.Equal(t, []string{"deepen:conv1", "deepen:conv1"}, list[0])
	list, all, err = must(ReadSweep(files.OS{}, "", append(set, "compare.max_sequences=4"))).Sequences()
	require.NoError(t, err)
	require.Equal(t, 9, all)
	require.Len(t, list, 4)
}
