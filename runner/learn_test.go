package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/original/originaltest"
	"graft/results/failure"
	"graft/results/runs"
	"graft/torch/weights"
	"graft/work/learn"
)

// lessonFile is the file of a policy that learns from a made-up table.
func lessonFile(t *testing.T, more string) string {
	t.Helper()
	f, err := originaltest.Write(t.TempDir(), 3)
	require.NoError(t, err)
	return jobFile(t, fmt.Sprintf("[table]\nfile = %q\nvocabulary = %q\ncompat = \"original\"\n%s", f.Table, f.Vocabulary, more))
}

// learnt returns the contents of a policy's run folder, without the files that hold
// times.
func learnt(t *testing.T, folder string) string {
	t.Helper()
	all := ""
	for _, name := range []string{"learning.csv", "episodes.csv", "outcome.json", runs.PolicyFile} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		all += name + "\n" + string(text)
	}
	return all
}

func TestLearnTellsWhatWasLearned(t *testing.T) {
	path, folder := lessonFile(t, "[run]\nevery = 50\n"), filepath.Join(t.TempDir(), "run")
	set := []string{"--set", "learn.episodes=200", "--folder", folder}
	o := graft(append([]string{"learn", path}, set...)...)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Regexp(t, `(?s)^200 episodes from table made-up, \d+ a second\nthe policy's likeliest sequence is \S+ \S+ \S+: [0-9.]+%, rank \d+ of 64\nthe table's best is .*results in .*run, the policy in .*run/agent\.finalmodel\.pth\n$`, o.stdout)
	for _, words := range []string{"per_second", "objective", "expected_accuracy", "temperature", "learning_rate"} {
		require.Contains(t, o.stderr, words)
	}
	for _, name := range []string{"manifest.json", "config.toml", "config.resolved.toml", "log.jsonl", "learning.csv", "episodes.csv", "outcome.json", runs.PolicyFile} {
		require.FileExists(t, filepath.Join(folder, name))
	}
	given, err := os.ReadFile(path)
	require.NoError(t, err)
	kept, err := os.ReadFile(filepath.Join(folder, "config.toml"))
	require.NoError(t, err)
	require.Equal(t, string(given), string(kept))

	again := graft(append([]string{"learn", path}, set...)...)
	require.Equal(t, failure.Usage, again.code)
	require.Contains(t, again.stderr, "--force")
	before := learnt(t, folder)
	forced := graft(append([]string{"learn", path, "--force", "--json", "--quiet"}, set...)...)
	require.Equal(t, failure.Done, forced.code, forced.stderr)
	require.Empty(t, forced.stderr)
	require.Equal(t, before, learnt(t, folder), "the same file has the same bits")
	var report learn.StudyResult
	require.NoError(t, json.Unmarshal([]byte(forced.stdout), &report))
	require.Len(t, report.Rows, 4)
	require.Equal(t, 200, report.Outcome.Episodes)
	require.Len(t, report.Outcome.Greedy, 3)
	require.Positive(t, report.Speed)
	require.Equal(t, filepath.Join(folder, runs.PolicyFile), report.Policy)

	ended := graft(append([]string{"learn", path, "--resume"}, set...)...)
	require.Equal(t, failure.Done, ended.code, ended.stderr)
	require.Equal(t, before, learnt(t, folder), "there is nothing left to do")
	other := graft("learn", path, "--resume", "--folder", folder, "--set", "learn.episodes=300")
	require.Equal(t, failure.Failed, other.code)
	require.Contains(t, other.stderr, "not those that it began with")
}

// A policy begins with the weights of another, whose embedding is not taken.
func TestLearnBeginsWithAPolicy(t *testing.T) {
	path, first, second := lessonFile(t, "[learn]\nepisodes = 100\n"), filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", first).code)
	policy := filepath.Join(first, runs.PolicyFile)
	set, err := weights.Read(files.OS{}, policy, weights.Options{})
	require.NoError(t, err)
	require.Equal(t, "encoder.embedder.weight", set.Tensors[0].Name)
	require.Len(t, set.Tensors, 19)
	// With so small a rate what it begins with is what it ends with.
	o := graft("learn", path, "--folder", second, "--set", "policy.weights="+policy, "--set", "learn.lr=1e-30", "--set", "run.seed=9")
	require.Equal(t, failure.Done, o.code, o.stderr)
	after, err := weights.Read(files.OS{}, filepath.Join(second, runs.PolicyFile), weights.Options{})
	require.NoError(t, err)
	require.Equal(t, set.Tensors, after.Tensors)
	small := graft("learn", path, "--folder", filepath.Join(t.TempDir(), "third"), "--set", "policy.weights="+policy, "--set", "policy.hidden=20")
	require.Equal(t, failure.Failed, small.code)
	require.Contains(t, small.stderr, "encoder.encoder.weight_ih_l0 has the shape [200 16]; the policy's is [80 16]")
}

func TestLearnRefuses(t *testing.T) {
	require.Equal(t, failure.Usage, graft("learn").code)
	o := graft("learn", lessonFile(t, "[learn]\nrate = 3\n"))
	require.Equal(t, failure.Configuration, o.code)
	require.Contains(t, o.stderr, `unknown key "rate" in learn`)
	o = graft("learn", lessonFile(t, ""), "--resume", "--folder", t.TempDir())
	require.Equal(t, failure.Failed, o.code)
	require.Contains(t, o.stderr, "manifest.json is missing")
}

func TestConfigKnowsPoliciesThatLearn(t *testing.T) {
	path := lessonFile(t, "[learn]\nrule = \"exact\"\n")
	o := graft("config", "check", path)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Regexp(t, `ok: a policy learns from 64 sequences of made-up, 21 states of ConvNet2, rule exact, 10000 episodes; digest [0-9a-f]{12}\n$`, o.stdout)
	o = graft("config", "show", path, "--set", "learn.lr=0.01")
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Regexp(t, `(?m)^learn\.lr +0\.01 +--set$`, o.stdout)
	again := jobFile(t, graft("config", "show", path, "--toml").stdout)
	require.Equal(t, failure.Done, graft("config", "check", again).code)
	o = graft("config", "schema", "--learning")
	require.Equal(t, failure.Done, o.code)
	require.Contains(t, o.stdout, "a policy of graft that learns")
	o = graft("config", "convert", jobFile(t, "[runner]\nagent = \"Agent\"\n[simulation]\ndatafile = \"a.pkl\"\n"))
	require.Equal(t, failure.Configuration, o.code)
	require.Contains(t, o.stderr, "it has no runner.seed")
}

// rowsIn waits until a table has so many lines.
func rowsIn(t *testing.T, path string, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(path)
		return err == nil && strings.Count(string(text), "\n") > n
	}, patience, time.Millisecond)
}

// A policy that is killed, whenever, goes on to the same bits; so does one that is
// asked to stop, which leaves with the code for that.
func TestLearnSurvivesKills(t *testing.T) {
	path, whole, killed := lessonFile(t, "[run]\nevery = 5\ncheckpoint = \"100ms\"\n[learn]\nepisodes = 1500\ntemperature = 100\n"),
		filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", whole).code)
	r := rand.New(rand.NewPCG(1, 1))
	args := []string{"learn", path, "--folder", killed}
	for k := range 4 {
		p, out := process(t, args...)
		args = []string{"learn", path, "--folder", killed, "--resume"}
		rowsIn(t, filepath.Join(killed, "learning.csv"), 20+60*k+r.IntN(20))
		signal, want := syscall.SIGKILL, failure.Code(-1)
		if k == 3 {
			signal, want = syscall.SIGTERM, failure.Requeue
		}
		require.NoError(t, p.Process.Signal(signal))
		if code := left(t, p); code != want {
			require.Equal(t, failure.Done, code, "it had been too fast: %s", out)
		}
	}
	o := graft(args...)
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Equal(t, learnt(t, whole), learnt(t, killed))
}

// A command that is stopped before it begins has saved a policy that knows nothing.
func TestLearnIsRequeued(t *testing.T) {
	path, folder := lessonFile(t, "[learn]\nepisodes = 100\n"), filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := call(ctx, newRootCommand(), "learn", path, "--folder", folder)
	require.Equal(t, failure.Requeue, o.code, o.stderr)
	require.Contains(t, o.stderr, "go on with --resume")
	require.Equal(t, failure.Done, graft("learn", path, "--folder", folder, "--resume").code)
}

// PyTorch reads what was learned as the original's code would.
func TestLearnedPolicyIsPyTorchs(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	require.Equal(t, failure.Done, graft("learn", lessonFile(t, "[learn]\nepisodes = 10\n"), "--folder", folder).code)
	python := "/usr/bin/python3"
	if p := os.Getenv("GRAFT_PYTHON"); p != "" {
		python = p
	}
	if err := exec.Command(python, "-c", "import torch").Run(); err != nil {
		t.Skipf("left out: PyTorch reads a policy: %s cannot import torch: %v", python, err)
	}
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
        self.linear1, self.linear2, self.linear3 = torch.nn.Linear(24, 128), torch.nn.Linear(128, 128), torch.nn.Linear(128, 4)
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
