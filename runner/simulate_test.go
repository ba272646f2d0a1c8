package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/simulate"
	"graft/simulation/grid"
)

// scenarioFile has nine sequences of a job that takes milliseconds.
const scenarioFile = `
[data.synthetic]
size = 16
classes = 4
train = 200
test = 80
[train]
batch = 40
[time]
budget = "460ms"
events = [{at = "100ms", change = "up"}]
[adapt]
each_epoch = true
max_decisions = 2
rows = 64
[simulate]
actions = ["deepen:conv1", "deepen:conv2", "none"]
`

// newScenario writes a scenario file into a new folder.
func newScenario(t testing.TB, text string) (folder, path string) {
	folder = t.TempDir()
	path = filepath.Join(folder, "late.toml")
	write(t, path, text)
	return folder, path
}

// tableBytes returns the contents of a table's folder, without locks.
func tableBytes(t testing.TB, dir string) map[string]string {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".lock" {
			continue
		}
		text := contents(t, filepath.Join(dir, entry.Name()))
		all[entry.Name()] = text
	}
	return all
}

// simulated runs a scenario to its end in a separate process.
func simulated(t *testing.T, args ...string) string {
	t.Helper()
	p, out := process(t, append([]string{"simulate"}, args...)...)
	require.Equal(t, failure.Done, left(t, p), out)
	return out.String()
}

// A scenario gives the same table for any number of workers. Completed work is not repeated, not even for another
// scenario.
func TestSimulate(t *testing.T) {
	folder, path := newScenario(t, scenarioFile)
	var want map[string]string
	for _, workers := range []int{1, 4} {
		run := filepath.Join(folder, fmt.Sprint(workers), "late")
		text := simulated(t, path, "--folder", run, "--workers", fmt.Sprint(workers))
		require.Contains(t, text, "9 of 9 runs ended, of 13 legs")
		got := tableBytes(t, filepath.Join(run, "table"))
		if want == nil {
			want = got
		}
		require.Equal(t, want, got, "%d workers", workers)
		logs, err := filepath.Glob(filepath.Join(run, "logs", "worker-*.log"))
		require.NoError(t, err)
		require.Len(t, logs, workers)
	}
	run := filepath.Join(folder, "1", "late")
	var report simulate.Report
	p, out := process(t, "simulate", path, "--folder", run, "--json", "--quiet")
	require.Equal(t, failure.Done, left(t, p))
	object := out.String()[:1+strings.LastIndex(out.String(), "}")]
	holdToPage([]string{"simulate", "--json"}, object)
	require.NoError(t, json.Unmarshal([]byte(object), &report))
	require.Equal(t, []int{9, 9, 13, 13, 0}, []int{report.State.Sequences, report.State.Ended, report.State.Segments,
		report.State.Done, report.State.Failed})
	require.Equal(t, 9, report.Outcome.Sequences)

	before := listing(t, folder)
	said := done(t, "report", run)
	require.Regexp(t, `9 of 9 runs ended, of 13 legs: \d+ steps of training; separate runs would take \d+: `+
		`\d+\.\d% saved`, said.stdout)
	require.Equal(t, before, listing(t, folder), "a report changes nothing")

	other := filepath.Join(folder, "1", "other")
	text := simulated(t, path, "--folder", other, "--set", "simulate.name=other", "--set",
		`simulate.actions=["deepen:conv1","none"]`)
	require.Contains(t, text, "all work is done")
	require.Contains(t, text, "4 of 4 runs ended")

	done(t, "table", "check", filepath.Join(run, "table"))
	fails(t, failure.Configuration, "train.batch was 40 and is now 20", "simulate", path, "--folder", run, "--set",
		"train.batch=20")
}

// The measured number of workers is at most the number of processors, and changes no result.
func TestWorkersThatFit(t *testing.T) {
	longOnly(t, "the number of workers that fits")
	folder, path := newScenario(t, scenarioFile)
	one, fit := filepath.Join(folder, "one", "late"), filepath.Join(folder, "fit", "late")
	simulated(t, path, "--folder", one, "--workers", "1")
	text := simulated(t, path, "--folder", fit, "--set", "fleet.fit=true")
	require.Regexp(t, `"msg":"chose the number of workers per device","workers":\d+,"images_per_second":\d+`, text)
	require.Equal(t, tableBytes(t, filepath.Join(one, "table")), tableBytes(t, filepath.Join(fit, "table")))
	logs, err := filepath.Glob(filepath.Join(fit, "logs", "worker-*.log"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(logs), runtime.NumCPU())
	require.NotEmpty(t, logs)
	require.NoDirExists(t, filepath.Join(fit, "fit"))
	fails(t, failure.Configuration, `fit chooses the number of workers, so it requires engine = "local"`, "config",
		"check", path, "--set", "fleet.fit=true", "--set", "fleet.workers=2")
}

// A simulation that is killed at random moments, with its workers, resumes each time, loses nothing committed, and ends
// with the same bytes.
func TestKilledSimulationsEndTheSame(t *testing.T) {
	t.Parallel() // it waits for processes
	folder, path := newScenario(t, scenarioFile)
	whole := filepath.Join(folder, "whole", "late")
	simulated(t, path, "--folder", whole)
	want := tableBytes(t, filepath.Join(whole, "table"))
	random := rand.New(rand.NewPCG(1, 6))
	kills, runs, most := 0, 0, 3
	if longTests {
		most = 100
	}
	for ; kills < most; runs++ {
		run := filepath.Join(folder, fmt.Sprint(runs), "late")
		for known := 0; ; kills++ {
			p, out := process(t, "simulate", path, "--folder", run)
			done := make(chan error, 1)
			go func() { done <- p.Wait() }()
			moment := time.Duration(random.Int64N(int64(900 * time.Millisecond)))
			if kills >= most {
				moment = time.Hour
			}
			select {
			case err := <-done:
				require.NoError(t, err, out)
			case <-time.After(moment):
				require.NoError(t, p.Process.Signal(syscall.SIGKILL))
				<-done
			}
			now, err := filepath.Glob(filepath.Join(folder, fmt.Sprint(runs), "cache", "outcomes", "*", "*.json"))
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(now), known, "what was committed stays")
			known = len(now)
			if p.ProcessState.Success() {
				break
			}
		}
		require.Equal(t, want, tableBytes(t, filepath.Join(run, "table")))
	}
	t.Logf("measured: %d kills of simulations and their workers, "+
		"%d of which ended afterwards in the bytes of one that was not killed", kills, runs)
}

// SIGTERM saves running legs. Damaged outcomes are moved aside and repeated, and legs that cannot run are reported.
func TestSimulationsThatAreStoppedOrHurt(t *testing.T) {
	longOnly(t, "simulations that are stopped or hurt; simulations are killed")
	folder, path := newScenario(t, scenarioFile)
	run := filepath.Join(folder, "runs", "late")
	p, out := process(t, "simulate", path, "--folder", run, "--workers", "1")
	require.Eventually(t, func() bool {
		now, _ := filepath.Glob(filepath.Join(folder, "runs", "cache", "outcomes", "*", "*.json"))
		return len(now) > 2
	}, patience, time.Millisecond, out)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.Equal(t, failure.Requeue, left(t, p), out)
	require.Contains(t, out.String(), "run the same command again to continue")
	simulated(t, path, "--folder", run)
	want := tableBytes(t, filepath.Join(run, "table"))

	outcomes, err := filepath.Glob(filepath.Join(folder, "runs", "cache", "outcomes", "*", "*.json"))
	require.NoError(t, err)
	require.Len(t, outcomes, 13)
	for _, name := range outcomes[:3] {
		text := contents(t, name)
		write(t, name, text[:len(text)/3]+"x")
	}
	write(t, filepath.Join(run, "table", "grid-1.jsonl"), "rubbish\n")
	text := simulated(t, path, "--folder", run)
	require.Equal(t, 3, strings.Count(text, "repeated damaged work"))
	require.Equal(t, want, tableBytes(t, filepath.Join(run, "table")))

	for args, says := range map[string]struct {
		code failure.Code
		text string
	}{
		`simulate.max_sequences=5`:         {failure.Configuration, "has 9 sequences of 2 decisions"},
		`simulate.cache="` + path + `"`:    {failure.Failed, "simulate.cache"},
		`time.events=[]`:                   {failure.Configuration, "the timeline has no up event"},
		`adapt.max_decisions=9`:            {failure.Configuration, "of 9 decisions"},
		`simulate.actions=["deepen:nope"]`: {failure.Configuration, "leaves no choice"},
		`data.kind="cifar10"`:              {failure.Configuration, "path"},
		`simulate.design="likely"`:         {failure.Configuration, `policy is required by the design "likely"`},
		`network.name="NoSuchNetwork"`:     {failure.Configuration, "NoSuchNetwork"},
		`time.profile="no-such-profile"`:   {failure.Configuration, "no-such-profile"},
		`fleet.devices=["cuda:99"]`:        {failure.Failed, "cuda:99"},
		`fleet.gpus=1`:                     {failure.Configuration, "gpus: local workers do not support gpus"},
		`fleet.extra=["--exclusive"]`:      {failure.Configuration, "extra is set, but only Slurm"},
	} {
		fails(t, says.code, says.text, "simulate", path, "--folder", filepath.Join(folder, "bad", "x"), "--force",
			"--set", args)
		require.NoError(t, os.RemoveAll(filepath.Join(folder, "bad")))
	}
	fails(t, failure.Usage, "", "simulate", path, "--engine", "cloud")
	fails(t, failure.Failed, "expected a run folder of 'graft simulate'", "work", folder)
}

// If some sequences fail, the table has the others, and the exit code says partial.
func TestSimulationsThatFailInPart(t *testing.T) {
	folder, path := newScenario(t, strings.Replace(scenarioFile, "[simulate]", "[simulate]\nseeds = 2", 1))
	run := filepath.Join(folder, "runs", "late")
	simulated(t, path, "--folder", run)
	plan, err := runs.ReadPlan(files.OS{}, filepath.Join(run, runs.PlanFile))
	require.NoError(t, err)
	store, err := grid.OpenStore(files.OS{}, filepath.Join(folder, "runs", "cache"))
	require.NoError(t, err)
	log, err := grid.OpenFailures(files.OS{}, filepath.Join(run, runs.FailuresFolder))
	require.NoError(t, err)
	ground, err := plan.Space()
	require.NoError(t, err)
	g := grid.NewGrid(*plan, ground, store, log)
	forget := func(sequence ...string) grid.Segment {
		leg := grid.Segment{Sequence: sequence, Seed: 2}
		key := g.Key(leg)
		require.NoError(t, os.Remove(filepath.Join(folder, "runs", "cache", "outcomes", key[:2], key+".json")))
		return leg
	}
	for _, action := range plan.Scenario.Actions {
		forget("none", action)
	}
	leg := forget("none")
	for range 2 {
		require.NoError(t, log.Add(g.Key(leg), leg, os.ErrDeadlineExceeded))
	}
	got := fails(t, failure.Partial, "3 of 18 runs failed, such as (none) seed 2", "simulate", path, "--folder", run)
	require.Contains(t, got.stdout, "15 of 18 runs ended")
	require.Contains(t, simulated(t, path, "--folder", run, "--retry"), "18 of 18 runs ended")
}
