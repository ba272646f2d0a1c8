package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/simulation/tables"
	"graft/simulation/tables/tabletest"
)

// The files of the study of transfer are generated from its design. Every family of networks meets every dataset, with
// devices that arrive early, in the middle and late. Budgets and actions alternate.
//
//go:generate go test -run TestStudyFilesAreGenerated -update .

// studyFamily is a family of tiny networks with two blocks, block1 of 2 channels and block2 of 4.
type studyFamily struct {
	name   string
	layers func(stride int) []string // layers of a network; the first layer has stride 2 for 16 pixels, 1 for 8
	more   string                    // action that only this family has
}

const (
	studyStem  = `{name = "block1", block = ["Conv2d(1, 2, 3, padding=1, stride=%d)", "BatchNorm2d(2)", "ReLU()"]}`
	studyBlock = `{name = "block2", block = ["Conv2d(2, 4, 3, padding=1, stride=2)", "BatchNorm2d(4)", "ReLU()"]}`
)

var studyFamilies = []studyFamily{
	{"plain", func(s int) []string { return []string{fmt.Sprintf(studyStem, s), studyBlock, `"AdaptiveAvgPool2d(1)"`} },
		"kernel:block2:5"},
	{"residual", func(s int) []string {
		return []string{fmt.Sprintf(studyStem, s),
			`{name = "res", residual = ["Conv2d(2, 2, 3, padding=1)", "BatchNorm2d(2)"], then = ["ReLU()"]}`,
			studyBlock, `"AdaptiveAvgPool2d(1)"`}
	}, "kernel:block2:5"},
	{"separable", func(s int) []string {
		return []string{fmt.Sprintf(studyStem, s), `{name = "depthwise", block = ["Conv2d(2, ` +
			`2, 3, padding=1, stride=2, groups=2)", "BatchNorm2d(2)", "ReLU()"]}`,
			`{name = "block2", block = ["Conv2d(2, 4, 1)", "BatchNorm2d(4)", "ReLU()"]}`, `"AdaptiveAvgPool2d(1)"`}
	}, "kernel:depthwise:5"},
	{"patches", func(s int) []string {
		return []string{fmt.Sprintf(`{name = "block1", block = ["Conv2d(1, `+
			`2, 5, stride=%d, padding=2)", "GroupNorm(1, 2)", "GELU()"]}`, 2*s),
			`{name = "block2", block = ["Conv2d(2, 4, 3, padding=1)", "GroupNorm(1, 4)", "GELU()"]}`,
			`"AdaptiveAvgPool2d(1)"`}
	}, "kernel:block2:5"},
	{"dense", func(s int) []string {
		return []string{fmt.Sprintf(`"Conv2d(1, 4, 5, padding=2, stride=%d)"`, s), `"ReLU()"`, `"MaxPool2d(2)"`,
			`"Flatten()"`, `{name = "block1", block = ["Linear(64, 2)", "BatchNorm1d(2)", "ReLU()"]}`,
			`{name = "block2", block = ["Linear(2, 4)", "BatchNorm1d(4)", "ReLU()"]}`}
	}, "deepen:block1"},
}

// network returns the file of a family's network for images of the given number of pixels.
func (f studyFamily) network(pixels int) madeScenario {
	layers := append(f.layers(pixels/8), `"Flatten()"`, `"Linear(4, 4)"`)
	if f.name == "dense" {
		layers = append(f.layers(pixels/8), `"Linear(4, 4)"`)
	}
	return madeScenario{f.networkPath(pixels), fmt.Sprintf("name = %q\ninput = [1, %d, %[2]d]\nlayers = [\n  %s,\n]\n",
		strings.ToUpper(f.name[:1])+f.name[1:], pixels, strings.Join(layers, ",\n  "))}
}

func (f studyFamily) networkPath(pixels int) string {
	return fmt.Sprintf("networks/%s-%d.toml", f.name, pixels)
}

// studyDatasets holds one real dataset and three synthetic ones.
var studyDatasets = []struct {
	name            string
	pixels, classes int
	lines           string // lines of the section data
}{
	{"digits", 8, 10, "kind = \"digits\"\npath = \"/usr/lib/python3/dist-packages/sklearn/datasets/data\"  # of " +
		"Debian's python3-sklearn\nvalidation_share = 0.4\n"},
	{"textures", 16, 4, studyImages(4, 10, ", textures = true")},
	{"shapes", 16, 4, studyImages(4, 10, "")},
	{"both", 16, 8, studyImages(8, 10, ", textures = true")},
}

func studyImages(classes, noise int, more string) string {
	return fmt.Sprintf("validation_share = 0.5\nsynthetic = {train = 1600, test = 200, size = 16, channels = 1, "+
		"classes = %d, noise = %d%s}\n", classes, noise, more)
}

var (
	studyBudgets  = []struct{ name, time string }{{"short", "400ms"}, {"long", "900ms"}, {"medium", "600ms"}}
	studyArrivals = []struct {
		name  string
		share float64
	}{{"early", 0.15}, {"middle", 0.35}, {"late", 0.55}, {"soon", 0.25}, {"later", 0.45}}
	studyActions = []struct {
		name      string
		decisions int
		actions   []string // %s is the family's own action
	}{
		{"all", 2, []string{"deepen:block1", "deepen:block2", "widen:block1:8", "widen:block2:12", "none"}},
		{"three", 3, []string{"deepen:block2", "widen:block1:8", "none"}},
		{"four", 4, []string{"deepen:block2", "none"}},
		{"other", 2, []string{"branch:block2", "%s", "widen:block2:12", "none"}},
	}
)

// transferStudy identifies a scenario by indices into the lists above.
type transferStudy struct{ family, dataset, arrival, budget, actions int }

// studies returns the training scenarios, two in each cell of family, dataset and arrival, and the scenarios held out
// until the analysis was registered, one in each cell of family and dataset. A held-out scenario has a budget and an
// arrival that no training scenario has, so the two share no run.
func studies() (learn, held []transferStudy) {
	for f := range studyFamilies {
		for d := range studyDatasets {
			for a := range 3 {
				for twin := range 2 {
					learn = append(learn, transferStudy{f, d, a, (f + d + a + twin) % 2,
						(f + 2*d + a + 2*twin) % 4}.feasible())
				}
			}
			held = append(held, transferStudy{f, d, 3 + (f+d)%2, 2, (f + 3*d + 1) % 4}.feasible())
		}
	}
	return learn, held
}

// feasible lowers the number of decisions if the budget is too short for four.
func (s transferStudy) feasible() transferStudy {
	if studyActions[s.actions].decisions == 4 && s.budget == 0 {
		s.actions = 0
	}
	return s
}

func (s transferStudy) path() string {
	return fmt.Sprintf("%s-%s-%s-%s-%s.toml", studyFamilies[s.family].name, studyDatasets[s.dataset].name,
		studyBudgets[s.budget].name, studyArrivals[s.arrival].name, studyActions[s.actions].name)
}

func (s transferStudy) file(about string, seeds int) madeScenario {
	f, d, b, a := studyFamilies[s.family], studyDatasets[s.dataset], studyBudgets[s.budget], studyActions[s.actions]
	var actions []string
	for _, text := range a.actions {
		actions = append(actions, fmt.Sprintf("%q", strings.ReplaceAll(text, "%s", f.more)))
	}
	var budget int
	_, _ = fmt.Sscanf(b.time, "%dms", &budget)
	at := int(studyArrivals[s.arrival].share*float64(budget) + 0.5)
	return madeScenario{s.path(),
		fmt.Sprintf(`# A scenario of the study of transfer, %s: see docs/study.md. Generated.
[network]
file = "studies/transfer/%s"  # from the folder in which graft is called
classes = %d
[data]
%s[time]
budget = %q
profile = "studies/processor.toml"
events = [{at = "%dms", change = "up"}]
[run]
threads = 1
instructions = "avx2"  # one digest on every processor that has it
[train]
batch = 32
[optimizer]
lr = 0.02
[adapt]
each_epoch = true
noise = 0.05
split = "equal"  # as when the tables were made
max_decisions = %d
[simulate]
actions = [%s]
seeds = %d
`, about, f.networkPath(d.pixels), d.classes, d.lines, b.time, at, a.decisions, strings.Join(actions, ", "), seeds)}
}

// studyPipeline returns a pipeline that learns from all training scenarios and leaves each out in turn.
func studyPipeline() madeScenario {
	learn, _ := studies()
	var paths []string
	for _, s := range learn {
		paths = append(paths, fmt.Sprintf("  %q,\n", "studies/transfer/"+s.path()))
	}
	return madeScenario{"../transfer.toml",
		`# The study of transfer: graft pipeline studies/transfer.toml, from the folder that contains studies.
# Hours on two processors; it can be stopped and continued. Generated.
[pipeline]
scenarios = [
` + strings.Join(paths, "") + `]
[run]
seeds = 5
` + studyLearn + `[evaluate]
leave_out = "scenario"
`}
}

// studyLearn holds the learning options of the study's policies.
const studyLearn = `[learn]
for = "new"
method = "forest"
reward = "points"
pool = 0.0
`

// studyJudge returns a file that learns from the tables of all training scenarios and evaluates on the held-out tables
// in a folder.
func studyJudge(path, folder, about string) madeScenario {
	learn, held := studies()
	list := func(folder string, all []transferStudy) string {
		var paths []string
		for _, s := range all {
			paths = append(paths, fmt.Sprintf("  %q,\n", "runs/"+folder+"/"+strings.TrimSuffix(s.path(), ".toml")))
		}
		return strings.Join(paths, "")
	}
	return madeScenario{path, "# The policies of the study, and the tables that were held out" + about +
		": see README.md. Generated.\n[tables]\nfolders = [\n" +
		list("tables", learn) + "]\nheld_out = [\n" + list(folder, held) + "]\n[run]\nseeds = 5\n" + studyLearn}
}

// studyFiles returns all files in studies/transfer, and the files that learn.
func studyFiles() (all []madeScenario) {
	all = append(all, studyPipeline(), studyJudge("../judge.toml", "tables", ""),
		studyJudge("../judge-reseeded.toml", "reseeded", ", with other seeds"))
	for _, f := range studyFamilies {
		all = append(all, f.network(8), f.network(16))
	}
	learn, held := studies()
	for _, s := range learn {
		all = append(all, s.file("to learn from", 6))
	}
	for _, s := range held {
		all = append(all, s.file("held out", 8))
	}
	return all
}

func TestStudyFilesAreGenerated(t *testing.T) {
	checkGenerated(t, "../studies/transfer", studyFiles())
	learn, held := studies()
	require.Len(t, learn, 120)
	require.Len(t, held, 20)
}

// checkGenerated compares the files of a folder with generated files. The folder must have no other files.
func checkGenerated(t *testing.T, folder string, all []madeScenario) {
	t.Helper()
	known := map[string]bool{}
	for _, f := range all {
		require.False(t, known[f.path], "%s is generated twice", f.path)
		golden(t, filepath.Join(folder, f.path), f.text)
		known[f.path] = true
	}
	for _, pattern := range []string{"*.toml", "*/*.toml"} {
		for _, path := range must(filepath.Glob(filepath.Join(folder, pattern))) {
			there := must(filepath.Rel(folder, path))
			assert.True(t, known[filepath.ToSlash(there)], "%s is no longer generated; delete it", path)
		}
	}
}

// Every scenario of the study is valid.
func TestStudyFilesAreRight(t *testing.T) {
	t.Chdir("..")
	learn, held := studies()
	for _, s := range append(learn, held...) {
		path := filepath.Join("studies", "transfer", s.path())
		m, err := ReadSimulation(files.OS{}, path, nil)
		require.NoError(t, err, path)
		sequences, _, err := m.Size()
		require.NoError(t, err, path)
		require.LessOrEqual(t, sequences, 25)
	}
	p, err := ReadPipeline(files.OS{}, filepath.Join("studies", "transfer.toml"), nil)
	require.NoError(t, err)
	require.Len(t, p.Scenarios(), len(learn))
}

// The repository's tables cover all scenarios completely.
func TestStudyTables(t *testing.T) {
	dir := tabletest.Unpack(t, "../studies/transfer/tables.tar.gz")
	learn, held := studies()
	for _, part := range []struct {
		folder       string
		first, seeds int64
		of           []transferStudy
	}{{"tables", 1, 6, learn}, {"tables", 1, 8, held}, {"reseeded", 101, 8, held}} {
		for _, s := range part.of {
			checkStudyTable(t, filepath.Join(dir, part.folder), strings.TrimSuffix(s.path(), ".toml"), part.first,
				part.seeds)
		}
	}
	require.Len(t, must(filepath.Glob(filepath.Join(dir, "*", "*"))), len(learn)+2*len(held))
}

// checkStudyTable checks that a table is complete and has the given seeds.
func checkStudyTable(t *testing.T, dir, name string, first, count int64) {
	folder := filepath.Join(dir, name)
	var seeds []int64
	for k := range count {
		seeds = append(seeds, first+k)
	}
	report, err := tables.Check(files.OS{}, folder)
	require.NoError(t, err, name)
	require.Empty(t, report.Faults, name)
	tree, err := ReadTree(files.OS{}, folder)
	require.NoError(t, err, name)
	require.Equal(t, name, tree.Name)
	require.Equal(t, seeds, tree.Records[0].Seeds, name)
	require.NotZero(t, tree.Nodes[0].Curve.Loss, name)
	require.NotZero(t, tree.Nodes[0].After[0], name)
}
