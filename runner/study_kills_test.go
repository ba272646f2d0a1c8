package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/worlds"
	"graft/internal/failure"
)

// studyArgs returns, by world, a cluster simulation that takes long enough to be killed.
func studyArgs(t *testing.T) map[string][]string {
	dir := t.TempDir()
	few := t.TempDir()
	writeTrace(t, dir, 2000)
	writeTrace(t, few, 300)
	jobs, nodes := filepath.Join(dir, "jobs.csv"), filepath.Join(dir, "nodes.csv")
	steps := filepath.Join(dir, "fabric.toml")
	require.NoError(t, os.WriteFile(steps, []byte(smallFabric), 0o600))
	machine := filepath.Join(dir, "node.toml")
	require.NoError(t, os.WriteFile(machine, []byte("[machine]\ngpus = 4\n[tasks]\ntest_count = 15\n"), 0o600))
	return map[string][]string{
		"rigid": {"--trace", jobs, "--vc-file", nodes, "--scheduler", "fifo,srtf,tiresias,fair", "--load", "1,2"},
		"elastic": {"--trace", filepath.Join(few, "jobs.csv"), "--speeds", "analytic", "--scheduler", "all",
			"--set", "schedule.ablate=true"},
		"adaptive": {"--data", absolute(t, exampleData), "--nodes", "4", "--trace", "workload-1.csv",
			"--scheduler", "goodput,tiresias,optimus,lucid,fair", "--set", "schedule.ablate=true"},
		"fabric": {steps, "--scheduler", "all", "--set", "schedule.ablate=true", "--set", "demand.jobs=100"},
		"node":   {machine, "--scheduler", "all"},
	}
}

// Cluster simulations that are killed at random moments and resumed end with the same bytes: one kill for every second
// world, or 20 for each with GRAFT_LONG.
func TestKilledStudiesEndTheSame(t *testing.T) {
	t.Parallel() // it waits for processes
	kills := 1
	if os.Getenv("GRAFT_LONG") != "" {
		kills = 20
	}
	all := studyArgs(t)
	for k, w := range worlds.All() {
		if !longTests && k%2 != 0 {
			continue // each world resumes in tests of its package
		}
		require.NotEmpty(t, all[w.Name], "add a simulation of %s", w.Name)
		args := append([]string{"cluster", "run", "--quiet"}, all[w.Name]...)
		whole := filepath.Join(t.TempDir(), "run")
		began := time.Now()
		p, out := process(t, append(args, "--out", whole)...)
		require.Equal(t, failure.Done, left(t, p), out)
		took, want := time.Since(began), studyFiles(t, whole)
		random := rand.New(rand.NewPCG(1, uint64(len(w.Name))))
		folder, latest := filepath.Join(t.TempDir(), "run"), took
		for killed := 0; killed < kills; {
			p, _ := process(t, append(args, "--out", folder, "--resume")...)
			time.Sleep(time.Duration(random.Int64N(int64(latest))))
			_ = p.Process.Signal(syscall.SIGKILL) // it may have ended already
			if p.Wait() != nil {
				killed++
				continue
			}
			require.Equal(t, want, studyFiles(t, folder), w.Name)
			require.NoError(t, os.RemoveAll(folder))
			latest = latest/2 + 1 // the machine has become faster
		}
		p, out = process(t, append(args, "--out", folder, "--resume")...)
		require.Equal(t, failure.Done, left(t, p), out)
		require.Equal(t, want, studyFiles(t, folder), w.Name)
		t.Logf("measured: %s: the same bytes after %d kills at random moments of %v", w.Name, kills,
			took.Round(time.Millisecond))
	}
}

// studyFiles returns the files of a run, except files that depend on its place and time.
func studyFiles(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(folder, path)
		if err != nil || e.IsDir() || name == "lock" || name == "manifest.json" || strings.HasPrefix(name, "config.") {
			return err
		}
		text, err := os.ReadFile(path)
		all[name] = strings.ReplaceAll(string(text), folder, "FOLDER")
		return err
	}))
	require.NotEmpty(t, all, fmt.Sprint(folder))
	return all
}
