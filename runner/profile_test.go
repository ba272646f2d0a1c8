package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/files"
	"graft/results/failure"
	"graft/work/profile"
)

// tiny is a network file whose network works in less than a millisecond.
func tiny(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "tiny.toml")
	text := `name = "Tiny"
input = [3, 16, 16]
layers = [
  {name = "conv1", block = ["Conv2d(3, 4, 3)", "BatchNorm2d(4)", "ReLU()"]},
  {name = "conv2", block = ["Conv2d(4, 4, 3)", "BatchNorm2d(4)", "ReLU()"]},
  "AdaptiveAvgPool2d(1)",
  "Flatten()",
  "Linear(4, 3)",
]
`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// quickly are the flags of measurements that take no time.
func quickly(more ...string) []string {
	return append([]string{"profile", "--quiet", "--only", "--rounds", "2", "--batch", "64,128"}, more...)
}

// onTiny is a job with the network of a file and a profile.
func onTiny(network, profile, folder string, more ...string) []string {
	args := []string{"train", "--quiet", "--folder", folder}
	for _, set := range append([]string{"network.file=" + network, "time.profile=" + profile, "time.budget=500ms", "data.synthetic.size=16",
		"data.synthetic.train=300", "data.synthetic.test=100", "data.synthetic.classes=3"}, more...) {
		args = append(args, "--set", set)
	}
	return args
}

// A device is measured, the file is looked into and checked, and a job goes by it.
func TestProfileIsMeasuredAndUsed(t *testing.T) {
	network, folder := tiny(t), t.TempDir()
	out := filepath.Join(folder, "here.toml")
	o := graft(quickly(network, "--out", out)...)
	require.Equal(t, failure.Done, o.code, o.stderr)
	for _, words := range []string{"here: ", "STEP [ms]", "Tiny deepen:", "Tiny widen:", "There are no rates", "wrote " + out} {
		require.Contains(t, o.stdout, words)
	}
	p, err := config.ReadProfile(files.OS{}, out)
	require.NoError(t, err)
	require.Len(t, p.Measured, 6)
	assert.Regexp(t, `^\d{4}-\d\d-\d\d$`, p.Made.Date)
	assert.NotEmpty(t, p.Made.Torch)
	assert.NotEmpty(t, p.Made.Graft)
	assert.NotEmpty(t, p.Device)
	assert.Positive(t, p.Made.Threads)
	assert.Equal(t, 2, p.Made.Rounds)
	assert.Equal(t, "adam", p.Made.Optimizer)

	shown := graft("profile", "show", out)
	require.Equal(t, failure.Done, shown.code, shown.stderr)
	require.Equal(t, strings.TrimSuffix(shown.stdout, "\n"), strings.Split(o.stdout, "\n\nwrote")[0], "what is shown is what was printed")
	checked := graft("profile", "check", out)
	require.Equal(t, failure.Done, checked.code, checked.stderr)
	require.Contains(t, checked.stdout, out+": ok: here, ")
	require.Contains(t, checked.stdout, "6 measurements")

	run := filepath.Join(folder, "run")
	require.Equal(t, failure.Done, graft(onTiny(network, out, run)...).code)
	again := graft(quickly(network, "--out", out)...)
	require.Equal(t, failure.Usage, again.code)
	require.Contains(t, again.stderr, "--force replaces it")
	forced := graft(quickly(network, "--out", out, "--force", "--json", "--plain", "--name", "other", "--exact", "--steady", "--threads", "1", "--optimizer", "sgd")...)
	require.Equal(t, failure.Done, forced.code, forced.stderr)
	var report profile.Report
	require.NoError(t, json.Unmarshal([]byte(forced.stdout), &report))
	require.Equal(t, out, report.File)
	require.Equal(t, "other", report.Name)
	require.Len(t, report.Networks, 2)
	require.Positive(t, report.Networks[0].Step.Seconds)
	require.Nil(t, report.Networks[0].Step.Fitted)
	require.Equal(t, profile.Made{Date: report.Made.Date, Graft: report.Made.Graft, Torch: report.Made.Torch, Device: "cpu", Threads: 1, Rounds: 2, Optimizer: "sgd", Exact: true, Steady: true}, report.Made)
}

// A job that a profile without rates cannot charge is refused before there is a
// folder, in words that name the network and the remedy.
func TestJobsThatAProfileDoesNotKnowAreRefused(t *testing.T) {
	network, folder := tiny(t), t.TempDir()
	out, run := filepath.Join(folder, "plain.toml"), filepath.Join(folder, "run")
	require.Equal(t, failure.Done, graft(quickly(network, "--plain", "--out", out)...).code)
	events := `time.events=[{at = "100ms", change = "up"}]`
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"another network":    {[]string{"network.file=", "network.name=ConvSmall"}, "no measurement of this ConvSmall with a batch of 64"},
		"another batch":      {[]string{"train.batch=16"}, "no measurement of this Tiny with a batch of 16"},
		"what actions make":  {[]string{events, `adapt.decider="script"`, `adapt.actions=["deepen:0"]`}, "after deepen:0: the profile plain has no measurement of this Tiny"},
		"a decider's choice": {[]string{events, `adapt.decider="random"`}, "networks that were not measured"},
	} {
		t.Run(name, func(t *testing.T) {
			o := graft(onTiny(network, out, run, c.set...)...)
			require.Equal(t, failure.Configuration, o.code, o.stderr)
			require.Contains(t, o.stderr, c.says)
			require.Contains(t, o.stderr, "'graft profile'")
			require.NoDirExists(t, run)
		})
	}
	require.Equal(t, failure.Done, graft(onTiny(network, out, run, "train.batch=96")...).code, "it lies between two that were measured")
}

func TestProfileRefuses(t *testing.T) {
	network, folder := tiny(t), t.TempDir()
	faulty := filepath.Join(folder, "faulty.toml")
	require.NoError(t, os.WriteFile(faulty, []byte("nam = \"x\"\n[costs]\ndecision_seconds = -1\n"), 0o600))
	features := filepath.Join(folder, "features.toml")
	require.NoError(t, os.WriteFile(features, []byte("input = [8]\nlayers = [\"Linear(8, 4)\"]\n"), 0o600))
	for name, c := range map[string]struct {
		args []string
		code failure.Code
		word string
	}{
		"an unknown network":            {quickly("ConvNet4"), failure.Usage, "did you mean ConvNet"},
		"a network file that is not":    {quickly("none.toml"), failure.Failed, "none.toml"},
		"a faulty network file":         {quickly(faulty), failure.Configuration, "faulty.toml:"},
		"a network of no images":        {quickly(features), failure.Failed, "classes of images"},
		"a batch of nothing":            {quickly(network, "--batch", "64,0"), failure.Usage, "a batch of 0"},
		"a batch twice":                 {quickly(network, "--batch", "64,64"), failure.Usage, "twice"},
		"a batch that is no number":     {quickly(network, "--batch", "x"), failure.Usage, "--batch"},
		"rounds below none":             {quickly(network, "--rounds", "-1"), failure.Usage, "rounds"},
		"threads below none":            {quickly(network, "--threads", "-1"), failure.Usage, "--threads"},
		"an unknown optimizer":          {quickly(network, "--optimizer", "adm"), failure.Usage, "there is no rule"},
		"an unknown device":             {quickly(network, "--device", "gpu"), failure.Failed, "write cpu or cuda:N"},
		"a shape that is none":          {quickly(network, "--input", "3x"), failure.Usage, "--input"},
		"images that are too small":     {[]string{"profile", "--quiet", "--input", "3x4x4"}, failure.Usage, "measured by default"},
		"both paths":                    {quickly(network, "--exact", "--fast"), failure.Usage, "exact"},
		"only nothing":                  {quickly(), failure.Usage, "--only"},
		"a folder for a file":           {quickly(network, "--out", folder), failure.Usage, "is a folder"},
		"a file in no folder":           {quickly(network, "--out", filepath.Join(folder, "none", "p.toml")), failure.Failed, "none"},
		"a file in a file":              {quickly(network, "--out", filepath.Join(faulty, "p.toml")), failure.Failed, "faulty.toml"},
		"an unknown profile":            {[]string{"profile", "show", "stedy"}, failure.Failed, `there is no profile "stedy"`},
		"a faulty profile":              {[]string{"profile", "show", faulty}, failure.Configuration, `unknown key "nam"; did you mean name?`},
		"no profile":                    {[]string{"profile", "show"}, failure.Usage, "arg"},
		"a profile that is not there":   {[]string{"profile", "check", filepath.Join(folder, "none.toml")}, failure.Failed, "none.toml"},
		"a faulty profile that is held": {[]string{"profile", "check", faulty}, failure.Configuration, "faulty.toml:3:20: decision_seconds is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			o := graft(c.args...)
			require.Equal(t, c.code, o.code, o.stderr)
			require.Contains(t, o.stderr, c.word)
			require.Empty(t, o.stdout)
		})
	}
}

// What was measured is printed even where it cannot be written, and no part of a
// file is left.
func TestAProfileThatCannotBeWrittenIsPrinted(t *testing.T) {
	folder := t.TempDir()
	long := filepath.Join(folder, strings.Repeat("x", 245)+".toml") // too long with the ending of a temporary file
	o := graft(quickly(tiny(t), "--plain", "--out", long)...)
	require.Equal(t, failure.Failed, o.code)
	require.Contains(t, o.stdout, "STEP [ms]")
	require.NotContains(t, o.stdout, "wrote")
	require.Contains(t, o.stderr, "file name too long")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestAnInterruptedProfileWritesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "p.toml")
	o := call(ctx, newRootCommand(), quickly(tiny(t), "--out", out)...)
	require.Equal(t, failure.Interrupted, o.code)
	require.NoFileExists(t, out)
}

func TestBuiltInProfilesAreShown(t *testing.T) {
	for _, name := range []string{"steady", "v100-original", "round-gpu"} {
		o := graft("profile", "show", name)
		require.Equal(t, failure.Done, o.code, o.stderr)
		require.Contains(t, o.stdout, "100 layers with weights")
	}
}
