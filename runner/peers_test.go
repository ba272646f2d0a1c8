package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// peers holds the libraries whose training loops or networks graft drives, with actions for the test networks.
var peers = map[string]string{
	"lightning": `["widen:conv1:6", "deepen:block"]`,
	"trainer":   `["widen:conv1:6", "deepen:block"]`,
	"gromo":     `["widen:stages.0.0.first_layer.layer:9", "deepen:stages.1.1"]`,
}

// peerPython returns the Python in GRAFT_PEERS, or skips the test.
func peerPython(t *testing.T) string {
	t.Helper()
	python := os.Getenv("GRAFT_PEERS")
	if python == "" {
		t.Skip("left out: no Python with PyTorch, lightning, transformers, accelerate and gromo; " +
			"name one in GRAFT_PEERS")
	}
	return python
}

// peerJob writes the program of a library and its job. The callbacks come from the how-to.
func peerJob(t *testing.T, python, name, more string) string {
	t.Helper()
	folder := "testdata/program/peers"
	job := scriptedJob(t, python, contents(t, filepath.Join(folder, name+"_run.py")), more)
	write(t, filepath.Join(filepath.Dir(job), "net.py"), contents(t, filepath.Join(folder, "net.py")))
	for _, block := range heeded.FindAllStringSubmatch(contents(t, "../docs/howto/pytorch.md"), -1) {
		if file, found := strings.CutPrefix(block[1], "file="); found && strings.HasSuffix(file, ".py") {
			write(t, filepath.Join(filepath.Dir(job), file), block[2])
		}
	}
	return job
}

// Without events, a library under graft ends with the same weights as the library alone.
func TestPeersTrainAsAlone(t *testing.T) {
	python := peerPython(t)
	for name := range peers {
		t.Run(name, func(t *testing.T) {
			job := peerJob(t, python, name, "[train]\nepochs = 2\n")
			alone, driven := filepath.Join(t.TempDir(), "alone.pt"), filepath.Join(t.TempDir(), "driven.pt")
			command := exec.Command(python, "train.py")
			command.Dir = filepath.Dir(job)
			command.Env = append(os.Environ(), "ALONE=1", "SAVE="+alone, "PYTHONPATH="+absolute(t, "../python"))
			out, err := command.CombinedOutput()
			require.NoError(t, err, "%s", out)
			o := done(t, "train", job, "--set", fmt.Sprintf("program.env=[%q]", "SAVE="+driven), "--folder",
				t.TempDir()+"/run")
			require.NotContains(t, o.stderr, "failed after the end")
			require.Equal(t, stored(t, alone), stored(t, driven))
		})
	}
}

// A library's network widens, deepens and shrinks, and the job survives kills.
func TestPeersGrow(t *testing.T) {
	python := peerPython(t)
	for name, actions := range peers {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(grows, `["widen:conv1:6", "widen:conv2:12"]`, actions, 1)
			text = strings.Replace(text, `decider = "script"`, "decider = \"script\"\non_error = \"stop\"", 1)
			job := peerJob(t, python, name, text)
			folder := t.TempDir() + "/run"
			o := done(t, "train", job, "--folder", folder)
			require.NotContains(t, o.stderr, "failed after the end")
			require.Equal(t, 3, strings.Count(o.stderr, "the program switched to the changed network"), o.stderr)
			containsAll(t, o.stderr, "its own code", "generated code")
			containsAll(t, o.stdout, "2 decisions", "shrink")
			again := done(t, "train", job, "--folder", folder, "--resume")
			require.NotContains(t, again.stderr, "failed after the end")
			programSurvivesKills(t, job, 3)
		})
	}
}
