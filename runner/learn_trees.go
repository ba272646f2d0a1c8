package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/decider"
	"graft/files"
	"graft/results"
	"graft/simulation/learning"
	"graft/torch"
)

// Files of structural policies in a run folder.
const (
	votedFile      = "policy.safetensors" // all seeds', who vote
	policiesFolder = "policies"           // a file for each seed
)

// runLearnTrees lets structural policies learn.
func runLearnTrees(ctx context.Context, w io.Writer, path string, o learnOptions) error {
	l, err := config.ReadTreeLearning(files.OS{}, path, o.set)
	if err != nil {
		return faultyConfig(err)
	}
	l.Run.Tensorboard = l.Run.Tensorboard || o.board
	ctx, stop := heedRequeue(ctx)
	defer stop()
	if err := torch.SetThreads(1); err != nil { // one is all that a policy uses
		return err
	}
	c := &class{TreeLearning: l, learnOptions: o, given: path, folder: o.runFolder(l.Run.Folder, path), screen: screenFrom(ctx)}
	c.log, c.alone, c.record = recorded(loggerFrom(ctx))
	defer c.close()
	outcome, err := c.run(ctx)
	if errors.Is(err, learning.ErrStopped) {
		c.alone.Info("stopped", zap.Error(err))
		return withCode(exitRequeue, fmt.Errorf("%w in %s; go on with --resume", err, c.folder))
	}
	if err != nil {
		c.alone.Error("failed", zap.Error(err))
		return err
	}
	return c.print(w, outcome)
}

// class is policies that learn from the same tables, each from a seed of its own.
type class struct {
	*config.TreeLearning
	learnOptions
	screen *screen
	log    *zap.Logger
	alone  *zap.Logger // writes into the run folder only
	record *record
	folder string
	given  string // path of the configuration
	stored *results.Run
	took   time.Duration // that learning has, in this process
}

func (c *class) close() {
	if c.stored != nil {
		_ = c.stored.Close()
	}
}

// run lets the policies learn, from the beginning or from their checkpoints.
func (c *class) run(ctx context.Context) (*treeOutcome, error) {
	book, err := c.open()
	if err != nil {
		return nil, err
	}
	all, err := c.learn(ctx, book)
	if err != nil {
		return nil, err
	}
	if err := book.Finish(all); err != nil {
		return nil, err
	}
	voted, err := c.keep(all)
	if err != nil {
		return nil, err
	}
	outcome, err := c.outcome(all, voted)
	if err != nil {
		return nil, err
	}
	c.log.Info("learned", zap.Int("policies", len(all)), zap.Int("steps", outcome.Steps), zap.Duration("took", c.took.Round(time.Millisecond)),
		zap.Float64("regret_points", rounded(outcome.Regret)))
	return outcome, c.stored.WriteOutcome(outcome)
}

// open makes the run folder, or opens the one that these policies began in.
func (c *class) open() (*register, error) {
	var names []string
	trees, _ := c.Trees()
	for _, t := range trees {
		names = append(names, t.Network)
	}
	slices.Sort(names)
	var err error
	c.stored, err = c.openRun(c.folder, c.given, c.Resolved(), results.Manifest{Seed: c.Run.Seed, ConfigSHA256: c.Digest(), Network: strings.Join(slices.Compact(names), ", ")})
	if err != nil {
		return nil, err
	}
	if err := c.same(); err != nil {
		return nil, err
	}
	c.record.open(c.stored)
	folder, err := learning.OpenFolder(files.OS{}, c.stored)
	if err != nil {
		return nil, err
	}
	book := newRegister(folder, c.log, c.Run.All(), c.Learn.Steps)
	if err := c.stored.ForgetEvents(); err != nil || !c.Run.Tensorboard { // all rows are told again
		return book, err
	}
	book.curves, err = openCurves(c.stored, 0, c.Resolved())
	return book, err
}

// same checks that a run that goes on is of the policies that it was.
func (c *class) same() error {
	if c.stored.Manifest().ConfigSHA256 == c.Digest() {
		return nil
	}
	what := "its tables hold something else"
	if was, err := config.ReadTreeLearning(files.OS{}, c.stored.Path("config.resolved.toml"), nil); err == nil {
		if list := c.Differences(was); len(list) > 0 {
			what = strings.Join(list, ", ")
		}
	}
	return withCode(exitConfig, fmt.Errorf("resume %s: what learns is not what began there: %s; give it what it had, or begin another run with --folder", c.folder, what))
}

// learn goes to the end, before the eyes of whoever wants to see it.
func (c *class) learn(ctx context.Context, book *register) ([]learning.Result, error) {
	trees, held := c.Trees()
	study := &learning.Study{Trees: trees, Held: held, Options: c.Options(), Seeds: c.Run.All(), AtOnce: cmp.Or(c.Run.AtOnce, runtime.GOMAXPROCS(0)),
		Every: c.Run.Every, Checkpoint: c.Run.Checkpoint, Now: time.Now, Book: book}
	drawn := drawable(c.screen)
	book.teller = newTeller(c.log, time.Now, drawn)
	if drawn {
		defer drawBars(c.screen, book.scene()).close()
	}
	began := time.Now()
	all, err := study.Run(ctx)
	c.took = time.Since(began)
	return all, err
}

// keep writes the policies, each by itself and all together.
func (c *class) keep(all []learning.Result) (*decider.Structural, error) {
	if err := (files.OS{}).MkdirAll(c.stored.Path(policiesFolder)); err != nil {
		return nil, err
	}
	trees, _ := c.Trees()
	var names, seeds []string
	for _, t := range trees {
		names = append(names, t.Name)
	}
	tables := strings.Join(names, ", ")
	var policies []*decider.Structural
	steps := 0
	for _, l := range all {
		l.Policy.Notes["tables"], l.Policy.Notes["for"], l.Policy.Notes["graft"] = tables, c.Learn.For, thisVersion()
		if err := l.Policy.Write(files.OS{}, c.stored.Path(seedFile(l.Seed))); err != nil {
			return nil, err
		}
		policies, seeds = append(policies, l.Policy), append(seeds, fmt.Sprint(l.Seed))
		steps += l.Steps
	}
	voted, err := decider.JoinStructural(policies...)
	if err != nil {
		return nil, err
	}
	voted.Notes = map[string]string{"seeds": strings.Join(seeds, ", "), "steps": fmt.Sprint(steps), "tables": tables, "for": c.Learn.For, "graft": thisVersion()}
	return voted, voted.Write(files.OS{}, c.stored.Path(votedFile))
}

// seedFile is the policy of a seed, in the run folder.
func seedFile(seed uint64) string {
	return filepath.Join(policiesFolder, fmt.Sprintf("seed-%d.safetensors", seed))
}
