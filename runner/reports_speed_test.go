package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/files"
	"graft/results/failure"
	"graft/results/runs"
	"graft/trainer"
)

var longTests = os.Getenv("GRAFT_LONG") != ""

// writeMany makes run folders of jobs, ten ways with as many seeds, every tenth of them
// under way. They are written in one go, as the files that one job has written.
func writeMany(t testing.TB, dir string, list, epochs int) {
	t.Helper()
	first := filepath.Join(dir, "first")
	writeJob(t, first, writtenJob{seed: 1, epochs: epochs, accuracy: 0.7})
	same := map[string]string{}
	for _, name := range []string{"epochs.csv", "events.jsonl", "streams.json", "lock"} {
		same[name] = contents(t, filepath.Join(first, name))
	}
	manifest := contents(t, filepath.Join(first, runs.ManifestFile))
	require.NoError(t, os.RemoveAll(first))
	job, err := config.ReadJob(files.OS{}, "", nil)
	require.NoError(t, err)
	for k := range list {
		folder := filepath.Join(dir, fmt.Sprintf("way%d-%03d", k%10, k/10))
		for name, text := range same {
			write(t, filepath.Join(folder, name), text)
		}
		job.Run.Seed = int64(k / 10)
		job.Train.Optimizer.LR = 0.01 * float64(1+k%10)
		write(t, filepath.Join(folder, runs.ResolvedFile), job.Resolved())
		write(t, filepath.Join(folder, runs.ManifestFile), strings.Replace(manifest, `"seed": 1`, fmt.Sprintf(`"seed": %d`, k/10), 1))
		if k%100 < 90 {
			o, err := json.Marshal(trainer.Outcome{Epochs: epochs, Steps: 10, Budget: time.Minute, Used: time.Minute, Parameters: 1000,
				Validation: trainer.Score{Loss: 1, Accuracy: 0.5 + float64(k*7919%1000)/1e4}, Test: trainer.Score{Loss: 1, Accuracy: 0.5 + float64(k*7919%1000)/1e4}, Digest: fmt.Sprint(k)})
			require.NoError(t, err)
			write(t, filepath.Join(folder, runs.OutcomeFile), string(o))
		}
	}
}

// A report over 1,000 runs of 1,000 epochs each is there in less than 3 s and 500 MB; by
// default a tenth of them is measured.
func TestReportOfManyRunsIsQuick(t *testing.T) {
	runs := 100
	if longTests {
		runs = 1000
	}
	dir := t.TempDir()
	writeMany(t, dir, runs, 1000)
	var took []time.Duration
	for range 3 {
		began := time.Now()
		got := graft("report", dir)
		took = append(took, time.Since(began))
		require.Equal(t, failure.Done, got.code, got.stderr)
		require.True(t, strings.HasPrefix(got.stdout, fmt.Sprintf("%d jobs\n", runs)), got.stdout)
	}
	slices.Sort(took)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("measured: a report over %d runs of 1000 epochs takes %s, and %d MB from the system", runs, took[1].Round(time.Millisecond), memory.Sys>>20)
	require.Less(t, took[1], 9*time.Second*time.Duration(runs)/1000+time.Second)
	require.Less(t, memory.Sys, uint64(1500<<20))
}
