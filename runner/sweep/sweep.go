// Package sweep runs a job several times, as trials: for several seeds, for the cases of a sweep and for the arms of a
// comparison. Workers run the trials; a run folder keeps all of them.
package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/runner/workers"
)

// Options holds the options of Run that are not in the configuration file.
type Options struct {
	Set []string // assignments applied after the file, for all cases
	// path of the run folder; empty means run.folder or, if it is empty too, runs/NAME for a file NAME.toml
	Folder string
	// continues the sweep in the folder and retries failed trials, or starts a sweep if there is none; if false, a new
	// sweep starts
	Resume  bool
	Force   bool     // moves an existing folder aside; if false, an existing folder is an error
	Seeds   int      // number of trials per case, with run.seed and the following seeds; zero means 1
	Sweep   []string // keys with lists of values, such as optimizer.lr=0.1,0.01; all combinations run
	Cases   string   // path of a TOML file of named cases; empty means none
	Engine  string   // engine that starts workers; empty means fleet.engine
	Workers int      // number of workers; zero means fleet.workers
}

// Result holds the outcome of a sweep; `graft train --seeds 5 --json` prints it.
type Result struct {
	Folder  string             `json:"folder"`  // path of the run folder
	Outcome *runs.SweepOutcome `json:"outcome"` // outcome of all trials
}

// Run runs the trials of a configuration file. If trials failed, it returns a result and an error with the code
// failure.Partial. When ctx ends, completed work is kept, and the error has the code failure.Requeue.
func Run(ctx context.Context, env *app.Env, path string, o Options) (*Result, error) {
	s, err := open(env, path, o)
	if err != nil {
		return nil, err
	}
	cases, err := casesOf(env, o)
	if err != nil {
		return nil, err
	}
	if err := s.planCases(path, o, cases); err != nil {
		return nil, err
	}
	return s.run(ctx, path, o)
}

// sweep is a sweep and its run folder.
type sweep struct {
	*config.Sweep
	env    *app.Env
	file   *config.Document
	folder string
	plan   *runs.SweepPlan
	jobs   map[string]*config.Job // job of each case, by its key; nil for a worker
	seen   map[string]state       // completed or failed trials
}

func open(env *app.Env, path string, o Options) (*sweep, error) {
	file := config.Open(env.Files, path)
	c, err := file.Sweep(workers.Assigned(o.Set, o.Engine, o.Workers))
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if c.Fleet.Engine == config.Kubernetes {
		return nil, failure.Usagef("trials run on the engines local and slurm; omit fleet.engine, " +
			"or set one of them")
	}
	return &sweep{Sweep: c, env: env, file: file, folder: app.Folder(o.Folder, c.Run.Folder, path),
		plan: &runs.SweepPlan{}, jobs: map[string]*config.Job{}, seen: map[string]state{}}, nil
}

func (s *sweep) at(names ...string) string {
	return filepath.Join(append([]string{s.folder}, names...)...)
}

// run makes or opens the run folder, runs the trials and collects the outcome.
func (s *sweep) run(ctx context.Context, path string, o Options) (*Result, error) {
	if trials := len(s.plan.Trials()); trials > config.MostTrials {
		return nil, failure.With(failure.Configuration, fmt.Errorf("%d trials of %s exceed the maximum of %d; "+
			"use fewer seeds or values", trials, words.Plural(len(s.plan.Cases), "case"), config.MostTrials))
	}
	b, err := s.batch()
	if err != nil {
		return nil, err
	}
	s.warn()
	if err := s.prepareFolder(path, o); err != nil {
		return nil, err
	}
	if err := s.runTrials(ctx, b); err != nil {
		return nil, err
	}
	return s.finish()
}

// warn logs probable mistakes in the cases.
func (s *sweep) warn() {
	var jobs []*config.Job
	for _, c := range s.plan.Cases {
		jobs = append(jobs, s.jobs[c.Key])
	}
	for _, text := range config.SweepWarnings(jobs) {
		s.env.Log.Warn(text)
	}
}

// prepareFolder makes the run folder, or opens the folder of the same sweep.
func (s *sweep) prepareFolder(path string, o Options) error {
	run, err := s.openRun(path, o)
	if err != nil {
		return err
	}
	for _, c := range s.plan.Cases {
		if err := s.env.Files.MkdirAll(run.Path(runs.CasesFolder)); err != nil {
			return errors.Join(err, run.Close())
		}
		if err := s.env.WriteText(s.caseFile(c), s.jobs[c.Key].Resolved()); err != nil {
			return errors.Join(err, run.Close())
		}
	}
	text, err := s.planText()
	if err == nil { // the last step: a folder without a plan is not a sweep yet
		err = s.env.WriteText(run.Path(runs.SweepFile), text)
	}
	s.env.Log.Info("planned the trials", zap.Int("cases", len(s.plan.Cases)),
		zap.Int("trials", len(s.plan.Trials())), zap.String("folder", s.folder))
	return errors.Join(err, run.Close())
}

func (s *sweep) openRun(path string, o Options) (*results.Run, error) {
	resumes := o.Resume
	if path != "" || len(o.Set) > 0 { // otherwise only the folder identifies the sweep
		resumes = s.env.Resumes(resumes, s.folder)
	}
	if resumes {
		run, err := results.Open(s.env.Files, s.folder)
		if err != nil {
			return nil, err
		}
		err = runs.MayResume(s.env.Files, s.folder, runs.SweepKind)
		if err == nil {
			err = s.checkSame(run)
		}
		if err == nil {
			err = s.retry()
		}
		if err != nil {
			return nil, errors.Join(err, run.Close())
		}
		return run, nil
	}
	return s.env.CreateRun(s.folder, runs.SweepKind,
		results.CreateOptions{Force: o.Force, Config: s.Text(), Resolved: s.Resolved()},
		results.Manifest{Seed: uint64(s.Run.Seed), Device: s.Run.Device, Profile: s.Time.Profile,
			ConfigSHA256: s.Digest(), FilesSHA256: s.filesDigest(), Network: s.NetworkName()})
}

// filesDigest is the digest of the content of the files that the cases name.
func (s *sweep) filesDigest() string {
	var digests []string
	for _, c := range s.plan.Cases {
		weights := "" // without initial weights
		if len(c.Weights) > 0 {
			weights = c.Weights[0]
		}
		digests = append(digests, s.jobs[c.Key].FilesDigest(weights))
	}
	return runs.DigestOfTexts(digests...)
}

func (s *sweep) planText() (string, error) {
	text, err := json.MarshalIndent(s.plan, "", "  ")
	return string(text) + "\n", err
}

// checkSame returns an error if the sweep in the folder differs from this one. A folder without a plan was killed
// before it had one.
func (s *sweep) checkSame(run *results.Run) error {
	was, err := runs.ReadSweepPlan(s.env.Files, s.folder)
	if errors.Is(err, fs.ErrNotExist) && run.Manifest().ConfigSHA256 == s.Digest() {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return failure.With(failure.Configuration, fmt.Errorf("resume %s: "+
			"the folder was created with another configuration; choose another folder with option "+
			"\"folder\"", s.folder))
	}
	if err != nil {
		return err
	}
	s.takeUnknown(was)
	now, err := s.planText()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(was, "", "  ")
	if err != nil || string(text)+"\n" == now {
		return err
	}
	return failure.With(failure.Configuration, fmt.Errorf(
		"resume %s: the folder contains another sweep: %s; restore its "+
			"configuration and options, or choose another folder with option \"folder\"", s.folder, s.difference(was)))
}

// takeUnknown gives both plans the digests of weights that only one of them has: files of completed sweeps may be gone,
// and plans of earlier versions have no digests.
func (s *sweep) takeUnknown(was *runs.SweepPlan) {
	for k, c := range was.Cases {
		if k >= len(s.plan.Cases) {
			return
		}
		now := s.plan.Cases[k]
		if c.Weights == nil {
			c.Weights = slices.Clone(now.Weights)
		}
		for at := range min(len(c.Weights), len(now.Weights)) {
			c.Weights[at] = cmp.Or(c.Weights[at], now.Weights[at])
			now.Weights[at] = cmp.Or(now.Weights[at], c.Weights[at])
		}
	}
}

// difference describes the differences from the plan in the folder.
func (s *sweep) difference(was *runs.SweepPlan) string {
	names := func(p *runs.SweepPlan) string {
		var list []string
		for _, c := range p.Reported() {
			list = append(list, fmt.Sprintf("%s (%s)", c.Name, document.SeedsText(c.Seeds)))
		}
		return strings.Join(list, ", ")
	}
	if before, now := names(was), names(s.plan); before != now {
		return fmt.Sprintf("the cases were %s and are now %s", before, now)
	}
	for k, c := range was.Cases {
		if k < len(s.plan.Cases) && c.Digest != s.plan.Cases[k].Digest {
			return fmt.Sprintf("case %s: %s", c.Name,
				config.Changes(s.env.Files, s.caseFile(c), s.jobs[s.plan.Cases[k].Key]))
		}
	}
	for k, c := range was.Cases {
		if k < len(s.plan.Cases) && !slices.Equal(c.Weights, s.plan.Cases[k].Weights) {
			return fmt.Sprintf("case %s: the content of network.weights (%s) has changed", c.Name,
				s.jobs[s.plan.Cases[k].Key].Network.Weights)
		}
	}
	return "the sequences of the arm \"best fixed\" have changed"
}

// caseFile returns the job file of a case.
func (s *sweep) caseFile(c *runs.SweepCase) string { return s.at(runs.CasesFolder, c.Key+".toml") }
