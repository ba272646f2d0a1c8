// Package application makes applications of adaptive jobs from training runs and device profiles.
package application

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"go.uber.org/zap"

	"graft/cluster/adaptive"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/stat"
	"graft/internal/validate"
	"graft/model"
	"graft/net2net"
	"graft/report/runs"
	"graft/runner/app"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/goodput"
)

// Options configures [Make].
type Options struct {
	Name string // name of the application; required
	Out  string // path of the folder of applications; required
	// name or path of the profile for step times; empty means the profile of the runs' clock
	Profile string
	Devices int // number of devices per node, at most 9; zero means 8
	Nodes   int // number of nodes of the largest placement; zero means 16
	// time in seconds of a gradient exchange between nodes; zero means the profile's value
	Between    float64
	DeviceMost int // maximum number of examples per device at once; zero means the largest batch
	// target validation accuracy. The number of epochs of a job is the number that the runs with the smallest batch
	// size need to reach this accuracy. Zero means no target: a job then has the number of epochs of the shortest run.
	Accuracy float64
	Replace  bool // replaces an existing application with the same name
}

// Limits of the cluster for step times. A placement has one digit per node.
const (
	mostDevices = 9
	mostNodes   = 1024
)

// EnsureDefaults sets zero fields to their defaults.
func (o *Options) EnsureDefaults() {
	o.Devices, o.Nodes = cmp.Or(o.Devices, 8), cmp.Or(o.Nodes, 16)
}

// Validate returns an error that lists every invalid option. Call it after EnsureDefaults.
func (o *Options) Validate() error {
	var faults validate.Faults
	faults.When(o.Out == "", "option \"out\" is missing; expected a folder for applications")
	faults.When(o.Devices < 1 || o.Devices > mostDevices, "option \"devices\" is %d; must be between 1 "+
		"and %d", o.Devices,
		mostDevices)
	faults.When(o.Nodes < 1 || o.Nodes > mostNodes, "option \"nodes\" is %d; must be between 1 "+
		"and %d", o.Nodes, mostNodes)
	faults.Unless(o.Between >= 0 && o.Between <= 3600, "option \"between\" is %v seconds; must be between 0 and 3600",
		o.Between)
	faults.When(o.DeviceMost < 0, "option \"device-most\" is %d; must be at least 0", o.DeviceMost)
	faults.Unless(o.Accuracy >= 0 && o.Accuracy < 1,
		"option \"accuracy\" is %v; must be at least 0 and below 1", o.Accuracy)
	return failure.With(failure.Usage, errors.Join(faults...))
}

// Report is the JSON output of `graft cluster application --json`.
type Report struct {
	Name    string `json:"name"`    // name of the application
	Folder  string `json:"folder"`  // path of the folder of applications
	Network string `json:"network"` // name of the trained network
	Profile string `json:"profile"` // name of the profile for step times
	Epochs  int    `json:"epochs"`  // number of epochs of a job with the smallest batch
	Steps   int    `json:"steps"`   // number of step times
	// median relative error of the model that predicts step times, measured on the step times to which the model is
	// fitted
	MedianMiss float64     `json:"median_miss"`
	WorstMiss  float64     `json:"worst_miss"` // largest relative error of this model
	Batches    []BatchRuns `json:"batches"`    // runs of each batch, in ascending order of batches
}

// BatchRuns holds averages over the runs with one batch size. The averages exclude the steps of a run after the step at
// which a simulated job would end.
type BatchRuns struct {
	Batch      int            `json:"batch"`       // number of examples per step
	Runs       int            `json:"runs"`        // number of averaged runs
	Steps      float64        `json:"steps"`       // number of steps of a job
	Epochs     float64        `json:"epochs"`      // number of epochs of a job
	NoiseScale float64        `json:"noise_scale"` // final noise scale, in examples
	Accuracy   stat.OverSeeds `json:"accuracy"`    // validation accuracy after the epoch in which a job ends
}

// recorded holds the runs with a batch.
type recorded struct {
	adaptive.Run
	accuracies [][]float64 // validation accuracy, by run and epoch
}

// after returns the accuracies of the runs after an epoch.
func (r *recorded) after(epoch int) (list []float64) {
	for _, run := range r.accuracies {
		list = append(list, run[epoch])
	}
	return list
}

// application holds the inputs of an application.
type application struct {
	Options
	network *model.Network
	profile *clock.Profile
	batches []recorded // ascending
}

// Make creates and writes an application of adaptive jobs. It derives the application from a profile of step times and
// from runs that measured the noise of gradients, each run at a fixed batch size.
func Make(env *app.Env, arguments []string, o Options) (*Report, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	a := &application{Options: o}
	if err := a.read(env.Files, arguments); err != nil {
		return nil, err
	}
	recording := &adaptive.Recording{}
	for k := range a.batches {
		recording.Runs = append(recording.Runs, a.batches[k].Run)
	}
	var err error
	if recording.Epochs, err = a.epochs(recording); err != nil {
		return nil, err
	}
	if recording.Steps, err = a.steps(); err != nil {
		return nil, err
	}
	if err := recording.Write(env.Files, o.Out, o.Name, adaptive.KnownApplications(), o.Replace); err != nil {
		return nil, err
	}
	if _, err := adaptive.ReadApplications(env.Files, o.Out, adaptive.KnownApplications()); err != nil {
		return nil, err
	}
	if !a.profile.Divides() && a.profile.Costs.CommunicationShare == 0 && o.Between == 0 {
		env.Log.Warn(
			"the profile has no communication costs, so step times scale unrealistically as 1/devices; "+
				"set costs.exchange_seconds in a profile file", zap.String("profile", a.profile.Name))
	}
	return a.report(recording), nil
}

// read reads the runs, including the runs of a sweep.
func (a *application) read(fsys files.FS, arguments []string) error {
	batches := map[int][]adaptive.Run{}
	accuracies := map[int][][]float64{}
	for _, argument := range arguments {
		found, err := jobsOf(fsys, argument)
		if err != nil {
			return err
		}
		for _, folder := range found {
			run, accuracy, err := a.readRun(fsys, folder)
			if err != nil {
				return fmt.Errorf("run %s: %w", folder, err)
			}
			batches[run.Batch] = append(batches[run.Batch], run)
			accuracies[run.Batch] = append(accuracies[run.Batch], accuracy)
		}
	}
	for _, batch := range slices.Sorted(maps.Keys(batches)) {
		b, err := mean(batches[batch], accuracies[batch])
		if err != nil {
			return err
		}
		a.batches = append(a.batches, b)
	}
	if len(a.batches) < 2 {
		return failure.Usagef("expected runs with at least two different batches, got %d; create them, "+
			"for example with 'graft train JOB --cases CASES' and a case for each train.batch", len(a.batches))
	}
	return nil
}

// jobsOf lists the folders of jobs that an argument names.
func jobsOf(fsys files.FS, argument string) (folders []string, err error) {
	found, err := runs.Find(fsys, argument)
	for _, path := range found {
		r, err := runs.Open(fsys, path)
		switch {
		case err != nil:
			return nil, err
		case r.Kind == runs.SweepKind:
			below, err := jobsOf(fsys, filepath.Join(path, runs.TrialsFolder))
			if err != nil {
				return nil, err
			}
			folders = append(folders, below...)
		case r.Kind != runs.JobKind:
			return nil, failure.Usagef("%s is a run of kind %s; expected a run of 'graft train'", path, r.Kind.Name)
		case !r.Ended:
			return nil, failure.Usagef("the run %s has not ended; resume the run", path)
		default:
			folders = append(folders, path)
		}
	}
	return folders, err
}

// readRun reads a run. It takes the network and the profile from the first.
func (a *application) readRun(fsys files.FS, folder string) (run adaptive.Run, accuracy []float64, err error) {
	if err := a.follow(fsys, folder); err != nil {
		return run, nil, err
	}
	rows, _, err := trainer.ReadHistory(fsys, folder)
	if err != nil {
		return run, nil, err
	}
	return runOf(wholeEpochs(rows))
}

// follow takes the network and the profile of a run; all runs must share them.
func (a *application) follow(fsys files.FS, folder string) error {
	n, _, err := app.Trained(fsys, folder, trainer.AtEnd)
	if err != nil {
		return err
	}
	if a.network == nil {
		a.network = n
	} else if net2net.Fingerprint(n) != net2net.Fingerprint(a.network) {
		return failure.Usagef("the architecture of the final network %s differs from the network of the previous run; "+
			"name runs with the same network", n.Name())
	}
	if a.profile == nil {
		a.profile, err = a.findProfile(fsys, folder)
	}
	return err
}

// findProfile reads the profile, or the profile of a run's clock.
func (a *application) findProfile(fsys files.FS, folder string) (*clock.Profile, error) {
	if a.Profile != "" {
		return config.FindProfile(fsys, a.Profile)
	}
	job, err := config.ReadJob(fsys, filepath.Join(folder, runs.ResolvedFile), nil)
	if err != nil {
		return nil, err
	}
	p, err := job.Profile()
	if err == nil && p == nil {
		err = failure.Usagef("the job ran on the wall clock, which has no profile; name a profile with option " +
			"profile, " +
			"for example one written by 'graft profile NETWORK --out FILE'")
	}
	return p, err
}

// wholeEpochs drops an epoch that the end of the budget cut off.
func wholeEpochs(rows []trainer.Row) []trainer.Row {
	if n := len(rows); n > 1 && rows[n-1].Steps-rows[n-2].Steps < rows[0].Steps {
		return rows[:n-1]
	}
	return rows
}

// runOf makes a run from epochs. Epochs before the first measurement use its moments.
func runOf(rows []trainer.Row) (run adaptive.Run, accuracy []float64, err error) {
	first := slices.IndexFunc(rows, func(r trainer.Row) bool { return r.Gradient != goodput.Moments{} })
	if first < 0 {
		return run, nil, failure.Usagef("the job did not measure gradient noise; " +
			"train with adaptive_batch.measure = true")
	}
	if len(rows) < 2 {
		return run, nil, failure.Usagef("the job has only one epoch, possibly cut off by the end of the budget; " +
			"train for at least two epochs")
	}
	run.Batch = rows[0].Batch
	for k, r := range rows {
		if r.Batch != run.Batch || r.Parameters != rows[0].Parameters {
			return run, nil, failure.Usagef("the batch or the network changed in epoch %d; "+
				"train with a fixed batch (adaptive_batch.on = false) and a fixed network", r.Epoch)
		}
		run.Epochs = append(run.Epochs, adaptive.RunEpoch{Steps: r.Steps, Gradient: rows[max(k, first)].Gradient})
		accuracy = append(accuracy, r.Validation.Accuracy)
	}
	return run, accuracy, nil
}

// mean averages the runs with a batch over their common epochs.
func mean(list []adaptive.Run, accuracies [][]float64) (recorded, error) {
	r := recorded{Run: adaptive.Run{Batch: list[0].Batch}, accuracies: accuracies}
	epochs := len(slices.MinFunc(list, func(a, b adaptive.Run) int { return len(a.Epochs) - len(b.Epochs) }).Epochs)
	for e := range epochs {
		sum, share := adaptive.RunEpoch{Steps: list[0].Epochs[e].Steps}, 1/float64(len(list))
		for _, run := range list {
			of := run.Epochs[e]
			if of.Steps != sum.Steps {
				return r, failure.Usagef("two runs with batch %d took %d and %d steps for %d epochs; "+
					"name runs on the same data", r.Batch, sum.Steps, of.Steps, e+1)
			}
			sum.Gradient.Square += of.Gradient.Square * share
			sum.Gradient.Variance += of.Gradient.Variance * share
		}
		r.Epochs = append(r.Epochs, sum)
	}
	return r, nil
}

// epochs returns the number of epochs of a job with the smallest batch: until it reaches the accuracy, or as long as
// all runs have progress data.
func (a *application) epochs(r *adaptive.Recording) (int, error) {
	epochs, least, shortest := math.MaxInt, a.batches[0], 0
	for _, b := range a.batches {
		if n := len(r.Equal(b.Run)); n < epochs {
			epochs, shortest = n, b.Batch
		}
	}
	if epochs == 0 {
		return 0, failure.Usagef("the runs with batch %d do not reach the progress of one epoch with batch %d; "+
			"train longer", shortest, least.Batch)
	}
	if a.Accuracy == 0 {
		return epochs, nil
	}
	best, at := 0.0, 0
	for ; at < len(least.Epochs); at++ {
		if best = max(best, stat.Mean(least.after(at))); best >= a.Accuracy {
			break
		}
	}
	if best < a.Accuracy {
		return 0, failure.Usagef("the runs with batch %d reach a validation accuracy of at most %.4g, "+
			"but option \"accuracy\" is %.4g; train longer, or lower the option", least.Batch, best, a.Accuracy)
	}
	if at+1 > epochs {
		return 0, failure.Usagef(
			"with batch %d a validation accuracy of %.4g takes %d epochs, but the runs with batch %d "+
				"reach only the progress of %d epochs; train longer", least.Batch, a.Accuracy, at+1, shortest, epochs)
	}
	return at + 1, nil
}

// steps returns step times by the profile: on 1, 2, 4, … nodes with the same number of devices each.
func (a *application) steps() (list []adaptive.Step, err error) {
	for nodes := 1; nodes <= a.Nodes; nodes *= 2 {
		for devices := 1; devices <= a.Devices; devices++ {
			for _, each := range a.shares() {
				s := adaptive.Step{Placement: slices.Repeat([]int{devices}, nodes), Device: each}
				if err := a.time(&s, nodes*devices); err != nil {
					return nil, err
				}
				list = append(list, s)
			}
		}
	}
	return list, nil
}

// shares returns the examples per device: from the smallest batch on all devices of a node, doubled up to the maximum.
func (a *application) shares() (list []int) {
	most := cmp.Or(a.DeviceMost, a.batches[len(a.batches)-1].Batch)
	for each := max(1, a.batches[0].Batch/a.Devices); each < most; each *= 2 {
		list = append(list, each)
	}
	return append(list, most)
}

// time looks up a step in the profile.
func (a *application) time(s *adaptive.Step, devices int) error {
	w := clock.Work{Kind: clock.Steps, Count: 1, Rows: devices * s.Device, Network: a.network, Devices: devices}
	if err := a.profile.Knows(w); err != nil {
		return fmt.Errorf("find the step time for %d examples on %d devices: %w", w.Rows, devices, err)
	}
	s.Time = a.profile.Cost(w).Seconds()
	s.Sync = a.profile.ExchangeSeconds(w)
	if len(s.Placement) > 1 && a.Between > 0 {
		s.Time, s.Sync = s.Time-s.Sync+a.Between, a.Between
	}
	return nil
}

// report describes the written application.
func (a *application) report(r *adaptive.Recording) *Report {
	report := &Report{Name: a.Name, Folder: a.Out, Network: a.network.Name(), Profile: a.profile.Name,
		Epochs: r.Epochs, Steps: len(r.Steps)}
	off := r.Misses()
	report.MedianMiss, report.WorstMiss = stat.Median(off), slices.Max(off)
	for _, b := range a.batches {
		last := r.Equal(b.Run)[r.Epochs-1]
		in := max(0, int(math.Ceil(last.Trained))-1) // epoch in which it ends
		report.Batches = append(report.Batches, BatchRuns{Batch: b.Batch, Runs: len(b.accuracies),
			Steps: last.Steps, Epochs: last.Trained, NoiseScale: b.Epochs[in].Gradient.Scale(),
			Accuracy: stat.NewOverSeeds(b.after(in), 0.05, stat.Shares)})
	}
	return report
}
