package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/runner/export"
	"graft/runner/imports"
	"graft/runner/train"
)

// textJob trains a transformer on text with changing devices.
const textJob = `[network]
name = %q
[data]
kind = "text"
path = "texts"
tokens = "characters"
context = 12
[time]
budget = "1200ms"
events = [{at = "400ms", change = "up"}, {at = "600ms", change = "up"}, {at = "900ms", change = "down"}]
[adapt]
decider = "script"
actions = %s
[train]
batch = 8
[optimizer]
rule = "adamw"
[checkpoint]
every = "20ms"
`

// texts writes files with repeated text, in nested folders.
func texts(t *testing.T, folder string) {
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "texts", "more"), 0o755))
	write(t, filepath.Join(folder, "texts", "a.txt"),
		strings.Repeat("the quick brown fox jumps over the lazy dog. ", 20))
	write(t, filepath.Join(folder, "texts", "more", "b.txt"),
		strings.Repeat("pack my box with five dozen liquor jugs. ", 20))
}

// A GPT that grows deeper and wider and shrinks again is killed repeatedly, and ends like an uninterrupted one.
func TestTextJobSurvivesKills(t *testing.T) {
	longOnly(t, "a GPT that is killed; a job on a table is")
	t.Parallel() // it waits for processes
	surviveKills(t, func(folder string) {
		write(t, filepath.Join(folder, "job.toml"),
			fmt.Sprintf(textJob, "SmallLLaMA", `["deepen:blocks.1", "widen:tok:160"]`))
		texts(t, folder)
	})
}

// An encoder of labelled words with ignored labels, trained in micro batches, survives kills.
func TestTableJobSurvivesKills(t *testing.T) {
	longOnly(t, "kills of a job on a table of texts; jobs of programs are killed")
	t.Parallel() // it waits for processes
	surviveKills(t, func(folder string) {
		job := strings.NewReplacer(`"text"`, `"csv"`, `"texts"`, `"tags.csv"`, `context = 12`,
			"context = 16\nlabel_each = \"word\"", "batch = 8", "batch = 8\nmicro_batch = 3").
			Replace(fmt.Sprintf(textJob, "SmallBERT", `["widen:blocks.1.up:600", "deepen:blocks.3"]`))
		write(t, filepath.Join(folder, "job.toml"), job)
		rows := "text,label\n"
		for k := range 40 {
			rows += fmt.Sprintf("the fox %s the dog,X X Y -100 Z\n", []string{"sees", "hears"}[k%2])
		}
		write(t, filepath.Join(folder, "tags.csv"), rows)
	})
}

func TestTextJobsAreChecked(t *testing.T) {
	folder := t.TempDir()
	texts(t, folder)
	path := filepath.Join(folder, "job.toml")
	small, err := model.Zoo("CharGPT", model.ZooOptions{Input: model.Shape{12}, Classes: 20})
	require.NoError(t, err)
	require.NoError(t, config.WriteNetwork(files.OS{}, filepath.Join(folder, "small.toml"), small))
	good := fmt.Sprintf(textJob, "CharGPT", `["deepen:blocks.1", "widen:blocks.0.up:700"]`)
	for says, change := range map[string][2]string{
		"the network expects images, but text has tokens": {`name = "CharGPT"`, `name = "ConvSmall"`},
		"has 28 different tokens":                         {`name = "CharGPT"`, `file = "small.toml"`},
		"remove the section augment":                      {"[checkpoint]", "[augment]\nflip = true\n[checkpoint]"},
		"unknown axis":                                    {"blocks.0.up", "blocks.9.up"},
		`tokens is "words"`:                               {`"characters"`, `"words"`},
		"context is 1 tokens":                             {"context = 12", "context = 1"},
	} {
		require.Contains(t, good, change[0])
		write(t, path, strings.Replace(good, change[0], change[1], 1))
		fails(t, failure.Configuration, says, "config", "check", path)
	}
	write(t, path, good)
	r := decoded[train.Result](t, done(t, "train", path, "--json", "--quiet", "--folder",
		filepath.Join(folder, "run")).stdout)
	assert.Greater(t, r.Outcome.Perplexity, 1.0)
	assert.Less(t, r.Outcome.Perplexity, 25.0, "fewer than the characters that occur")
	shown := decoded[imports.Network](t,
		done(t, "model", "show", filepath.Join(folder, "run", "network.toml"), "--json").stdout)
	assert.Contains(t, shown.Blocks, "blocks.0")
}

func TestTablesAreChecked(t *testing.T) {
	folder := t.TempDir()
	texts, words := "review,label\n"+strings.Repeat("good,yes\nbad,no\n", 5),
		"review,label\n"+strings.Repeat("a good,X Y\n", 5)
	write(t, filepath.Join(folder, "few.toml"), "name = \"Few\"\n[transformer]\nvocabulary = 40\nwidth = 8\n"+
		"heads = 2\ndepth = 1\ntask = \"text-label\"\nclasses = 2\nfull = true\npadded = true\n")
	path, encoder, columns := filepath.Join(folder, "job.toml"), `name = "SmallBERT"`, "text_column = \"review\"\n"
	each := columns + "label_each = \"word\"\n"
	job := func(table, network, kind, data string) {
		write(t, filepath.Join(folder, "reviews.csv"), table)
		write(t, path, fmt.Sprintf("[network]\n%s\n[data]\nkind = %q\npath = \"reviews.csv\"\n%s[time]\n"+
			"budget = \"100ms\"\n", network, kind, data))
	}
	for _, c := range []struct{ says, table, network, kind, data string }{
		{`the columns are ["review" "label"]`, texts, encoder, "csv", ""},
		{"2 words, but 1 labels", "review,label\na good,X\n", encoder, "csv", each},
		{"each text of csv has one of 2 labels; use an encoder", texts, `name = "CharGPT"`, "csv", columns},
		{"the network's output is 3, but each text of csv", texts, encoder + "\nclasses = 3", "csv", columns},
		{"the network's output is 64x3, but each token of csv", words, `name = "CharGPT"` + "\nclasses = 3", "csv",
			each},
		{"label_each is set for kind text", texts, encoder, "text", columns},
		{"the network's vocabulary has 40 tokens, but the text of csv uses 257", texts, `file = "few.toml"`, "csv",
			columns},
	} {
		job(c.table, c.network, c.kind, c.data)
		fails(t, failure.Configuration, c.says, "config", "check", path)
	}
	job(words, encoder, "csv", each)
	r := decoded[train.Result](t, done(t, "train", path, "--json", "--quiet", "--folder",
		filepath.Join(folder, "run")).stdout)
	assert.Zero(t, r.Outcome.Perplexity, "labels are no next tokens")
	assert.Positive(t, r.Outcome.Steps)
	write(t, filepath.Join(folder, "in.json"),
		`{"inputs": [{"dtype": "int64", "shape": [2, 3], "values": [97, 98, 256, 99, 256, 256]}]}`)
	given := decoded[export.ForwardReport](t, done(t, "model", "forward", filepath.Join(folder, "run"), "--inputs",
		filepath.Join(folder, "in.json"), "--json").stdout)
	assert.Equal(t, []int{2, 3, 2}, given.Shape)
	assert.Equal(t, []string{"X", "Y"}, given.Classes)
}
