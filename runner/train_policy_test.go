package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/decider"
	"graft/files"
	"graft/results/failure"
	"graft/trainer"
)

// asking are the settings of a job that asks a policy at each epoch after an up.
func asking(policy string, more ...string) func(folder string, also ...string) []string {
	return func(folder string, also ...string) []string {
		args := []string{"train", "--quiet", "--folder", folder}
		for _, set := range append([]string{"time.budget=1s", "data.synthetic.train=200", "data.synthetic.test=60", "data.synthetic.classes=3",
			`time.events=[{at = "300ms", change = "up"}]`, `adapt.decider="policy"`, "adapt.every=true", "adapt.most=2", "adapt.policy=" + policy}, more...) {
			args = append(args, "--set", set)
		}
		return append(args, also...)
	}
}

// decisions returns the decisions of a run.
func decisions(t *testing.T, folder string) (made []trainer.Note) {
	for line := range strings.Lines(contents(t, filepath.Join(folder, "events.jsonl"))) {
		if note := decoded[trainer.Note](t, line); note.Event == "decision" {
			made = append(made, note)
		}
	}
	return made
}

// A structural policy decides in a job, which ends with the same bits however often it
// is stopped, and does not go on with another policy.
func TestTrainAsksAStructuralPolicy(t *testing.T) {
	run := t.TempDir()
	path := filepath.Join(run, config.PolicyFile)
	learn := func(seed uint64) {
		p, err := decider.NewStructural(decider.StructuralShape{Hidden: 8}, seed)
		require.NoError(t, err)
		require.NoError(t, p.Write(files.OS{}, path))
	}
	learn(1)
	args := asking(run, "adapt.sample=true", "run.seed=4", "data.synthetic.size=16")
	folder := requireRequeued(t, args)
	made := decisions(t, folder)
	require.Len(t, made, 2)
	changes := 0
	for _, note := range made {
		require.Greater(t, len(note.Probabilities), 5, "all that fits ConvSmall")
		if note.Action != "none" {
			changes++
		}
	}
	require.Positive(t, changes, "the seed is one that adapts")

	learn(2)
	fails(t, failure.Configuration, "a file that it reads is another", args(folder, "--resume")...)
	elsewhere := filepath.Join(run, "none")
	closed := filepath.Join(run, "closed.toml")
	measured := []trainer.Measurement{{Network: "ConvSmall", Fingerprint: "f", Batch: 64, StepSeconds: 0.01, BatchSeconds: 0.01}}
	require.NoError(t, config.WriteProfile(files.OS{}, closed, &trainer.Profile{Version: 1, Name: "closed", Measured: measured}))
	fails(t, failure.Configuration, "the profile closed has no rates, and the decider policy may make networks that were not measured", args(elsewhere, "--set", "time.profile="+closed)...)
	fails(t, failure.Configuration, "reads networks without a vocabulary", args(elsewhere, "--set", "adapt.vocab=words.json")...)
	require.NoDirExists(t, elsewhere)
}
