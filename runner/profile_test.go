package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/runner/profile"
)

// tiny writes a network file whose network takes less than a millisecond.
func tiny(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "tiny.toml")
	text := `name = "Tiny"
input = [3, 16, 16]
layers = [
  {name = "conv1", block = ["Conv2d(3, 4, 3)", "BatchNorm2d(4)", "ReLU()"]},
  {name = "conv2", block = ["Conv2d(4, 4, 3)", "BatchNorm2d(4)", "ReLU()"]},
  "AdaptiveAvgPool2d(1)",
  "Flatten()",
  "Linear(4, 3)",
]
`
	write(t, path, text)
	return path
}

// quickly returns the flags of short measurements.
func quickly(more ...string) []string {
	return append([]string{"profile", "--quiet", "--only", "--rounds", "2", "--batch", "64,128"}, more...)
}

// onTiny returns the command line of a job with a network file and a profile.
func onTiny(network, profile, folder string, more ...string) []string {
	args := []string{"train", "--quiet", "--folder", folder}
	for _, set := range append([]string{"network.file=" + network, "time.profile=" + profile, "time.budget=500ms",
		"data.synthetic.size=16", "data.synthetic.train=300", "data.synthetic.test=100", "data.synthetic.classes=3"},
		more...) {
		args = append(args, "--set", set)
	}
	return args
}

// A measured profile can be shown and checked, and a job uses it.
func TestProfileIsMeasuredAndUsed(t *testing.T) {
	network, folder := tiny(t), t.TempDir()
	out := filepath.Join(folder, "here.toml")
	o := done(t, quickly(network, "--out", out)...)
	containsAll(t, o.stdout, "here: ", "STEP [ms]", "Tiny deepen:", "Tiny widen:",
		"was left out and predicted by the rates of the others", "wrote "+out)
	p, err := config.ReadProfile(files.OS{}, out)
	require.NoError(t, err)
	require.Len(t, p.Measured, 12, "the network, deepened in three and widened in two places, with two batches")
	assert.Regexp(t, `^\d{4}-\d\d-\d\d$`, p.Made.Date)
	assert.NotEmpty(t, p.Made.Torch)
	assert.NotEmpty(t, p.Made.Graft)
	assert.NotEmpty(t, p.Device)
	assert.Positive(t, p.Made.Threads)
	assert.Equal(t, 2, p.Made.Rounds)
	assert.Equal(t, "adam", p.Made.Optimizer)

	shown := done(t, "profile", "show", out)
	require.Equal(t, strings.TrimSuffix(shown.stdout, "\n"), strings.Split(o.stdout, "\n\nwrote")[0],
		"what is shown is what was printed")
	checked := done(t, "profile", "check", out)
	require.Contains(t, checked.stdout, out+": ok: here, ")
	require.Contains(t, checked.stdout, "12 measurements")

	run := filepath.Join(folder, "run")
	require.Equal(t, failure.Done, graft(onTiny(network, out, run)...).code)
	fails(t, failure.Usage, "replace it with --force", quickly(network, "--out", out)...)
	report := decoded[profile.Report](t, done(t, quickly(network, "--out", out, "--force", "--json", "--plain",
		"--name", "other", "--exact", "--steady", "--threads", "1", "--optimizer", "sgd")...).stdout)
	require.Equal(t, out, report.File)
	require.Equal(t, "other", report.Name)
	require.Len(t, report.Networks, 2)
	require.Positive(t, report.Networks[0].Step.Seconds)
	require.Nil(t, report.Networks[0].Step.Fitted)
	require.Equal(t, profile.Made{Date: report.Made.Date, Graft: report.Made.Graft, Torch: report.Made.Torch,
		Device: "cpu", Threads: 1, Rounds: 2, Optimizer: "sgd", Exact: true, Steady: true,
		Instructions: "native"}, report.Made)
}

// A job file selects the measurements: its network after each of its actions, its batches and its optimizer.
func TestAProfileIsMeasuredForAJob(t *testing.T) {
	network, folder := tiny(t), t.TempDir()
	out := filepath.Join(folder, "p.toml")
	job := write(t, filepath.Join(folder, "job.toml"), "[network]\nfile = \""+network+"\"\n[data.synthetic]\n"+
		"size = 16\nclasses = 3\n[time]\nbudget = \"1s\"\nprofile = \""+out+"\"\n"+
		"events = [{at = \"300ms\", change = \"up\"}, {at = \"600ms\", change = \"up\"}]\n[train]\nbatch = 24\n"+
		"eval_batch = 48\n[optimizer]\nrule = \"sgd\"\n[adapt]\n"+
		"decider = \"script\"\nactions = [\"deepen:conv1\", \"widen:conv2:7\"]\n")
	report := decoded[profile.Report](t,
		done(t, "profile", "--quiet", "--rounds", "2", "--only", "--json", "--out", out, job).stdout)
	require.Equal(t, "sgd", report.Made.Optimizer)
	names := map[string][]int{}
	for _, n := range report.Networks {
		names[n.Network] = append(names[n.Network], n.Batch)
	}
	require.Equal(t, map[string][]int{"Tiny": {24, 48}, "Tiny deepen:conv1": {24, 48},
		"Tiny deepen:conv1 widen:conv2:7": {24, 48}}, names)
	done(t, "config", "check", job)
	fails(t, failure.Configuration, "job.toml:", "profile", "--quiet", "--only",
		write(t, filepath.Join(folder, "job.toml"), "[network]\nfil = \"x\"\n"))
}

// Processes that train together are measured, and the profile charges a job whose devices increase.
func TestProfileOfProcesses(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: measuring processes takes ten seconds; set GRAFT_LONG=1")
	}
	network, folder := tiny(t), t.TempDir()
	out := filepath.Join(folder, "p.toml")
	o := done(t, quickly(network, "--processes", "2,4", "--out", out)...)
	require.Contains(t, o.stdout, "2 processes compute their shares")
	p, err := config.ReadProfile(files.OS{}, out)
	require.NoError(t, err)
	require.Len(t, p.Processes, 2)
	done(t, onTiny(network, out, filepath.Join(folder, "run"), `time.events=[{at = "100ms", change = "up"}]`)...)
}

// A job that a profile without rates cannot charge is refused before it has a folder. The error names the network and a
// remedy.
func TestJobsThatAProfileDoesNotKnowAreRefused(t *testing.T) {
	network, folder := tiny(t), t.TempDir()
	out, run := filepath.Join(folder, "plain.toml"), filepath.Join(folder, "run")
	require.Equal(t, failure.Done, graft(quickly(network, "--plain", "--out", out)...).code)
	events := `time.events=[{at = "100ms", change = "up"}]`
	for name, c := range map[string]struct {
		set  []string
		says string
	}{
		"another network": {[]string{"network.file=", "network.name=ConvSmall"},
			"no measurement of this ConvSmall with a batch of 64"},
		"another batch": {[]string{"train.batch=16"}, "no measurement of this Tiny with a batch of 16"},
		"what actions make": {[]string{events, `adapt.decider="script"`, `adapt.actions=["deepen:0"]`},
			"after action deepen:0: profile plain has no measurement of this Tiny"},
		"a decider's choice": {[]string{events, `adapt.decider="random"`}, "covers only measured networks"},
	} {
		t.Run(name, func(t *testing.T) {
			o := fails(t, failure.Configuration, c.says, onTiny(network, out, run, c.set...)...)
			require.Contains(t, o.stderr, "'graft profile'")
			require.NoDirExists(t, run)
		})
	}
	require.Equal(t, failure.Done, graft(onTiny(network, out, run, "train.batch=96")...).code,
		"it lies between two that were measured")
}

func TestProfileRefuses(t *testing.T) {
	network, folder := tiny(t), t.TempDir()
	faulty := write(t, filepath.Join(folder, "faulty.toml"), "nam = \"x\"\n[costs]\ndecision_seconds = -1\n")
	features := filepath.Join(folder, "features.toml")
	write(t, features, "input = [8]\nlayers = [\"Linear(8, 4)\"]\n")
	allFail(t, "", map[string]wrongCall{
		"an unknown network":         {quickly("ConvNet4"), failure.Usage, "did you mean ConvNet"},
		"a network file that is not": {quickly("none.toml"), failure.Failed, "none.toml"},
		"a faulty network file":      {quickly(faulty), failure.Configuration, "faulty.toml:"},
		"a network of no images":     {quickly(features), failure.Failed, "expected classes for images"},
		"a batch of nothing": {quickly(network, "--batch", "64,0"), failure.Usage, "batch is 0; must be " +
			"between 1 and 65536 examples"},
		"a batch twice":             {quickly(network, "--batch", "64,64"), failure.Usage, "duplicate batch"},
		"a batch that is no number": {quickly(network, "--batch", "x"), failure.Usage, "--batch"},
		"no rounds":                 {quickly(network, "--rounds", "0"), failure.Usage, "--rounds is 0; expected"},
		"no classes":                {quickly(network, "--classes", "0"), failure.Usage, "--classes is 0; expected"},
		"rounds below none":         {quickly(network, "--rounds", "-1"), failure.Usage, "rounds"},
		"threads below none":        {quickly(network, "--threads", "-1"), failure.Usage, "--threads"},
		"one process":               {quickly(network, "--processes", "1"), failure.Usage, "--processes has 1"},
		"processes twice":           {quickly(network, "--processes", "2,2"), failure.Usage, "lists 2 twice"},
		"an unknown optimizer":      {quickly(network, "--optimizer", "adm"), failure.Usage, "unknown rule"},
		"an unknown device":         {quickly(network, "--device", "gpu"), failure.Failed, "use cpu or cuda:N"},
		"a shape that is none":      {quickly(network, "--input", "3x"), failure.Usage, "--input"},
		"images that are too small": {[]string{"profile", "--quiet", "--input", "3x4x4"}, failure.Usage,
			"measured by default"},
		"both paths":          {quickly(network, "--exact", "--fast"), failure.Usage, "exact"},
		"only nothing":        {quickly(), failure.Usage, "--only"},
		"a folder for a file": {quickly(network, "--out", folder), failure.Usage, "is a folder"},
		"a file in no folder": {quickly(network, "--out", filepath.Join(folder, "none", "p.toml")),
			failure.Failed, "none"},
		"a file in a file": {quickly(network, "--out", filepath.Join(faulty, "p.toml")), failure.Failed,
			"faulty.toml"},
		"an unknown profile": {[]string{"profile", "show", "stedy"}, failure.Failed, `unknown profile "stedy"`},
		"a faulty profile": {[]string{"profile", "show", faulty}, failure.Configuration,
			`unknown key "nam"; did you mean name?`},
		"no profile": {[]string{"profile", "show"}, failure.Usage, "arg"},
		"a profile that is not there": {[]string{"profile", "check", filepath.Join(folder, "none.toml")},
			failure.Failed, "none.toml"},
		"a faulty profile that is held": {[]string{"profile", "check", faulty}, failure.Configuration,
			"faulty.toml:3:20: decision_seconds is -1"},
	})
}

// fullLater is a disk that becomes full after the first file in a folder was created.
type fullLater struct {
	files.OS
	folder string
	made   *int
}

func (f fullLater) Create(path string) (files.File, error) {
	if filepath.Dir(path) != f.folder {
		return f.OS.Create(path)
	}
	if *f.made++; *f.made > 1 {
		return nil, files.WithRemedy(&os.PathError{Op: "create", Path: path, Err: syscall.ENOSPC})
	}
	return f.OS.Create(path)
}

// A profile that cannot be written after the measurement is printed, and kept in another folder.
func TestAMeasuredProfileIsNotLost(t *testing.T) {
	temporary, folder := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx := onFiles(t.Context(), fullLater{folder: folder, made: new(int)})
	out := filepath.Join(folder, "p.toml")
	o := ends(t, call(ctx, newRootCommand(), quickly(tiny(t), "--plain", "--out", out)...), failure.Failed,
		"free space on this disk")
	require.Contains(t, o.stdout, "STEP [ms]")
	require.NotContains(t, o.stdout, "wrote")
	kept, err := filepath.Glob(filepath.Join(temporary, "graft-profile-*", "profile.toml"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.Contains(t, o.stderr, kept[0])
	done(t, "profile", "check", kept[0])
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

// A place where no file can be written is refused before the measurement.
func TestAProfileHasAPlaceBeforeItIsMeasured(t *testing.T) {
	folder := t.TempDir()
	made := 1
	full := onFiles(t.Context(), fullLater{folder: folder, made: &made})
	long := strings.Repeat("x", 245) + ".toml" // too long with a temporary file's suffix
	for _, c := range []struct {
		ctx        context.Context
		name, says string
	}{{full, "p.toml", "free space on this disk"}, {t.Context(), long, "file name too long"}} {
		out := filepath.Join(folder, c.name)
		o := ends(t, call(c.ctx, newRootCommand(), quickly(tiny(t), "--plain", "--out", out)...), failure.Failed, "")
		require.Empty(t, o.stdout)
		require.Contains(t, o.stderr, c.says)
	}
}

// onFiles returns a context in which commands use a file system.
func onFiles(ctx context.Context, fsys files.FS) context.Context {
	return context.WithValue(ctx, filesKey{}, fsys)
}

func TestAnInterruptedProfileWritesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "p.toml")
	ends(t, call(ctx, newRootCommand(), quickly(tiny(t), "--out", out)...), failure.Interrupted, "")
	require.NoFileExists(t, out)
}

func TestBuiltInProfilesAreShown(t *testing.T) {
	for _, name := range []string{"steady", "v100-original", "round-gpu"} {
		o := done(t, "profile", "show", name)
		require.Contains(t, o.stdout, "100 layers with weights")
	}
}

// A prediction states the error of predictions in its range, if there are measurements.
func TestPredictPrintsTheErrorOfItsRange(t *testing.T) {
	large := strings.Fields("profile predict a100 --hidden 6144 --heads 48 --layers 40 --sequence 2048 --tensor 8 " +
		"--data 32 --micro-batch 4 --batch 1024 --recompute")
	o := done(t, large...).stdout
	containsAll(t, o, "256 devices, 18.4 billion parameters, 1024 sequences; micro batches per replica: 8\n",
		"error: 10.4% on average, at most 19.0% for 9 of 10, of 109 published measurements (GPT on 64 to 512 A100)\n")
	require.NotContains(t, o, "GELU")
	listed := done(t, append(large, "--operators")...).stdout
	containsAll(t, listed, "layer, forward:", "GELU (traffic)", "feed sum (all-reduce)")

	p := decoded[profile.Prediction](t, done(t, append(large, "--json")...).stdout)
	require.InEpsilon(t, p.Seconds, p.Passes+p.Gradients+p.Optimizer, 1e-9)
	require.Equal(t, 8, p.Batches)
	require.Equal(t, 109, p.Error.Rows)

	containsAll(t, done(t, "profile", "predict", "v100").stdout, "error: unknown; no published measurement")
	fails(t, failure.Usage, "the number of heads (16) is not a multiple of the tensor parallelism (3)", "profile",
		"predict", "a100", "--tensor", "3")
	fails(t, failure.Usage, "--batch: a batch of 32 sequences cannot be divided among 5 replicas", "profile",
		"predict", "a100", "--data", "5")
	fails(t, failure.Failed, `unknown hardware "a1000"`, "profile", "predict", "a1000")

	mine := filepath.Join(t.TempDir(), "mine.toml")
	constants := done(t, "profile", "predict", "a100", "--constants").stdout
	write(t, mine, strings.Replace(constants, "half_rate = 3.12e+14", "half_rate = 6.24e+14", 1))
	faster := decoded[profile.Prediction](t, done(t, "profile", "predict", mine, "--json").stdout)
	slower := decoded[profile.Prediction](t, done(t, "profile", "predict", "a100", "--json").stdout)
	require.Less(t, faster.Seconds, slower.Seconds)
}

// A PyTorch trace makes a profile that charges jobs with the network and its grown versions.
func TestTracesAreImported(t *testing.T) {
	trace, out := "../trainer/operators/testdata/BatchNormConvolution.json.gz", filepath.Join(t.TempDir(), "p.toml")
	o := done(t, "profile", "import", trace, "BatchNormConvolution", "--out", out, "--step", "2ms").stdout
	containsAll(t, o, "BatchNormConvolution, batch of 4: 6 steps in the trace", "without the profiler: 2.00 ms",
		"conv2d", "BatchNormConvolution deepen:", "error for other shapes: ", "wrote "+out)
	require.Contains(t, done(t, "profile", "check", out).stdout, "operators of BatchNormConvolution")
	require.Contains(t, done(t, "profile", "show", out).stdout, "predict networks that were not measured")
	done(t, "train", "--quiet", "--folder", filepath.Join(t.TempDir(), "run"), "--set",
		"network.name=BatchNormConvolution",
		"--set", "time.profile="+out, "--set", "time.budget=500ms", "--set", "data.synthetic.train=64", "--set",
		"data.synthetic.test=32", "--set", "train.batch=4")

	fails(t, failure.Usage, "replace it with --force", "profile", "import", trace, "BatchNormConvolution", "--out", out)
	made := decoded[profile.Imported](t, done(t, "profile", "import", trace, "BatchNormConvolution", "--json").stdout)
	require.Equal(t, 4, made.Batch)
	require.Nil(t, made.Plain)
	require.Len(t, made.Predicted, 3)
	require.InDelta(t, 1, made.Predicted[0].Measured, 1e-9)
	containsAll(t, done(t, "profile", "import", trace, "BatchNormConvolution", "--operators").stdout,
		"the times include the profiler's; measure a step without it and pass --step")

	fails(t, failure.Damaged, "check that the trace is of this network", "profile", "import", trace, "ConvNet2")
	fails(t, failure.Usage, "--batch is -1", "profile", "import", trace, "ConvNet2", "--batch", "-1")
	for _, step := range []string{"10m", "1us"} {
		fails(t, failure.Usage, "measure a step of the same program without the profiler, and check the unit",
			"profile", "import", trace, "BatchNormConvolution", "--step", step)
	}
	fails(t, failure.Usage, "--step is -1s", "profile", "import", trace, "ConvNet2", "--step", "-1s")
	fails(t, failure.Usage, "--classes is -1", "profile", "import", trace, "ConvNet2", "--classes", "-1")
}

// Operators of small networks predict networks that a profile lacks. The profile states the errors for its measured
// networks.
func TestAProfilePredictsFromOperators(t *testing.T) {
	path := filepath.Join(t.TempDir(), "device.toml")
	o := done(t, "profile", "MLP", "--only", "--plain", "--rounds", "1", "--operators", "1", "--batch", "32", "--input",
		"1x8x8", "--out", path)
	containsAll(t, o.stdout, "measured in 1 small network, predict networks that were not measured",
		"Errors for 1 network above; the operators were measured in other networks:")
	checked := done(t, "profile", "check", path).stdout
	containsAll(t, checked, "of 1 small network with a median error of", "STEPS BY  GROUP", "family    MLP",
		"batch     32", "growth    before")
	require.Contains(t, done(t, "profile", "show", path).stdout, strings.SplitN(checked, "\n", 2)[1],
		"show prints the same errors")
	job := jobFile(t, "[network]\nname = \"ConvSmall\"\n[time]\nbudget = \"1h\"\nprofile = \""+path+"\"\n")
	require.Contains(t, done(t, "config", "check", job).stdout, "expected: ")
	fails(t, failure.Usage, "--operators requires networks that graft trains on the CPU", "profile", "MLP", "--only",
		"--operators", "4", "--device", "cuda:0")
	fails(t, failure.Usage, "--operators is -1; must be between 0", "profile", "--operators", "-1")
}
