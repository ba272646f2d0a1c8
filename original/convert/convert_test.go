package convert

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/decider"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/net2net"
	"graft/original/learn"
	"graft/original/policyfile"
	"graft/torch/weights"
	"graft/trainer"
)

const originals = "../../../shared/reference/adaptation/config"

func TestEveryKeyOfTheOriginalsIsTranslatedOrTold(t *testing.T) {
	path := "testdata/all.toml"
	made, err := Convert(files.OS{}, path)
	require.NoError(t, err)
	golden(t, path+".txt", made.Text)
	for _, w := range made.Warnings {
		assert.Contains(t, made.Text, "# - "+w+"\n")
	}
	j, err := parseJob("all.toml", made.Text)
	require.NoError(t, err)
	d, err := j.Decider()
	require.NoError(t, err)
	assert.Equal(t, decider.Script{Actions: []net2net.Action{{Kind: "deepen", Target: "0"}, {},
		{Kind: "deepen", Target: "1"}}}, d)
}

func TestFilesThatAreNotTheOriginals(t *testing.T) {
	job := "[runner]\nseed = 1\nfolder = \"a\"\nagent = \"RandomAgent\"\ntotal_episodes = 1\n[scheduler]\n" +
		"running_time = 4\n[job]\nmodel = \"ConvNet2\"\ndataset = \"cifar10\"\n"
	_, err := translate("a.toml", []byte(job))
	require.NoError(t, err)
	for text, says := range map[string]string{
		"":                                     "not a file of the original system: it has no runner.seed",
		"a = ":                                 "invalid TOML",
		strings.Replace(job, "= 4", "= -4", 1): "budget is -4s",
		strings.Replace(job, "= 4", "= \"4\"", 1): `a.toml:7:16: ` +
			`scheduler.running_time must be a number of seconds, got "4"`,
		strings.Replace(job, "ConvNet2", "ConvNet22", 1):                  "did you mean ConvNet2?",
		strings.Replace(job, "cifar10", "mnist", 1):                       `job.dataset must be "cifar10"`,
		strings.Replace(job, "RandomAgent", "RandmAgent", 1):              "did you mean RandomAgent?",
		strings.Replace(job, "seed = 1", "seed = 1.5", 1):                 "runner.seed must be a whole number",
		strings.Replace(job, "folder = \"a\"", "folder=1", 1):             "runner.folder must be a string",
		"optimizer = \"Adagrad\"\n" + job:                                 "must be Adam, AdamW or SGD",
		"optimizer_args = 3\n" + job:                                      "optimizer_args must be a table",
		"min_lr = \"a\"\n" + job:                                          "min_lr must be a number",
		job + "[agent]\naction_sequence = [\"a\"]":                        "",
		strings.Replace(job, "[job]", "gpu_changes=3\n[job]", 1):          "gpu_changes must be a list",
		strings.Replace(job, "[job]", "gpu_changes=[{time=1}]\n[job]", 1): "item 0 is invalid",
		strings.Replace(job, "RandomAgent", "DeterministicAgent", 1) +
			"[agent]\naction_sequence = [-1]": "block numbers that are at least 0",
		strings.Replace(job, "RandomAgent", "DeterministicAgent", 1) + "[agent]\n" +
			"action_sequence = [0, 17]": `marked block "17" not found`,
	} {
		_, err := translate("a.toml", []byte(text))
		if says == "" {
			assert.NoError(t, err)
			continue
		}
		var list decode.Faults
		require.ErrorAs(t, err, &list, text)
		assert.ErrorContains(t, err, says)
	}
}

func TestWeightsOfTheOriginal(t *testing.T) {
	job := originalWith("", "", "[trainer]\n")
	made, err := translate("a.toml", []byte(job+"weights = \"a/weights.pth\"\nruntimes = \"a/runtimes\"\n"))
	require.NoError(t, err)
	j, err := parseJob("a.toml", made.Text)
	require.NoError(t, err, "it is read where the files are not")
	assert.Equal(t, config.InitialWeights{Weights: "a/weights.pth"}, j.InitialWeights())
	assert.Equal(t, "a.toml", j.Source("time.start").File, "zero is said, for the runtimes say otherwise")
	made, err = translate("a.toml", []byte(job+"runtimes = \"a/runtimes\"\n"))
	require.NoError(t, err)
	assert.Contains(t, made.Text, "# - trainer.runtimes had no effect: the original read it only with weights\n")
	_, err = translate("a.toml", []byte(job+"weights = \"a\"\n"))
	assert.ErrorContains(t, err, "trainer.weights a has no known extension")
}

// originalWith returns a job of the original with additional lines.
func originalWith(top, scheduler, end string) string {
	return top + "\n[runner]\nseed = 1\nfolder = \"a\"\nagent = \"RandomAgent\"\ntotal_episodes = 1\n[scheduler]\n" +
		"running_time = 40\n" + scheduler +
		"\n[job]\nmodel = \"ConvNet2\"\ndataset = \"cifar10\"\n" + end
}

func TestWhereTheOriginalStoppedLoweringTheRate(t *testing.T) {
	for text, want := range map[string]float64{
		"min_lr = 0.005": 0.01 * 0.9 * 0.9 * 0.9 * 0.9 * 0.9 * 0.9 * 0.9, // 0.0053 is above min_lr, 0.0048 is not
		"min_lr = 0.02":  0.01,                                           // never lowered
		"min_lr = 0.25\noptimizer_args = {lr = 1}\nlearning_rate_decay = 0.5": 0.25,
		"learning_rate_decay = 1": 1e-8,
	} {
		made, err := translate("a.toml", []byte(originalWith(text, "", "")))
		require.NoError(t, err, text)
		j, err := parseJob("a.toml", made.Text)
		require.NoError(t, err, text)
		o := j.Options()
		assert.InEpsilon(t, want, o.Schedule.MinLR, 1e-12, text)
		if o.Schedule.Decay < 1 {
			assert.InEpsilon(t, want, o.Schedule.Rate(o.Optimizer.LR, trainer.Moment{Epochs: 500}), 1e-12, text)
		}
	}
}

func TestChangesThatTheOriginalTookLateOrNever(t *testing.T) {
	made, err := translate("a.toml", []byte(originalWith("", "gpu_changes = [{time = 20, change = \"up\"}, "+
		"{time = 10, change = \"up\"}, {time = 41, change = \"up\"}, {time = 30, change = \"down\"}]", "")))
	require.NoError(t, err)
	j, err := parseJob("a.toml", made.Text)
	require.NoError(t, err)
	assert.Equal(t, []trainer.Event{{At: 20 * time.Second, Change: trainer.Up},
		{At: 20 * time.Second, Change: trainer.Up}}, j.Time.Events)
	assert.Contains(t, made.Text, "# - scheduler.gpu_changes: item 2 never happened")
	assert.Contains(t, made.Text, "# - scheduler.gpu_changes: item 3 never happened", "it waited for the one before it")
	d, err := j.Decider()
	require.NoError(t, err)
	assert.Equal(t, decider.Random{Seed: 1, Kinds: []net2net.Kind{"deepen"}, Surgery: j.Adapt.Surgery,
		Original: true}, d)
}

func TestTheOriginalsFilesConvert(t *testing.T) {
	if _, err := os.Stat(originals); err != nil {
		t.Skip("left out: the original's files are not beside the tree")
	}
	jobs, learning, scenarios := 0, 0, 0
	require.NoError(t, filepath.WalkDir(originals, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".toml" {
			return err
		}
		made, err := Convert(files.OS{}, path)
		require.NoError(t, err, path)
		if made.Learning {
			learning++
			assertOriginalLearning(t, path, made)
			return nil
		}
		if made.Simulation {
			scenarios++
			assertOriginalScenario(t, path, made)
			return nil
		}
		jobs++
		j, err := parseJob(path, made.Text)
		require.NoError(t, err, path)
		assertOriginalWay(t, j)
		assert.Empty(t, j.Options().Timeline.Events, path)
		return nil
	}))
	assert.Equal(t, []int{40, 12, 10}, []int{learning, jobs, scenarios})
}

// assertOriginalWay checks that a translated job uses the original's options.
func assertOriginalWay(t *testing.T, j *config.Job) {
	o := j.Options()
	assert.Equal(t, 0.01, o.Optimizer.LR)
	assert.Equal(t, 64, o.Batch)
	assert.True(t, o.Exact && j.Data.TestAsValidation && o.Adapt.Reset && o.Adapt.Every && o.Abandon && o.Overrun &&
		o.Distill.Off)
	assert.InDelta(t, 1, o.Adapt.Divide, 0)
	assert.Equal(t, net2net.Original, o.Adapt.Surgery.Compat)
	assert.Equal(t, []float64{0.5}, j.Data.Mean)
	assert.Equal(t, []float64{0.5}, j.Data.Deviation)
	assert.Equal(t, trainer.Exponential, o.Schedule.Rule)
	assert.Equal(t, 0.9, o.Schedule.Decay)
	p, err := j.Profile()
	require.NoError(t, err)
	assert.Equal(t, "v100-original", p.Name)
}

// assertOriginalScenario checks that a translated scenario tries the original's sequences.
func assertOriginalScenario(t *testing.T, path string, made *Translation) {
	m, err := parseScenario(path, made.Text)
	require.NoError(t, err, path)
	assertOriginalWay(t, &m.Job)
	o := m.Options()
	require.Len(t, o.Timeline.Events, 1, path)
	assert.Equal(t, o.Timeline.Start, o.Timeline.Events[0].At)
	assert.Equal(t, 400*time.Second, o.Timeline.Budget)
	assert.NotEmpty(t, m.Network.Weights)
	assert.True(t, strings.HasSuffix(m.Network.Runtimes, "/runtimes"), m.Network.Runtimes)
	assert.Zero(t, m.InitialWeights().Epochs, "the original counted epochs from zero")
	assert.NotContains(t, made.Text, "# - trainer.", "nothing is left to tell")
	sequences, _, err := m.Size()
	require.NoError(t, err)
	assert.Equal(t, []any{64, 3, 1, m.Run.Folder},
		[]any{sequences, m.Decisions(), m.Simulate.Seeds, "runs/" + m.Simulate.Name})
}

func TestSimulationsOfTheOriginalAreTranslated(t *testing.T) {
	path := "testdata/simulation.toml"
	made, err := Convert(files.OS{}, path)
	require.NoError(t, err)
	require.True(t, made.Simulation)
	golden(t, path+".txt", made.Text)
	m, err := parseScenario("a.toml", made.Text)
	require.NoError(t, err)
	sequences, _, err := m.Size()
	require.NoError(t, err)
	assert.Equal(t, 81, sequences, "of four decisions with three choices")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for old, c := range map[string]struct{ new, says string }{
		"num_actions = 4":     {"", "it has no agent.num_actions"},
		"num_actions = 4\n":   {"num_actions = 4.5\n", "agent.num_actions must be a whole number"},
		"action_set_size = 3": {"action_set_size = 1", "agent.action_set_size must be from 2 to 1000, got 1"},
		"set_size = 3":        {"set_size = 6", `marked block "4" not found`},
		`change = "up"`:       {`change = "down"`, "the timeline and adapt.max_decisions allow only 0"},
	} {
		_, err := translate("a.toml", []byte(strings.Replace(string(text), old, c.new, 1)))
		var list decode.Faults
		require.ErrorAs(t, err, &list, c.says)
		assert.ErrorContains(t, err, c.says)
	}
}

// assertOriginalLearning checks that a translated policy learns with the original's options.
func assertOriginalLearning(t *testing.T, path string, made *Translation) {
	assert.Contains(t, made.Warnings, "agent.decay_freq = 500 had no effect: the original never read it", path)
	l := policyfile.New()
	require.NoError(t, config.Parse(path, []byte(made.Text), l), path)
	assert.EqualValues(t, 42, l.Run.Seed)
	assert.Contains(t, []int{10_000, 20_000, 75_000}, l.Learn.Episodes)
	assert.Contains(t, []float64{1, 10, 100, 1000}, l.Learn.Temperature)
	l.Learn.Episodes, l.Learn.Temperature = 0, 0
	want := learn.Options{}
	want.EnsureDefaults()
	want.Episodes, want.Temperature = 0, 0
	assert.Equal(t, want, l.Learn, "zero options are the original's")
	assert.Equal(t, learn.PolicyOptions{Hidden: 50, Memory: 16, Linear: 128, Time: 8}, l.Policy.PolicyOptions)
	assert.Equal(t, net2net.Original, l.Table.Compat)
	assert.Len(t, l.Table.Actions, 4)
	assert.True(t, strings.HasSuffix(l.Table.File, "data.pkl") &&
		strings.HasSuffix(l.Table.Vocabulary, "models.ids.pkl") && l.Table.DiscardDraws && !l.Table.Prefix)
}

func TestEveryKeyOfTheOriginalsLearningIsTranslatedOrTold(t *testing.T) {
	path := "testdata/learning.toml"
	made, err := Convert(files.OS{}, path)
	require.NoError(t, err)
	require.True(t, made.Learning)
	golden(t, path+".txt", made.Text)
	for _, w := range made.Warnings {
		assert.Contains(t, made.Text, "# - "+w+"\n")
	}
}

func TestLearningFilesThatAreNotTheOriginals(t *testing.T) {
	text := "[runner]\nseed = 1\nfolder = \"a\"\nagent = \"Agent\"\ntotal_episodes = 1\n[simulation]\ndatafile = \"a/" +
		"data.pkl\"\n[job]\nmodel = \"ConvNet2\"\ndataset = \"cifar10\"\n[agent]\nvocab = \"models\"\nmax_actions = 4\n"
	made, err := translate("a.toml", []byte(text))
	require.NoError(t, err)
	assert.Contains(t, made.Text, "lr = 0.001 ")
	assert.Contains(t, made.Text, "memory = 32 ")
	for old, c := range map[string]struct{ new, says string }{
		"datafile = \"a/data.pkl\"": {"", "the training table is missing"},
		"max_actions = 4":           {"max_actions = 5", "agent.max_actions is 5, but ConvNet2 has 4 actions"},
		"max_actions = 4\n":         {"", "it has no agent.max_actions"},
		"ConvNet2":                  {"ConvNet22", "did you mean ConvNet2?"},
		"seed = 1":                  {"seed = 1.5", "runner.seed must be a whole number"},
		"vocab = \"models\"":        {"vocab = 3", "agent.vocab must be a string"},
		"total_episodes = 1":        {"total_episodes = -1", "episodes is -1"},
		"max_actions = 4 ":          {"", ""},
		"\n[agent]\n":               {"\n[agent]\nalpha = \"a\"\n", "agent.alpha must be a number"},
	} {
		_, err := translate("a.toml", []byte(strings.Replace(text, old, c.new, 1)))
		if c.says == "" {
			assert.NoError(t, err)
			continue
		}
		var list decode.Faults
		require.ErrorAs(t, err, &list, old)
		assert.ErrorContains(t, err, c.says)
	}
}

// The original's learning files are read after conversion, if the tables and policies that they name exist.
func TestTheOriginalsLearningIsRead(t *testing.T) {
	if _, err := os.Stat(originals); err != nil {
		t.Skip("left out: the original's files are not beside the tree")
	}
	reference := filepath.Dir(originals)
	read, missing := 0, 0
	paths, err := filepath.Glob(filepath.Join(originals, "simulation/*/*_learn*.toml"))
	require.NoError(t, err)
	for _, path := range paths {
		made, err := Convert(files.OS{}, path)
		require.NoError(t, err)
		text := made.Text
		for old, new := range map[string]string{"../results/simulation_": reference + "/simulations/simulation_",
			"../vocabs/": reference + "/vocabs/"} {
			text = strings.ReplaceAll(text, old, new)
		}
		text = strings.ReplaceAll(text, "weights = \""+reference+"/simulations/", "weights = \""+reference+"/policies/")
		l, err := config.ReadNamed[*policyfile.File](policyfile.KindName,
			config.Open(files.OS{}, written(t, "policy.toml", text)), nil)
		if err != nil {
			require.ErrorContains(t, err, "no such file", path)
			missing++
			continue
		}
		read++
		_, tree := l.LoadedTable()
		require.Len(t, tree.States, 21)
		require.Equal(t, strings.Contains(made.Text, "\nweights = "), l.InitialPolicy() != nil)
	}
	require.Greater(t, read, missing)
	t.Logf("measured: of the original's learning files %d were read with all that they name, "+
		"%d name tables or policies that were not published", read, missing)
}

// The ten original scenarios equal conversions of the original's own files, except for paths and weights, which users
// must provide.
func TestScenariosOfTheOriginalAreItsOwn(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(originals, "simulation/convnet?/*.toml"))
	require.NoError(t, err)
	count := 0
	for _, path := range paths {
		made, err := Convert(files.OS{}, path)
		require.NoError(t, err)
		if !made.Simulation {
			continue
		}
		count++
		want, err := parseScenario(path, made.Text)
		require.NoError(t, err)
		name := strings.TrimSuffix(want.Simulate.Name, "_v2")
		text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "original", name+".toml"))
		require.NoError(t, err)
		uncommented := strings.NewReplacer("# weights = ", "weights = ", "# reset_epochs = ", "reset_epochs = ",
			"[time]\n", fmt.Sprintf("[time]\nstart = \"%ds\"\n", int(want.Time.Start.Seconds()))).Replace(string(text))
		got, err := parseScenario(name, uncommented)
		require.NoError(t, err)
		assert.Equal(t, filepath.Base(filepath.Dir(want.Network.Weights)),
			filepath.Base(filepath.Dir(got.Network.Weights)))
		_, err = weights.FormatOf(got.Network.Weights)
		require.NoError(t, err)
		got.Network.Weights, got.Network.Runtimes, got.Simulate.Name = want.Network.Weights, want.Network.Runtimes,
			want.Simulate.Name
		assert.Equal(t, want.Digest(), got.Digest(), path)
	}
	if count == 0 {
		t.Skip("left out: the original's files are not beside the tree")
	}
	assert.Equal(t, 10, count)
}
