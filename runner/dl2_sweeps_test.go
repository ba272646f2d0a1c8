package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/files"
	"graft/runner/learn"
)

// smallDL2 shrinks the template of DL2's sweeps to a few updates on small workloads.
var smallDL2 = []string{"elastic.nodes=4", "elastic.max_workers=4", "workloads.jobs=6", "workloads.max_arrivals=2",
	"workloads.epochs=1500", "workloads.train_count=1", "workloads.validation_count=1", "workloads.test_count=1",
	"dl2.shape.hidden=8", "dl2.supervised.steps=2", "dl2.supervised.batch=16", "dl2.reinforced.steps=2",
	"dl2.reinforced.batch=16", "dl2.replay.capacity=32", "dl2.workloads.count=4", "dl2.validation.every=2",
	"run.seeds=1", "run.every=1"}

// The last case of each sweep of DL2 runs.
func TestSweepsOfDL2Run(t *testing.T) {
	template := filepath.Join("..", "scenarios", "dl2", "template.toml")
	paths, err := filepath.Glob(filepath.Join("..", "scenarios", "dl2", "*.toml"))
	require.NoError(t, err)
	for _, path := range paths {
		if path == template {
			continue
		}
		list, err := config.ReadCases(files.OS{}, path)
		require.NoError(t, err)
		last := list[len(list)-1]
		args := []string{"learn", template, "--cases", casesFile(t, "[last]\n"+strings.Join(last.Set, "\n")+"\n"),
			"--folder", filepath.Join(t.TempDir(), "run"), "--json"}
		for _, set := range smallDL2 {
			args = append(args, "--set", set)
		}
		r := decoded[learn.CasesResult](t, done(t, args...).stdout)
		require.Equal(t, last.Set, r.Outcome.Cases[0].Set, path)
		require.Positive(t, r.Outcome.Cases[0].Best.Mean, path)
		require.NotEmpty(t, r.Outcome.Cases[0].Baselines, path)
	}
}
