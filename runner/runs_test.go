package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/original/learn"
	"graft/report/runs"
	"graft/results"
	"graft/simulation/evaluation"
	"graft/simulation/grid"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/trainer"
)

// writtenJob configures the run folder of a job.
type writtenJob struct {
	seed     uint64
	epochs   int
	accuracy float64 // final accuracy on the test images
	resolved string  // configuration; empty sets two keys
	open     bool    // the job has not ended
}

// when is the date of all runs that tests write.
var when = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// writeJob writes the run folder of a job that adapted once and gave a device back.
func writeJob(t testing.TB, dir string, j writtenJob) {
	t.Helper()
	if j.resolved == "" {
		j.resolved = fmt.Sprintf("[run]\nseed = %d\n[time]\nbudget = \"60s\"\n", j.seed)
	}
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: j.resolved},
		results.Manifest{Kind: runs.JobKind.Name, Created: when, Graft: "v0.1.0", Seed: j.seed,
			Device: "cpu", Profile: "laptop", ConfigSHA256: strings.Repeat("ab", 32), Network: "ConvSmall",
			Host: "node", CommandLine: []string{"graft", "train", "job.toml"}})
	require.NoError(t, err)
	book, err := trainer.OpenFolder(run, false)
	require.NoError(t, err)
	parameters, took := 1000, 40*time.Millisecond
	require.NoError(t, book.Note(trainer.Note{Event: "start", Devices: 1, Parameters: parameters, Before: parameters}))
	for k := range j.epochs {
		at := time.Duration(k+1) * 60 * time.Second / time.Duration(j.epochs)
		accuracy := j.accuracy * float64(k+1) / float64(j.epochs)
		note := trainer.Note{Time: at - time.Second, Epoch: k, Step: 3, Devices: 2, Parameters: parameters,
			Before: parameters, Accuracy: accuracy - 0.01}
		switch k {
		case 2:
			note.Event = "up"
			require.NoError(t, book.Note(note))
			note.Event, note.Action, note.Took, note.Parameters = "decision", "widen:conv1:48", took, 1500
			require.NoError(t, book.Note(note))
			parameters = 1500
		case 4:
			note.Event, note.Devices = "down", 1
			require.NoError(t, book.Note(note))
			note.Event, note.Parameters = "shrink", 1000
			require.NoError(t, book.Note(note))
			parameters = 1000
		}
		require.NoError(t, book.Epoch(trainer.Row{Epoch: k, Time: at, Steps: int64(k+1) * 10, Loss: 2 / float64(k+2),
			Accuracy: accuracy, Validation: trainer.Score{Loss: 2.1 / float64(k+2), Accuracy: accuracy}, Rate: 0.01,
			Parameters: parameters, Devices: 1, Images: int64(k+1) * 400, FLOP: float64(k+1) * 1.25e9, DeviceTime: at}))
	}
	if !j.open {
		score := trainer.Score{Loss: 0.5, Accuracy: j.accuracy}
		require.NoError(t, book.Note(trainer.Note{Event: "end", Time: 60 * time.Second, Parameters: parameters,
			Before: parameters, Devices: 1}))
		require.NoError(t, run.WriteOutcome(&runs.JobOutcome{Saves: 2, Saving: 120 * time.Millisecond,
			MachineSpeed: 1234.5, PeakMemory: 300 << 20, Outcome: &trainer.Outcome{Epochs: j.epochs,
				Steps: int64(j.epochs) * 10, Budget: 60 * time.Second, Used: 59 * time.Second,
				Deciding: 300 * time.Millisecond, Operating: 60 * time.Millisecond,
				Decisions: 1, Parameters: parameters, Validation: score, Test: score,
				Digest: fmt.Sprintf("%064x", uint64(j.accuracy*1e9)+j.seed),
				Resources: trainer.Resources{Images: int64(j.epochs) * 400, FLOP: float64(j.epochs) * 1.25e9,
					DeviceTime: 60 * time.Second, Joules: 18e3}, ImagesPerSecond: float64(j.epochs) * 400 / 59}}))
	}
	require.NoError(t, run.Close())
}

// writePolicies writes the run folder of policies that learned from two tables.
func writePolicies(t testing.TB, dir string, ended bool) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[run]\nseed = 1\nseeds = 3\n"},
		results.Manifest{Kind: runs.PoliciesKind.Name, Created: when, Graft: "v0.1.0", Seed: 1,
			Device: "cpu", ConfigSHA256: strings.Repeat("cd", 32), Network: "ConvNet2"})
	require.NoError(t, err)
	book, err := learning.OpenFolder(files.OS{}, run)
	require.NoError(t, err)
	o := &runs.PoliciesOutcome{Steps: 60, Regret: 0.25, HeldOut: []evaluation.Score{}}
	var verdicts [][]evaluation.Score
	for seed := range uint64(3) {
		for step := range 2 {
			require.NoError(t, book.Row(learning.Row{Seed: seed + 1, Step: 10 * (step + 1), Aim: 1.5 + float64(step),
				Entropy: 0.5, Regret: 1 / float64(1+step)}))
		}
		regret := float64(seed) / 4
		o.Seeds = append(o.Seeds, runs.SeedOutcome{Seed: seed + 1, Steps: 20, Ended: "the aim grows no more",
			Regret: regret, Policy: runs.SeedFile(seed + 1)})
		verdicts = append(verdicts, []evaluation.Score{{Scenario: "early", Regret: regret, Rank: 1, Of: 64},
			{Scenario: "late", Regret: regret, Rank: 2, Of: 64}})
	}
	for _, name := range []string{"early", "late"} {
		o.Tables = append(o.Tables, evaluation.Score{Scenario: name, Network: "ConvNet2", Policy: "vote",
			Sequence: []string{"deepen:0", "none"}, Certain: true, Accuracy: 0.75, Regret: 0.25, Rank: 2, From: 1,
			To: 4, Of: 64, Noise: 0.4, Best: 0.7525, Mean: 0.7, Never: 0.69})
	}
	o.Summary = evaluation.Summarize("each seed", verdicts)
	if ended {
		require.NoError(t, run.WriteOutcome(o))
	}
	require.NoError(t, run.Close())
}

// writePolicy writes the run folder of a policy of the original system that learned from one table.
func writePolicy(t testing.TB, dir string, seed uint64, ended bool) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: fmt.Sprintf("[run]\nseed = %d\n",
		seed)}, results.Manifest{Kind: runs.PolicyKind.Name, Created: when, Graft: "v0.1.0",
		Seed: seed, Device: "cpu", ConfigSHA256: strings.Repeat("ef", 32), Network: "ConvNet2"})
	require.NoError(t, err)
	table, err := tables.New(tried, []tables.Record{{Sequence: []string{"none", "none"}, Left: []float64{9, 8},
		Accuracy: []float64{0.5}, Seeds: []int64{1}}})
	require.NoError(t, err)
	book, err := learn.OpenFolder(run, table, "")
	require.NoError(t, err)
	for k := range 3 {
		require.NoError(t, book.Row(learn.Row{Episodes: 100 * (k + 1), Objective: 0.1 * float64(k), Accuracy: 0.5,
			Expected: 0.5 + 0.05*float64(k), Temperature: 2, Rate: 1e-4}))
	}
	if ended {
		require.NoError(t, run.WriteOutcome(&learn.StudyOutcome{Episodes: 300, Expected: 0.6,
			Greedy: []string{"none", "none"}, Accuracy: 0.6, Rank: 3, Records: 16,
			Best: []string{"deepen:0", "none"}, Most: 0.625, Temperature: 2, Rate: 1e-4}))
	}
	require.NoError(t, run.Close())
}

// writeSimulation writes the run folder of a simulation with a failed attempt. Its table has sequences with seeds.
func writeSimulation(t testing.TB, dir string, sequences, seeds int) {
	t.Helper()
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[run]\nseed = 1\n[simulate]\n" +
		"cache = \"\"\n"}, results.Manifest{Kind: runs.SimulationKind.Name, Created: when, Graft: "v0.1.0",
		Seed: 1, Device: "cpu", Profile: "laptop", ConfigSHA256: strings.Repeat("12", 32), Network: "ConvNet2"})
	require.NoError(t, err)
	plan := grid.Plan{Scenario: tried, Tries: 2, Design: grid.Design{Which: grid.All}}
	for seed := range seeds {
		plan.Seeds = append(plan.Seeds, int64(seed))
	}
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(run.Path(runs.PlanFile), text, 0o600))
	log, err := grid.OpenFailures(files.OS{}, run.Path(runs.FailuresFolder))
	require.NoError(t, err)
	require.NoError(t, log.Add(strings.Repeat("a", 64), grid.Segment{Sequence: []string{"deepen:0"}, Seed: 1},
		errors.New("there was no memory")))
	writeTried(t, run.Path(runs.TableFolder), sequences, seeds)
	require.NoError(t, run.Close())
}

// writeMetrics writes a result folder of the original system with a training and an agent.
func writeMetrics(t testing.TB, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	write := func(name, text string) {
		write(t, filepath.Join(dir, name), text)
	}
	write("config.toml", "[runner]\nseed = 42\nfolder = \"small_tried\"\n[job]\nmodel = \"ConvNet2\"\n")
	write("training00.epoch.test_acc", "0,14.5,0.5\n1,26.25,0.5625\n")
	write("training00.epoch.train_acc", "0,13.5,0.5\n1,25.25,0.625\n")
	write("training00.epoch.action", "0,2.5,0\n1,14.75,3\n")
	write("training00.epoch.probabilities", "0,2.5,[1.0, 0.0]\n1,14.75,[0.25, 0.75]\n")
	write("agent.episode.objective", "0,30.5,None\n1,60.5,0.25\n2,90.5,0.75\n")
	write("training00.log", "2023-12-15 00:56:00,150 | [INFO] : started\n")
}

// writeAll writes a folder of each kind, and returns the paths by name.
func writeAll(t testing.TB) map[string]string {
	dir, all := t.TempDir(), map[string]string{}
	at := func(name string) string { all[name] = filepath.Join(dir, name); return all[name] }
	writeJob(t, at("job"), writtenJob{seed: 3, epochs: 6, accuracy: 0.75})
	writeJob(t, at("open"), writtenJob{seed: 3, epochs: 3, accuracy: 0.5, open: true})
	writePolicies(t, at("policies"), true)
	writePolicies(t, at("policies-open"), false)
	writePolicy(t, at("policy"), 5, true)
	writePolicy(t, at("policy-open"), 5, false)
	writeSimulation(t, at("simulation"), 16, 2)
	writeTried(t, at("table"), 16, 1)
	writeOriginal(t, at("original-table"))
	writeMetrics(t, at("original"))
	writeEvaluation(t, at("evaluation"), false, true)
	writeEvaluation(t, at("left-out"), true, true)
	writeEvaluation(t, at("evaluation-open"), false, false)
	writeCluster(t, at("cluster"), false)
	writeCluster(t, at("cluster-open"), true)
	writePipeline(t, at("pipeline"), "")
	writePipeline(t, at("pipeline-open"), runs.LearnStage)
	writeSweep(t, at("comparison"), false)
	writeSweep(t, at("comparison-open"), true)
	writeElasticLearning(t, at("elastic-learning"), true)
	writeElasticLearning(t, at("elastic-learning-open"), false)
	writeElasticComparison(t, at("elastic-comparison"))
	writeAdaptive(t, at("adaptive"))
	writeNode(t, at("node"), false)
	writeNode(t, at("node-open"), true)
	writeNodeProfile(t, at("node-profile"))
	return all
}

// valueOf returns the mean of a quantity.
func valueOf(r *runs.Run, t *testing.T, name string) float64 {
	t.Helper()
	for _, q := range r.Quantities {
		if q.Name == name {
			return stat.Mean(q.Values)
		}
	}
	require.Fail(t, "no quantity "+name, "%v", r.Quantities)
	return 0
}

// The kind of each run is recognized by its folder, and its quantities equal the written ones.
func TestOpenRun(t *testing.T) {
	all := writeAll(t)
	for name, want := range map[string]struct {
		kind  string
		ended bool
		has   map[string]float64
	}{
		"job":           {"job", true, map[string]float64{"test_accuracy": 0.75, "steps": 60, "deciding_share": 0.005}},
		"open":          {"job", false, map[string]float64{"validation_accuracy": 0.5, "epochs": 3, "time": 60}},
		"policies":      {"policies", true, map[string]float64{"regret": 0.25, "vote_regret": 0.25, "steps": 20}},
		"policies-open": {"policies", false, map[string]float64{"regret": 0.5, "steps": 20, "aim": 2.5}},
		"policy":        {"policy", true, map[string]float64{"accuracy": 0.6, "regret": 2.5, "rank": 3}},
		"policy-open":   {"policy", false, map[string]float64{"expected_accuracy": 0.6, "episodes": 300}},
		"simulation": {"simulation", true, map[string]float64{"sequences": 16, "failed_attempts": 1,
			"best_accuracy": 0.5 + 15./64 + 1./512}},
		"table":        {"table", true, map[string]float64{"sequences": 16, "worst_accuracy": 0.5}},
		"evaluation":   {"evaluation", true, map[string]float64{"tables": 2}},
		"cluster":      {"rigid", true, map[string]float64{"fifo_preemptions": 0}},
		"cluster-open": {"rigid", false, nil},
		"adaptive":     {"adaptive", true, map[string]float64{"srtf_jct_mean": 1412.125}},
		"node":         {"node", true, map[string]float64{"sjf_makespan": 28}},
		"node-open":    {"node", false, nil},
		"left-out":     {"evaluation", true, map[string]float64{"tables": 2}},
		"pipeline":     {"pipeline", true, map[string]float64{"tables": 2, "scenarios": 1, "learn_time": 1.5}},
		"pipeline-open": {"pipeline", false, map[string]float64{"scenarios": 1, "learn_time": 0,
			"simulate_time": 0.5}},
		"comparison":      {"sweep", true, map[string]float64{"trials": 12, "test_accuracy of never": 0.6225}},
		"comparison-open": {"sweep", false, map[string]float64{"trials": 12, "ended": 4}},
		"node-profile":    {"node-profile", true, map[string]float64{"cnn_time": 4.25, "lstm_beside_cnn": 0.775}},
		"original-table":  {"original", true, map[string]float64{"sequences": 16}},
		"original": {"original", true, map[string]float64{"test_accuracy": 0.5625, "train_accuracy": 0.625,
			"episodes": 3, "objective_last_100": 0.5}},
	} {
		r := openRun(t, all[name])
		require.NoError(t, r.Faults, name)
		require.Equal(t, want.kind, r.Kind.Name, name)
		require.Equal(t, want.ended, r.Ended, name)
		for quantity, value := range want.has {
			require.InDelta(t, value, valueOf(r, t, quantity), 0.01, "%s %s", name, quantity)
		}
		for _, q := range r.Quantities {
			require.Equal(t, q.Seeds == nil || len(q.Seeds) == len(q.Values), true, "%s %s", name, q.Name)
		}
	}
}

// All columns of a series have the same length.
func TestRunSeries(t *testing.T) {
	all := writeAll(t)
	for name, want := range map[string]map[string]string{ // a column by series
		"job": {"epochs": "validation_accuracy"}, "open": {"epochs": "train_loss"}, "policies": {"learning": "aim"},
		"policy":   {"learning": "objective", "episodes": "sequence"},
		"original": {"training00.epoch.probabilities": "probabilities_1", "agent.episode.objective": "objective"},
		"table":    {}, "simulation": {},
	} {
		r := openRun(t, all[name])
		list, err := r.Series()
		require.NoError(t, err)
		found := map[string]runs.Series{}
		for _, s := range list {
			found[s.Name] = s
			for _, c := range s.Columns {
				require.Equal(t, max(len(s.Columns[0].Values), len(s.Columns[0].Texts)),
					max(len(c.Values), len(c.Texts)), "%s %s %s", name, s.Name, c.Name)
			}
		}
		for series, column := range want {
			s := found[series]
			require.NotNil(t, s.Column(column), "%s: %v", name, found)
		}
	}
	r := openRun(t, all["job"])
	list, err := r.Series()
	require.NoError(t, err)
	require.Equal(t, "s", list[0].Column("time").Unit)
	require.Nil(t, list[0].Column("nothing"))
}

// Reading a folder changes nothing in it, not even file times.
func TestOpenRunLeavesFoldersAlone(t *testing.T) {
	for name, path := range writeAll(t) {
		before := listing(t, path)
		_ = openRun(t, path)
		require.Equal(t, before, listing(t, path), name)
	}
}

// listing returns the sizes, times and modes of all files in a folder.
func listing(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all[path] = fmt.Sprint(info.Size(), info.ModTime(), info.Mode())
		}
		return err
	}))
	return all
}

// badFolders writes folders that are damaged or are not runs, and returns the expected errors by name.
func badFolders(t testing.TB, dir string) map[string]string {
	at := func(name string) string { return filepath.Join(dir, name) }
	overwrite := func(name, text string) { write(t, name, text) }
	for _, name := range []string{"manifest", "outcome", "config", "future", "begun"} {
		writeJob(t, at(name), writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	}
	overwrite(filepath.Join(at("manifest"), "manifest.json"), `{"format":1,"crea`)
	overwrite(filepath.Join(at("outcome"), "outcome.json"), `{"epochs":`)
	overwrite(filepath.Join(at("config"), "config.resolved.toml"), "[run\nseed =")
	overwrite(filepath.Join(at("future"), "manifest.json"), `{"format":99}`)
	require.NoError(t, os.Remove(filepath.Join(at("begun"), "manifest.json")))
	writeJob(t, at("torn"), writtenJob{seed: 1, epochs: 3, accuracy: 0.5, open: true})
	overwrite(filepath.Join(at("torn"), "epochs.csv"), "epoch,time [s]\n1,2\nthis is no row\n")
	run, err := results.Create(files.OS{}, at("nothing yet"), results.CreateOptions{}, results.Manifest{})
	require.NoError(t, err)
	require.NoError(t, run.Close())
	for _, name := range []string{"foreign", "empty"} {
		require.NoError(t, os.MkdirAll(at(name), 0o700))
	}
	overwrite(filepath.Join(at("foreign"), "config.toml"), "title = \"a page\"\n")
	overwrite(filepath.Join(at("foreign"), "notes.txt"), "hello")
	writePolicies(t, at("policies"), false)
	overwrite(filepath.Join(at("policies"), "learning.csv"), "seed,step\n1,\"x\"\n")
	writeSimulation(t, at("plan"), 4, 1)
	overwrite(filepath.Join(at("plan"), runs.PlanFile), "{")
	writePipeline(t, at("pipeline"), runs.LearnStage)
	overwrite(filepath.Join(at("pipeline"), runs.JournalFile), "{")
	require.NoError(t, os.RemoveAll(filepath.Join(at("pipeline"), "tried")))
	writeEvaluation(t, at("evaluation"), false, true)
	overwrite(filepath.Join(at("evaluation"), runs.OutcomeFile), "{}")
	writeMetrics(t, at("metrics"))
	for _, name := range []string{"training00.epoch.test_acc", "training00.epoch.train_acc", "training00.epoch.action",
		"training00.epoch.probabilities", "agent.episode.objective"} {
		overwrite(filepath.Join(at("metrics"), name), "no numbers\n")
	}
	return map[string]string{"manifest": "manifest.json", "outcome": "outcome.json", "config": "invalid TOML",
		"future": "unsupported format 99", "begun": "incomplete",
		"torn": "epochs.csv", "nothing yet": "incomplete", "foreign": "not a run folder", "empty": "not a run folder",
		"policies": "learning.csv",
		"plan":     "grid.json is damaged", "pipeline": "pipeline.json", "evaluation": "has no tables",
		"metrics": "test_acc:1"}
}

// Damaged, half-written and foreign folders are reported as damaged, with the path and the reason.
func TestOpenRunOfBadFolders(t *testing.T) {
	dir := t.TempDir()
	for name, says := range badFolders(t, dir) {
		_, err := runs.Open(files.OS{}, filepath.Join(dir, name))
		require.ErrorContains(t, err, says, name)
		require.ErrorContains(t, err, filepath.Join(dir, name))
		var coded *failure.ExitError
		require.ErrorAs(t, err, &coded, name)
		require.Equal(t, failure.Damaged, coded.Code, name)
	}
	_, err := runs.Open(files.OS{}, filepath.Join(dir, "not there"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	var coded *failure.ExitError
	require.False(t, errors.As(err, &coded))
}

// A table with a damaged record is read without this record.
func TestOpenRunWithFaults(t *testing.T) {
	dir := t.TempDir()
	writeSimulation(t, dir+"/run", 16, 1)
	spoil(t, filepath.Join(dir, "run", runs.TableFolder), "node-1.jsonl",
		func(text string) string { return strings.Replace(text, `"accuracy":[0`, `"accuracy":[1`, 1) })
	r := openRun(t, dir+"/run")
	require.Error(t, r.Faults)
	require.False(t, r.Ended)
	require.Equal(t, 15.0, valueOf(r, t, "sequences"))
}
