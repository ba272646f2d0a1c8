package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/pipeline"
)

// stageScenario has four sequences of a job that takes milliseconds. Devices arrive after the given milliseconds.
const stageScenario = `
[data.synthetic]
size = 16
channels = 1
classes = 4
train = 120
test = 40
[train]
batch = 40
[time]
budget = "400ms"
events = [{at = "%dms", change = "up"}]
[adapt]
each_epoch = true
max_decisions = 2
rows = 32
[simulate]
actions = ["deepen:conv2", "none"]
tries = 1
`

// newPipeline writes the file of a pipeline over scenarios with devices that arrive after the given milliseconds.
func newPipeline(t *testing.T, more string, arrivals ...int) string {
	dir := t.TempDir()
	var paths []string
	for _, at := range arrivals {
		path := filepath.Join(dir, fmt.Sprintf("at%d.toml", at))
		require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, stageScenario, at), 0o600))
		paths = append(paths, fmt.Sprintf("%q", path))
	}
	path := filepath.Join(dir, "all.toml")
	text := fmt.Sprintf("[pipeline]\nscenarios = [%s]\n[run]\nseeds = 2\n[policy]\nhidden = 8\n[learn]\nsteps = 12\n%s",
		strings.Join(paths, ", "), more)
	write(t, path, text)
	return path
}

// assembled returns the output of a pipeline that does not depend on the time of the run.
func assembled(t *testing.T, folder string, scenarios ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	paths := []string{filepath.Join(runs.PolicyFolder, runs.VoteFile),
		filepath.Join(runs.PolicyFolder, runs.SeedFolder), runs.OutcomeFile, runs.LearnFile}
	for _, name := range scenarios {
		paths = append(paths, filepath.Join(name, runs.TableFolder))
	}
	for _, path := range paths {
		digest, err := runs.DigestOf(files.OS{}, filepath.Join(folder, path))
		require.NoError(t, err)
		all[path] = digest
	}
	text := contents(t, filepath.Join(folder, runs.LearnFile))
	all[runs.LearnFile] = strings.ReplaceAll(text, folder, "FOLDER")
	return all
}

// stagesOf runs a pipeline, and returns the stages that ran and the skipped stages.
func stagesOf(t *testing.T, args ...string) (report pipeline.Result, ran, skipped []string) {
	t.Helper()
	report = decoded[pipeline.Result](t, done(t, append([]string{"pipeline", "--json", "--quiet"}, args...)...).stdout)
	for _, s := range report.Stages {
		if s.Skipped {
			skipped = append(skipped, s.Stage)
		} else {
			ran = append(ran, s.Stage)
		}
	}
	return report, ran, skipped
}

// A pipeline turns scenarios into a policy. A rerun skips unchanged stages, and repeats only missing or damaged ones.
func TestPipeline(t *testing.T) {
	path, folder := newPipeline(t, "[evaluate]\nleave_out = \"scenario\"\n", 100, 200),
		filepath.Join(t.TempDir(), "run")
	o := done(t, "pipeline", path, "--folder", folder)
	require.Regexp(t, `(?s)^SCENARIO +SEQUENCES +LEARNED SEQUENCE +LEARNED +NEVER +RANDOM +BEST FIXED `+
		`+OPTIMUM\nat100 +4 +\S+, \S+ +[0-9.]+% \([0-9.]+\) .*\nat200 .*`+
		`over 2 tables; .*\npolicy, voting +[0-9.]+ .*\npolicy, `+
		`each seed .*\nnever .*On tables left out:\n\none scenario left out at a time; 2 policies learn.*`+
		`\nresults in .*run, the policy in .*policy\.safetensors\n$`, o.stdout)
	require.NotContains(t, o.stdout, "skipped")
	want := assembled(t, folder, "at100", "at200")

	all := []string{"simulate at100", "simulate at200", "learn", "evaluate"}
	again := done(t, "pipeline", path, "--folder", folder)
	require.Equal(t, 4, strings.Count(again.stderr, "skipped unchanged stage\""))
	require.Equal(t, o.stdout[:strings.LastIndex(o.stdout, "\nresults")],
		again.stdout[:strings.Index(again.stdout, "\nskipped unchanged stages: "+strings.Join(all, ", ")+"\n")])

	cut := func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) }
	for _, c := range []struct {
		path   string
		ruin   func(string) error
		redone []string
	}{
		{filepath.Join("at100", runs.TableFolder, "grid-1.jsonl"), os.Remove, all[:1]},
		{filepath.Join("at200", runs.TableFolder, "grid-1.jsonl"), cut, all[1:2]},
		{filepath.Join(runs.PolicyFolder, runs.VoteFile), cut, all[2:3]},
		{filepath.Join(runs.PolicyFolder, runs.SeedFolder, "seed-2.safetensors"), os.Remove, all[2:3]},
		{runs.OutcomeFile, cut, all[3:]},
		{runs.JournalFile, cut, all},
	} {
		require.NoError(t, c.ruin(filepath.Join(folder, c.path)))
		report, done, _ := stagesOf(t, path, "--folder", folder)
		require.Equal(t, c.redone, done, c.path)
		require.Equal(t, want, assembled(t, folder, "at100", "at200"), c.path)
		require.Equal(t, []int{2, 2}, []int{len(report.Outcome.Tables), len(report.Outcome.LeftOut.Groups)})
	}
	write(t, filepath.Join(folder, runs.PolicyFolder, "learners", "seed-1.safetensors"), "{")
	require.NoError(t, os.Remove(filepath.Join(folder, runs.PolicyFolder, runs.VoteFile)))
	_, done, _ := stagesOf(t, path, "--folder", folder)
	require.Equal(t, all[2:3], done)
	require.Equal(t, want, assembled(t, folder, "at100", "at200"), "it restarted because it could not continue")

	_, done, skipped := stagesOf(t, path, "--folder", folder, "--set", "learn.steps=13")
	require.Equal(t, all[2:], done)
	require.Equal(t, all[:2], skipped)
	_, done, skipped = stagesOf(t, path, "--folder", folder, "--set", "learn.steps=13", "--set",
		`evaluate.leave_out="none"`)
	require.Equal(t, all[3:], done)
	require.Equal(t, all[:3], skipped)
	other := newPipeline(t, "", 100, 200)
	_, done, _ = stagesOf(t, other, "--folder", folder, "--set", `pipeline.set=["simulate.seeds=2"]`)
	require.Equal(t, all, done, "other scenarios are moved aside")
	require.DirExists(t, filepath.Join(folder, "at100.1"))
}

// A pipeline that is killed or stopped at any moment continues to the same bytes.
func TestKilledPipelinesEndTheSame(t *testing.T) {
	longOnly(t, "pipelines that are killed; their stages are")
	t.Parallel() // it waits for processes
	path, whole := newPipeline(t, "", 100, 200), filepath.Join(t.TempDir(), "whole")
	began := time.Now()
	p, out := process(t, "pipeline", path, "--folder", whole)
	require.Equal(t, failure.Done, left(t, p), out)
	took, want := time.Since(began), assembled(t, whole, "at100", "at200")
	random := rand.New(rand.NewPCG(5, 7))
	folder, kills, stops := filepath.Join(t.TempDir(), "run"), 0, 0
	for {
		p, out := process(t, "pipeline", path, "--folder", folder)
		done := make(chan error, 1)
		go func() { done <- p.Wait() }()
		moment, sent := time.Duration(random.Int64N(int64(took)/2)), os.Signal(syscall.SIGKILL)
		if kills > stops {
			sent = os.Interrupt
		}
		if kills+stops >= 6 {
			moment = time.Hour
		}
		select {
		case <-done:
		case <-time.After(moment):
			require.NoError(t, p.Process.Signal(sent))
			<-done
			if sent == os.Interrupt {
				stops++
			} else {
				kills++
			}
		}
		if p.ProcessState.Success() {
			break
		}
		// a process without its signal handler yet has nothing to save
		if sent == os.Interrupt && p.ProcessState.ExitCode() != int(failure.Interrupted) {
			require.Contains(t, []int{int(failure.Requeue), -1}, p.ProcessState.ExitCode(), out)
		}
	}
	require.Equal(t, want, assembled(t, folder, "at100", "at200"))
	t.Logf("measured: the same tables and policies after %d kills and %d interrupts of a pipeline", kills, stops)
}

// If sequences fail, policies learn only from complete tables, or not at all.
func TestPipelinesWithFailures(t *testing.T) {
	diverging := func(arrivals ...int) string { // at200 diverges at once
		path := newPipeline(t, "", arrivals...)
		file := filepath.Join(filepath.Dir(path), "at200.toml")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		write(t, file, string(text)+"[optimizer]\nlr = 1e30\n")
		return path
	}
	folder := filepath.Join(t.TempDir(), "run")
	o := fails(t, failure.Partial, "", "pipeline", diverging(100, 200), "--folder", folder)
	require.Contains(t, o.stdout, "at100")
	require.NotContains(t, o.stdout, "at200")
	require.Contains(t, o.stderr, "the policies were learned from only 1 of 2 tables; the other tables are "+
		"incomplete: at200: "+
		"4 of 4 runs failed, such as")
	require.FileExists(t, filepath.Join(folder, runs.PolicyFolder, runs.VoteFile))
	o = fails(t, failure.Partial, "cannot learn policies, because no scenario has a complete table: at200: ",
		"pipeline",
		diverging(200), "--folder", filepath.Join(t.TempDir(), "run"))
	require.Empty(t, o.stdout)
}

func TestPipelineFilesThatAreWrong(t *testing.T) {
	path := newPipeline(t, "", 100, 200)
	scenario := filepath.Join(filepath.Dir(path), "at100.toml")
	for set, says := range map[string]string{
		"pipeline.scenarios=[]": "scenarios is empty",
		`pipeline.scenarios=["none.toml"]`: "scenarios[0]: stat none.toml: no such file or directory; " +
			"expected the path of a scenario file",
		fmt.Sprintf("pipeline.scenarios=[%q]", path):                   `has no section "simulate"`,
		fmt.Sprintf("pipeline.scenarios=[%q, %q]", scenario, scenario): "duplicate scenario name at100",
		`pipeline.set=["simulate.name=\"policy\""]`:                    `"policy" cannot be a folder name`,
		`pipeline.set=["train.bach=3"]`:                                `unknown key "bach" in train`,
		`evaluate.leave_out="all"`:                                     "leave_out must be one of",
		`evaluate.leave_out="network"`:                                 "leave_out is network, but",
		"learn.steps=-1":                                               "steps",
		"run.folder=\"x\"":                                             "folder",
	} {
		fails(t, failure.Configuration, says, "pipeline", path, "--set", set, "--folder",
			filepath.Join(t.TempDir(), "run"))
	}
	fails(t, failure.Failed, "open the run folder", "pipeline", path, "--folder", filepath.Join(path, "below"))
}

// On a terminal each stage has a bar, and all bars are erased at the end.
func TestBarsOfPipelines(t *testing.T) {
	longOnly(t, "bars of pipelines; bars of simulations and learning are drawn")
	t.Setenv("TERM", "xterm")
	path := newPipeline(t, "[evaluate]\nleave_out = \"scenario\"\n", 100, 200)
	text := drawn(t, 100, "pipeline", path, "--folder", filepath.Join(t.TempDir(), "run"))
	require.Regexp(t, `\d of 4 runs`, text)
	require.Regexp(t, `\d of 2 policies`, text)
	require.Regexp(t, `\d of 4 policies`, text)
	for _, line := range emulate(t, text) {
		require.NotContains(t, line, "[=")
	}
}
