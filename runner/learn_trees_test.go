package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/files"
	"graft/results/failure"
	"graft/results/runs"
	"graft/simulation/tables/tabletest"
	"graft/work/learn"
)

// classFile is the file of structural policies that learn from two made-up tables, and
// may stop early by a third.
func classFile(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	for k, name := range []string{"one", "two", "three"} {
		require.NoError(t, tabletest.Folder(filepath.Join(dir, name), name, 2, 16, uint64(k)))
	}
	return jobFile(t, fmt.Sprintf("[tables]\nfolders = [%q, %q]\n%s", filepath.Join(dir, "one"), filepath.Join(dir, "two"),
		strings.ReplaceAll(more, "THREE", fmt.Sprintf("%q", filepath.Join(dir, "three")))))
}

// taught returns the contents of a run folder of structural policies, without the files
// that hold times.
func taught(t *testing.T, folder string, seeds ...int) string {
	t.Helper()
	names := []string{"learning.csv", "outcome.json", runs.VoteFile}
	for _, seed := range seeds {
		names = append(names, runs.SeedFile(uint64(seed)))
	}
	all := ""
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		if filepath.Ext(name) == ".safetensors" {
			text = fmt.Appendf(nil, "%x\n", sha256.Sum256(text))
		}
		all += name + "\n" + string(text)
	}
	return all
}

func TestLearnTreesTellsWhatWasLearned(t *testing.T) {
	path, folder := classFile(t, ""), filepath.Join(t.TempDir(), "run")
	set := []string{"--set", "run.seeds=3", "--set", "policy.hidden=16", "--folder", folder}
	o := graft(append([]string{"learn", path}, set...)...)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Regexp(t, `(?s)^TABLE +THE VOTE'S SEQUENCE +ACCURACY.*\none +\S+, \S+ +[0-9.]+%  +[0-9.]+  +\d+ of 16 +\d+–\d+ +[0-9.]+%.*\ntwo .*\n\nSEED +STEPS.*\n +3 +\d+ +[0-9.]+ +the aim has not grown.*`+
		`\nmean regret in 2 tables: [0-9.]+ points, 95% interval over 3 seeds \[[0-9., ]+\]; the vote's is [0-9.]+\n\d+% of .*in a table's top five; the worst .*\n\d+ steps in [0-9.]+ s\nresults in .*run, the vote of all in .*run/policy\.safetensors, each policy in .*run/policies\n$`, o.stdout)
	require.Contains(t, o.stderr, `"msg":"learned","policies":3`)
	for _, name := range []string{"manifest.json", "config.toml", "config.resolved.toml", "log.jsonl", "learners/seed-3.safetensors"} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	before := taught(t, folder, 1, 2, 3)
	require.Contains(t, before, "learning.csv\nseed,step,aim,entropy [nats],held_out,regret [points]\n1,10,")
	log, err := os.ReadFile(filepath.Join(folder, "log.jsonl"))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(log), "a seed has learned"))

	again := graft(append([]string{"learn", path}, set...)...)
	require.Equal(t, failure.Usage, again.code)
	require.Contains(t, again.stderr, "--force")
	forced := graft(append([]string{"learn", path, "--force", "--json", "--quiet", "--set", "run.workers=1"}, set...)...)
	require.Equal(t, failure.Done, forced.code, forced.stderr)
	require.Empty(t, forced.stderr)
	require.Equal(t, before, taught(t, folder, 1, 2, 3), "the same file has the same bits, however many learn at once")
	var report learn.PoliciesResult
	require.NoError(t, json.Unmarshal([]byte(forced.stdout), &report))
	require.Equal(t, filepath.Join(folder, runs.VoteFile), report.Policy)
	require.Positive(t, report.Seconds)
	require.Len(t, report.Outcome.Seeds, 3)
	require.Equal(t, 3, report.Outcome.Summary.Seeds)
	require.Nil(t, report.Outcome.Outside)
	ended := graft(append([]string{"learn", path, "--resume"}, set...)...)
	require.Equal(t, failure.Done, ended.code, ended.stderr)
	require.Equal(t, before, taught(t, folder, 1, 2, 3), "there is nothing left to do")

	voted, err := decider.ReadStructural(files.OS{}, report.Policy)
	require.NoError(t, err)
	require.Len(t, voted.Members, 3)
	require.Equal(t, []string{"1, 2, 3", "one, two", "known"}, []string{voted.Notes["seeds"], voted.Notes["tables"], voted.Notes["for"]})
	require.Equal(t, thisVersion(), voted.Notes["graft"])
	one, err := decider.ReadStructural(files.OS{}, filepath.Join(folder, runs.SeedFile(2)))
	require.NoError(t, err)
	require.Equal(t, voted.Members[1], one.Members[0])
	require.Equal(t, "2", one.Notes["seed"])
}

// A run goes on with what it began with only, and says what is otherwise.
func TestLearnTreesGoesOnWithTheSame(t *testing.T) {
	path, folder := classFile(t, "[run]\nseeds = 1\n[learn]\nsteps = 5\n"), filepath.Join(t.TempDir(), "run")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", folder).code)
	before := taught(t, folder, 1)
	for set, says := range map[string]string{
		"learn.beta=4": "learn.beta was 8.0 and is 4.0",
		"run.seeds=2":  "run.seeds was 1 and is 2",
		"tables.held_out=[\"" + filepath.Join(filepath.Dir(firstFolder(t, path)), "three") + "\"]": "its tables hold something else",
	} {
		o := graft("learn", path, "--folder", folder, "--resume", "--set", set)
		require.Equal(t, failure.Configuration, o.code, set)
		require.Contains(t, o.stderr, says)
		require.Equal(t, before, taught(t, folder, 1), "nothing is touched")
	}
	o := graft("learn", lessonFile(t, ""), "--folder", folder, "--resume")
	require.NotEqual(t, failure.Done, o.code, "another kind of policy")
	o = graft("learn", path, "--folder", filepath.Join(path, "below"))
	require.Equal(t, failure.Failed, o.code)
	require.Contains(t, o.stderr, "not a directory")
	o = graft("learn", path, "--resume", "--folder", t.TempDir())
	require.Equal(t, failure.Failed, o.code)
	require.Contains(t, o.stderr, "manifest.json is missing")
	o = graft("learn", path, "--set", "tables.folders=[\"nowhere\"]")
	require.Equal(t, failure.Configuration, o.code)
	require.Contains(t, o.stderr, "folders[0]: stat nowhere: no such file")
}

// firstFolder is the first folder that a file names.
func firstFolder(t *testing.T, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return regexp.MustCompile(`"([^"]+)"`).FindStringSubmatch(string(text))[1]
}

// A command that is stopped before it begins has learned nothing, and can go on.
func TestLearnTreesIsRequeued(t *testing.T) {
	path, folder := classFile(t, "[run]\nseeds = 1\n[learn]\nsteps = 5\n"), filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := call(ctx, newRootCommand(), "learn", path, "--folder", folder)
	require.Equal(t, failure.Requeue, o.code, o.stderr)
	require.Contains(t, o.stderr, "go on with --resume")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", folder, "--resume").code)
}

// Tables that are held out are judged as well, and learned from in no way.
func TestLearnTreesStopsEarly(t *testing.T) {
	path, folder := classFile(t, "held_out = [THREE]\n[run]\nseeds = 2\nevery = 2\n[learn]\nfor = \"new\"\nevery = 2\npatience = 2\n"), filepath.Join(t.TempDir(), "run")
	o := graft("learn", path, "--folder", folder)
	require.Equal(t, failure.Done, o.code, o.stderr)
	for _, says := range []string{"three, held out", "what is held out was best after step", "mean regret in 2 tables", "mean regret in 1 table held out"} {
		require.Contains(t, o.stdout, says)
	}
	var outcome runs.PoliciesOutcome
	text, err := os.ReadFile(filepath.Join(folder, "outcome.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &outcome))
	require.Len(t, outcome.HeldOut, 1)
	require.InDelta(t, outcome.Outside.Regret.Mean, (outcome.Seeds[0].Out+outcome.Seeds[1].Out)/2, 1e-9)
	table, err := os.ReadFile(filepath.Join(folder, "learning.csv"))
	require.NoError(t, err)
	require.NotContains(t, string(table), ",,")
}

// Policies that are killed, whenever, go on to the same bits; so do those that are
// asked to stop, which leave with the code for that.
func TestLearnTreesSurvivesKills(t *testing.T) {
	path := classFile(t, "[run]\nseeds = 3\nevery = 5\ncheckpoint = \"30ms\"\nworkers = 2\n[policy]\nhidden = 16\n[learn]\nsteps = 300\ntolerance = -1\n")
	whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", whole).code)
	random, stopped := rand.New(rand.NewPCG(1, 1)), 0
	args := []string{"learn", path, "--folder", killed}
	for k, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGUSR1} {
		p, out := process(t, args...)
		rowsIn(t, filepath.Join(killed, "learning.csv"), 10+30*k+random.IntN(30))
		args = []string{"learn", path, "--folder", killed, "--resume"}
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		require.NoError(t, p.Process.Signal(signal))
		want := failure.Requeue
		if signal == syscall.SIGKILL {
			want = failure.Code(-1)
		}
		if code := left(t, p); code == want {
			stopped++
		} else {
			require.Equal(t, failure.Done, code, "it had been too fast: %s", out)
		}
	}
	o := graft(args...)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Equal(t, taught(t, whole, 1, 2, 3), taught(t, killed, 1, 2, 3))
	t.Logf("measured: the same bits after %d kills and stops", stopped)
}

func TestConfigKnowsStructuralPolicies(t *testing.T) {
	path := classFile(t, "held_out = [THREE]\n")
	o := graft("config", "check", path)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Regexp(t, `ok: structural policies of 5 seeds learn from 32 sequences of 2 tables and stop by 1 other, for known scenarios, 400 steps at most; digest [0-9a-f]{12}\n$`, o.stdout)
	o = graft("config", "show", path, "--set", "learn.for=new")
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Regexp(t, `(?m)^learn\.for +"new" +--set$`, o.stdout)
	require.Regexp(t, `(?m)^learn\.pool +0\.5 +default$`, o.stdout)
	again := jobFile(t, graft("config", "show", path, "--describe").stdout)
	require.Equal(t, failure.Done, graft("config", "check", again).code)
	o = graft("config", "schema", "--tree-learning")
	require.Equal(t, failure.Done, o.code)
	require.Contains(t, o.stdout, "structural policies of graft that learn")
	require.Contains(t, graft("config", "schema", "--markdown").stdout, "# Keys of the file of structural policies that learn")
	require.Equal(t, failure.Usage, graft("config", "schema", "--tree-learning", "--learning").code)
}

// On a terminal a bar shows how many policies are done, and what they do.
func TestBarsOfPolicies(t *testing.T) {
	t.Setenv("TERM", "xterm")
	path := classFile(t, "[run]\nseeds = 2\n[learn]\nsteps = 800\ntolerance = -1\n")
	for _, columns := range []uint16{100, 24} {
		text := drawn(t, columns, "learn", path, "--folder", filepath.Join(t.TempDir(), "run"))
		shown := emulate(t, text)
		require.Regexp(t, `^\d\d:\d\d:\d\d\tINFO\tlearned\t`, shown[0])
		require.Equal(t, []string{""}, shown[1:], "nothing of the bar is left")
		require.Regexp(t, `[012] of 2 policies`, text)
		require.Regexp(t, `\d+ steps`, text)
		require.Equal(t, columns == 100, strings.Contains(text, " learning"))
	}
}
