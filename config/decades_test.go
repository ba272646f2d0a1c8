package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// The study of decades asks whether a policy transfers to larger networks. The policy learns from networks of about 500
// to 10,000 parameters. It is evaluated on networks of about 100,000 parameters, and on families, datasets and budgets
// outside its training scenarios. The files in studies/decades are generated from this design.
// budgets that are not in its training scenarios. The files in studies/decades are generated from this design.
//
//go:generate go test -run TestDecadeFilesAreGenerated -update .

// decadeFamily is a family of networks with two blocks that can grow.
type decadeFamily struct {
	name   string
	units  [4][2]int                       // units of block1 and block2, by size
	blocks func(pixels, a, b int) []string // all layers before the classifier
	step   [4]int                          // microseconds of a training step on studies/growth/processor.toml, by size
}

// decadeSizes holds names of sizes, from about 500 to about 100,000 parameters.
var decadeSizes = []string{"500", "3k", "10k", "100k"}

const (
	decadeStem = `{name = "block1", block = ["Conv2d(1, %d, %d, stride=%d, padding=%d)", "BatchNorm2d(%[1]d)", ` +
		`"ReLU()"]}` // reduces the image to 7 or 8 pixels
	decadeTail = `{name = "block2", block = ["Conv2d(%d, %d, 3, stride=2, padding=1)", "BatchNorm2d(%[2]d)", "ReLU()"]}`
	decadePool = `"AdaptiveAvgPool2d(1)"`
)

var decadeFamilies = []decadeFamily{
	{"plain", [4][2]int{{4, 8}, {12, 24}, {22, 44}, {72, 144}}, func(pixels, a, b int) []string {
		return []string{decadeStemOf(pixels, a), fmt.Sprintf(decadeTail, a, b), decadePool, `"Flatten()"`}
	}, [4]int{750, 1270, 2030, 6800}},
	{"residual", [4][2]int{{4, 8}, {10, 22}, {18, 38}, {60, 116}}, func(pixels, a, b int) []string {
		return []string{decadeStemOf(pixels, a), fmt.Sprintf(`{name = "res", residual = ["Conv2d(%d, %[1]d, 3, `+
			`padding=1)", "BatchNorm2d(%[1]d)"], then = ["ReLU()"]}`, a), fmt.Sprintf(decadeTail, a, b), decadePool,
			`"Flatten()"`}
	}, [4]int{1240, 2200, 3450, 12_800}},
	{"patches", [4][2]int{{4, 8}, {12, 24}, {22, 44}, {72, 144}}, func(pixels, a, b int) []string {
		return []string{
			fmt.Sprintf(`{name = "block1", block = ["Conv2d(1, %d, %d, stride=%d, padding=2)", "GroupNorm(1, %[1]d)", `+
				`"GELU()"]}`, a, pixels/14*2+3, (pixels+2)/4),
			fmt.Sprintf(`{name = "block2", block = ["Conv2d(%d, %d, 3, padding=1)", "GroupNorm(1, %[2]d)", "GELU()"]}`,
				a, b), decadePool, `"Flatten()"`}
	}, [4]int{840, 1140, 1540, 7300}},
	{"perceptron", [4][2]int{{2, 8}, {14, 14}, {40, 36}, {256, 160}}, func(pixels, a, b int) []string {
		return []string{`"MaxPool2d(2)"`, `"Flatten()"`,
			fmt.Sprintf(`{name = "block1", block = ["Linear(%d, %d)", "ReLU()"]}`, pixels*pixels/4, a),
			fmt.Sprintf(`{name = "block2", block = ["Linear(%d, %d)", "ReLU()"]}`, a, b)}
	}, [4]int{340, 330, 340, 620}},
	{"separable", [4][2]int{{8, 16}, {34, 50}, {66, 100}, {240, 340}}, func(pixels, a, b int) []string {
		return []string{decadeStemOf(pixels, a), fmt.Sprintf(`{name = "depthwise", block = ["Conv2d(%d, %[1]d, 3, `+
			`stride=2, padding=1, groups=%[1]d)", "BatchNorm2d(%[1]d)", "ReLU()"]}`, a),
			fmt.Sprintf(`{name = "block2", block = ["Conv2d(%d, %d, 1)", "BatchNorm2d(%[2]d)", "ReLU()"]}`, a, b),
			decadePool, `"Flatten()"`}
	}, [4]int{1050, 2270, 3420, 10_800}},
}

func decadeStemOf(pixels, units int) string {
	if pixels == 28 {
		return fmt.Sprintf(decadeStem, units, 5, 4, 2)
	}
	return fmt.Sprintf(decadeStem, units, 3, 2, 1)
}

// decadeDatasets holds real and synthetic datasets.
var decadeDatasets = []struct {
	name            string
	pixels, classes int
	lines           string // lines of the section data
}{
	{"fashion", 28, 10, "kind = \"fashion-mnist\"\npath = \"/usr/share/datasets/fashion-mnist\"\n" +
		"max_images = 4000\nvalidation_share = 0.034\n"},
	{"textures", 16, 6, decadeImages(6, ", textures = true")},
	{"both", 16, 8, decadeImages(8, ", textures = true")},
	{"shapes", 16, 4, decadeImages(4, "")},
}

func decadeImages(classes int, more string) string {
	return fmt.Sprintf("validation_share = 0.33\nsynthetic = {train = 6000, test = 200, size = 16, channels = 1, "+
		"classes = %d, noise = 30%s}\n", classes, more)
}

func (f decadeFamily) networkPath(size, pixels, classes int) string {
	return fmt.Sprintf("networks/%s-%s-%d-%d.toml", f.name, decadeSizes[size], pixels, classes)
}

// network returns the file of a family's network for images of the given number of pixels.
func (f decadeFamily) network(size, pixels, classes int) madeScenario {
	a, b := f.units[size][0], f.units[size][1]
	layers := append(f.blocks(pixels, a, b), fmt.Sprintf(`"Linear(%d, %d)"`, b, classes))
	return madeScenario{f.networkPath(size, pixels, classes),
		fmt.Sprintf("name = %q\ninput = [1, %d, %[2]d]\nlayers = [\n  %s,\n]\n",
			strings.ToUpper(f.name[:1])+f.name[1:], pixels, strings.Join(layers, ",\n  "))}
}

// decadeBudgets holds budgets in training steps of the network that does not grow.
var decadeBudgets = []struct {
	name  string
	steps int
}{{"short", 400}, {"long", 1000}, {"longer", 2500}}

// decadeTimes holds the shares of the budget at which a job decides.
var decadeTimes = []struct {
	name   string
	shares [3]float64
}{{"early", [3]float64{0.2, 0.3, 0.4}}, {"late", [3]float64{0.5, 0.6, 0.7}}}

// actions returns the actions to choose from, and the number of decisions, by index of choices.
func (f decadeFamily) actions(size, choice int) (actions []string, decisions int) {
	first := fmt.Sprintf("widen:block1:%d", 2*f.units[size][0])
	second := fmt.Sprintf("widen:block2:%d", 2*f.units[size][1])
	if choice == 0 {
		return []string{"deepen:block1", "deepen:block2", first, second, "none"}, 2
	}
	return []string{"deepen:block2", second, "none"}, 3
}

// decade identifies a scenario by indices into the lists above.
type decade struct{ family, size, dataset, budget, time int }

// decades returns the training scenarios, and groups of scenarios to evaluate policies on.
func decades() (learn []decade, judged map[string][]decade) {
	judged = map[string][]decade{}
	for f := range decadeFamilies {
		for size := range decadeSizes {
			for d := range decadeDatasets {
				for b := range decadeBudgets {
					for at := range decadeTimes {
						s := decade{f, size, d, b, at}
						if s.learned() {
							learn = append(learn, s)
						} else if group := s.group(); group != "" {
							judged[group] = append(judged[group], s)
						}
					}
				}
			}
		}
	}
	return learn, judged
}

func (s decade) learned() bool { return s.family < 4 && s.size < 3 && s.dataset < 2 && s.budget < 2 }

// group returns the only property of a scenario that no training scenario has, or "" if there are several.
func (s decade) group() string {
	middle, twin := s.size == 1, s.budget == s.time
	switch {
	case s.size == 3 && s.family < 4 && s.dataset < 2 && twin:
		return "size"
	case s.family == 4 && s.size < 3 && s.dataset < 2 && twin:
		return "family"
	case s.dataset > 1 && s.family < 4 && middle && twin:
		return "dataset"
	case s.budget == 2 && s.family < 4 && s.dataset < 2 && middle && s.time == s.dataset:
		return "budget"
	}
	return ""
}

func (s decade) name() string {
	return strings.Join([]string{decadeFamilies[s.family].name, decadeSizes[s.size], decadeDatasets[s.dataset].name,
		decadeBudgets[s.budget].name, decadeTimes[s.time].name}, "-")
}

func (s decade) file(about string, seeds int) madeScenario {
	f, d := decadeFamilies[s.family], decadeDatasets[s.dataset]
	actions, decisions := f.actions(s.size, (s.family+s.size+s.dataset+s.budget+s.time)%2)
	at := strings.Trim(strings.ReplaceAll(fmt.Sprint(decadeTimes[s.time].shares[:decisions]), " ", ", "), "[]")
	return madeScenario{s.name() + ".toml", fmt.Sprintf(
		`# A scenario of the study of decades, %s: see studies/README.md. Generated.
[network]
file = "studies/decades/%s"  # from the folder in which graft is called
classes = %d
[data]
%s[time]
budget = "%dms"
profile = "studies/growth/processor.toml"
[run]
threads = 1
instructions = "avx2"  # one digest on every processor with AVX2
[train]
batch = 32
[optimizer]
rule = "adamw"
lr = 3e-3
weight_decay = 0.01
[schedule]
rule = "wsd"
warm_up_share = 0.05
[adapt]
when = "share"
at = [%s]
[simulate]
actions = ["%s"]
seeds = %d
gains = true
`, about, f.networkPath(s.size, d.pixels, d.classes), d.classes, d.lines,
		f.step[s.size]*decadeBudgets[s.budget].steps/1000, at, strings.Join(actions, `", "`), seeds)}
}

// decadeGroups holds the groups of scenarios to evaluate policies on, in the order of simulation.
var decadeGroups = []string{"size", "family", "dataset", "budget"}

// decadePipeline simulates all scenarios, and learns a policy from all tables, for use in jobs.
func decadePipeline() madeScenario {
	all, judged := decades()
	for _, group := range decadeGroups {
		all = append(all, judged[group]...)
	}
	return madeScenario{"../decades.toml", "# The study of decades: graft pipeline studies/decades.toml, from the " +
		"folder that contains studies. Hours on two\n# processors; it can be stopped and continued. Generated.\n" +
		"[pipeline]\nscenarios = [\n" + decadeList("studies/decades/%s.toml", all) + "]\nfolder = \"runs/decades\"\n" +
		"[run]\nseeds = 5\n" + decadeLearn}
}

// decadeLearn holds the options of all policies of the study. The policies do not read absolute sizes.
const decadeLearn = `[learn]
for = "new"
method = "forest"
reward = "points"
pool = 0.0
without = ["sizes"]
`

func decadeList(format string, all []decade) string {
	var lines strings.Builder
	for _, s := range all {
		fmt.Fprintf(&lines, "  %q,\n", fmt.Sprintf(format, s.name()))
	}
	return lines.String()
}

// decadeJudge returns a file that learns from all training tables and evaluates on a group.
func decadeJudge(group string, held []decade) madeScenario {
	learn, _ := decades()
	return madeScenario{"judge-" + group + ".toml", "# Judges policies of the study of decades on another " + group +
		": see studies/README.md. Generated.\n[tables]\nfolders = [\n" + decadeList("runs/decades/%s/table", learn) +
		"]\nheld_out = [\n" + decadeList("runs/decades/%s/table", held) + "]\n[run]\nseeds = 5\n" + decadeLearn}
}

// decadeFiles returns all files of the study.
func decadeFiles() []madeScenario {
	learn, judged := decades()
	all := []madeScenario{decadePipeline()}
	networks := map[string]madeScenario{}
	add := func(about string, seeds int, scenarios []decade) {
		for _, s := range scenarios {
			d := decadeDatasets[s.dataset]
			n := decadeFamilies[s.family].network(s.size, d.pixels, d.classes)
			networks[n.path] = n
			all = append(all, s.file(about, seeds))
		}
	}
	add("to learn from", 4, learn)
	for _, group := range decadeGroups {
		add("to judge policies on another "+group, 6, judged[group])
		all = append(all, decadeJudge(group, judged[group]))
	}
	for _, n := range networks {
		all = append(all, n)
	}
	return all
}

func TestDecadeFilesAreGenerated(t *testing.T) {
	checkGenerated(t, "../studies/decades", decadeFiles())
}

func TestDecadeFilesAreValid(t *testing.T) {
	t.Chdir("..")
	learn, judged := decades()
	require.Len(t, learn, 96)
	for group, count := range map[string]int{"size": 16, "family": 12, "dataset": 16, "budget": 8} {
		require.Len(t, judged[group], count, group)
		learn = append(learn, judged[group]...)
	}
	for _, s := range learn {
		path := filepath.Join("studies", "decades", s.name()+".toml")
		m, err := ReadSimulation(files.OS{}, path, nil)
		require.NoError(t, err, path)
		sequences, _, err := m.Size()
		require.NoError(t, err, path)
		require.LessOrEqual(t, sequences, 27, path)
	}
	p, err := ReadPipeline(files.OS{}, filepath.Join("studies", "decades.toml"), nil)
	require.NoError(t, err)
	require.Len(t, p.Scenarios(), len(learn))
}
