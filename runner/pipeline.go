package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/files"
	"graft/results"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
	"graft/torch"
)

// pipelineOptions are the flags of `graft pipeline`.
type pipelineOptions struct {
	set     []string // assignments after the file
	folder  string   // empty is the file's, or one named after it
	retry   bool     // try again what failed too often
	workers int      // of each simulation; zero is fleet.workers
	json    bool     // print one object
}

func newPipelineCommand() *cobra.Command {
	var o pipelineOptions
	command := &cobra.Command{
		Use:   "pipeline CONFIG",
		Short: "Simulate scenarios, let policies learn from them, and judge these",
		Long: `pipeline does in one go what 'graft simulate', 'graft learn' and 'graft evaluate' do:
it runs all sequences of some scenarios, lets structural policies learn from the
tables, and says how they fare beside never adapting, drawing at random, the best fixed
sequence and the best of each table. CONFIG is a file with a section pipeline, which
names the files of the scenarios; the sections run, policy and learn are those of
structural policies that learn. With evaluate.leave_out policies are judged as well by
scenarios, or networks, that they did not learn from.

Each stage is skipped where what it is made from has not changed and what it made is
whole; otherwise it is done again, from what there is. SIGTERM, SIGUSR1 and the first
SIGINT save all that was done and leave with exit code 75; the same command goes on
then, as it does after a kill. What failed is left out: policies learn from complete
tables only, and the exit code is 3.`,
		Example: `  graft pipeline scenarios/small.toml
  graft pipeline scenarios/cifar10.toml --set run.seeds=20 --folder runs/cifar10`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runPipeline(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a key, such as run.seeds=20; may be given several times")
	flags.StringVar(&o.folder, "folder", "", "the run folder; empty is pipeline.folder, or runs/ and the file's name")
	flags.BoolVar(&o.retry, "retry", false, "try again what failed")
	flags.IntVar(&o.workers, "workers", 0, "how many run side by side in a simulation; 0 is fleet.workers")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func runPipeline(ctx context.Context, w io.Writer, path string, o pipelineOptions) error {
	p, err := config.ReadPipeline(files.OS{}, path, o.set)
	if err != nil {
		return faultyConfig(err)
	}
	ctx, stop := heedRequeue(ctx)
	defer stop()
	line := &assembly{Pipeline: p, pipelineOptions: o, folder: folderOf(o.folder, p.Pipeline.Folder, path), log: loggerFrom(ctx), screen: screenFrom(ctx)}
	if err := line.open(); err != nil {
		return err
	}
	outcome, err := line.run(ctx)
	if ctx.Err() != nil {
		return withCode(exitRequeue, errors.Join(fmt.Errorf("stopped, and what was done is kept; the same command goes on in %s", line.folder), err))
	}
	if outcome == nil {
		return err
	}
	return errors.Join(line.print(w, outcome), err)
}

// assembly is a pipeline at work.
type assembly struct {
	*config.Pipeline
	pipelineOptions
	folder string
	log    *zap.Logger
	screen *screen
	ledger *ledger
	done   []stageReport
}

// stageReport is a stage that is over.
type stageReport struct {
	Stage   string  `json:"stage"`   // what it does, such as learn
	Skipped bool    `json:"skipped"` // nothing had changed
	Seconds float64 `json:"seconds"` // that it took, in this process
}

// Names in the run folder of a pipeline.
const (
	ledgerName  = "pipeline.json"
	learnFile   = "learn.toml"
	policyName  = "policy"
	judgedName  = "evaluation" // the run folder of how the policies fare
	unseenName  = "left-out"   // that of those that learned from other tables
	outcomeName = "outcome.json"
)

func (a *assembly) at(names ...string) string {
	return filepath.Join(append([]string{a.folder}, names...)...)
}

// open makes the folder, and writes down what the pipeline is.
func (a *assembly) open() (err error) {
	if err := (files.OS{}).MkdirAll(a.folder); err != nil {
		return fmt.Errorf("open the run folder: %w", err)
	}
	if a.ledger, err = openLedger(a.at(ledgerName)); err != nil {
		return err
	}
	if err := writeText(a.at(resolvedFile), a.Resolved()); err != nil {
		return err
	}
	host, _ := os.Hostname() // without a name the manifest has none
	return a.ledger.plan(results.Manifest{Created: time.Now().UTC(), Graft: thisVersion(), Seed: a.Run.Seed, ConfigSHA256: a.Digest(), Host: host, CommandLine: os.Args}, a.stages())
}

// Names of stages; those of scenarios follow the first.
const (
	simulateStage = "simulate "
	learnStage    = "learn"
	judgeStage    = "evaluate"
)

// stages are all that there will be, with the runs that they leave and what they make.
func (a *assembly) stages() (all []*stageEntry) {
	for _, m := range a.Scenarios() {
		name := m.Simulate.Name
		all = append(all, &stageEntry{Stage: simulateStage + name, State: stageWaits, Parts: []string{name}, Files: []string{filepath.Join(name, tableFolder)}})
	}
	judge := &stageEntry{Stage: judgeStage, State: stageWaits, Parts: []string{judgedName}, Files: []string{outcomeName, filepath.Join(judgedName, outcomeFile)}}
	if a.Evaluate.LeaveOut != config.LeaveNone {
		judge.Parts, judge.Files = append(judge.Parts, unseenName), append(judge.Files, filepath.Join(unseenName, outcomeFile))
	}
	return append(all, &stageEntry{Stage: learnStage, State: stageWaits, Parts: []string{policyName},
		Files: []string{filepath.Join(policyName, votedFile), filepath.Join(policyName, policiesFolder), filepath.Join(policyName, outcomeName)}}, judge)
}

// writeText replaces a file, unless that is what it holds.
func writeText(path, text string) error {
	return files.WriteAtomic(files.OS{}, path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// stage does what is not done yet.
func (a *assembly) stage(ctx context.Context, name, from string, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := a.ledger.entry(name)
	if a.ledger.holds(e, from) {
		a.log.Info("skipped: nothing has changed", zap.String("stage", name))
		a.done = append(a.done, stageReport{Stage: name, Skipped: true})
		return a.ledger.reuse(e)
	}
	a.log.Info("begins", zap.String("stage", name), zap.Int("number", len(a.done)+1), zap.Int("of", len(a.ledger.All)))
	began := time.Now()
	if err := a.ledger.begin(e, began); err != nil {
		return err
	}
	if err := do(); err != nil {
		if ctx.Err() == nil {
			err = errors.Join(err, a.ledger.fail(e, err))
		}
		return err
	}
	seconds := rounded(time.Since(began).Seconds())
	a.done = append(a.done, stageReport{Stage: name, Seconds: seconds})
	return a.ledger.end(e, from, seconds)
}

// run does all stages. Where sequences failed there is an outcome of the others, and
// an error.
func (a *assembly) run(ctx context.Context) (*pipelineOutcome, error) {
	tables, failed, err := a.simulate(ctx)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, withCode(exitPartial, fmt.Errorf("nothing is learned, as no scenario has a complete table: %w", errors.Join(failed...)))
	}
	learning, err := a.learn(ctx, tables)
	if err != nil {
		return nil, err
	}
	outcome, err := a.judge(ctx, learning)
	if err != nil {
		return nil, err
	}
	if len(failed) > 0 {
		err = withCode(exitPartial, fmt.Errorf("policies learned from %d of %s, which are complete: %w", len(tables), counted(len(a.Scenarios()), "table"), errors.Join(failed...)))
	}
	return outcome, err
}

// simulate runs all scenarios, and gives the folders of the tables that are complete,
// and why others are not.
func (a *assembly) simulate(ctx context.Context) (tables []string, failed []error, err error) {
	for k, m := range a.Scenarios() {
		name := m.Simulate.Name
		table := a.at(name, tableFolder)
		err := a.stage(ctx, simulateStage+name, m.Digest(), func() error { return a.grow(ctx, a.Pipeline.Pipeline.Scenarios[k], name) })
		var missing *missingSequences
		if errors.As(err, &missing) {
			a.log.Warn("sequences failed, so that nothing is learned from the table", zap.String("scenario", name), zap.Error(err))
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, table)
	}
	return tables, failed, nil
}

// grow is 'graft simulate' in a folder of the pipeline's. What is there of another
// scenario is moved aside.
func (a *assembly) grow(ctx context.Context, path, name string) error {
	return runSimulate(ctx, io.Discard, path, simulateOptions{set: a.Assignments(), folder: a.at(name), force: true, retry: a.retry, engine: "local", workers: a.workers})
}

// learn lets policies learn from tables.
func (a *assembly) learn(ctx context.Context, tables []string) (*config.TreeLearning, error) {
	file := a.Learning(tables)
	file.Run.Folder = a.at(policyName)
	if err := writeText(a.at(learnFile), file.Resolved()); err != nil {
		return nil, err
	}
	l, err := config.ReadTreeLearning(files.OS{}, a.at(learnFile), nil)
	if err != nil {
		return nil, faultyConfig(err)
	}
	err = a.stage(ctx, learnStage, l.Digest(), func() error { return a.teach(ctx, l.Digest()) })
	return l, err
}

// teach is 'graft learn' in a folder of the pipeline's: it goes on where the same
// policies were learning, and moves others aside.
func (a *assembly) teach(ctx context.Context, digest string) error {
	o := learnOptions{folder: a.at(policyName)}
	run, err := results.Open(files.OS{}, o.folder)
	if errors.Is(err, files.ErrLocked) {
		return err
	}
	if err == nil {
		o.resume = run.Manifest().ConfigSHA256 == digest
		if err := run.Close(); err != nil {
			return err
		}
	}
	if o.resume {
		err := runLearnTrees(ctx, io.Discard, a.at(learnFile), o)
		if err == nil || ctx.Err() != nil || errors.Is(err, files.ErrLocked) {
			return err
		}
		a.log.Warn("learning begins anew, as it cannot go on", zap.Error(err))
	}
	o.resume, o.force = false, true
	return runLearnTrees(ctx, io.Discard, a.at(learnFile), o)
}

// judge says how the policies fare.
func (a *assembly) judge(ctx context.Context, l *config.TreeLearning) (*pipelineOutcome, error) {
	learned, err := a.ledger.made(a.ledger.entry(learnStage))
	if err != nil {
		return nil, err
	}
	err = a.stage(ctx, judgeStage, digestOfTexts(l.Digest(), learned, a.Evaluate.LeaveOut), func() error {
		o, err := a.compare(ctx, l)
		if err != nil {
			return err
		}
		if o.LeftOut == nil {
			a.ledger.entry(judgeStage).Parts = []string{judgedName}
		}
		text, err := json.MarshalIndent(o, "", "  ")
		if err != nil {
			return err
		}
		return writeText(a.at(outcomeName), string(text)+"\n")
	})
	if err != nil {
		return nil, err
	}
	return readPipelineOutcome(files.OS{}, a.folder)
}

// readPipelineOutcome reads how the policies of a pipeline fare.
func readPipelineOutcome(fsys files.FS, folder string) (*pipelineOutcome, error) {
	path := filepath.Join(folder, outcomeName)
	text, err := files.ReadAll(fsys, path, largestOutcome)
	if err != nil {
		return nil, err
	}
	o := &pipelineOutcome{}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, withCode(exitDamaged, fmt.Errorf("%s: %w; delete it, and the same command makes it again", path, err))
	}
	if o.Comparison == nil {
		return nil, withCode(exitDamaged, fmt.Errorf("%s: it says nothing; delete it, and the same command makes it again", path))
	}
	return o, nil
}

// largestOutcome is above the size of any outcome.
const largestOutcome = 1 << 28

// compare is 'graft evaluate' of the policies.
func (a *assembly) compare(ctx context.Context, l *config.TreeLearning) (*pipelineOutcome, error) {
	trees, _ := l.Trees()
	o := evaluateOptions{policies: []string{a.at(policyName)}, tables: l.Tables.Folders, out: a.at(judgedName), force: true}
	contenders, err := o.readPolicies(ctx)
	if err != nil {
		return nil, err
	}
	m := &meeting{contenders, trees}
	r, comparison, err := m.compare(o)
	if err != nil {
		return nil, err
	}
	outcome := &pipelineOutcome{Learned: contenders[0].entrants[0].Name, Comparison: comparison}
	if a.Evaluate.LeaveOut != config.LeaveNone {
		if outcome.LeftOut, err = a.leaveOut(ctx, trees, l); err != nil {
			return nil, err
		}
	}
	book, err := o.keep(func() (evaluationGiven, error) { return o.given(m) })
	if err != nil {
		return nil, err
	}
	defer book.close()
	return outcome, book.finish(newEvaluationOutcome(r, nil))
}

// leaveOut judges policies by what they did not learn from. Where failures have left
// nothing else to learn from, it is left away.
func (a *assembly) leaveOut(ctx context.Context, trees []*simulation.Tree, l *config.TreeLearning) (*leaveReport, error) {
	by := bys[a.Evaluate.LeaveOut]
	if !slices.ContainsFunc(trees, func(t *simulation.Tree) bool { return by(t) != by(trees[0]) }) {
		a.log.Warn("nothing is left out, as there is nothing else to learn from", zap.String("leave_out", a.Evaluate.LeaveOut))
		return nil, nil
	}
	if err := torch.SetThreads(1); err != nil { // one is all that a policy uses
		return nil, err
	}
	watch := newLeaveWatch(tellLeaving(ctx))
	if drawable(a.screen) {
		watch.tell = nil
		defer drawBars(a.screen, watch.scene()).close()
	}
	study := evaluation.LeaveOutOptions{By: by, Ways: []evaluation.Way{{Options: []learning.Options{l.Options()}}},
		Seeds: l.Run.All(), AtOnce: cmp.Or(l.Run.AtOnce, runtime.GOMAXPROCS(0)), Tell: watch.note}
	report, err := evaluation.CompareLeftOut(ctx, trees, study)
	if err != nil {
		return nil, err
	}
	r := &leaveReport{a.Evaluate.LeaveOut, l.Learn.For, l.Learn.Steps, l.Run.Seeds, report}
	return r, a.keepLeftOut(trees, study, r)
}

// keepLeftOut makes the run folder of what was left out.
func (a *assembly) keepLeftOut(trees []*simulation.Tree, study evaluation.LeaveOutOptions, r *leaveReport) error {
	o := evaluateOptions{out: a.at(unseenName), force: true, leave: leaveOptions{by: r.LeaveOut, learn: a.at(learnFile), target: r.For}}
	book, err := o.keep(func() (evaluationGiven, error) { return o.givenLeaving(trees, study) })
	if err != nil {
		return err
	}
	defer book.close()
	return book.finish(newEvaluationOutcome(nil, r))
}

// skipped are the stages in which nothing had changed.
func (a *assembly) skipped() string {
	var names []string
	for _, s := range a.done {
		if s.Skipped {
			names = append(names, s.Stage)
		}
	}
	return strings.Join(names, ", ")
}
