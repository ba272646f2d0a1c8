package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/train"
	"graft/torch"
	"graft/torch/weights"
)

// startingWeights is the folder of the original's starting weights in a developer's checkout.
var startingWeights = filepath.Join("..", "..", "shared", "reference", "adaptation", "starting_weights")

// ownWeights writes a folder of weights in the original's form.
func ownWeights(t *testing.T) string {
	dir := t.TempDir()
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		if err := n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 3)}); err != nil {
			return err
		}
		set, err := n.Save()
		if err != nil {
			return err
		}
		return weights.Write(files.OS{}, filepath.Join(dir, "weights.pth"), set)
	}))
	for name, text := range map[string]string{"runtimes": "0,1.5,1.25\n1,3.0,1.25\n",
		"training0.epoch.test_acc": "0,1.75,0.25\n1,3.25,0.5\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// goingOn runs a job of ConvNet2 from the given weights.
func goingOn(t *testing.T, more ...string) train.Result {
	args := []string{"train", "--quiet", "--json", "--folder", filepath.Join(t.TempDir(), "run")}
	for _, set := range append([]string{"network.name=ConvNet2", "data.synthetic.train=300", "data.synthetic.test=100",
		"data.test_as_validation=true", "data.mean=[0.5]", "data.deviation=[0.5]", "schedule.rule=exponential"},
		more...) {
		args = append(args, "--set", set)
	}
	report := decoded[train.Result](t, done(t, args...).stdout)
	return report
}

func TestTrainGoesOnFromAFolder(t *testing.T) {
	dir := ownWeights(t)
	report := goingOn(t, "network.weights="+dir, "time.budget=3.4")
	published := 0.5
	require.Equal(t, &runs.GivenReport{Weights: filepath.Join(dir, "weights.pth"), Epochs: 2,
		Start: 3250 * time.Millisecond, Accuracy: report.Events[0].Accuracy, Published: &published}, report.Given)
	require.Equal(t, 3250*time.Millisecond, report.Events[0].Time)
	require.Equal(t, 2, report.Epochs[0].Epoch)
	require.InDelta(t, 0.01*0.9*0.9, report.Epochs[0].Rate, 1e-12)

	anew := goingOn(t, "network.weights="+dir, "time.budget=3.4", "network.reset_epochs=true")
	require.Equal(t, report.Given.Start, anew.Given.Start)
	require.Equal(t, report.Given.Accuracy, anew.Given.Accuracy)
	require.Zero(t, anew.Epochs[0].Epoch)
	require.InDelta(t, 0.01, anew.Epochs[0].Rate, 1e-12)

	o := graft("train", "--quiet", "--folder", filepath.Join(t.TempDir(), "run"), "--set", "network.name=ConvNet2",
		"--set", "network.weights="+dir, "--set", "time.budget=3.4", "--set", "data.synthetic.train=300", "--set",
		"data.synthetic.test=100", "--set", "time.events=[]")
	require.Equal(t, failure.Done, o.code, o.stderr)
	require.Regexp(t, `^started at 3\.2 s with weights trained for 2 epochs: \d+\.\d% accuracy `+
		`on the validation images, `+
		`50\.0% published on the test images\n`, o.stdout)

	folder := filepath.Join(t.TempDir(), "run")
	fails(t, failure.Failed, "", "train", "--quiet", "--folder", folder, "--set", "network.name=ConvNet3", "--set",
		"network.weights="+dir, "--set", "data.synthetic.train=300")
	require.NoDirExists(t, folder, "weights that do not fit leave no folder")
}

// Weights of the same classes in another order would train with permuted outputs.
func TestTrainRefusesAnotherOrderOfClasses(t *testing.T) {
	set, err := weights.Read(files.OS{}, filepath.Join(ownWeights(t), "weights.pth"), weights.Options{})
	require.NoError(t, err)
	data := dataset.Options{Synthetic: dataset.SyntheticOptions{Train: 100, Test: 100}}
	var classes []string
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		images, err := dataset.Load(s, torch.CPU, files.OS{}, data)
		if err == nil {
			classes = images.Classes
		}
		return err
	}))
	path := filepath.Join(t.TempDir(), "weights.safetensors")
	trained := func() outcome {
		require.NoError(t, weights.Write(files.OS{}, path, set))
		return graft("train", "--quiet", "--folder", filepath.Join(t.TempDir(), "run"), "--set",
			"network.name=ConvNet2", "--set", "network.weights="+path, "--set", "time.budget=1", "--set",
			"data.synthetic.train=300", "--set", "data.synthetic.test=100", "--set", "time.events=[]")
	}
	set.Metadata = app.Images{Classes: classes}.Metadata()
	o := trained()
	require.Equal(t, failure.Done, o.code, o.stderr)
	slices.Reverse(classes)
	set.Metadata = app.Images{Classes: classes}.Metadata()
	o = trained()
	require.Equal(t, failure.Configuration, o.code)
	const order = "the weights have the classes of the data in another order: output 0 is "
	require.Contains(t, o.stderr, order)
	fails(t, failure.Configuration, order, "config", "check", jobFile(t, "[network]\nname = \"ConvNet2\"\nweights = \""+
		path+"\"\n"))
	set.Metadata = nil
	require.Equal(t, failure.Done, trained().code)
}

// lastOf returns the numbers in the last line of one of the original's tables.
func lastOf(t *testing.T, path string) (line int, seconds, value float64) {
	text := contents(t, path)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	_, err := fmt.Sscanf(strings.ReplaceAll(lines[len(lines)-1], ",", " "), "%d %g %g", &line, &seconds, &value)
	require.NoError(t, err)
	return line + 1, seconds, value
}

// The original's published weights load under its names, and the job continues from the time and epoch of the weights.
func TestTrainGoesOnFromThePublishedWeights(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(startingWeights, "small_*"))
	require.NoError(t, err)
	if len(folders) == 0 {
		t.Skip("left out: the original's starting weights are not beside the tree")
	}
	for _, dir := range folders {
		epochs, seconds, accuracy := lastOf(t, filepath.Join(dir, "training0.epoch.test_acc"))
		network := "ConvNet" + dir[len(dir)-1:]
		report := goingOn(t, "network.name="+network, "network.weights="+dir,
			fmt.Sprintf("time.budget=%v", seconds+0.04), "data.synthetic.train=64", "data.synthetic.test=64")
		require.Equal(t, epochs, report.Given.Epochs, dir)
		require.InDelta(t, seconds, report.Given.Start.Seconds(), 1e-9, dir)
		require.InDelta(t, accuracy, *report.Given.Published, 1e-12, dir)
		require.Equal(t, report.Given.Accuracy, report.Events[0].Accuracy, dir)
		require.Equal(t, epochs, report.Epochs[0].Epoch, dir)
		require.InEpsilon(t, 0.01*math.Pow(0.9, float64(epochs)), report.Epochs[0].Rate, 1e-12, dir)
	}
}

// The published weights have the published accuracy on CIFAR-10, if the images are available.
func TestThePublishedAccuracy(t *testing.T) {
	images := filepath.Join("..", "..", "shared", "data")
	for _, path := range []string{startingWeights, images} {
		if _, err := os.Stat(path); err != nil {
			t.Skipf("left out: the published accuracy, there is no %s", path)
		}
	}
	dir := filepath.Join(startingWeights, "small_early2")
	report := goingOn(t, "network.weights="+dir, "time.budget=68.8s", "data.kind=cifar10", "data.path="+images)
	require.InDelta(t, *report.Given.Published, report.Given.Accuracy, 2e-4, "two images may be on the edge")
}

// A translated job runs like the original: it decides at the start of each epoch after an up, counts only whole epochs,
// and ends when the budget is used up.
func TestTranslatedJobsRun(t *testing.T) {
	longOnly(t, "translated jobs that run; their translation is checked")
	for agent, text := range map[string]string{
		"RandomAgent":        "",
		"DeterministicAgent": "[agent]\naction_sequence = [0, 3, 1]\n",
	} {
		original := strings.ReplaceAll(originalJob, "[agent]\ndecay_freq = 500\n", text)
		original = strings.ReplaceAll(original, "RandomAgent", agent)
		original = strings.ReplaceAll(original, "[job]", "[job]\nbatchsize = 8")
		original = strings.ReplaceAll(original, "running_time = 70",
			"running_time = 1.2\ngpu_changes = [{time = 0.3, change = \"up\"}, {time = 0.9, change = \"down\"}]")
		out := filepath.Join(t.TempDir(), "job.toml")
		done(t, "config", "convert", jobFile(t, original), "-o", out)
		o := graft("train", out, "--quiet", "--json", "--folder", filepath.Join(t.TempDir(), "run"), "--set",
			"data.kind=synthetic", "--set", "data.path=", "--set", "data.synthetic.train=64", "--set",
			"data.synthetic.test=40", "--set", "run.device=cpu")
		require.Equal(t, failure.Done, o.code, o.stderr)
		report := decoded[train.Result](t, o.stdout)
		up, down := report.Events[1], time.Duration(0)
		decisions := 0
		for _, n := range report.Events {
			if n.Event == "decision" {
				decisions++
				require.Zero(t, n.Step, "asked between epochs")
			}
			if n.Event == "down" {
				down = n.Time
			}
		}
		require.Equal(t, results.EventUp, up.Event)
		require.Greater(t, decisions, 2, "asked again and again")
		require.GreaterOrEqual(t, report.Outcome.Used, report.Outcome.Budget)
		require.Equal(t, len(report.Epochs), report.Outcome.Epochs)
		require.Equal(t, report.Epochs[len(report.Epochs)-1].Validation, report.Outcome.Validation)
		require.Equal(t, report.Outcome.Validation, report.Outcome.Test, "the test images decide")
		for _, row := range report.Epochs {
			if row.Time > up.Time && row.Time < down {
				require.InDelta(t, 0.01, row.Rate, 1e-12, "the first rate in each epoch that begins with a question")
			}
		}
	}
}
