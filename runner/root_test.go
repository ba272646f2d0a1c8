package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

func TestEveryCommandExplainsItself(t *testing.T) {
	walk(newRootCommand(), func(command *cobra.Command) {
		t.Run(command.CommandPath(), func(t *testing.T) {
			assert.NotEmpty(t, command.Short, "Short is the line in the list of commands")
			assert.Contains(t, command.Example, command.Root().Name(), "Example shows whole command lines")
			assert.NotContains(t, command.Short, ".", "Short is no sentence")
		})
	})
}

// A command without Args would accept any argument silently, and a command with Run instead of RunE could not fail.
func TestEveryCommandChecksItsArguments(t *testing.T) {
	walk(newRootCommand(), func(command *cobra.Command) {
		t.Run(command.CommandPath(), func(t *testing.T) {
			assert.Nil(t, command.Run, "RunE can return an error, Run cannot")
			if command.Runnable() {
				assert.NotNil(t, command.Args, "say which arguments are wanted, cobra.NoArgs for none")
			}
		})
	})
}

func TestHelpOfTheProgramListsTheExitCodes(t *testing.T) {
	help := graft("--help").stdout
	seen := map[failure.Code]bool{}
	for _, row := range exitTable {
		assert.Contains(t, help, row.meaning)
		assert.False(t, seen[row.code], "code %d is in the table twice", row.code)
		seen[row.code] = true
	}
}

func TestKindOfACodeOutsideTheTableIsFailed(t *testing.T) {
	assert.Equal(t, "usage", kindOf(failure.Usage))
	assert.Equal(t, "failed", kindOf(99))
}

// coloursPattern matches code that colours a terminal.
var coloursPattern = regexp.MustCompile(`\\x1b\[|\\033\[|\\e\[|ColorLevelEncoder`)

// Only the file that respects NO_COLOR writes colours. Another test covers NO_COLOR itself.
func TestColoursAreInOnePlace(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text := contents(t, path)
		if coloursPattern.MatchString(text) && !strings.HasSuffix(path, "_test.go") {
			assert.Equal(t, "bars.go", path)
			assert.Contains(t, text, `os.Getenv("NO_COLOR")`)
		}
	}
}

// Every command has --quiet and --verbose, and lists them in its help.
func TestEveryCommandIsQuietOrVerbose(t *testing.T) {
	walk(newRootCommand(), func(command *cobra.Command) {
		got := done(t, append(strings.Fields(command.CommandPath())[1:], "--help")...)
		for _, words := range []string{"--quiet", "--verbose", "Examples:"} {
			assert.Contains(t, got.stdout, words, command.CommandPath())
		}
	})
}

func TestVersionAsJSONIsOneObject(t *testing.T) {
	info := decoded[versionInfo](t, done(t, "version", "--json").stdout)
	assert.Equal(t, runtime.Version(), info.Go)
	assert.Equal(t, runtime.GOOS, info.OS)
	assert.Equal(t, runtime.GOARCH, info.Arch)
	assert.NotEmpty(t, info.Version)
	assert.NotEmpty(t, info.Revision)
}

func TestVersionComesFromTheLinkerOrTheBuild(t *testing.T) {
	recorded := &debug.BuildInfo{
		Main: debug.Module{Version: "v0.3.0"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc123"},
			{Key: "vcs.modified", Value: "true"},
		},
	}
	cases := map[string]struct {
		linked            stamp
		build             *debug.BuildInfo
		version, revision string
		modified          bool
	}{
		"the linker's word comes first": {stamp{version: "1.2.3"}, recorded, "1.2.3", "abc123", true},
		"a stamp replaces the record": {stamp{revision: "def456", modified: "false"}, recorded, "v0.3.0",
			"def456", false},
		"the build's record is next": {stamp{}, recorded, "v0.3.0", "abc123", true},
		"an empty record":            {stamp{}, &debug.BuildInfo{}, unknown, unknown, false},
		"no record at all":           {stamp{}, nil, unknown, unknown, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			info := readVersion(c.linked, c.build)
			assert.Equal(t, c.version, info.Version)
			assert.Equal(t, c.revision, info.Revision)
			assert.Equal(t, c.modified, info.Modified)
		})
	}
}

// The page about exit codes has the program's table.
func TestThePageAboutExitCodes(t *testing.T) {
	page := contents(t, "../docs/exit-codes.md")
	for _, row := range exitTable {
		require.Contains(t, page, fmt.Sprintf("| %d | %s | %s |\n", row.code, row.kind, row.meaning))
	}
	first, _, _ := strings.Cut(page, "\n## ")
	require.Equal(t, len(exitTable), strings.Count(first, "\n| ")-2)
}

// wrongFiles changes to a new folder with files whose content does not match their names.
func wrongFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"wrong.toml": "x", "wrong.pth": "garbage", "wrong.pt2": "garbage", "wrong.onnx": "garbage",
		"wrong.txt": "garbage", "wrong.safetensors": "garbage", "wrong.pkl": "garbage", "wrong.json": "{",
		"inputs.json":     `{"inputs": [{"shape": [1, 1], "values": [0]}]}`,
		"vocabulary.json": "{", "names.ids.pkl": "g", "table/scenario.json": "{", "work/grid.json": "{",
		"run/manifest.json": "{",
		"original/data.pkl": "garbage", "bare/data.pkl": "garbage",
		"original/config.toml": "[nothing]", "wrong.csv": "a,b\n",
		"right.csv": "job_id,gpu_num,submit_time,duration,vc\n1,1,0,5,a\n", "nodes.csv": ",num\na,1\n",
		"half.csv": "job_id,gpu_num,submit_time,duration\n1,1,0,5\n2,x,0,5\n", "right/policy.safetensors": "garbage",
		"large.toml":    "#" + strings.Repeat("x", 5<<20),
		"scenario.toml": "[simulate]\n", "job.toml": "[time]\n", "pipeline.toml": "[pipeline]\n",
		"machine.toml":   "[machine]\n",
		"images/a/a.png": "garbage", "images/a/b.png": "", "images/a/c.png": "", "images/b/a.png": "",
		"images/b/b.png": "", "images/b/c.png": "",
	} {
		write(t, name, text)
	}
}

// onWrongFiles lists, for each command, the exit code on an invalid and on a missing file. Invalid files that people
// write are configuration errors; invalid files that programs wrote are damage.
var onWrongFiles = map[string][]struct {
	args string // arguments after the command
	code failure.Code
}{
	"graft train": {{"wrong.toml", failure.Configuration}, {"large.toml", failure.Configuration},
		{"none.toml", failure.Failed}, {"--set data.kind=folder --set data.path=images", failure.Damaged},
		{"--resume --folder run", failure.Damaged}, {"--resume --folder none", failure.Failed},
		{"wrong.toml --seeds 2", failure.Configuration}, {"--cases wrong.toml", failure.Configuration},
		{"--cases none.toml", failure.Failed}, {"--seeds 2 --resume --folder none", failure.Failed}},
	"graft learn":    {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft simulate": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft work":     {{"work", failure.Damaged}, {"none", failure.Failed}},
	"graft compare":  {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft follow": {{"wrong.toml --device cpu", failure.Usage}, {"", failure.Usage},
		{"wrong.toml --join 127.0.0.1:1", failure.Usage}, {"--join 127.0.0.1:1 --token none", failure.Usage},
		{"--join 127.0.0.1:1 --token wrong.toml --wait 1ms", failure.Failed}},
	"graft node simulate": {{"wrong.toml", failure.Configuration}, {"large.toml", failure.Configuration},
		{"none.toml", failure.Failed}, {"--set workload.traces=['wrong.csv']", failure.Configuration},
		{"--set machine.profiles='wrong.csv'", failure.Configuration}, {"--scheduler ./wrong.safetensors",
			failure.Configuration}, {"machine.toml --resume --out run", failure.Damaged}},
	"graft fabric graph": {{"wrong.toml", failure.Configuration}, {"none.json", failure.Failed},
		{"NoNetwork", failure.Configuration}, {"ConvNet --out graph.toml", failure.Usage}},
	"graft fabric step": {{"wrong.toml", failure.Configuration}, {"none.txt", failure.Failed},
		{"ConvNet --degree 3", failure.Usage}, {"ConvNet --shape 2x2", failure.Usage},
		{"ConvNet --bandwidth -1", failure.Usage}, {"ConvNet --quirks odd", failure.Usage}},
	"graft fabric run": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed},
		{"wrong.toml --compat ramp", failure.Usage}, {"--study --graphs .", failure.Usage}, {"--compat ramp --study " +
			"--graphs none", failure.Failed}, {"--compat ramp --study --episode wrong.toml --graphs .", failure.Usage},
		{"--compat ramp --episode wrong.toml --graphs .", failure.Configuration}, {
			"--compat ramp --episode none.json --graphs .", failure.Failed,
		}, {"--episode none.json", failure.Usage}, {"--compat ramp", failure.Usage}, {"--learn ppo", failure.Usage},
		{"--seeds 3", failure.Usage}, {"--compat ramp --study --graphs . --learn luck --out x", failure.Usage},
		{"--compat ramp --study --graphs . --learn ppo", failure.Usage}, {"--compat ramp --study --graphs . --limits E",
			failure.Usage}, {"--compat ramp --study --graphs . --episodes -1", failure.Usage}},
	"graft node run": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed},
		{"machine.toml", failure.Configuration}},
	"graft cluster run": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed},
		{"--trace half.csv --vc-file wrong.csv", failure.Damaged}, {"--trace none.csv --vc-file nodes.csv",
			failure.Failed},
		{"--trace half.csv --vc-file nodes.csv", failure.Damaged}, {
			"--trace right.csv --vc-file nodes.csv --scheduler qssf", failure.Configuration,
		}, {"--trace right.csv --vc-file nodes.csv --scheduler qssf --estimates wrong.csv", failure.Damaged},
		{"--trace right.csv --vc-file nodes.csv --scheduler lucid --estimates exact", failure.Configuration}, {
			"--trace right.csv --data none", failure.Failed,
		}, {"--trace right.csv --vc-file nodes.csv --out run", failure.Usage}},
	"graft cluster application": {{"x run --out a", failure.Damaged}, {"x none --out a", failure.Failed}},
	"graft cluster timeline": {{"wrong.toml --job 1", failure.Configuration}, {
		"--trace right.csv --vc-file nodes.csv --job 2", failure.Failed,
	}, {"--trace right.csv --vc-file nodes.csv --job 1 --out wrong.csv", failure.Usage}},
	"graft demo":       {{"--set x", failure.Configuration}},
	"graft data fetch": {{"nosuch", failure.Usage}},
	"graft config check": {{"wrong.toml", failure.Configuration}, {"large.toml", failure.Configuration},
		{"none.toml", failure.Failed}, {"none.toml wrong.toml", failure.Configuration}},
	"graft config show":    {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft config convert": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft model show": {{"wrong.toml", failure.Configuration}, {"large.toml", failure.Configuration},
		{"none.toml", failure.Failed}},
	"graft model import": {{"wrong.pt2 --out net", failure.Damaged}, {"wrong.onnx --out net", failure.Damaged},
		{"none.pt2 --out net", failure.Failed}, {"wrong.txt --out net", failure.Usage}},
	"graft model forward": {{"wrong.toml --inputs inputs.json", failure.Configuration},
		{"ConvNet2 --weights wrong.pth --inputs inputs.json", failure.Damaged}, {"ConvNet2 --weights " +
			"none.pth --inputs inputs.json", failure.Failed}, {"none --inputs inputs.json", failure.Usage},
		{"ConvNet2 --inputs wrong.json", failure.Configuration}, {"ConvNet2 --inputs none.json", failure.Failed}},
	"graft export": {{"wrong.toml --out a.toml", failure.Configuration}, {
		"ConvNet2 --weights wrong.pth --out a.py", failure.Damaged,
	}, {"ConvNet2 --weights none.pth --out a.py", failure.Failed}, {"none --out a.py", failure.Usage}},
	"graft profile": {{"wrong.toml", failure.Configuration}},
	"graft profile show": {{"wrong.toml", failure.Configuration}, {"large.toml", failure.Configuration},
		{"none.toml", failure.Failed}},
	"graft profile check":   {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft profile predict": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft profile peer":    {},
	"graft profile import": {{"wrong.json ConvNet2", failure.Damaged}, {"none.json ConvNet2", failure.Failed},
		{"wrong.json wrong.toml", failure.Configuration}},
	"graft surgery": {{"--model wrong.toml --action none", failure.Configuration}, {"--model ConvNet2 --weights " +
		"wrong.pth --action deepen:0", failure.Damaged}, {"--model ConvNet2 --replay wrong.json", failure.Damaged},
		{"--model ConvNet2 --replay none.json", failure.Failed}},
	"graft evaluate": {{"--policy wrong.safetensors --table table", failure.Damaged},
		{"--policy right --table table", failure.Damaged}, {"--policy none --table none", failure.Failed}},
	"graft vocab build": {{"wrong.toml --out v", failure.Configuration}},
	"graft vocab show": {{"vocabulary.json", failure.Damaged}, {"names.ids.pkl", failure.Damaged},
		{"none", failure.Failed}},
	"graft vocab check": {{"vocabulary.json", failure.Damaged}, {"none", failure.Failed}},
	"graft table show": {{"table", failure.Damaged}, {"wrong.pkl --network ConvNet2 --dataset x", failure.Damaged},
		{"wrong.pkl", failure.Usage}, {"none", failure.Failed}},
	"graft table check": {{"table", failure.Damaged}, {"original", failure.Configuration}, {"bare", failure.Usage},
		{"none", failure.Failed}, {"none table", failure.Damaged}},
	"graft table convert": {{"table --out t", failure.Damaged},
		{"wrong.pkl --network ConvNet2 --dataset x --out t", failure.Damaged}, {"none --out t", failure.Failed}},
	"graft trace describe": {{"wrong.csv", failure.Damaged}, {"half.csv", failure.Partial},
		{"none.csv", failure.Failed}, {"half.csv --vc-file wrong.csv", failure.Damaged},
		{"half.csv --vc-file none.csv", failure.Failed}, {"half.csv --from nosuch", failure.Usage}},
	"graft trace convert": {{"wrong.csv to.csv --to graft", failure.Damaged},
		{"half.csv to.csv --to graft", failure.Damaged}, {"none.csv to.csv --to graft", failure.Failed},
		{"half.csv wrong.csv --to graft", failure.Usage}, {"half.csv to.csv --to philly", failure.Usage}},
	"graft trace generate": {{"wrong.csv", failure.Usage}, {"none/to.csv", failure.Failed},
		{"to.csv --vc-file-out wrong.csv", failure.Usage}},
	"graft cluster curves": {{"table --out curves.json", failure.Damaged}, {"none --out curves.json", failure.Failed}},
	"graft trace failures": {{"wrong.json", failure.Damaged}, {"none.json", failure.Failed}},
	"graft weights show": {{"wrong.pth", failure.Damaged}, {"wrong.safetensors", failure.Damaged},
		{"none.pth", failure.Failed}},
	"graft weights convert": {{"wrong.pth to.safetensors", failure.Damaged},
		{"none.pth to.safetensors", failure.Failed}},
	"graft man":            {{"wrong.toml", failure.Failed}},
	"graft fleet attach":   {{"work", failure.Damaged}, {"none", failure.Failed}},
	"graft fleet status":   {{"work", failure.Damaged}, {"none", failure.Failed}},
	"graft fleet logs":     {{"work", failure.Failed}, {"none", failure.Failed}},
	"graft fleet cancel":   {{"work", failure.Failed}, {"none", failure.Failed}},
	"graft fleet manifest": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft pipeline":       {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft report":         {{"run", failure.Damaged}, {"none", failure.Failed}},
	"graft plot":           {{"run", failure.Damaged}, {"none", failure.Failed}},
	"graft serve":          {{"wrong.toml", failure.Failed}, {"none", failure.Failed}},
	"graft cluster estimate": {{"--trace wrong.csv --out to.csv", failure.Damaged}, {
		"--trace half.csv --out to.csv", failure.Damaged,
	}, {"--trace none.csv --out to.csv", failure.Failed}, {"--trace right.csv --out wrong.csv", failure.Usage},
		{"--trace right.csv --out to.csv", failure.Usage}, {"--trace right.csv --start 2020-04-01 --out none/to.csv",
			failure.Failed}, {"--trace right.csv --start 2020-04-01 --history wrong.csv --out to.csv", failure.Damaged},
		{"--trace right.csv --start 2020-04-01 --out blind.csv --model to.json", failure.Partial}},
	"graft cluster forecast": {{"--trace wrong.csv --out to.csv", failure.Damaged}, {
		"--trace none.csv --out to.csv", failure.Failed,
	}, {"--ticks wrong.csv --out to.csv", failure.Damaged}, {"--ticks none.csv --out to.csv", failure.Failed},
		{"--ticks wrong.csv --trace right.csv --out to.csv", failure.Usage}, {
			"--trace right.csv --start 2020-04-01 --out wrong.csv", failure.Usage,
		}, {"--trace right.csv --start 2020-04-01 --from 2020-04-02 --out to.csv", failure.Failed},
		{"--trace right.csv --start 2020-04-01 --out alike.csv --models models", failure.Partial}},
	"graft node devices": {{"--smi wrong.csv", failure.Damaged}, {"--smi none.csv", failure.Failed}},
	"graft node profile": {{"wrong.toml", failure.Configuration}, {"none.toml", failure.Failed}},
	"graft cluster shapes": {{"wrong.json", failure.Damaged}, {"none.json", failure.Failed},
		{"wrong.toml", failure.Damaged}},
}

// readNothing holds the commands that read no file.
var readNothing = map[string]bool{"graft version": true, "graft help": true, "graft model list": true,
	"graft list":          true,
	"graft config schema": true, "graft doctor": true, "graft completion": true, "graft node guard": true,
	"graft trial": true}

// Every command that reads a file reports an invalid file with the right exit code.
func TestWrongFilesHaveTheirCode(t *testing.T) {
	wrongFiles(t)
	walk(newRootCommand(), func(command *cobra.Command) {
		path := command.CommandPath()
		cases, known := onWrongFiles[path]
		require.True(t, known || readNothing[path] || command.HasSubCommands(),
			"%s: say in onWrongFiles what it does with a wrong file", path)
		for _, c := range cases {
			args := append(strings.Fields(path)[1:], strings.Fields(c.args)...)
			fails(t, c.code, "graft: ", append(args, "--quiet")...)
		}
	})
}

// A command that gets a file of another kind names the right command.
func TestFilesOfOtherCommands(t *testing.T) {
	wrongFiles(t)
	for _, line := range []string{"train", "compare", "learn", "pipeline", "cluster run", "node simulate", "node run",
		"model show", "profile show", "cluster timeline --job 1"} {
		got := fails(t, failure.Configuration, "graft: ", append(strings.Fields(line), "scenario.toml", "--quiet")...)
		require.Contains(t, got.stderr, "use 'graft simulate'", line)
	}
	for _, line := range []string{"train", "simulate", "compare", "learn", "cluster run", "fleet manifest"} {
		got := fails(t, failure.Configuration, "graft: ", append(strings.Fields(line), "pipeline.toml", "--quiet")...)
		require.Contains(t, got.stderr, "use 'graft pipeline'", line)
	}
	got := fails(t, failure.Configuration, "graft: ", "learn", "job.toml", "--quiet")
	require.Contains(t, got.stderr, "use 'graft train'")
}

// A failure never exits with the code of success.
func TestAFailureIsNoSuccess(t *testing.T) {
	for _, row := range exitTable {
		got := call(context.Background(), rootThat(failure.With(row.code, os.ErrNotExist)), "act")
		require.NotEqual(t, failure.Done, got.code, row.kind)
	}
}
