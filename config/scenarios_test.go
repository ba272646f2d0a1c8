package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// The files of scenarios are generated from their differences.
//
//go:generate go test -run TestScenarioFilesAreGenerated -update .

// arrivals holds the arrival times of devices, in seconds of the budget.
var arrivals = []struct {
	name    string
	seconds int
}{{"early", 70}, {"early-middle", 140}, {"middle", 200}, {"middle-late", 270}, {"late", 330}}

// madeScenario is a generated file.
type madeScenario struct{ path, text string }

// originalScenario returns one of the ten simulations of the original system. It writes the keys that ConvertLegacy
// writes, except defaults.
func originalScenario(network int, name string, seconds int) madeScenario {
	run := strings.ReplaceAll(name, "-", "_") + strconv.Itoa(network)
	return madeScenario{fmt.Sprintf("original/simulation_%s.toml", run), fmt.Sprintf(
		`# The original system's simulation of ConvNet%[1]d: devices after %[2]d s of 400 s, 64 sequences of 3 decisions.
# The original started from weights trained for these %[2]d s. graft trains them first, once for all sequences. To use
# other weights, uncomment weights and reset_epochs, and add start = "%[2]ds" to the section time.
[run]
seed = 42
[network]
name = "ConvNet%[1]d"
# weights = "results/small_%[3]s/weights.pth"
# reset_epochs = true  # counts epochs from zero, as the original did
[data]
kind = "cifar10"
path = "data"  # folder with CIFAR-10's files
test_as_validation = true
mean = [0.5]
deviation = [0.5]
[time]
budget = "400s"
profile = "v100-original"
events = [{at = "%[2]ds", change = "up"}]
[train]
eval_batch = 64
exact = true
abandon = true
overrun = true
[schedule]
rule = "exponential"
restart = "never"
min_lr = 9.120344560464503e-09
[distill]
off = true
[adapt]
each_epoch = true        # decides at the start of each epoch
max_decisions = 1000000  # the original had no limit; after three decisions, it changed nothing more
reset = true             # new optimizer and first learning rate after each decision
compat = "original"
[simulate]
actions = ["deepen:0", "deepen:1", "deepen:2", "none"]
decisions = 3
`, network, seconds, run)}
}

// cifarNetwork is a network of the scenarios on CIFAR-10, with the options that its scenarios share.
type cifarNetwork struct {
	name    string
	time    string // lines of the section time
	more    string // further sections
	choices []cifarChoice
}

// cifarChoice describes the actions that every decision chooses from.
type cifarChoice struct {
	name, about string
	sequences   int
	lines       string // lines of the section simulate
}

// convNets lists its choices by name, since new blocks would offer more.
func convNets() (networks []cifarNetwork) {
	for _, n := range []struct {
		name   string
		widths string
	}{{"ConvNet2", `"widen:conv1.layers.0:48", "widen:conv2.layers.0:48"`},
		{"ConvNet3", `"widen:conv1.layers.0:96", "widen:conv2.layers.0:48"`}} {
		const deepen = `"deepen:conv1", "deepen:conv2", "deepen:fc"`
		networks = append(networks, cifarNetwork{name: n.name,
			time: "profile = \"v100-original\"  # an epoch takes about 10 s: 40 epochs\n",
			choices: []cifarChoice{
				{"deepen", "deepens a block or changes nothing", 64, "actions = [" + deepen + ", \"none\"]\n"},
				{"deepen-widen", "deepens a block, widens a convolution by half, unless it " +
					"was widened before, or changes nothing", 156,
					"actions = [" + deepen + ", " + n.widths + ", \"none\"]\n"}}})
	}
	return networks
}

// resNet names or samples its choices, since there are many.
func resNet() cifarNetwork {
	const deepen = `"deepen:layer1.2.conv2", "deepen:layer2.2.conv2", "deepen:layer3.2.conv2"`
	return cifarNetwork{name: "CIFARResNet20",
		time: "profile = \"round-gpu\"  # v100-original has only small networks; an " +
			"epoch takes about 10 s: 40 epochs\n",
		more: "[train]\nbatch = 128\n[optimizer]\nlr = 0.003\n[augment]\npad = 4\nflip = true\n",
		choices: []cifarChoice{
			{"deepen", "deepens the end of one of the three stages or changes nothing", 64,
				"actions = [" + deepen + ", \"none\"]\n"},
			{"deepen-widen", "deepens the end of a stage, widens a stage by half, or changes nothing", 128,
				"actions = [" + deepen + ",\n  \"widen:layer1.2.conv1:24\", \"widen:layer2.2.conv1:48\", " +
					"\"widen:layer3.2.conv1:96\", \"none\"]\n" +
					"design = \"sample\"  # of 286\nmax_sequences = 128\n"}}}
}

// cifarScenario returns a scenario of a network, its choices and the arrival time of devices.
func cifarScenario(n cifarNetwork, c cifarChoice, name string, seconds int) madeScenario {
	return madeScenario{fmt.Sprintf("cifar10/%s-%s-%s.toml", strings.ToLower(n.name), name, c.name),
		fmt.Sprintf("# %s on CIFAR-10, with more devices after %d s of 400 s. Every decision\n"+
			"# %s. %d sequences of 3 decisions.\n", n.name, seconds, c.about, c.sequences) +
			fmt.Sprintf("[network]\nname = %q\n[data]\nkind = \"cifar10\"\n"+
				"path = \"data\"  # folder with CIFAR-10's files\n", n.name) +
			fmt.Sprintf("[time]\nbudget = \"400s\"\n%sevents = [{at = \"%ds\", change = \"up\"}]\n", n.time, seconds) +
			n.more + "[adapt]\neach_epoch = true  # decides at the start of the next three epochs\n" +
			"[simulate]\n" + c.lines}
}

// smallScenario returns a scenario that takes seconds on a laptop. Its network is so small that growing helps.
func smallScenario(name string, milliseconds int) madeScenario {
	return madeScenario{fmt.Sprintf("small/small-%s.toml", name),
		fmt.Sprintf(`# A tiny network on synthetic images, with more devices after %[1]d ms of 2 s. Every decision deepens
# one of two blocks or changes nothing. 27 sequences of 3 decisions, in seconds on a laptop.
[network]
file = "scenarios/small/tiny.json"  # relative to the working directory
[data]
validation_share = 0.5
synthetic = {train = 1000, test = 200, size = 16, channels = 1, classes = 4, noise = 10}
[time]
budget = "2s"  # on the clock steady; a step takes about 10 ms
events = [{at = "%[1]dms", change = "up"}]
[train]
batch = 32
[optimizer]
lr = 0.02
[adapt]
each_epoch = true
[simulate]
actions = ["deepen:conv1", "deepen:conv2", "none"]
`, milliseconds)}
}

// scenarioFiles returns all generated scenarios.
func scenarioFiles() (all []madeScenario) {
	for _, a := range arrivals {
		for _, n := range []int{2, 3} {
			all = append(all, originalScenario(n, a.name, a.seconds))
		}
		for _, n := range append(convNets(), resNet()) {
			for _, c := range n.choices {
				all = append(all, cifarScenario(n, c, a.name, a.seconds))
			}
		}
	}
	for k, name := range []string{"early", "middle", "late"} {
		all = append(all, smallScenario(name, 300+400*k))
	}
	return all
}

func TestScenarioFilesAreGenerated(t *testing.T) {
	all := scenarioFiles()
	assert.Len(t, all, 43)
	known := map[string]bool{}
	for _, f := range all {
		golden(t, filepath.Join("..", "scenarios", f.path), f.text)
		known[f.path] = true
		assert.LessOrEqual(t, strings.Count(f.text, "\n"), 40, f.path)
	}
	found := must(filepath.Glob("../scenarios/*/*.toml"))
	for _, path := range found {
		there := must(filepath.Rel("../scenarios", path))
		made := []string{"adaptive", "dl2", "fabric", "growing", "live", "node", "profiles", "program",
			"types"} // written by hand
		assert.True(t, known[filepath.ToSlash(there)] || slices.Contains(made, filepath.Dir(there)),
			"%s is generated no more; delete it", path)
	}
}

var saidSequences = regexp.MustCompile(`\b(\d+) sequences of (\d) decisions`)

// Every scenario file is valid, and its comment states the right number of sequences.
func TestScenarioFilesAreRight(t *testing.T) {
	t.Chdir("..")
	sizes := map[string]int{} // numbers of sequences by tree; scenarios that differ only in arrival share a tree
	for _, f := range scenarioFiles() {
		path := filepath.Join("scenarios", filepath.FromSlash(f.path))
		m := must(ReadSimulation(files.OS{}, path, nil))
		tree := fmt.Sprint(m.Network, m.Simulate.Actions, m.Simulate.Design)
		if sizes[tree] == 0 {
			var err error
			sizes[tree], _, err = m.Size()
			require.NoError(t, err, path)
		}
		sequences := sizes[tree]
		said := saidSequences.FindStringSubmatch(f.text)
		assert.Equal(t, []string{strconv.Itoa(sequences), strconv.Itoa(m.Decisions())}, said[1:], path)
		assert.Equal(t, strings.TrimSuffix(filepath.Base(path), ".toml"), m.Simulate.Name)
	}
}
