package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/app"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
)

// prepareLeaving reads the tables, and the options of learning from them. Tables of one scenario are held out together,
// see [evaluation.ByScenario]. Tables that a file holds out are held out in turn like the others, or all at once.
func (e *Evaluation) prepareLeaving() error {
	leave := &e.o.Leave
	if leave.File == "" {
		leave.For, leave.Seeds = cmp.Or(leave.For, "new"), cmp.Or(leave.Seeds, defaultSeeds)
		learn := defaults[leave.For]()
		learn.Steps = cmp.Or(leave.Steps, learn.Steps)
		if err := e.readTrees(); err != nil {
			return err
		}
		e.plan(1, runtime.GOMAXPROCS(0), learn)
		return nil
	}
	l, err := leave.Learning, error(nil)
	e.file = config.Open(e.env.Files, leave.File)
	if l == nil {
		if l, err = e.file.TreeLearning(nil); err != nil {
			return runs.AsConfigFault(err)
		}
	}
	leave.Learning, leave.For, leave.Seeds = l, l.Learn.For, cmp.Or(leave.Seeds, l.Run.Seeds)
	known, held := l.Trees()
	e.o.Trees = slices.Concat(known, held)
	all := []learning.Options{l.Options()}
	for _, try := range leave.Try {
		other, err := e.file.TreeLearning([]string{try})
		if err != nil {
			return runs.AsConfigFault(err)
		}
		all = append(all, other.Options())
	}
	e.plan(l.Run.Seed, cmp.Or(l.Run.Workers, runtime.GOMAXPROCS(0)), all...)
	if leave.By != heldOut {
		return nil
	}
	if len(held) == 0 {
		return failure.Usagef(
			"option \"leave-out\" is held-out, but %s has no held-out tables; name them in tables.held_out",
			leave.File)
	}
	e.study.By = evaluation.ByHeld(held)
	return nil
}

// plan sets the options of learning, with consecutive seeds from the first, and the alternatives to select from.
func (e *Evaluation) plan(first uint64, atOnce int, ways ...learning.Options) {
	e.study = evaluation.LeaveOutOptions{Ways: []evaluation.Way{{Options: ways}},
		AtOnce: atOnce, Against: e.o.Leave.Against}
	if grouping := groupings[e.o.Leave.By]; grouping != nil {
		e.study.By = grouping(e.o.Trees)
	}
	for k := range e.o.Leave.Seeds {
		e.study.Seeds = append(e.study.Seeds, first+uint64(k))
	}
}

// steps returns the upper limit on learning steps.
func (e *Evaluation) steps() int { return e.study.Ways[0].Options[0].Length() }

// judgeLeaving trains policies on some tables and evaluates them on the others.
func (e *Evaluation) judgeLeaving(ctx context.Context) (*Result, error) {
	p := &progress{env: e.env, pace: app.NewProgressLimiter(e.env.Now)}
	if e.env.Show != nil {
		defer e.env.Show(p.scene())()
	}
	e.study.Tell = p.note
	left, err := evaluation.CompareLeftOut(ctx, e.o.Trees, e.study)
	if err != nil {
		return nil, err
	}
	r := &runs.LeaveOutReport{LeaveOut: e.o.Leave.By, Tried: e.o.Leave.Try, For: e.o.Leave.For, Steps: e.steps(),
		Seeds: len(e.study.Seeds), LeaveOutReport: left}
	return &Result{LeftOut: r, Comparison: left.Comparison}, nil
}

// progress shows the progress of cross-validation: by a bar, otherwise by log lines, one per group and at limited
// intervals.
type progress struct {
	env  *app.Env
	pace *app.ProgressLimiter
	mu   sync.Mutex
	now  evaluation.LeaveOutProgress
}

func (l *progress) note(p evaluation.LeaveOutProgress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if due := l.pace.Due(); l.env.Show == nil && (due || p.Group != l.now.Group) {
		l.env.Log.Info("learning", zap.String("left_out", p.Group), zap.Int("group", p.Groups+1), zap.Int("of", p.Of),
			zap.Int("policies", p.Policies), zap.Int("of_policies", p.OfThem))
	}
	l.now = p
}

func (l *progress) read() evaluation.LeaveOutProgress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// scene returns the progress bar.
func (l *progress) scene() app.Progress {
	return app.Progress{
		Done: func() (int64, int64) {
			p := l.read()
			return int64(p.Policies), int64(p.OfThem)
		},
		Text: func() string {
			p := l.read()
			return fmt.Sprintf("%d of %d policies", p.Policies, p.OfThem)
		},
		Details: func(width int) string {
			return app.FitLine([]string{"left out: " + document.Printable(l.read().Group)}, width)
		},
	}
}

// Groups returns the number of groups of trees that a leave-one-out evaluation leaves out in turn. The argument by is a
// kind of group, as in LeaveOut.By.
func Groups(by string, trees []*simulation.Tree) int {
	names, group := map[string]bool{}, groupings[by](trees)
	for _, t := range trees {
		names[group(t)] = true
	}
	return len(names)
}
