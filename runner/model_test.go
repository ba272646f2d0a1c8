package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/runner/app"
	"graft/runner/describe"
	"graft/runner/export"
)

const branchesFile = "testdata/model/branches.toml"

func TestModelScreensAreTheGoldenOnes(t *testing.T) {
	goldenScreens(t, "model", "model", "", map[string]goldenCall{
		"list.txt":       {args: "list"},
		"list.json":      {args: "list --json"},
		"ConvNet2.txt":   {args: "show ConvNet2"},
		"ResNet.txt":     {args: "show CIFARResNet20 --input 3x16x16 --classes 5"},
		"SmallLLaMA.txt": {args: "show SmallLLaMA"},
		"branches.txt":   {args: "show " + branchesFile},
		"branches.json":  {args: "show --json " + branchesFile},
		"written.toml":   {args: "show --toml " + branchesFile},
	})
}

func TestModelShowDescribesEveryNetworkOfTheZoo(t *testing.T) {
	for _, e := range model.ZooEntries() {
		if e.IsGraph() {
			continue // the golden screens cover one
		}
		report := decoded[describe.Network](t, done(t, "model", "show", e.Name, "--json").stdout)
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
	printed := done(t, "model", "show", "ConvNet2", "--svg", "-")
	assert.True(t, strings.HasPrefix(printed.stdout, "<svg "))
	for range 2 { // the second replaces the first
		assert.Equal(t, outcome{stdout: "wrote " + path + ": ConvNet2, 11 layers\n"},
			graft("model", "show", "ConvNet2", "--svg", path))
	}
	written := contents(t, path)
	assert.Equal(t, printed.stdout, written)
}

func TestModelShowSaysWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	faulty := write(t, filepath.Join(folder, "faulty.toml"), "input = 3\n")
	allFail(t, "model show", map[string]wrongCall{
		"a name with a typing error": {[]string{"Convnet2"}, failure.Usage, "did you mean ConvNet2?"},
		"a shape that is none":       {[]string{"ConvNet2", "--input", "3x"}, failure.Usage, `"3x" is not a shape`},
		"an input that is too small": {[]string{"ConvNet2", "--input", "3x4x4"}, failure.Usage, "larger than its"},
		"no classes":                 {[]string{"ConvNet2", "--classes", "-1"}, failure.Usage, "at least 1"},
		"classes of a file": {[]string{branchesFile, "--classes", "3"}, failure.Usage,
			"applies only to networks from the zoo"},
		"an input that does not fit a file": {[]string{branchesFile, "--input", "4x16x16"}, failure.Usage,
			"does not accept inputs of shape 4x16x16"},
		"a file that is not there": {[]string{filepath.Join(folder, "none.toml")}, failure.Failed, "no such file"},
		"a file with faults":       {[]string{faulty}, failure.Configuration, "faulty.toml:1"},
		"a drawing that would replace a net": {[]string{branchesFile, "--svg", branchesFile}, failure.Usage,
			"ends in .svg"},
		"a drawing in no folder": {[]string{"ConvNet2", "--svg", filepath.Join(folder, "none", "a.svg")},
			failure.Failed, "create it"},
		"two forms at once": {[]string{"ConvNet2", "--toml", "--svg", "-"}, failure.Usage, "none of the others"},
		"two networks":      {[]string{"ConvNet2", "ConvNet"}, failure.Usage, "accepts 1 arg"},
	})
}

func TestLoadNetworkGivesAFileAnotherInput(t *testing.T) {
	n, err := app.LoadNetwork(files.OS{}, branchesFile, model.Shape{3, 8, 8}, 0)
	require.NoError(t, err)
	assert.Equal(t, model.Shape{3, 8, 8}, n.Input)
	again := filepath.Join(t.TempDir(), "net.JSON")
	require.NoError(t, config.WriteNetwork(files.OS{}, again, n))
	read, err := app.LoadNetwork(files.OS{}, again, nil, 0)
	require.NoError(t, err)
	assert.Equal(t, n.String(), read.String())
	assert.Equal(t, n.Input, read.Input)
}

func TestNamesCannotMoveTheCursor(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "net.json"),
		`{"name": "a\u001b[2Jb", "input": [4], "layers": [{"name": "c\u001b", "layer": "ReLU()"}]}`)
	got := done(t, "model", "show", path)
	assert.NotContains(t, got.stdout, "\x1b")
}

func TestSizesAreShort(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 115200: "112.5 KiB",
		3 << 30: "3 GiB"} {
		assert.Equal(t, want, bytesText(n))
	}
}

// The outputs of an exported network are the same from the run, from its files, and for each form of inputs. Errors
// state the expected form.
func TestModelForward(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	done(t, brief(folder)...)
	inputs := filepath.Join(t.TempDir(), "in.json")
	var values []string
	for k := range 2 * 3 * 16 * 16 {
		values = append(values, fmt.Sprint(float64(k%17)/8-1))
	}
	given := func(shape, values string) {
		write(t, inputs, fmt.Sprintf(`{"inputs": [{"shape": %s, "values": [%s]}]}`, shape, values))
	}
	given("[2, 3, 16, 16]", strings.Join(values, ", "))
	forward := func(args ...string) (r export.ForwardReport) {
		require.NoError(t, json.Unmarshal([]byte(done(t,
			append([]string{"model", "forward", "--inputs", inputs, "--json"}, args...)...).stdout), &r))
		return r
	}
	r := forward(folder)
	require.Equal(t, []int{2, 3}, r.Shape)
	require.Len(t, r.Logits, 6)
	network, weights := filepath.Join(folder, "network.toml"), filepath.Join(folder, "weights.safetensors")
	require.Equal(t, r.Logits, forward(network, "--weights", weights).Logits)
	require.Regexp(t, `^example  DISC OF ROWS .*\n +0 +-?[0-9.]+`,
		done(t, "model", "forward", folder, "--inputs", inputs).stdout)

	fails(t, failure.Usage, "has no trained weights", "model", "forward", network, "--inputs", inputs)
	given("[2, 3, 8, 8]", strings.Join(values[:2*3*64], ", "))
	fails(t, failure.Usage, "expects a batch of", "model", "forward", folder, "--inputs", inputs)
	given("[2, 3, 16, 16]", "1, 2")
	fails(t, failure.Configuration, "needs 1536 values, got 2", "model", "forward", folder, "--inputs", inputs)
	for value, says := range map[string]string{
		"null":   "value 1 of the inputs is null; expected a number",
		"1e39":   "value 1 of the inputs is 1e39; expected a number between -3.4e+38 and 3.4e+38",
		"[2, 3]": "value 1 of the inputs is [2; expected a number",
		`"2"`:    `value 1 of the inputs is "2"; expected a number`,
	} {
		given("[2, 3, 16, 16]", "1, "+value)
		fails(t, failure.Configuration, says, "model", "forward", folder, "--inputs", inputs)
	}
	write(t, inputs, "{\"inputs\": [{\"shape\": [1], \"values\": [1],\n \"Values\": [2]}]}")
	fails(t, failure.Configuration, `line 2: the key "Values" is given twice`, "model", "forward", folder,
		"--inputs", inputs)
	given("[2, 3, 16, 16]", strings.Repeat("1e38, ", len(values)-1)+"1e38")
	fails(t, failure.Failed, "the network's outputs are not finite: output 0 is", "model", "forward", folder, "--json",
		"--inputs", inputs)
	write(t, inputs, `{"inputs": []}`)
	fails(t, failure.Configuration, "expected 1 input, got 0", "model", "forward", folder,
		"--inputs", inputs)
	write(t, inputs, `[]`)
	fails(t, failure.Configuration, "expected an object with the key inputs", "model", "forward", folder,
		"--inputs", inputs)
}
