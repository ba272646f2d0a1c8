package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

// jobFile writes a job file into a new folder.
func jobFile(t *testing.T, text string) string {
	path := write(t, filepath.Join(t.TempDir(), "job.toml"), text)
	return path
}

func TestConfigCheckTellsAllFaultsOfAllFiles(t *testing.T) {
	right, wrong, other := jobFile(t, "[run]\nseed = 3\n"), jobFile(t, "[time]\nbudgt = 3\n"),
		jobFile(t, "[run]\nseed = true\n")
	got := done(t, "config", "check", right)
	assert.Regexp(t, `^.*job\.toml: ok: ConvSmall on synthetic, 1m0s of a virtual clock, 0 events, decider none; `+
		`digest [0-9a-f]{12}\n`+
		`  expected: 34 epochs, 4801 steps; about \S+( \S+)? of computing on this machine\n$`,
		got.stdout)
	assert.Empty(t, got.stderr)

	got = fails(t, failure.Configuration, "", "config", "check", wrong, right, other)
	assert.Equal(t, 1, strings.Count(got.stdout, ": ok: "))
	assert.Contains(t, got.stderr, wrong+`:2:1: unknown key "budgt" in time; did you mean budget?`)
	assert.Contains(t, got.stderr, other+":2:8: seed must be a whole number")

	fails(t, failure.Configuration, "--set run.sed=3: ", "config", "check", right, "--set", "run.sed=3")
	assert.Equal(t, failure.Failed, graft("config", "check", filepath.Join(t.TempDir(), "none.toml")).code)
	assert.Equal(t, failure.Usage, graft("config", "check").code)
}

// A check warns about an address on which the job cannot listen.
func TestConfigCheckTriesAddresses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()
	path := jobFile(t, "")
	for address, says := range map[string]string{"127.0.0.1:0": "", taken.Addr().String(): "address already in use",
		"192.0.2.1:0": "cannot assign requested address"} {
		got := done(t, "config", "check", path, "--set", "run.listen="+address)
		if says == "" {
			assert.Empty(t, got.stderr)
			continue
		}
		assert.Contains(t, got.stderr, "run.listen: the job cannot start on this machine now: ")
		assert.Contains(t, got.stderr, says)
	}
	got := done(t, "config", "check", path, "--set", "run.listen=0.0.0.0:0")
	assert.Contains(t, got.stderr, "run.listen: other machines can reach 0.0.0.0:0, so the job starts only with the "+
		"option --listen-anywhere")
}

func TestConfigShowSaysWhereValuesComeFrom(t *testing.T) {
	path := jobFile(t, "[run]\nseed = 3\n[adapt]\ndecider = \"random\"\n")
	got := done(t, "config", "show", path, "--set", "time.budget=90s")
	for _, line := range []string{`run\.seed +3 +\S+job\.toml:2`, `time\.budget +"90s" +--set`,
		`train\.batch +64 +default`} {
		assert.Regexp(t, `(?m)^`+line+`$`, got.stdout)
	}
	var report configReport
	got = graft("config", "show", path, "--json")
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	assert.Equal(t, path, report.File)
	assert.Len(t, report.Digest, 64)
	assert.Contains(t, report.Values, configValue{Key: "adapt.decider", Value: "random", From: path + ":4"})
	assert.Contains(t, report.Values, configValue{Key: "augment.flip", Value: false, From: "default"})

	again := jobFile(t, graft("config", "show", path, "--toml").stdout)
	assert.Equal(t, graft("config", "show", path, "--toml").stdout, graft("config", "show", again, "--toml").stdout)
	described := graft("config", "show", path, "--describe").stdout
	assert.Contains(t, described, "# Number of images per training step. Zero means 64.\nbatch = 64\n")
	assert.Equal(t, graft("config", "show", path, "--toml").stdout,
		graft("config", "show", jobFile(t, described), "--toml").stdout)
	got = graft("config", "show", path, "--json", "--describe")
	report = configReport{}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
	assert.Contains(t, report.Values, configValue{Key: "train.batch", Value: 64.0, From: "default",
		Description: "Number of images per training step. Zero means 64."})
	assert.Equal(t, failure.Done, graft("config", "show").code)
	assert.Equal(t, failure.Configuration, graft("config", "show", jobFile(t, "a = 1")).code)
	assert.Equal(t, failure.Usage, graft("config", "show", "--json", "--toml").code)
}

// A short list of tables is shown in one line, and a long one in a line per key that is not zero.
func TestConfigShowBreaksLongTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.toml")
	write(t, path, "[machine]\n[[task]]\nname = \"a\"\ncommand = [\"program\", \"an argument of some length\", "+
		"\"and another one that is long\"]\ncores = 30\n[[task]]\nname = \"b\"\n")
	shown := done(t, "config", "show", path).stdout
	require.Regexp(t, `(?m)^task\[0\]\.command +\["program", "an argument of some length", `+
		`"and another one that is long"\] +\S+:2$`, shown)
	require.Regexp(t, `(?m)^task\[0\]\.cores +30\.0 `, shown)
	require.Regexp(t, `(?m)^task\[1\]\.name +"b" `, shown)
	require.NotContains(t, shown, "task[1].command")
	path = jobFile(t, "[time]\nbudget = \"90s\"\nevents = [{at = \"10s\", change = \"up\"}]\n")
	require.Regexp(t, `(?m)^time\.events +\[\{at = "10s", change = "up".*\}\] `, done(t, "config", "show", path).stdout)
}

const aScenario = `
[time]
budget = "40s"
events = [{at = "10s", change = "up"}]
[adapt]
each_epoch = true
[simulate]
actions = ["deepen:conv1", "deepen:conv2", "none"]
seeds = 2
`

// Checking a cluster file reads the files that it names and finds their faults.
func TestConfigCheckReadsTheFilesOfAClusterFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"jobs.csv": "job_id,gpu_num,submit_time,duration,vc\n1,8,0,6000,a\n", "nodes.csv": ",num\na,1\n",
		"text.csv": "once upon a time\n",
		"torn.csv": "job_id,gpu_num,submit_time,duration,vc\n1,8,0\n", "estimates.csv": "job_id,priority\n2,60\n",
		"data/none": "",
		"c.toml":    "[workload]\ntraces = [\"jobs.csv\"]\n[cluster]\nvc_file = \"nodes.csv\"\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		write(t, name, text)
	}
	done(t, "config", "check", "c.toml")
	for set, says := range map[string]string{
		`workload.traces=["none.csv"]`: "read trace none.csv: file does not exist",
		`workload.traces=["text.csv"]`: "unknown trace format",
		`workload.traces=["torn.csv"]`: "torn.csv:2",
		`cluster.format="swf"`:         "jobs.csv:1",
		`cluster.vc_file="none.csv"`:   "file does not exist; set cluster.vc_file to another file",
		`cluster.vc_file="jobs.csv"`: "unknown header; expected a list of virtual " +
			"clusters",
		`cluster.data="none"`:                                      "name a folder with vc_config.csv",
		"cluster.from_seconds=7000":                                "jobs.csv has no jobs after second 7000",
		`schedule.schedulers=["qssf"]`:                             "needs estimated durations of jobs",
		`schedule.estimates="none.csv"`:                            "none.csv: no such file",
		`schedule.estimates="estimates.csv"`:                       "1 of 1 jobs have no estimate",
		`schedule.schedulers=["lucid"],schedule.estimates="exact"`: "needs profiles of single models",
	} {
		args := []string{"config", "check", "c.toml"}
		for one := range strings.SplitSeq(set, ",") {
			args = append(args, "--set", one)
		}
		got := graft(args...)
		require.Equal(t, failure.Configuration, got.code, set)
		require.Contains(t, got.stderr, says, set)
		require.Contains(t, got.stderr, "c.toml: ", set)
	}
}

// Every kind of file is checked, shown and described, and has a schema and a page of its keys.
func TestConfigKnowsEveryKind(t *testing.T) {
	for kind, c := range map[string]struct{ file, ok, set, shown, schema, page string }{
		"simulation": {jobFile(t, aScenario), `scenario job, ConvSmall on synthetic, 40s of a virtual clock: ` +
			`27 sequences of 3 decisions × 2 seeds in 80 legs`, "simulate.seeds=3", `simulate\.seeds +3 ` +
			`+--set\n(.*\n)*simulate\.tries +2 +default`, "a scenario of graft", "# Keys of a scenario's file"},
		"learning": {lessonFile(t, "[learn]\nrule = \"exact\"\n"),
			`trains a policy on 64 sequences of made-up, 21 states of ConvNet2, rule exact, 10000 episodes`,
			"learn.lr=0.01", `learn\.lr +0\.01 +--set`, "a policy of graft that learns",
			"# Keys for training a policy"},
		"tree-learning": {classFile(t, "held_out = [THREE]\n"), `trains structural policies with 5 seeds on 32 ` +
			`sequences of 2 tables, stops early by 1 other table, for known scenarios, 400 steps at most`,
			"learn.for=new", `learn\.for +"new" +--set\n(.*\n)*learn\.pool +0\.5 +default`,
			"structural policies of graft that learn", "# Keys for training structural policies"},
		"pipeline": {newPipeline(t, "", 100, 200), `simulates 8 sequences of 2 scenarios, ` +
			`trains structural policies with 2 seeds, for known scenarios, 12 steps at most`,
			"learn.steps=13", `learn\.steps +13 +--set`, "a pipeline of graft", "# Keys of a pipeline's file"},
	} {
		require.Regexp(t, `ok: `+c.ok+`; digest [0-9a-f]{12}\n(  .*\n)*$`, done(t, "config", "check", c.file).stdout)
		require.Regexp(t, `(?m)^`+c.shown+`$`, done(t, "config", "show", c.file, "--set", c.set).stdout)
		for _, form := range []string{"--toml", "--describe"} {
			done(t, "config", "check", jobFile(t, done(t, "config", "show", c.file, form).stdout))
		}
		require.Contains(t, done(t, "config", "schema", "--"+kind).stdout, c.schema)
		require.Contains(t, done(t, "config", "schema", "--markdown").stdout, c.page)
	}
	fails(t, failure.Usage, "", "config", "schema", "--simulation", "--learning")
	path := jobFile(t, aScenario)
	require.Contains(t, done(t, "config", "check", path, "--set", `simulate.design="sample"`, "--set",
		"simulate.max_sequences=9").stdout, " of the design sample; ")
	fails(t, failure.Configuration, path+": scenario job has 27 sequences", "config", "check", path, "--set",
		"simulate.max_sequences=9")
	fails(t, failure.Configuration, "it has no runner.seed", "config", "convert",
		jobFile(t, "[runner]\nagent = \"Agent\"\n[simulation]\ndatafile = \"a.pkl\"\n"))
}

func TestConfigSchemaIsJSON(t *testing.T) {
	schema := decoded[map[string]any](t, graft("config", "schema").stdout)
	assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", schema["$schema"])
	page := contents(t, filepath.Join("..", "docs", "reference-config.md"))
	assert.Equal(t, page, graft("config", "schema", "--markdown").stdout)
}

const originalJob = `[runner]
seed = 42
total_episodes = 1
folder = "small_early2"
agent = "RandomAgent"
[scheduler]
running_time = 70
[job]
model = "ConvNet2"
dataset = "cifar10"
[agent]
decay_freq = 500
`

func TestConfigConvertMakesAJobThatIsRight(t *testing.T) {
	original, out := jobFile(t, originalJob), filepath.Join(t.TempDir(), "out.toml")
	printed := done(t, "config", "convert", original)
	assert.Contains(t, printed.stderr, "agent.decay_freq had no effect")
	assert.Contains(t, printed.stdout, "# - agent.decay_freq had no effect")
	got := graft("config", "convert", original, "-o", out)
	assert.Regexp(t, `^wrote .*out\.toml, with \d+ warnings as comments\n$`, got.stdout)
	written := contents(t, out)
	assert.Equal(t, printed.stdout, written)
	assert.Equal(t, failure.Done, graft("config", "check", out, "--without-data").code)

	assert.Equal(t, failure.Configuration, graft("config", "convert", jobFile(t, "")).code)
	assert.Equal(t, failure.Failed,
		graft("config", "convert", original, "-o", filepath.Join(t.TempDir(), "none", "out.toml")).code)
}

// The initial weights of a comparison are checked as a job's. If each seed has its own weights, the first seed's are
// checked.
func TestWeightsOfComparisonsAreChecked(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "job.toml"),
		"[network]\nweights = \"own-{seed}.safetensors\"\n[run]\nseed = 4\n[compare]\nseeds = 3\n")
	fails(t, failure.Configuration, "own-4.safetensors", "config", "check", path)
}
