package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
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
			`time.events=[{at = "300ms", change = "up"}]`, `adapt.decider="policy"`, "adapt.every=true", "adapt.max_decisions=2", "adapt.policy=" + policy}, more...) {
			args = append(args, "--set", set)
		}
		return append(args, also...)
	}
}

// decisions returns the decisions of a run.
func decisions(t *testing.T, folder string) (made []trainer.Note) {
	file, err := os.Open(filepath.Join(folder, "events.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var note trainer.Note
		require.NoError(t, json.Unmarshal(lines.Bytes(), &note))
		if note.Event == "decision" {
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
	o := graft(args(folder, "--resume")...)
	require.Equal(t, failure.Configuration, o.code)
	require.Contains(t, o.stderr, "a file that it reads is another")
	elsewhere := filepath.Join(run, "none")
	closed := filepath.Join(run, "closed.toml")
	measured := []trainer.Measurement{{Network: "ConvSmall", Fingerprint: "f", Batch: 64, StepSeconds: 0.01, BatchSeconds: 0.01}}
	require.NoError(t, config.WriteProfile(files.OS{}, closed, &trainer.Profile{Version: 1, Name: "closed", Measured: measured}))
	o = graft(args(elsewhere, "--set", "time.profile="+closed)...)
	require.Equal(t, failure.Configuration, o.code, o.stderr)
	require.Contains(t, o.stderr, "the profile closed has no rates, and the decider policy may make networks that were not measured")
	o = graft(args(elsewhere, "--set", "adapt.vocab=words.json")...)
	require.Equal(t, failure.Configuration, o.code)
	require.Contains(t, o.stderr, "reads networks without a vocabulary")
	require.NoDirExists(t, elsewhere)
}
