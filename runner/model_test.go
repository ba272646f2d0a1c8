package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/files"
	"graft/model"
	"graft/results/failure"
	"graft/work"
	"graft/work/describe"
)

var updateGolden = flag.Bool("update", false, "write the golden screens again")

const branchesFile = "testdata/model/branches.toml"

func TestModelScreensAreTheGoldenOnes(t *testing.T) {
	for name, args := range map[string][]string{
		"list.txt":      {"list"},
		"list.json":     {"list", "--json"},
		"ConvNet2.txt":  {"show", "ConvNet2"},
		"ResNet.txt":    {"show", "CIFARResNet20", "--input", "3x16x16", "--classes", "5"},
		"branches.txt":  {"show", branchesFile},
		"branches.json": {"show", branchesFile, "--json"},
		"written.toml":  {"show", branchesFile, "--toml"},
	} {
		t.Run(name, func(t *testing.T) {
			got := graft(append([]string{"model"}, args...)...)
			require.Equal(t, failure.Done, got.code, got.stderr)
			path := filepath.Join("testdata/model", name)
			if *updateGolden {
				require.NoError(t, os.WriteFile(path, []byte(got.stdout), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), got.stdout, "look at the screen, then write it again with -update")
		})
	}
}

func TestModelShowDescribesEveryNetworkOfTheZoo(t *testing.T) {
	for _, e := range model.ZooEntries() {
		got := graft("model", "show", e.Name, "--json")
		require.Equal(t, failure.Done, got.code, got.stderr)
		var report describe.Network
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
		n, err := model.Zoo(e.Name, model.ZooOptions{})
		require.NoError(t, err)
		assert.Equal(t, n.Parameters(), report.Totals.Parameters, e.Name)
		assert.Equal(t, model.Shape{e.Classes}, report.Output, e.Name)
		assert.Equal(t, n.String(), report.Print, e.Name)
		for _, l := range report.Layers {
			channels := 0
			for _, part := range l.Spaces {
				channels += part.Channels
			}
			assert.Equal(t, l.Output[0], channels, "%s: the spaces of %s make up its output", e.Name, l.Path)
			if l.Block != nil {
				assert.Contains(t, report.Blocks[*l.Block].Layers, l.Path)
			}
		}
	}
}

func TestModelShowDraws(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.svg")
	printed := graft("model", "show", "ConvNet2", "--svg", "-")
	require.Equal(t, failure.Done, printed.code)
	assert.True(t, strings.HasPrefix(printed.stdout, "<svg "))
	for range 2 { // the second replaces the first
		assert.Equal(t, outcome{stdout: "wrote " + path + ": ConvNet2, 11 layers\n"}, graft("model", "show", "ConvNet2", "--svg", path))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, printed.stdout, string(written))
}

func TestModelShowReadsWhatItPrints(t *testing.T) {
	for _, e := range model.ZooEntries() {
		path := filepath.Join(t.TempDir(), "net.toml")
		require.NoError(t, os.WriteFile(path, []byte(graft("model", "show", e.Name, "--toml").stdout), 0o644))
		assert.Equal(t, graft("model", "show", e.Name).stdout, graft("model", "show", path).stdout, e.Name)
	}
}

func TestModelShowSaysWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	faulty := filepath.Join(folder, "faulty.toml")
	require.NoError(t, os.WriteFile(faulty, []byte("input = 3\n"), 0o644))
	cases := map[string]struct {
		args []string
		code failure.Code
		says string
	}{
		"a name with a typing error":         {[]string{"Convnet2"}, failure.Usage, "did you mean ConvNet2?"},
		"a shape that is none":               {[]string{"ConvNet2", "--input", "3x"}, failure.Usage, `"3x" is no shape`},
		"an input that is too small":         {[]string{"ConvNet2", "--input", "3x4x4"}, failure.Usage, "larger than its"},
		"no classes":                         {[]string{"ConvNet2", "--classes", "-1"}, failure.Usage, "at least 1"},
		"classes of a file":                  {[]string{branchesFile, "--classes", "3"}, failure.Usage, "for networks of the zoo"},
		"an input that does not fit a file":  {[]string{branchesFile, "--input", "4x16x16"}, failure.Usage, "does not fit inputs of 4x16x16"},
		"a file that is not there":           {[]string{filepath.Join(folder, "none.toml")}, failure.Failed, "no such file"},
		"a file with faults":                 {[]string{faulty}, failure.Configuration, "faulty.toml:1"},
		"a drawing that would replace a net": {[]string{branchesFile, "--svg", branchesFile}, failure.Usage, "ends in .svg"},
		"a drawing in no folder":             {[]string{"ConvNet2", "--svg", filepath.Join(folder, "none", "a.svg")}, failure.Failed, "no such file"},
		"two forms at once":                  {[]string{"ConvNet2", "--toml", "--svg", "-"}, failure.Usage, "none of the others"},
		"two networks":                       {[]string{"ConvNet2", "ConvNet"}, failure.Usage, "accepts 1 arg"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := graft(append([]string{"model", "show"}, c.args...)...)
			assert.Equal(t, c.code, got.code)
			assert.Empty(t, got.stdout)
			assert.Contains(t, got.stderr, c.says)
		})
	}
}

func TestLoadNetworkGivesAFileAnotherInput(t *testing.T) {
	n, err := work.LoadNetwork(files.OS{}, branchesFile, model.Shape{3, 8, 8}, 0)
	require.NoError(t, err)
	assert.Equal(t, model.Shape{3, 8, 8}, n.Input)
	again := filepath.Join(t.TempDir(), "net.JSON")
	require.NoError(t, config.WriteNetwork(files.OS{}, again, n))
	read, err := work.LoadNetwork(files.OS{}, again, nil, 0)
	require.NoError(t, err)
	assert.Equal(t, n.String(), read.String())
	assert.Equal(t, n.Input, read.Input)
}

func TestNamesCannotMoveTheCursor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "net.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"name": "a\u001b[2Jb", "input": [4], "layers": [{"name": "c\u001b", "layer": "ReLU()"}]}`), 0o644))
	got := graft("model", "show", path)
	require.Equal(t, failure.Done, got.code, got.stderr)
	assert.NotContains(t, got.stdout, "\x1b")
}

func TestSizesAreShort(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 115200: "112.5 KiB", 3 << 30: "3 GiB"} {
		assert.Equal(t, want, bytesText(n))
	}
}
