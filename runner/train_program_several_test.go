package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/pythontest"
)

// A network with several inputs, keyword arguments and a dictionary of outputs grows, shrinks and survives kills.
func TestProgramsWithSeveralInputs(t *testing.T) {
	python, script := pythontest.Find(t, "torch.export"), contents(t, "testdata/program/several.py")
	more := strings.Replace(grows, `["widen:conv1:6", "widen:conv2:12"]`, `["deepen:block", "widen:block.up:48"]`, 1)
	more = strings.Replace(more, `decider = "script"`, "decider = \"script\"\non_error = \"stop\"", 1)
	o := programSurvivesKills(t, scriptedJob(t, python, script, more), 3)
	containsAll(t, o.stderr, `"action":"deepen:block"`, `"action":"widen:block.up:48"`, `"msg":"shrink"`)
	require.Equal(t, 3, strings.Count(o.stderr, "the program switched to the changed network"), o.stderr)

	run := filepath.Join(t.TempDir(), "run")
	done(t, "train", scriptedJob(t, python, script, more), "--folder", run, "--quiet")
	done(t, "export", run, "--out", filepath.Join(t.TempDir(), "net.py"))
	fails(t, failure.Failed, "has 3 inputs and 2 outputs", "export", run, "--out", t.TempDir()+"/net.onnx")
	containsAll(t, done(t, "model", "show", filepath.Join(run, "network.toml")).stdout,
		"input: int64 [batch=2 length=12], float32 [batch=2 4], float32 [batch=2 length=12]")
}

// After surgery replaces a module's code, calls with arguments other than the example's are an error.
func TestOtherArgumentsAfterSurgery(t *testing.T) {
	script := strings.Replace(contents(t, "testdata/program/several.py"), "side=s, mask=m[:, :n])\n        assert",
		"side=s, mask=m[:, :n], more=3)\n        assert True or", 1)
	more := strings.Replace(grows, `["widen:conv1:6", "widen:conv2:12"]`, `["deepen:block", "none"]`, 1)
	job := scriptedJob(t, pythontest.Find(t, "torch.export"), script, more)
	o := fails(t, failure.Failed, "called with other arguments", "train", job, "--quiet", "--folder",
		t.TempDir()+"/run")
	require.Contains(t, o.stderr, "pass the arguments of the training loop to job.begin")
}
