package config

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node"
	"graft/cluster/node/world"
	"graft/cluster/study"
	"graft/internal/files"
)

// The benchmark files are valid, and the jobs and scripts that their commands name exist and are valid.
func TestBenchmarkTasksAreRight(t *testing.T) {
	t.Chdir("..")
	for _, path := range []string{"scenarios/node/benchmark.toml", "scenarios/node/graft.toml"} {
		f, err := ReadNamed[study.File](world.World().Name, Open(files.OS{}, path), nil)
		require.NoError(t, err)
		n := f.(*world.File)
		require.NotEmpty(t, n.Task, path)
		for _, task := range n.Task {
			require.FileExists(t, task.Command[1])
			if len(task.Command) == 3 {
				_, err := Open(files.OS{}, task.Command[2]).Read(nil)
				require.NoError(t, err)
			}
		}
	}
}

// readNode parses a text as a file of a machine's tasks.
func readNode(t *testing.T, text string, set ...string) (*world.File, error) {
	t.Helper()
	f, err := ReadNamed[study.File](world.World().Name, Open(files.OS{}, written(t, "tasks.toml", text)), set)
	if err != nil {
		return nil, err
	}
	return f.(*world.File), nil
}

// A count expands to numbered tasks, and a task's name in the key after stands for all of them.
func TestTasksOfAFileAreExpanded(t *testing.T) {
	n, err := readNode(t, `[machine]
[[task]]
name = "train"
kind = "cnn"
count = 3
duration = "5s"
[[task]]
duration = "1s"
after = ["train"]
[[task]]
name = "last"
flow = "night"
priority = 3
weight = 2.5
tickets = 4
cores = 30
memory_mb = 12.5
estimate = "2s"
arrival = "3s"
duration = "1s"
after = ["train-2", "task2"]
`)
	require.NoError(t, err)
	s := n.Studies()
	require.Len(t, s, 1)
	require.Equal(t, []node.Spec{
		{Name: "train-1", Kind: "cnn", Flow: "train", Cores: 100, Work: 5 * time.Second, Weight: 1, Tickets: 1},
		{Name: "train-2", Kind: "cnn", Flow: "train", Cores: 100, Work: 5 * time.Second, Weight: 1, Tickets: 1},
		{Name: "train-3", Kind: "cnn", Flow: "train", Cores: 100, Work: 5 * time.Second, Weight: 1, Tickets: 1},
		{Name: "task2", Kind: "task2", Flow: "task2", Cores: 100, Work: time.Second, Weight: 1, Tickets: 1,
			After: []int{0, 1, 2}},
		{Name: "last", Kind: "last", Flow: "night", Cores: 30, Memory: 12.5, Work: time.Second, Estimate: 2 *
			time.Second, Arrival: 3 * time.Second, Priority: 3, Weight: 2.5, Tickets: 4, After: []int{1, 3}},
	}, s[0].Tasks)
	all := n.ExpandedTasks()
	require.Len(t, all, 5)
	for k, task := range all {
		require.Equal(t, s[0].Tasks[k].Name, task.Name)
	}
	summary, err := n.Summary()
	require.NoError(t, err)
	require.Contains(t, summary, "5 tasks on 4 GPUs under all schedulers")
	require.ErrorContains(t, n.CheckLearning(), "the tables [[task]] define a single workload")
}

// A machine has equal GPUs, or the GPUs of a list.
func TestMachinesOfFiles(t *testing.T) {
	for text, want := range map[string]node.Options{
		"": {Devices: []node.Device{{Memory: 16384, Speed: 1}, {Memory: 16384, Speed: 1}, {Memory: 16384, Speed: 1},
			{Memory: 16384, Speed: 1}}, Keep: true},
		"gpus = 1\nmemory_mb = 8\n": {Devices: []node.Device{{Memory: 8, Speed: 1}}, Keep: true},
		"memories_mb = [8, 16]\n": {Devices: []node.Device{{Memory: 8, Speed: 1}, {Memory: 16, Speed: 1}},
			Keep: true},
		"memories_mb = [8]\nspeeds = [0.5]\ncores = \"whole\"\nstop = \"checkpoint\"\nswitch = \"2s\"\n" +
			"max_tasks_per_gpu = 3\n" +
			"": {Devices: []node.Device{{Memory: 8, Speed: 0.5}}, Whole: true, Switch: 2 * time.Second,
			Together: 3},
	} {
		n, err := readNode(t, "[machine]\n"+text)
		require.NoError(t, err, text)
		o := n.Studies()[0].Options
		want.Power.EnsureDefaults()
		require.Equal(t, want.Devices, o.Devices, text)
		require.Equal(t, []any{want.Whole, want.Keep, want.Switch, want.Together, want.Power},
			[]any{o.Whole, o.Keep, o.Switch, o.Together, o.Power}, text)
	}
}

// Single-GPU jobs of a trace become tasks in the order of arrival. Arrivals restart at zero in each workload.
func TestTasksOfATrace(t *testing.T) {
	text := "[machine]\n[workload]\ntraces = [\"testdata/tasks/trace.csv\"]\n[tasks]\nmin_tasks = 2\nmax_tasks = 2\n" +
		"train_count = 1\nvalidation_count = 1\n"
	specs := func(set ...string) []node.Spec {
		train, _ := must(readNode(t, text, append(set, "tasks.max_tasks=3")...)).Learning()
		return train[0].Tasks
	}
	require.Len(t, specs(), 3)
	for k, want := range []node.Spec{
		{Name: "first-1", Kind: "vgg", Flow: "ann", Work: time.Minute},
		{Name: "short-2", Flow: "bob", Work: 20 * time.Second, Arrival: 30 * time.Second},
		{Name: "late-3", Kind: "vgg", Flow: "ann", Work: 30 * time.Second, Arrival: 300 * time.Second},
	} {
		got := specs()[k]
		if want.Kind == "" {
			require.Contains(t, []string{"image_classification", "lstm_training", "cnn_training"}, got.Kind,
				"it is drawn")
			want.Kind = got.Kind
		}
		require.True(t, got.Cores > 0 && got.Cores <= 100 && got.Memory > 0 && got.Memory <= 16384, got)
		want.Cores, want.Memory = got.Cores, got.Memory
		require.Equal(t, want, got)
	}
	n := must(readNode(t, text))
	train, validation := n.Learning()
	require.Len(t, train, 1)
	require.Len(t, validation, 1)
	require.Empty(t, n.Studies(), "nothing is left to compare on")
	require.Zero(t, validation[0].Tasks[0].Arrival)
	require.Equal(t, specs(), specs())
	require.NotEqual(t, specs(), specs("tasks.seed=2"))
	require.ErrorContains(t, must(readNode(t, text, "tasks.train_count=9")).CheckLearning(),
		"the trace yields 2 training workloads and 0 validation workloads")
}

// Measured pairs of a file slow tasks down, and the digest covers the file's contents.
func TestProfilesOfTasks(t *testing.T) {
	n, err := readNode(t, "[machine]\nprofiles = \"testdata/tasks/pairs.csv\"\ncontention = 0.5\n")
	require.NoError(t, err)
	speed, rates := n.Studies()[0].Speed, make([]float64, 2)
	pair := func(a, b string) []*node.Task {
		return []*node.Task{{Spec: node.Spec{Kind: a, Cores: 40}}, {Spec: node.Spec{Kind: b, Cores: 40}}}
	}
	speed.Rates(pair("vgg", "lstm"), rates)
	require.Equal(t, []float64{0.8, 0.5}, rates)
	speed.Rates(pair("lstm", "vgg"), rates)
	require.Equal(t, []float64{0.5, 0.8}, rates)
	speed.Rates(pair("vgg", "vgg"), rates)
	require.InDelta(t, 1/1.2, rates[0], 1e-12, "contention, where nothing was measured")

	head := "model1,dataset1,batchsize1,amp1,model2,dataset2,batchsize2,amp2,speed1,speed2\n"
	digest := func(rows string) string {
		path := written(t, "pairs.csv", head+rows)
		return Digest(must(readNode(t, "[machine]\n", "machine.profiles="+Quote(path))))
	}
	require.Equal(t, digest("a,,0,0,b,,0,0,1,1\n"), digest("a,,0,0,b,,0,0,1,1\n"), "wherever the file is")
	require.NotEqual(t, digest("a,,0,0,b,,0,0,1,1\n"), digest("a,,0,0,b,,0,0,1,0.5\n"))
}

// A file whose measured pairs can slow no task down has a warning.
func TestWarningsAboutProfilesOfTasks(t *testing.T) {
	warnings := func(cores, set string) string {
		n := must(readNode(t, "[machine]\nprofiles = \"testdata/tasks/pairs.csv\"\n"+set+
			"[[task]]\nname = \"vgg\"\nduration = \"1s\"\n"+cores+
			"[[task]]\nname = \"b\"\nkind = \"lstm\"\nduration = \"1s\"\ncores = 40\n"))
		return strings.Join(n.Warnings(), "\n")
	}
	require.Empty(t, warnings("cores = 60\n", ""))
	require.Contains(t, warnings("cores = 61\n", ""), "each measured pair of tasks requests more than 100% of a GPU's "+
		"cores")
	require.Contains(t, warnings("", ""), "compare a learned scheduler")
	require.Contains(t, warnings("cores = 60\n", "max_tasks_per_gpu = 1\n"), "max_tasks_per_gpu is 1; raise it")
	require.Contains(t, warnings("cores = 10\nkind = \"resnet\"\n", ""), "pairs.csv has no pair of the tasks' kinds")
}

// Generated workloads depend only on the seed and on their purpose.
func TestGeneratedTasks(t *testing.T) {
	n := must(readNode(t, "[machine]\n[tasks]\nmin_tasks = 3\nmax_tasks = 5\ntrain_count = 4\nvalidation_count = 2\n"+
		"test_count = 3\narrival_interval = \"2s\"\nunit = \"2s\"\n"))
	train, validation := n.Learning()
	studies := n.Studies()
	require.Equal(t, []int{4, 2, 3}, []int{len(train), len(validation), len(studies)})
	require.Equal(t, studies, n.Studies())
	require.NotEqual(t, train[0].Tasks, studies[0].Tasks)
	require.NotEqual(t, train[0].Tasks, validation[0].Tasks)
	for _, s := range studies {
		require.True(t, len(s.Tasks) >= 3 && len(s.Tasks) <= 5)
		s.EnsureDefaults()
		require.NoError(t, s.Validate())
	}
	require.Equal(t, studies[:2], must(readNode(t, "[machine]\n[tasks]\nmin_tasks = 3\nmax_tasks = 5\ntest_count = 2\n"+
		"arrival_interval = \"2s\"\nunit = \"2s\"\n")).Studies(), "more workloads change none before")
	require.NoError(t, n.CheckLearning())
}

// The error of a faulty file names the key and the line.
func TestFaultsOfTasks(t *testing.T) {
	const task = "[[task]]\nname = \"a\"\nduration = \"1s\"\n"
	for text, says := range map[string]string{
		"[machine]\n" + task + "after = [\"b\"]\n": `task a: unknown task "b" in the key "after"; ` +
			`expected one of: [a]`,
		"[machine]\n" + task + "count = 3\nafter = [\"a-4\"]\n": `unknown task "a-4" in the key "after"`,
		"[machine]\n" + task + "count = 2\nafter = [\"a\"]\n":   "a-1 after a-1",
		"[machine]\n" + task + "count = 9999999\n": "count is 9999999; " +
			"must be from 0 to 1048576",
		"[machine]\nmemories_mb = [10, 20]\n" + task + "memory_mb = 21\n":  "the largest GPU has 20 MiB",
		"[machine]\n" + task + "cores = 0.0\nmemory_mb = -2\n":             "memory is -2",
		"[machine]\n[workload]\ntraces = [\"none.csv\"]\n":                 "none.csv: no such file",
		"[machine]\n[workload]\ntraces = [\"testdata/tasks/pairs.csv\"]\n": "unknown trace format",
		"[machine]\n[workload]\ntraces = [\"a.csv\", \"b.csv\"]\n":         "traces has several files",
		"[machine]\n[tasks]\nfrom = \"a.csv\"\n":                           "renamed to workload.traces",
		"[machine]\nprofiles = \"testdata/tasks/trace.csv\"\n":             "testdata/tasks/trace.csv",
		"[machine]\nprofiles = \"none.csv\"\n":                             "profiles",
		"[machine]\n[schedule]\naging = \"-1s\"\n":                         "aging is -1s",
		"[machine]\n[schedule]\nworkers = -1\n":                            "workers is -1; expected 0 or more",
		"[machine]\n[tasks]\nmax_tasks = 100001\n": "max_tasks is 100001; must be at most " +
			"100000",
		"[machine]\n[tasks]\narrival_interval = \"-1s\"\n": "arrival_interval is -1s; expected 0s",
		"[machine]\nstop = \"kill\"\n":                     "signal",
		"[machine]\nspeeds = [1.0]\n": "speeds has 1 values, but memories_mb " +
			"has 0",
		"[machine]\n[schedule]\nschedulers = [\"testdata/none/learned\"]\n": "no such file",
	} {
		_, err := readNode(t, text)
		require.ErrorContains(t, err, says, text)
		require.Contains(t, err.Error(), "1 fault", text)
		require.Contains(t, err.Error(), "tasks.toml:", text)
	}
	_, err := readNode(t, "[machine]\n"+strings.Repeat("[[task]]\nname = \"a\"\n", 3))
	require.ErrorContains(t, err, "duplicate name; rename it")
}
