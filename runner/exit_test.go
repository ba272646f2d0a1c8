package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// The page about exit codes is the table of the program.
func TestThePageAboutExitCodes(t *testing.T) {
	page, err := os.ReadFile("../docs/exit-codes.md")
	require.NoError(t, err)
	for _, row := range exitTable {
		require.Contains(t, string(page), fmt.Sprintf("| %d | %s | %s |\n", row.code, row.kind, row.meaning))
	}
	require.Equal(t, len(exitTable), strings.Count(string(page), "\n| ")-2)
}

// wrongFiles makes files that are none of what they are called, in the folder that the
// test is in then.
func wrongFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"wrong.toml": "x", "wrong.pth": "garbage", "wrong.safetensors": "garbage", "wrong.pkl": "garbage", "wrong.json": "{",
		"vocabulary.json": "{", "names.ids.pkl": "g", "table/scenario.json": "{", "work/grid.json": "{", "run/manifest.json": "{",
		"original/data.pkl": "garbage", "bare/data.pkl": "garbage", "original/config.toml": "[nothing]", "wrong.csv": "a,b\n", "right.csv": "job_id,gpu_num,submit_time,duration,vc\n1,1,0,5,a\n", "nodes.csv": ",num\na,1\n", "half.csv": "job_id,gpu_num,submit_time,duration\n1,1,0,5\n2,x,0,5\n", "right/policy.safetensors": "garbage", "large.toml": "#" + strings.Repeat("x", 5<<20),
		"images/a/a.png": "garbage", "images/a/b.png": "", "images/a/c.png": "", "images/b/a.png": "", "images/b/b.png": "", "images/b/c.png": "",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

// onWrongFiles is how each command takes a file that is wrong, and one that is missing.
// Configuration is what people write; damage is what programs wrote.
var onWrongFiles = map[string][]struct {
	args string // after the command
	code exitCode
}{
	"graft train":    {{"wrong.toml", exitConfig}, {"large.toml", exitConfig}, {"none.toml", exitFailed}, {"--set data.kind=folder --set data.path=images", exitDamaged}, {"--resume --folder run", exitDamaged}, {"--resume --folder none", exitFailed}},
	"graft learn":    {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft simulate": {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft work":     {{"work", exitDamaged}, {"none", exitFailed}},
	"graft follow":   {{"wrong.toml --device cpu", exitUsage}},
	"graft cluster run": {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}, {"--trace half.csv --nodes wrong.csv", exitDamaged}, {"--trace none.csv --nodes nodes.csv", exitFailed},
		{"--trace half.csv --nodes nodes.csv", exitDamaged}, {"--trace right.csv --nodes nodes.csv --scheduler qssf", exitUsage}, {"--trace right.csv --nodes nodes.csv --scheduler qssf --estimates wrong.csv", exitDamaged},
		{"--trace right.csv --nodes nodes.csv --scheduler lucid --estimates exact", exitUsage}, {"--trace right.csv --data none", exitFailed}, {"--trace right.csv --nodes nodes.csv --out run", exitFailed}},
	"graft cluster timeline": {{"wrong.toml --job 1", exitConfig}, {"--trace right.csv --nodes nodes.csv --job 2", exitFailed}, {"--trace right.csv --nodes nodes.csv --job 1 --out wrong.csv", exitUsage}},
	"graft demo":             {{"--set x", exitConfig}},
	"graft data fetch":       {{"nosuch", exitUsage}},
	"graft config check":     {{"wrong.toml", exitConfig}, {"large.toml", exitConfig}, {"none.toml", exitFailed}, {"none.toml wrong.toml", exitConfig}},
	"graft config show":      {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft config convert":   {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft model show":       {{"wrong.toml", exitConfig}, {"large.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft profile":          {{"wrong.toml", exitConfig}},
	"graft profile show":     {{"wrong.toml", exitConfig}, {"large.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft profile check":    {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft surgery":          {{"--model wrong.toml --action none", exitConfig}, {"--model ConvNet2 --weights wrong.pth --action deepen:0", exitDamaged}, {"--model ConvNet2 --replay wrong.json", exitDamaged}, {"--model ConvNet2 --replay none.json", exitFailed}},
	"graft evaluate":         {{"--policy wrong.safetensors --table table", exitDamaged}, {"--policy right --table table", exitDamaged}, {"--policy none --table none", exitFailed}},
	"graft vocab build":      {{"wrong.toml --out v", exitConfig}},
	"graft vocab show":       {{"vocabulary.json", exitDamaged}, {"names.ids.pkl", exitDamaged}, {"none", exitFailed}},
	"graft vocab check":      {{"vocabulary.json", exitDamaged}, {"none", exitFailed}},
	"graft table show":       {{"table", exitDamaged}, {"wrong.pkl --network ConvNet2 --dataset x", exitDamaged}, {"wrong.pkl", exitUsage}, {"none", exitFailed}},
	"graft table check":      {{"table", exitDamaged}, {"original", exitConfig}, {"bare", exitUsage}, {"none", exitFailed}, {"none table", exitDamaged}},
	"graft table convert":    {{"table --out t", exitDamaged}, {"wrong.pkl --network ConvNet2 --dataset x --out t", exitDamaged}, {"none --out t", exitFailed}},
	"graft trace info":       {{"wrong.csv", exitDamaged}, {"half.csv", exitPartial}, {"none.csv", exitFailed}, {"half.csv --nodes wrong.csv", exitDamaged}, {"half.csv --nodes none.csv", exitFailed}, {"half.csv --from nosuch", exitUsage}},
	"graft trace convert":    {{"wrong.csv to.csv --to graft", exitDamaged}, {"half.csv to.csv --to graft", exitDamaged}, {"none.csv to.csv --to graft", exitFailed}, {"half.csv wrong.csv --to graft", exitUsage}, {"half.csv to.csv --to philly", exitUsage}},
	"graft trace generate":   {{"wrong.csv", exitUsage}, {"none/to.csv", exitFailed}, {"to.csv --nodes-out wrong.csv", exitUsage}},
	"graft weights show":     {{"wrong.pth", exitDamaged}, {"wrong.safetensors", exitDamaged}, {"none.pth", exitFailed}},
	"graft weights convert":  {{"wrong.pth to.safetensors", exitDamaged}, {"none.pth to.safetensors", exitFailed}},
	"graft man":              {{"wrong.toml", exitFailed}},
	"graft fleet attach":     {{"work", exitDamaged}, {"none", exitFailed}},
	"graft fleet status":     {{"work", exitDamaged}, {"none", exitFailed}},
	"graft fleet logs":       {{"work", exitFailed}, {"none", exitFailed}},
	"graft fleet cancel":     {{"work", exitFailed}, {"none", exitFailed}},
	"graft fleet manifest":   {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft pipeline":         {{"wrong.toml", exitConfig}, {"none.toml", exitFailed}},
	"graft report":           {{"run", exitDamaged}, {"none", exitFailed}},
	"graft plot":             {{"run", exitDamaged}, {"none", exitFailed}},
	"graft serve":            {{"wrong.toml", exitFailed}, {"none", exitFailed}},
	"graft cluster estimate": {{"--trace wrong.csv --out to.csv", exitDamaged}, {"--trace half.csv --out to.csv", exitDamaged}, {"--trace none.csv --out to.csv", exitFailed}, {"--trace right.csv --out wrong.csv", exitUsage},
		{"--trace right.csv --out to.csv", exitUsage}, {"--trace right.csv --start 2020-04-01 --out none/to.csv", exitFailed}, {"--trace right.csv --start 2020-04-01 --history wrong.csv --out to.csv", exitDamaged},
		{"--trace right.csv --start 2020-04-01 --out blind.csv --model to.json", exitPartial}},
	"graft cluster forecast": {{"--trace wrong.csv --out to.csv", exitDamaged}, {"--trace none.csv --out to.csv", exitFailed}, {"--ticks wrong.csv --out to.csv", exitDamaged}, {"--ticks none.csv --out to.csv", exitFailed},
		{"--ticks wrong.csv --trace right.csv --out to.csv", exitUsage}, {"--trace right.csv --start 2020-04-01 --out wrong.csv", exitUsage}, {"--trace right.csv --start 2020-04-01 --from 2020-04-02 --out to.csv", exitFailed},
		{"--trace right.csv --start 2020-04-01 --out alike.csv --models models", exitPartial}},
	"graft cluster shapes": {{"wrong.json", exitDamaged}, {"none.json", exitFailed}, {"wrong.toml", exitDamaged}},
}

// readNothing are the commands that read no file.
var readNothing = map[string]bool{"graft version": true, "graft help": true, "graft model list": true, "graft config schema": true, "graft doctor": true, "graft completion": true}

// Every command that can be given a wrong file leaves with the code that says so.
func TestWrongFilesHaveTheirCode(t *testing.T) {
	wrongFiles(t)
	walk(newRootCommand(), func(command *cobra.Command) {
		path := command.CommandPath()
		cases, known := onWrongFiles[path]
		require.True(t, known || readNothing[path] || command.HasSubCommands(), "%s: say in onWrongFiles what it does with a wrong file", path)
		for _, c := range cases {
			args := append(strings.Fields(path)[1:], strings.Fields(c.args)...)
			got := graft(append(args, "--quiet")...)
			require.Equal(t, c.code, got.code, "graft %s\n%s", strings.Join(args, " "), got.stderr)
			require.Contains(t, got.stderr, "graft: ", args)
		}
	})
}

// A failure is never called done.
func TestAFailureIsNoSuccess(t *testing.T) {
	for _, row := range exitTable {
		got := call(context.Background(), rootThat(withCode(row.code, os.ErrNotExist)), "act")
		require.NotEqual(t, exitDone, got.code, row.kind)
	}
}
