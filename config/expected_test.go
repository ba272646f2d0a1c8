package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/net2net"
	"graft/trainer/clock"
)

// Reading a job that cannot train reports a fault.
func TestJobsThatCannotTrainAreFaults(t *testing.T) {
	n := zoo(t, "ConvSmall")
	closed := filepath.Join(t.TempDir(), "closed.toml")
	p := &clock.Profile{Version: 1, Name: "closed", Device: "cpu"}
	for _, batch := range []int{64, 128} {
		p.Measured = append(p.Measured, clock.Measurement{Network: "ConvSmall", Fingerprint: net2net.Fingerprint(n),
			Batch: batch, StepSeconds: 0.01, BatchSeconds: 0.01})
	}
	require.NoError(t, WriteProfile(files.OS{}, closed, p))
	script := []string{"adapt.decider=script", `adapt.actions=["deepen:conv1"]`, `time.events=[{at="30s",change="up"}]`}
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"a profile of the network alone": {[]string{"time.profile=" + closed}, ""},
		"a profile without a grown network": {append(script, "time.profile="+closed),
			"after action deepen:conv1: profile closed has no measurement of this ConvSmall with a batch of 64, " +
				"and no cost rates"},
		"a profile without random networks": {[]string{"time.profile=" + closed, "adapt.decider=random",
			`time.events=[{at="30s",change="up"}]`},
			"the profile closed has no cost rates and covers only measured networks, but the decider random may"},
		"another network": {[]string{"time.profile=" + closed, "network.name=ConvNet2"}, "has no measurement of this"},
		"no time for a step": {[]string{"time.budget=1ms"},
			"the budget ends before the first training step: with the profile steady, one step and the evaluation " +
				"after it take"},
		"no time after the start": {[]string{"time.start=59.999s"}, "and the job starts at 59.999s; set " +
			"time.budget to"},
		"any time on a wall clock": {[]string{"time.budget=1ms", "time.clock=wall"}, ""},
		"down to as many": {[]string{`time.events=[{at="1s",change="down",devices=1}]`},
			`event 0 with change "down" gives the job 1 device, but the job has 1 device before this event`},
		"up to fewer": {[]string{`time.events=[{at="1s",change="up",devices=4},{at="2s",change="up",devices=3}]`},
			`event 1 with change "up" gives the job 3 devices, but the job has 4 devices before this event`},
		"up to as many": {[]string{`time.events=[{at="1s",change="up",devices=2},{at="2s",change="up",devices=2}]`},
			""},
		"down without a number": {[]string{`time.events=[{at="1s",change="down"}]`}, ""},
	} {
		_, err := ReadJob(files.OS{}, "", c.set)
		if c.says == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorContains(t, err, c.says, name)
	}
	require.Contains(t, strings.Join(must(ReadJob(files.OS{}, "", []string{"time.budget=300ms"})).Warnings(), ""),
		"ends in the first epoch, after")
}

// Missing data files are only a warning when a job is read, since the job may run on another machine.
func TestMissingData(t *testing.T) {
	empty := t.TempDir()
	for path, says := range map[string]string{
		filepath.Join(empty, "nowhere"): "put its files into",
		empty:                           "put train-images-idx3-ubyte and",
	} {
		j := must(ReadJob(files.OS{}, "", []string{"data.kind=mnist", "data.path=" + path}))
		require.ErrorContains(t, j.MissingData(), says)
		require.ErrorContains(t, j.MissingData(), "graft data fetch mnist")
		require.Contains(t, strings.Join(j.Warnings(), "\n"), "the job cannot start on this machine: data.path: "+
			"read "+path)
	}
	require.NoError(t, must(ReadJob(files.OS{}, "", nil)).MissingData())
}

// The expected work includes the actions of a script, and is open if the decider chooses at run time.
func TestExpectedWork(t *testing.T) {
	events := `time.events=[{at="20s",change="up",devices=2},{at="40s",change="down",devices=1}]`
	job := func(set ...string) *Job {
		return must(ReadJob(files.OS{}, "", append([]string{"time.profile=round-gpu", events}, set...)))
	}
	scripted, known := job("adapt.decider=script", `adapt.actions=["deepen:conv1"]`).Expected()
	require.True(t, known)
	require.False(t, scripted.Open)
	require.Len(t, scripted.Spans, 3)
	sizes := []int{}
	for _, s := range scripted.Spans {
		sizes = append(sizes, s.Work[len(s.Work)-1].Network.Parameters())
	}
	require.Equal(t, []int{14826, 17178, 14826}, sizes, "a down reverts the network")
	open, known := job("adapt.decider=random").Expected()
	require.True(t, known)
	require.True(t, open.Open)
	require.Greater(t, open.Steps(), scripted.Steps(), "deeper networks take longer steps")
	never, _ := job().Expected()
	require.False(t, never.Open)
	capped, _ := job("train.epochs=3").Expected()
	require.Equal(t, 3, capped.Epochs())
	_, known = must(ReadJob(files.OS{}, "", []string{"time.clock=wall"})).Expected()
	require.False(t, known)
}

// A job that grows in few epochs gets a warning, unless it makes no decision.
func TestFewEpochsOfGrowth(t *testing.T) {
	const advice = "growing in a training of "
	script := []string{"adapt.decider=script", `adapt.actions=["deepen:conv2"]`, "adapt.when=share", "adapt.at=[0.5]"}
	for _, c := range []struct {
		set    []string
		warned bool
	}{
		{append([]string{"time.budget=2s"}, script...), true},
		{append([]string{"time.budget=600s"}, script...), false},
		{[]string{"time.budget=2s"}, false},
		{[]string{"time.budget=2s", "adapt.decider=script", `adapt.actions=["deepen:conv2"]`}, false},
	} {
		j, err := ReadJob(files.OS{}, "", c.set)
		require.NoError(t, err)
		require.Equal(t, c.warned, strings.Contains(strings.Join(j.Warnings(), "\n"), advice), "%v", c.set)
	}
}
