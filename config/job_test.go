package config

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/decider"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// parseJob reads a job from a text.
func parseJob(name, text string, set ...string) (*Job, error) {
	j := NewJob()
	r, err := dialect.Read(decode.NewDocument(name, []byte(text)), set, j)
	if err != nil {
		return nil, err
	}
	return j, finish(files.OS{}, j, r)
}

// written writes a file into a new folder.
func written(t testing.TB, name, text string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// bare returns a job's options without the record of where they were read.
func bare(j *Job) Job {
	b := *j
	b.sources, b.network, b.profile = sources{}, nil, nil
	return b
}

func TestAnEmptyJobIsSensible(t *testing.T) {
	j := must(ReadJob(files.OS{}, "", nil))
	assert.Equal(t, time.Minute, j.Options().Timeline.Budget)
	assert.Equal(t, int64(1), j.Options().Seed)
	assert.Equal(t, torch.OptimizerOptions{Rule: torch.Adam, LR: 0.01, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8},
		j.Options().Optimizer)
	assert.Equal(t, "synthetic", j.Data.Kind)
	assert.Equal(t, "ConvSmall", must(j.Model(dataset.Facts{})).Name())
	p := must(j.Profile())
	assert.Equal(t, "steady", p.Name)
	d := must(j.Decider())
	assert.Equal(t, decider.None{}, d)
	assert.Equal(t, bare(j), bare(must(parseJob("empty.toml", ""))))
	for _, v := range Values(j) {
		assert.Equal(t, "default", v.Source.String(), v.Key)
	}
}

func TestAJobIsReadAsItIsWritten(t *testing.T) {
	j := must(ReadJob(files.OS{}, "testdata/jobs/full.toml", []string{"run.seed=9", "time.budget=500"}))
	o := j.Options()
	assert.Equal(t, int64(9), o.Seed)
	assert.Equal(t, trainer.Timeline{Budget: 500 * time.Second, Start: 70 * time.Second, Events: []trainer.Event{
		{At: 70 * time.Second, Change: trainer.Up, Devices: 2}, {At: 200500 * time.Millisecond, Change: trainer.Down}}},
		o.Timeline)
	assert.Equal(t, torch.SGD, o.Optimizer.Rule)
	assert.Equal(t, 0.01, o.Optimizer.LR, "the rate stays where only the rule is given")
	assert.Equal(t, net2net.Residual, o.Adapt.Surgery.Form)
	assert.Equal(t, 3, o.Adapt.MaxDecisions)
	assert.Equal(t, 100, o.Schedule.WarmUp)
	d := must(j.Decider())
	assert.Equal(t, decider.Script{Actions: []net2net.Action{{Kind: "deepen", Target: "1"},
		{Kind: "widen", Target: "conv2", Size: 48}, {}}}, d)

	assert.Equal(t, Source{Flag: "run.seed=9"}, j.Source("run.seed"))
	assert.Equal(t, "--set", j.Source("time.budget").String())
	assert.Equal(t, "testdata/jobs/full.toml:4", j.Source("run.folder").String())
	assert.Equal(t, "testdata/jobs/full.toml:27", j.Source("time.events").String())
	assert.Equal(t, "default", j.Source("augment.cutout").String())
}

func TestWhatIsResolvedReadsBackEqual(t *testing.T) {
	full := must(os.ReadFile("testdata/jobs/full.toml"))
	for name, text := range map[string]string{"full": string(full), "empty": "",
		"a wall clock": "[time]\nclock = \"wall\"\nevents = []"} {
		j, err := parseJob("a.toml", text)
		require.NoError(t, err, name)
		again, err := parseJob("b.toml", j.Resolved())
		require.NoError(t, err, name)
		assert.Equal(t, bare(j), bare(again), name)
		assert.Equal(t, j.Resolved(), again.Resolved(), name)
		assert.Equal(t, j.Digest(), again.Digest(), name)
	}
	j := must(parseJob("full.toml", string(full)))
	golden(t, "testdata/jobs/full.resolved", j.Resolved())
}

func TestTheDigestSaysWhatMatters(t *testing.T) {
	digest := func(set ...string) string {
		return must(parseJob("a.toml", "", set...)).Digest()
	}
	for _, same := range []string{"run.folder=elsewhere", "run.threads=3", `run.listen="127.0.0.1:0"`,
		"checkpoint.every=3s", "train.batch=64"} {
		assert.Equal(t, digest(), digest(same), same)
	}
	profile := clock.Profiles()[1]
	path := filepath.Join(t.TempDir(), "p.toml")
	require.NoError(t, WriteProfile(files.OS{}, path, profile))
	before := digest("time.profile=" + path)
	profile.Made.Date = "2026-01-31"
	require.NoError(t, WriteProfile(files.OS{}, path, profile))
	assert.Equal(t, before, digest("time.profile="+path), "when it was measured does not")
	profile.Costs.Step.CallSeconds *= 2
	require.NoError(t, WriteProfile(files.OS{}, path, profile))
	assert.NotEqual(t, before, digest("time.profile="+path), "the profile's contents matter")
	for _, other := range []string{"run.seed=2", "train.batch=32", "adapt.reset=true", "time.profile=v100-original"} {
		assert.NotEqual(t, digest(), digest(other), other)
	}
}

func TestAssignments(t *testing.T) {
	for set, says := range map[string]string{
		"run.seed":                 "expected a key and its value, such as time.budget=30s",
		"run.seed=x":               `seed must be a whole number, got "x"`,
		"run.sede=1":               `unknown key "sede" in run; did you mean seed?`,
		"tim.budget=3":             `unknown key "tim"; did you mean time?`,
		"time=3":                   "time must be a table",
		"time.budget.x=3":          "time.budget has no keys",
		"time.budget=soon":         "must be a time such as",
		"time.budget=-5s":          "budget is -5s",
		"run.threads=1000000000":   "threads is 1000000000; must be between 0",
		"run.listen=8080":          "expected an address and a port",
		`run.listen="a:b"`:         "expected an address and a port",
		`run.listen="[::1]:70000"`: "expected an address and a port",
		"time.start=90s":           "start is 1m30s",
		"adapt.actions=deepen:1":   "must be a list",
		`adapt.actions=["deepen:1"]`: "actions are used only by the deciders fixed, script, random, trials, gradient " +
			"and policy",
		"time.profile=stedy":      `unknown profile "stedy"`,
		"network.name=ConvNet4":   "did you mean ConvNet",
		"time.timeline=none.csv":  "no such file",
		"network.file=none.toml":  "no such file",
		"train.batch=0":           "0 means the default here, 64",
		"data.synthetic={size=3}": "size is 3 pixels",
		"run.folder=\"a\nb=":      "",
	} {
		_, err := parseJob("a.toml", "", set)
		if says == "" {
			assert.NoError(t, err, set)
			continue
		}
		require.ErrorContains(t, err, says, set)
		assert.Contains(t, err.Error(), "--set "+set+": ")
	}
	j := must(parseJob("a.toml", "[time]\nbudget = 3", "run.folder=2024", "time.budget=1m", "time.budget = 2m",
		`adapt={decider="fixed", actions=["none"]}`))
	assert.Equal(t, "2024", j.Run.Folder)
	assert.Equal(t, 2*time.Minute, j.Time.Budget)
	assert.Equal(t, "--set", j.Source("adapt.actions").String())
}

func TestManyKeysGivenTwiceEnd(t *testing.T) {
	_, err := parseJob("a.toml", "[run]\n"+strings.Repeat("seed = 1 # ä\n", 1000))
	assert.ErrorContains(t, err, "a.toml:3:1: seed is given twice")
	_, err = parseJob("a.toml", strings.Repeat("[run]\nseed = 1\n", 3))
	assert.ErrorContains(t, err, "2 faults")
}

func TestDeciders(t *testing.T) {
	for text, want := range map[string]decider.Decider{
		`decider = "none"`: decider.None{},
		"decider = \"fixed\"\nactions = [\"deepen:0\"]": decider.Fixed{Action: net2net.Action{Kind: "deepen",
			Target: "0"}},
		"decider = \"random\"\nkinds = [\"deepen\"]": decider.Random{Seed: 1, Kinds: []net2net.Kind{"deepen"}},
	} {
		got := must(must(parseJob("a.toml", "[adapt]\n"+text)).Decider())
		assert.Equal(t, want, got)
		_, err := got.Decide(context.Background(), decider.State{Network: zoo(t, "ConvNet2")})
		assert.NoError(t, err)
	}
	_, err := (&Job{Adapt: AdaptOptions{Decider: decideFixed}}).Decider()
	assert.ErrorContains(t, err, "requires exactly one action; got 0")
}

func TestAJobNamesANetworkFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.toml")
	require.NoError(t, WriteNetwork(files.OS{}, path, zoo(t, "ConvNet3")))
	j := must(parseJob("a.toml", "", "network.file="+path))
	n := must(j.Model(dataset.Facts{Shape: []int{3, 32, 32}, Classes: 10}))
	assertSame(t, zoo(t, "ConvNet3"), n)
	faulty := written(t, "faulty.toml", "input = 3\n")
	_, err := parseJob("a.toml", "[network]\nfile = \""+faulty+"\"")
	assert.ErrorContains(t, err, faulty+":1:9: ")
	_, err = (&Job{Network: NetworkOptions{File: path}}).Model(dataset.Facts{})
	assert.ErrorContains(t, err, "use ReadJob")
	j = must(parseJob("a.toml", ""))
	n = must(j.Model(dataset.Facts{Shape: []int{1, 28, 28}, Classes: 5}))
	assert.Equal(t, model.Shape{1, 28, 28}, n.Input)
}

func TestJobsThatCannotBeOpenedSaySo(t *testing.T) {
	_, err := ReadJob(files.OS{}, filepath.Join(t.TempDir(), "none.toml"), nil)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = ReadProfile(files.OS{}, filepath.Join(t.TempDir(), "none.toml"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = ReadTimeline(files.OS{}, filepath.Join(t.TempDir(), "none.csv"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// Spreadsheets write a byte order mark, and lines that end in "\r\n".
func TestATimelineOfASpreadsheet(t *testing.T) {
	path := written(t, "t.csv", "\ufeffseconds,change,devices\r\n10,up,2\r\n")
	events, err := ReadTimeline(files.OS{}, path)
	require.NoError(t, err)
	assert.Equal(t, []trainer.Event{{At: 10 * time.Second, Change: trainer.Up, Devices: 2}}, events)
}

func TestTimelines(t *testing.T) {
	path := written(t, "t.csv", "seconds,change,devices\n10,up,2\n20.5,down,\n")
	j := must(parseJob("a.toml", "", "time.timeline="+path))
	assert.Equal(t, []trainer.Event{{At: 10 * time.Second, Change: trainer.Up, Devices: 2},
		{At: 20500 * time.Millisecond, Change: trainer.Down}}, j.Options().Timeline.Events)
	assert.Equal(t, bare(j), bare(must(parseJob("b.toml", j.Resolved()))))

	_, err := parseJob("a.toml", "[time]\nbudget = 15\ntimeline = \""+path+"\"\nevents = [{at = 1, change = \"up\"}]")
	assert.ErrorContains(t, err, "a.toml:3:12: timeline: event 1 at 20.5s is outside the budget of 15s")
	assert.ErrorContains(t, err, "timeline and events are mutually exclusive")

	wrong := written(t, "w.csv", "seconds,change,devices\nx,upp,-1\n10,up,2\n5,up,2\n1,up\n")
	_, err = parseJob("a.toml", "", "time.timeline="+wrong)
	require.Error(t, err)
	for _, says := range []string{":2:1: seconds must be", ":2:3: change must be up or down", ":2:7: devices must be",
		":4:1: this event is earlier", ":5:3: expected 3 columns, got 2"} {
		assert.ErrorContains(t, err, wrong+says)
	}
	for text, says := range map[string]string{"": "the file is empty",
		"time,change\n":                   "the first line must be seconds,change,devices",
		"seconds,change,devices\n\"a,b\n": "invalid table"} {
		_, err = ReadTimeline(files.OS{}, written(t, "x.csv", text))
		assert.ErrorContains(t, err, says)
	}
}

func TestTheSchemaKnowsEveryKey(t *testing.T) {
	text := must(JobKind.Schema())
	var schema map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &schema))
	j := must(ReadJob(files.OS{}, "", nil))
	for _, v := range Values(j) {
		at := schema
		for key := range strings.SplitSeq(v.Key, ".") {
			assert.Equal(t, false, at["additionalProperties"])
			at = at["properties"].(map[string]any)[key].(map[string]any)
		}
		want := must(json.Marshal(v.Plain))
		assert.JSONEq(t, string(want), string(must(json.Marshal(at["default"]))), v.Key)
	}
	pattern := regexp.MustCompile(decode.DurationPattern)
	for _, text := range []string{"90s", "1m30s", "0", "-1.5h", ".5s", "1.s", "3µs", "", "s", "90", "1m 3s"} {
		_, err := time.ParseDuration(text)
		assert.Equal(t, err == nil, pattern.MatchString(text), text)
	}
}

func FuzzReadJob(f *testing.F) {
	paths := must(filepath.Glob("testdata/jobs/faults/*.toml"))
	for _, path := range append(paths, "testdata/jobs/full.toml") {
		f.Add(string(must(os.ReadFile(path))), "run.seed=3")
	}
	f.Fuzz(func(t *testing.T, text, set string) {
		if strings.Contains(text+set, "file") || strings.Contains(text+set, "timeline") ||
			strings.Contains(text+set, "weights") || strings.Contains(text+set, "/") {
			return // it would read other files of the machine
		}
		j, err := parseJob("a.toml", text, set)
		if err != nil {
			var list Faults
			require.True(t, errors.As(err, &list), err)
			assert.NotEmpty(t, list.Error())
			return
		}
		again, err := parseJob("b.toml", j.Resolved())
		require.NoError(t, err, j.Resolved())
		assert.Equal(t, j.Resolved(), again.Resolved())
		assert.Equal(t, j.Digest(), again.Digest())
	})
}

// Reading a job tries all actions of a script along the timeline, and a down reverts the network.
func TestScriptsAreRehearsed(t *testing.T) {
	const upDownUp = `time.events=[{at="1s",change="up",devices=2},{at="2s",change="down",devices=1},{at="3s",` +
		`change="up",devices=2}]`
	for actions, says := range map[string]string{
		`["deepen:conv1", "deepen:conv9"]`:                 `block "conv9" not found`,
		`["deepen:conv9", "deepen:conv1"]`:                 `block "conv9" not found`,
		`["deepen:conv1", "widen:conv2:12"]`:               "must be larger, got 12",
		`["widen:conv1:48", "widen:conv1:40"]`:             "", // a down reverts the first action
		`["widen:conv1:48", "widen:conv1:40", "deepen:1"]`: "",
		// the timeline never reaches the last action
		`["deepen:conv1", "none", "none", "widen:conv9:99"]`: `layer or block "conv9" not found`,
	} {
		_, err := parseJob("a.toml", "[data.synthetic]\nsize = 16\n", `adapt={decider="script", actions=`+actions+`}`,
			upDownUp)
		if says == "" {
			require.NoError(t, err, actions)
		} else {
			require.ErrorContains(t, err, says, actions)
		}
	}
	_, err := parseJob("a.toml", "", `adapt={decider="script", actions=["widen:conv1:48", "widen:conv1:40"]}`,
		`time.events=[{at="1s",change="up",devices=2},{at="3s",change="up",devices=2}]`)
	require.ErrorContains(t, err, "must be larger, got 40")
	require.NoError(t, func() error {
		_, err := parseJob("a.toml", "",
			`adapt={decider="script", each_epoch=true, max_decisions=1, actions=["widen:conv1:48", "widen:conv1:40"]}`,
			upDownUp)
		return err
	}())
}
