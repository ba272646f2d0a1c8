package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/runner/train"
	"graft/trainer"
)

// wholeJob is a job measured as a process. With a file it is a simulation with one worker.
type wholeJob struct {
	name string
	file string
	set  []string
}

// smallGrid is a grid of two sequences, in three legs: one before the decision and one after each action.
const smallGrid = `
[network]
name = "ConvNet2"
[data.synthetic]
train = 2000
test = 500
[time]
budget = "1500ms"
events = [{at = "500ms", change = "up"}]
[adapt]
max_decisions = 1
[simulate]
actions = ["deepen:conv1", "none"]
cache = %q
`

// wholeJobs returns the demo's job for five seconds and for one second of the virtual clock, an epoch of ConvNet2, and
// the legs of a small grid.
func wholeJobs() []wholeJob {
	demo := slices.DeleteFunc(train.Demo(),
		func(set string) bool { return strings.HasPrefix(set, "time.") || strings.HasPrefix(set, "adapt.") })
	return []wholeJob{
		{name: "the demo's job, 5 s of the clock", set: append(slices.Clone(demo), "time.budget=5s")},
		{name: "the same, 1 s", set: append(slices.Clone(demo), "time.budget=1s")},
		{name: "an epoch of ConvNet2, 3600 images", set: []string{"network.name=ConvNet2", "data.synthetic.train=4000",
			"data.synthetic.test=400", "time.budget=60s", "train.epochs=1"}},
		{name: "three legs of a grid", file: smallGrid},
	}
}

// beside lists the numbers of concurrent busy processes.
var beside = []int{0, 4}

// jobs compares whole jobs: the number of threads chosen by graft with each fixed number, and with the same steps and
// evaluations in PyTorch.
func (b *bench) jobs(program string) error {
	fmt.Fprintln(b.table, "\nwhole jobs\tother load\tbest fixed over chosen threads\tquartiles\tchosen\t"+
		"fixed, by threads")
	for _, j := range wholeJobs() {
		for _, busy := range beside {
			if err := b.threadsOf(program, j, busy); err != nil {
				return err
			}
			if err := b.table.Flush(); err != nil { // the next row takes minutes
				return err
			}
		}
	}
	fmt.Fprintln(b.table, "\nwhole jobs\tthreads\tPyTorch over graft\tquartiles\tgraft\tPyTorch")
	if err := b.jobBesideTwin(program, wholeJobs()[0]); err != nil {
		return err
	}
	return b.table.Flush()
}

// threadsOf runs a job with each number of threads in turn; zero is graft's choice.
func (b *bench) threadsOf(program string, j wholeJob, busy int) error {
	end, err := load(busy)
	if err != nil {
		return err
	}
	defer end()
	numbers := append([]int{0}, threadCounts()...)
	times := make([][]float64, len(numbers))
	for round := range max(3, b.rounds/3) {
		for k := range numbers {
			at := (k + round) % len(numbers) // alternate the first
			took, _, err := b.runJob(program, j, numbers[at])
			if err != nil {
				return err
			}
			times[at] = append(times[at], took)
		}
	}
	best := slices.MinFunc(times[1:], func(x, y []float64) int { return int(1e6 * (median(x) - median(y))) })
	m := measured{ours: times[0], twin: best}
	fixed := ""
	for k, t := range times[1:] {
		fixed += fmt.Sprintf("%d: %.2f s  ", numbers[k+1], median(t))
	}
	fmt.Fprintf(b.table, "%s\t%d\t%s\t%.2f s\t%s\n", j.name, busy, m.ratio(), median(times[0]), fixed)
	return nil
}

// jobBesideTwin lets PyTorch train the job's exported network for the job's steps, with its evaluations, on one thread
// each. Graft's time covers its whole process with start, images and checkpoint; PyTorch's covers only training and
// evaluations.
func (b *bench) jobBesideTwin(program string, j wholeJob) error {
	_, outcome, err := b.runJob(program, j, 1)
	if err != nil {
		return err
	}
	module := filepath.Join(b.folder, "whole.py")
	if out, err := exec.Command(program, "export", b.jobFolder(), "--out", module, "--force").
		CombinedOutput(); err != nil {
		return fmt.Errorf("export the job's network: %w: %s", err, out)
	}
	twin, err := b.startTwin(b.twins()[0], 1)
	if err != nil {
		return err
	}
	defer twin.stop()
	m := measured{}
	for round := -1; round < max(3, b.rounds/3); round++ {
		a, err := twin.ask(command{Cmd: "job", Network: module, Steps: int(outcome.Steps),
			Iterations: outcome.Epochs + 1})
		if err != nil {
			return err
		}
		took, _, err := b.runJob(program, j, 1)
		if err != nil {
			return err
		}
		if round >= 0 {
			m.ours, m.twin = append(m.ours, took), append(m.twin, a.Seconds)
		}
	}
	fmt.Fprintf(b.table, "%s\t1\t%s\t%.2f s\t%.2f s\n", j.name, m.ratio(), median(m.ours), median(m.twin))
	return nil
}

func (b *bench) jobFolder() string { return filepath.Join(b.folder, "whole-job") }

// runJob runs a job's process, and returns its duration in seconds, from start to exit.
func (b *bench) runJob(program string, j wholeJob, threads int) (float64, *trainer.Outcome, error) {
	args := []string{"train"}
	if j.file != "" {
		path, err := b.writeSimulation(j.file)
		if err != nil {
			return 0, nil, err
		}
		args = []string{"simulate", path, "--workers", "1"}
	}
	args = append(args, "--quiet", "--json", "--force", "--folder", b.jobFolder(), "--set",
		"run.threads="+strconv.Itoa(threads))
	for _, set := range j.set {
		args = append(args, "--set", set)
	}
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	began := time.Now()
	text, err := c.Output()
	took := time.Since(began).Seconds()
	if err != nil {
		return 0, nil, fmt.Errorf("run %s: %w; build graft with 'make build', or set -graft to its path", program, err)
	}
	var r struct{ Outcome *trainer.Outcome }
	return took, r.Outcome, json.Unmarshal(text, &r)
}

// writeSimulation writes the file of a simulation with an empty cache.
func (b *bench) writeSimulation(text string) (path string, err error) {
	path = filepath.Join(b.folder, "leg.toml")
	cache := filepath.Join(b.folder, "leg-cache")
	return path, errors.Join(os.RemoveAll(cache), os.RemoveAll(b.jobFolder()),
		os.WriteFile(path, fmt.Appendf(nil, text, cache), 0o644))
}

// load keeps a number of processes busy until the returned function is called.
func load(busy int) (end func(), err error) {
	var started []*exec.Cmd
	end = func() {
		for _, c := range started {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	for range busy {
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			end()
			return nil, fmt.Errorf("start a process that keeps a core busy: %w", err)
		}
		started = append(started, c)
	}
	return end, nil
}
