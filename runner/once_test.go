package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/trainer/clock"
)

// counting counts how often each file is opened for reading.
type counting struct {
	files.FS
	mu     sync.Mutex
	opened map[string]int // by path
}

func (c *counting) Open(path string) (files.File, error) {
	file, err := c.FS.Open(path)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.opened[filepath.Clean(path)]++
	}
	return file, err
}

// again lists the files that were opened more than once, outside of the given folders.
func (c *counting) again(except ...string) (list []string) {
	for path, n := range c.opened {
		if n > 1 && !slices.ContainsFunc(except, func(folder string) bool { return strings.Contains(path, folder) }) {
			list = append(list, fmt.Sprintf("%s: %d", path, n))
		}
	}
	slices.Sort(list)
	return list
}

// opensOnce checks that a command opens each file once, outside of the given folders.
func opensOnce(t *testing.T, line string, except ...string) {
	t.Helper()
	c := &counting{FS: files.OS{}, opened: map[string]int{}}
	ctx := context.WithValue(context.Background(), filesKey{}, files.FS(c))
	o := call(ctx, newRootCommand(), append(strings.Fields(line), "--quiet")...)
	ends(t, o, failure.Done, "")
	require.NotEmpty(t, c.opened, line)
	require.Empty(t, c.again(except...), line)
}

// onceJob trains with every file that a job may name: a network, weights, a profile and a timeline.
const onceJob = `[network]
file = "net.toml"
weights = "net.safetensors"
[data.synthetic]
classes = 4
size = 16
train = 200
test = 100
[time]
budget = "1s"
profile = "profile.toml"
timeline = "changes.csv"
[adapt]
decider = "script"
actions = ["deepen:conv1"]
`

// writeOnceJob writes the job and the files that it names.
func writeOnceJob(t *testing.T) {
	t.Helper()
	write(t, "first.toml", "[data.synthetic]\nclasses = 4\nsize = 16\ntrain = 200\ntest = 100\n"+
		"[time]\nbudget = \"100ms\"\n")
	must(t, "train first.toml --folder first")
	must(t, "export first --out net.toml")
	must(t, "export first --out net.safetensors")
	steady, err := clock.FindProfile("steady")
	require.NoError(t, err)
	require.NoError(t, config.WriteProfile(files.OS{}, "profile.toml", steady))
	write(t, "changes.csv", "seconds,change,devices\n0.4,up,2\n")
	write(t, "job.toml", onceJob)
}

// Commands open the configuration, and each file that it names except weights, only once.
func TestConfigurationsAreOpenedOnce(t *testing.T) {
	t.Chdir("..")
	for _, pattern := range []string{"fabric/*.toml", "node/*.toml", "small/*.toml",
		"cifar10/*-late-deepen.toml"} { // not adaptive: it reads twice
		scenarios, err := filepath.Glob("scenarios/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, scenarios)
		if !longTests {
			scenarios = scenarios[:1]
		}
		for _, path := range scenarios {
			opensOnce(t, "config check "+path+" --without-data")
		}
	}
	t.Chdir(t.TempDir())
	writeOnceJob(t)
	opensOnce(t, "config check job.toml")
	// It reads its own checkpoints, and reads the weights for their digest and to load them.
	opensOnce(t, "train job.toml", "runs/job/", "net.safetensors")
}

// A report opens each file of a run once. Exceptions are tables of jobs and of unfinished runs, which it reads at the
// end and then from the beginning, and outputs of a pipeline, which it reads again for their digests.
func TestRunsAreOpenedOnce(t *testing.T) {
	for name, folder := range writeAll(t) {
		except := map[string][]string{"open": {"/epochs.csv"}, "job": {"/epochs.csv"}, "policy-open": {"/learning.csv"},
			"pipeline": {"/outcome.json", "/table/"}, "pipeline-open": {"/table/"}}[name]
		opensOnce(t, "report "+folder, except...)
		opensOnce(t, "report --json "+folder, except...)
	}
}
