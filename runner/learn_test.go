package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
	"graft/decider"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/pythontest"
	"graft/original/originaltest"
	"graft/report/runs"
	"graft/runner/learn"
	"graft/simulation/tables/tabletest"
	"graft/torch/weights"
)

// lessonFile writes the file of a policy that learns from a synthetic table.
func lessonFile(t *testing.T, more string) string {
	t.Helper()
	f, err := originaltest.Write(t.TempDir(), 3)
	require.NoError(t, err)
	return jobFile(t, fmt.Sprintf("[table]\nfile = %q\nvocabulary = %q\ncompat = \"original\"\n%s", f.Table,
		f.Vocabulary, more))
}

// classFile writes the file of structural policies that learn from two synthetic tables and may use a third for early
// stopping.
func classFile(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	for k, name := range []string{"one", "two", "three"} {
		require.NoError(t, tabletest.Folder(filepath.Join(dir, name), name, 2, 16, uint64(k)))
	}
	return jobFile(t, fmt.Sprintf("[tables]\nfolders = [%q, %q]\n%s", filepath.Join(dir, "one"),
		filepath.Join(dir, "two"), strings.ReplaceAll(more, "THREE", fmt.Sprintf("%q", filepath.Join(dir, "three")))))
}

// learnt returns the output of a learning run, without files that hold times.
func learnt(t *testing.T, folder string) (all string) {
	t.Helper()
	for _, pattern := range []string{"learning.csv", "episodes.csv", runs.OutcomeFile, runs.PolicyFile, runs.VoteFile,
		runs.SeedFolder + "/*", study.LearnedFile, study.LearnedFolder + "/*"} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			text := contents(t, path)
			if !slices.Contains([]string{".csv", ".json"}, filepath.Ext(path)) {
				text = fmt.Sprintf("%x\n", sha256.Sum256([]byte(text)))
			}
			all += filepath.Base(path) + "\n" + text
		}
	}
	return all
}

func TestLearnTellsWhatWasLearned(t *testing.T) {
	path, folder := lessonFile(t, "[run]\nevery = 50\n"), filepath.Join(t.TempDir(), "run")
	set := []string{"--set", "learn.episodes=200", "--folder", folder}
	o := done(t, append([]string{"learn", path}, set...)...)
	require.Regexp(t, `(?s)^200 episodes from table made-up, \d+ episodes a second\nthe policy's most likely `+
		`sequence is \S+ \S+ \S+: [0-9.]+%, rank \d+ of 64\nthe table's best is .*results in .*run, `+
		`the policy in .*run/agent\.finalmodel\.pth\n$`, o.stdout)
	containsAll(t, o.stderr, "per_second", "objective", "expected_accuracy", "temperature", "learning_rate")
	for _, name := range []string{"manifest.json", "config.toml", "config.resolved.toml", "log.jsonl", "learning.csv",
		"episodes.csv", "outcome.json", runs.PolicyFile} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	require.Equal(t, contents(t, path), contents(t, filepath.Join(folder, "config.toml")))

	fails(t, failure.Usage, "--force", append([]string{"learn", path}, set...)...)
	before := learnt(t, folder)
	forced := done(t, append([]string{"learn", path, "--force", "--json", "--quiet"}, set...)...)
	require.Empty(t, forced.stderr)
	require.Equal(t, before, learnt(t, folder), "the same file has the same bits")
	report := decoded[learn.StudyResult](t, forced.stdout)
	require.Len(t, report.Rows, 4)
	require.Equal(t, 200, report.Outcome.Episodes)
	require.Len(t, report.Outcome.Greedy, 3)
	require.Positive(t, report.Speed)
	require.Equal(t, filepath.Join(folder, runs.PolicyFile), report.Policy)

	done(t, append([]string{"learn", path, "--resume"}, set...)...)
	require.Equal(t, before, learnt(t, folder), "there is nothing left to do")
	fails(t, failure.Failed, "changed since the study was started", "learn", path, "--resume", "--folder", folder,
		"--set", "learn.episodes=300")
}

// A policy starts from the weights of another policy, except its embedding.
func TestLearnBeginsWithAPolicy(t *testing.T) {
	path, first, second := lessonFile(t, "[learn]\nepisodes = 100\n"), filepath.Join(t.TempDir(), "first"),
		filepath.Join(t.TempDir(), "second")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", first).code)
	policy := filepath.Join(first, runs.PolicyFile)
	set, err := weights.Read(files.OS{}, policy, weights.Options{})
	require.NoError(t, err)
	require.Equal(t, "encoder.embedder.weight", set.Tensors[0].Name)
	require.Len(t, set.Tensors, 19)
	// At such a small learning rate, the weights do not change.
	done(t, "learn", path, "--folder", second, "--set", "policy.weights="+policy, "--set", "learn.lr=1e-30", "--set",
		"run.seed=9")
	after, err := weights.Read(files.OS{}, filepath.Join(second, runs.PolicyFile), weights.Options{})
	require.NoError(t, err)
	require.Equal(t, set.Tensors, after.Tensors)
	fails(t, failure.Failed, "encoder.encoder.weight_ih_l0 has shape [200 16], expected [80 16]",
		"learn", path, "--folder", filepath.Join(t.TempDir(), "third"), "--set", "policy.weights="+policy, "--set",
		"policy.hidden=20")
}

func TestLearnRefuses(t *testing.T) {
	require.Equal(t, failure.Usage, graft("learn").code)
	fails(t, failure.Configuration, `unknown key "rate" in learn`, "learn", lessonFile(t, "[learn]\nrate = 3\n"))
	folder := t.TempDir()
	write(t, filepath.Join(folder, "thesis.tex"), "mine")
	fails(t, failure.Usage, "not a run folder", "learn", lessonFile(t, ""), "--resume", "--folder", folder)
}

// rowsIn waits until a table has more than n lines.
func rowsIn(t *testing.T, path string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Count(string(text), "\n") > n
	}, patience, time.Millisecond)
}

// Learning that is killed at any moment resumes to the same bits. So does learning that is asked to stop, which exits
// with the code for that.
func TestLearnSurvivesKills(t *testing.T) {
	for name, path := range map[string]string{
		"original": lessonFile(t, "[run]\nevery = 5\ncheckpoint_every = \"100ms\"\n[learn]\nepisodes = 1500\n"+
			"temperature = 100\n"),
		"elastic": schedulerFile(t, "[run]\ncheckpoint_every = \"30ms\"\nseeds = 2\n[learn]\n"+
			"imitation_workloads = 20\nrounds = 30\n"+
			"rollout = 64\nhidden = 8\nenvs = 2\npatience = 100\n"),
		"structural": classFile(t, "[run]\nseeds = 3\nevery = 5\ncheckpoint_every = \"30ms\"\nworkers = 2\n[policy]\n"+
			"hidden = 16\n[learn]\nsteps = 300\ntolerance = -1\n"),
	} {
		if name != "structural" && !longTests {
			continue
		}
		whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
		done(t, "learn", path, "--folder", whole)
		random, stopped := rand.New(rand.NewPCG(1, 1)), 0
		args := []string{"learn", path, "--folder", killed}
		for k, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGUSR1} {
			p, out := process(t, args...)
			rowsIn(t, filepath.Join(killed, "learning.csv"), 10+20*k+random.IntN(20))
			args = []string{"learn", path, "--folder", killed, "--resume"}
			time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
			require.NoError(t, p.Process.Signal(signal))
			want := failure.Requeue
			if signal == syscall.SIGKILL {
				want = failure.Code(-1)
			}
			if code := left(t, p); code == want || code == failure.Code(-1) { // the signal came before its handler
				stopped++
			} else {
				require.Equal(t, failure.Done, code, "it had been too fast: %s", out)
			}
		}
		done(t, args...)
		require.Equal(t, learnt(t, whole), learnt(t, killed), name)
		t.Logf("measured: %s policies have the same bits after %d kills and stops", name, stopped)
	}
}

// A command that is stopped before it starts has learned nothing, and can be resumed.
func TestLearnIsRequeued(t *testing.T) {
	for _, path := range []string{lessonFile(t, "[learn]\nepisodes = 100\n"+
		""), classFile(t,
		"[run]\nseeds = 1\n[learn]\nsteps = 5\n"), schedulerFile(t, "[learn]\nimitation_workloads = 2\nmethod = "+
		"\"none\"\n")} {
		folder := filepath.Join(t.TempDir(), "run")
		ctx,
			cancel := context.WithCancel(t.Context())
		cancel()
		ends(t, call(ctx, newRootCommand(), "learn", path, "--folder", folder), failure.Requeue,
			"rerun the command with --resume")
		done(t, "learn", path, "--folder", folder, "--resume")
	}
}

// PyTorch reads a learned policy as the original's code would.
func TestLearnedPolicyIsPyTorchs(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	require.Equal(t, failure.Done, graft("learn", lessonFile(t, "[learn]\nepisodes = 10\n"), "--folder", folder).code)
	python := pythontest.Find(t, "torch")
	program := `
import sys, torch
class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedder = torch.nn.Embedding(18, 16)
        self.encoder = torch.nn.LSTM(16, 50, bidirectional=True)
class Decider(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(100, 16)
        self.linear1, self.linear2 = torch.nn.Linear(24, 128), torch.nn.Linear(128, 128)
        self.linear3 = torch.nn.Linear(128, 4)
class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decider = Encoder(), Decider()
state = torch.load(sys.argv[1])
names = list(Policy().state_dict())
assert list(state) == names, list(state)
for key in list(state):
    if "embedder.weight" in key: del state[key]
left = Policy().load_state_dict(state, strict=False)
assert left.missing_keys == ["encoder.embedder.weight"] and not left.unexpected_keys, left
`
	out, err := exec.Command(python, "-c", program, filepath.Join(folder, runs.PolicyFile)).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestLearnTreesTellsWhatWasLearned(t *testing.T) {
	path, folder := classFile(t, ""), filepath.Join(t.TempDir(), "run")
	set := []string{"--set", "run.seeds=3", "--set", "policy.hidden=16", "--folder", folder}
	o := done(t, append([]string{"learn", path}, set...)...)
	require.Regexp(t, `(?s)^TABLE +THE VOTE'S SEQUENCE +ACCURACY.*\none +\S+, \S+ +[0-9.]+%  +[0-9.]+  +\d+ of 16 `+
		`+\d+–\d+ +[0-9.]+%.*\ntwo .*\n\nSEED +STEPS.*\n +3 +\d+ +[0-9.]+ +the objective has not increased.*`+
		`\nmean regret in 2 tables: [0-9.]+ points, 95% interval over 3 seeds \[[0-9., ]+\]; regret of the vote: `+
		`[0-9.]+ points\n\d+% of .*in a table's top five; the worst .*\n\d+ steps in [0-9.]+ s\nresults in .*run, `+
		`vote of all policies in .*run/policy\.safetensors, each policy in .*run/policies\n$`, o.stdout)
	require.Contains(t, o.stderr, `"msg":"trained policies","policies":3`)
	for _, name := range []string{"manifest.json", "config.toml", "config.resolved.toml", "log.jsonl",
		"learners/seed-3.safetensors"} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	before := learnt(t, folder)
	require.Contains(t, before, "learning.csv\nseed,step,aim,entropy [nats],held_out,regret [points]\n1,10,")
	log := contents(t, filepath.Join(folder, "log.jsonl"))
	require.Equal(t, 3, strings.Count(log, "trained policy"))

	fails(t, failure.Usage, "--force", append([]string{"learn", path}, set...)...)
	forced := done(t, append([]string{"learn", path, "--force", "--json", "--quiet", "--set", "run.workers=1"},
		set...)...)
	require.Empty(t, forced.stderr)
	require.Equal(t, before, learnt(t, folder), "the same file has the same bits, however many learn at once")
	report := decoded[learn.PoliciesResult](t, forced.stdout)
	require.Equal(t, filepath.Join(folder, runs.VoteFile), report.Policy)
	require.Positive(t, report.Seconds)
	require.Len(t, report.Outcome.Seeds, 3)
	require.Equal(t, 3, report.Outcome.Summary.Seeds)
	require.Nil(t, report.Outcome.Outside)
	done(t, append([]string{"learn", path, "--resume"}, set...)...)
	require.Equal(t, before, learnt(t, folder), "there is nothing left to do")

	voted, err := decider.ReadStructural(files.OS{}, report.Policy)
	require.NoError(t, err)
	require.Len(t, voted.Members, 3)
	require.Equal(t, []string{"1, 2, 3", "one, two", "known"},
		[]string{voted.Notes["seeds"], voted.Notes["tables"], voted.Notes["for"]})
	require.Equal(t, thisVersion(), voted.Notes["graft"])
	one, err := decider.ReadStructural(files.OS{}, filepath.Join(folder, runs.SeedFile(2)))
	require.NoError(t, err)
	require.Equal(t, voted.Members[1], one.Members[0])
	require.Equal(t, "2", one.Notes["seed"])
}

// A run resumes only with unchanged inputs, and reports what changed.
func TestLearnTreesGoesOnWithTheSame(t *testing.T) {
	path, folder := classFile(t, "[run]\nseeds = 1\n[learn]\nsteps = 5\n"), filepath.Join(t.TempDir(), "run")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", folder).code)
	before := learnt(t, folder)
	for set, says := range map[string]string{
		"learn.beta=4": "learn.beta was 8.0 and is now 4.0",
		"run.seeds=2":  "run.seeds was 1 and is now 2",
		"tables.held_out=[\"" + filepath.Join(filepath.Dir(firstFolder(t, path)), "three") +
			"\"]": "a file that the configuration reads has changed",
	} {
		fails(t, failure.Configuration, says, "learn", path, "--folder", folder, "--resume", "--set", set)
		require.Equal(t, before, learnt(t, folder), "nothing is touched")
	}
	o := graft("learn", lessonFile(t, ""), "--folder", folder, "--resume")
	require.NotEqual(t, failure.Done, o.code, "another kind of policy")
	fails(t, failure.Failed, "not a directory", "learn", path, "--folder", filepath.Join(path, "below"))
	require.Equal(t, failure.Done, graft("learn", path, "--resume", "--folder", t.TempDir(), "--quiet").code,
		"a kill left no run to resume")
	fails(t, failure.Configuration, "folders[0]: stat nowhere: no such file", "learn", path, "--set",
		"tables.folders=[\"nowhere\"]")
}

// firstFolder returns the first folder that a file names.
func firstFolder(t *testing.T, path string) string {
	text := contents(t, path)
	return regexp.MustCompile(`"([^"]+)"`).FindStringSubmatch(text)[1]
}

// Held-out tables are evaluated for early stopping, and not learned from.
func TestLearnTreesStopsEarly(t *testing.T) {
	path, folder := classFile(t, "held_out = [THREE]\n[run]\nseeds = 2\nevery = 2\n[learn]\nfor = \"new\"\n"+
		"every = 2\npatience = 2\n"), filepath.Join(t.TempDir(), "run")
	o := done(t, "learn", path, "--folder", folder)
	containsAll(t, o.stdout, "three, held out", "held-out tables was best after step", "mean regret in 2 tables",
		"mean regret in 1 table held out")
	outcome := decoded[runs.PoliciesOutcome](t, contents(t, filepath.Join(folder, "outcome.json")))
	require.Len(t, outcome.HeldOut, 1)
	require.InDelta(t, outcome.Outside.Regret.Mean, (outcome.Seeds[0].Out+outcome.Seeds[1].Out)/2, 1e-9)
	table := contents(t, filepath.Join(folder, "learning.csv"))
	require.NotContains(t, table, ",,")
}

// On a terminal, a bar shows the number of completed policies and their progress.
func TestBarsOfPolicies(t *testing.T) {
	t.Setenv("TERM", "xterm")
	path := classFile(t, "[run]\nseeds = 2\n[learn]\nsteps = 300\ntolerance = -1\n")
	for _, columns := range []uint16{100, 24} {
		text := drawn(t, columns, "learn", path, "--folder", filepath.Join(t.TempDir(), "run"))
		shown := emulate(t, text)
		require.Regexp(t, `^\d\d:\d\d:\d\d\tINFO\ttrained policies\t`, shown[0])
		require.Equal(t, []string{""}, shown[1:], "nothing of the bar is left")
		require.Regexp(t, `[012] of 2 policies`, text)
		require.Regexp(t, `\d+ steps`, text)
		require.Equal(t, columns == 100, strings.Contains(text, " learning"))
	}
}
