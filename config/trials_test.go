package config

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/results"
)

// trialsArms holds two cases: no growth, and one deepening.
const trialsArms = `[never]
[grow]
adapt.decider = "script"
adapt.actions = ["deepen:conv2"]
`

// trialsJob is a job that takes milliseconds.
const trialsJob = `[data.synthetic]
size = 16
train = 40
test = 20
classes = 3
[train]
batch = 20
[time]
budget = "100ms"
events = [{at = "50ms", change = "up"}]
`

// trialsFolder writes the files of a pipeline of trials into a new folder.
func trialsFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"job.toml": trialsJob, "arms.toml": trialsArms,
		"scenario.toml": "[simulate]\n", "wrong.toml": "[grow]\nadapt.decider = \"script\"\n" +
			"adapt.actions = [\"deepen:nowhere\"]\n", "rate.toml": "[slow]\noptimizer.lr = 0.1\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func readTrials(t *testing.T, dir, text string) (*Pipeline, error) {
	t.Helper()
	path := filepath.Join(dir, "all.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return ReadPipeline(files.OS{}, path, nil)
}

// wholeEntry is an entry with every key.
const wholeEntry = `[[pipeline.trials]]
name = "one"
job = "job.toml"
cases = "arms.toml"
sweep = ["time.budget=80ms,100ms"]
seeds = 3
set = ["train.batch=10"]
tune = {sweep = ["optimizer.lr=1e-3,1e-2,1"], seeds = 2, first_seed = 101, set = ["time.budget=90ms"]}
`

func TestEntriesOfTrials(t *testing.T) {
	dir := trialsFolder(t)
	p, err := readTrials(t, dir, wholeEntry+"[[pipeline.trials]]\njob = \"job.toml\"\n")
	require.NoError(t, err)
	e := p.Entries()
	require.Len(t, e, 2)
	var names []string
	for _, c := range append(e[0].Study, e[0].Tuning...) {
		j := c.Job
		names = append(names, fmt.Sprint(c.Name, " ", j.Train.Optimizer.LR, " ", j.Time.Budget, " ", j.Train.Batch))
	}
	require.Equal(t, []string{"never time.budget=80ms 0.001 80ms 10", "never time.budget=100ms 0.001 100ms 10",
		"grow time.budget=80ms 0.001 80ms 10", "grow time.budget=100ms 0.001 100ms 10",
		"never optimizer.lr=1e-3 0.001 90ms 10", "never optimizer.lr=1e-2 0.01 90ms 10",
		"never optimizer.lr=1 1 90ms 10",
		"grow optimizer.lr=1e-3 0.001 90ms 10", "grow optimizer.lr=1e-2 0.01 90ms 10",
		"grow optimizer.lr=1 1 90ms 10"}, names)
	require.Equal(t, "job", e[1].Name, "the name of the job file")
	require.Empty(t, e[1].Tuning)
	summary, err := p.Summary()
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("runs 25 trials of 2 entries, 0.000628 hours of budgets; digest %.12s\n"+
		"one: 4 cases, 12 trials, 0.0003 hours of budgets; before them, 12 trials of 6 cases select values, "+
		"0.0003 hours of budgets\njob: 1 case, 1 trial, 2.78e-05 hours of budgets\n", p.Digest()), summary)

	resolved := p.Resolved()
	require.Contains(t, resolved, `trials = [
  {name = "one", job = "`+dir+`/job.toml", cases = "`+dir+`/arms.toml", sweep = ["time.budget=80ms,100ms"], `+
		`seeds = 3, set = ["train.batch=10"], tune = {sweep = ["optimizer.lr=1e-3,1e-2,1"], seeds = 2, `+
		`first_seed = 101, set = ["time.budget=90ms"]}},
  {name = "job", job = "`+dir+`/job.toml", cases = "", sweep = [], seeds = 1, set = [], `+
		`tune = {sweep = [], seeds = 0, first_seed = 0, set = []}},
]
`)
	path := filepath.Join(dir, results.ResolvedFile)
	require.NoError(t, os.WriteFile(path, []byte(resolved), 0o600))
	again, err := ReadPipeline(files.OS{}, path, nil)
	require.NoError(t, err)
	require.Equal(t, resolved, again.Resolved())
	require.Equal(t, p.Digest(), again.Digest())
}

// The digest covers the contents of files, not their names.
func TestDigestsOfTrials(t *testing.T) {
	dir := trialsFolder(t)
	digest := func(text string) string {
		p, err := readTrials(t, dir, text)
		require.NoError(t, err)
		return p.Digest()
	}
	was := digest(wholeEntry)
	require.NoError(t, os.Rename(filepath.Join(dir, "job.toml"), filepath.Join(dir, "other.toml")))
	other := strings.Replace(wholeEntry, `"job.toml"`, `"other.toml"`, 1)
	require.Equal(t, was, digest(other))
	for old, now := range map[string]string{"seeds = 3": "seeds = 4", "seeds = 2": "seeds = 1", "= 101": "= 102",
		"90ms": "95ms", "1e-2,": "2e-2,", "80ms": "85ms", "batch=10": "batch=5"} {
		require.NotEqual(t, was, digest(strings.Replace(other, old, now, 1)), now)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "arms.toml"),
		[]byte(strings.Replace(trialsArms, "conv2", "conv1", 1)), 0o600))
	require.NotEqual(t, was, digest(other))
}

func TestFaultsOfTrials(t *testing.T) {
	dir := trialsFolder(t)
	const job = "job = \"job.toml\"\n"
	for text, says := range map[string]string{
		"name = \"x\"":               "all.toml:1:12: trials[0]: job is empty; set it to the path of a job file",
		"job = 3":                    "all.toml:2:7: ",
		job + "case = \"arms.toml\"": "all.toml:3:1: unknown key \"case\"",
		"job = \"none.toml\"": "all.toml:2:7: trials[0]: " +
			"stat none.toml: no such file or directory; expected the path",
		"job = \"scenario.toml\"": "all.toml:2:7: trials[0]: " +
			dir + "/scenario.toml is a scenario file, not a job file",
		job + "seeds = -1":               "all.toml:3:9: trials[0]: seeds is -1; must not be negative",
		job + "set = [\"train.bach=1\"]": "--set train.bach=1: unknown key \"bach\" in train",
		job + "cases = \"none.toml\"":    "none.toml",
		job + "cases = \"wrong.toml\"":   "wrong.toml:3:7: deepen:nowhere",
		job + "sweep = [\"time.budget\"]": "all.toml:3:1: trials[0]: option sweep time.budget: expected a key " +
			"and values",
		job + "sweep = [\"time.budget=1x,2x\"]": "--set time.budget=1x: ",
		job + "sweep = [\"run.seed=1,2\"]":      "sweep varies run.seed, which the list of seeds sets too",
		job + "seeds = 2001": "1 case and 2001 seeds make 2001 trials; " +
			"the maximum is 2000",
		job + "name = \"tuned\"":                            "the name \"tuned\" cannot be a folder name",
		job + "name = \"a/b\"":                              "the name \"a/b\" cannot be a folder name",
		job + "[[pipeline.trials]]\njob = \"job.toml\"":     "duplicate name job, also used by trials[0]",
		job + "tune = {seeds = 2}":                          "tune has no effect without tune.sweep",
		job + "tune = {key = 2}":                            "unknown key \"key\"",
		job + "tune = {sweep = [\"optimizer.lr=-1,0.1\"]}":  "--set optimizer.lr=-1: ",
		job + "tune = {sweep = [\"optimizer.lr=0.1,0.1\"]}": "duplicate value",
		job + "seeds = 3\ntune = {sweep = [\"optimizer.lr=1,2\"], first_seed = 3}": "the seeds of tune, 3 to 3, " +
			"overlap the seeds of the other trials, 1 to 3; set tune.first_seed to 4",
		job + "cases = \"rate.toml\"\ntune = {sweep = [\"optimizer.lr=1,2\"]}": "case slow sets optimizer.lr, " +
			"which tune sets too; remove one of them",
		job + "sweep = [\"optimizer.lr=3,4\"]\ntune = {sweep = [\"optimizer.lr=1,2\"]}": "tune varies " +
			"optimizer.lr, which sweep sets too",
		job + "set = [\"fleet.engine=kubernetes\", \"fleet.image=i\", \"fleet.claim=c\", " +
			"\"fleet.mount=/m\"]": "trials run on the engines local and slurm",
		job + "[run]\nseeds = 2": "a pipeline of trials does not use run.seeds",
	} {
		_, err := readTrials(t, dir, "[[pipeline.trials]]\n"+text+"\n")
		assert.ErrorContains(t, err, says, text)
	}
	_, err := readTrials(t, dir, "[pipeline]\nscenarios = [\"scenario.toml\"]\ntrials = [{job = \"job.toml\"}]\n")
	require.ErrorContains(t, err, "trials cannot be combined with scenarios or cache")
	_, err = readTrials(t, dir, "[pipeline]\ntrials = [{job = \"job.toml\", cases = \"wrong.toml\", "+
		"sweep = [\"time.budget=80ms,90ms\"], tune = {sweep = [\"optimizer.lr=1,2\"]}}]\n")
	require.ErrorContains(t, err, "1 fault\n", "one fault of several cases is reported once")
}

// A file of cases reads back as the cases that were written.
func TestCasesText(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	values := []string{"1e-3", "16s", "true", `"a = \"b\""`, "[1, 2]", `[{at = "1s", change = "up"}]`, "word",
		"-3", "0.5"}
	for range 50 {
		var cases []Case
		for k := range 1 + random.IntN(4) {
			c := Case{Name: fmt.Sprintf([]string{"a%d", "a %d.b", "ä\"%d"}[random.IntN(3)], k)}
			for n := range random.IntN(4) {
				c.Set = append(c.Set, fmt.Sprintf("some.key%d=%s", n, values[random.IntN(len(values))]))
			}
			cases = append(cases, c)
		}
		path := filepath.Join(t.TempDir(), "cases.toml")
		require.NoError(t, os.WriteFile(path, []byte(CasesText(cases)), 0o600))
		got, err := ReadCases(files.OS{}, path)
		require.NoError(t, err, CasesText(cases))
		require.Len(t, got, len(cases))
		for k, c := range got {
			require.Equal(t, cases[k].Name, c.Name)
			require.Len(t, c.Set, len(cases[k].Set))
			for n, set := range c.Set {
				key, value, _ := strings.Cut(cases[k].Set[n], "=")
				want := Case{Name: c.Name, Set: []string{key + "=" + valueInFile(value)}}
				require.NoError(t, os.WriteFile(path, []byte(CasesText([]Case{want})), 0o600))
				one, err := ReadCases(files.OS{}, path)
				require.NoError(t, err)
				require.Equal(t, one[0].Set[0], set)
			}
		}
	}
}
