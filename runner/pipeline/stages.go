package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/results"
	"graft/runner/evaluate"
	"graft/runner/learn"
	"graft/runner/simulate"
	"graft/torch"
)

// simulateAll runs all scenarios, and returns the folders of complete tables and the reasons why others are incomplete.
func (p *pipeline) simulateAll(ctx context.Context) (tables []string, failed []error, err error) {
	for k, m := range p.Scenarios() {
		name := m.Simulate.Name
		err := p.stage(ctx, runs.SimulateStage+name, m.Digest(), func() error {
			return p.simulate(ctx, p.Pipeline.Pipeline.Scenarios[k], p.at(name))
		})
		if errors.As(err, new(*simulate.MissingSequences)) {
			p.env.Log.Warn("some sequences failed; policies will not learn from this table", zap.String("scenario",
				name),
				zap.Error(err))
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, p.at(name, runs.TableFolder))
	}
	return tables, failed, nil
}

// learn trains policies on tables. The configuration file in the folder is for readers, and for graft learn and
// evaluate.
func (p *pipeline) learn(ctx context.Context, tables []string) (*config.TreeLearning, error) {
	l := p.Learning(tables)
	l.Run.Folder = p.at(runs.PolicyFolder)
	if err := p.write(runs.LearnFile, l.Resolved()); err != nil {
		return nil, err
	}
	if err := l.Complete(p.env.Files); err != nil {
		return nil, failure.With(failure.Configuration, err)
	}
	return l, p.stage(ctx, runs.LearnStage, l.Digest(), func() error { return p.train(ctx, l) })
}

// train continues in a folder of the same policies, and moves others aside.
func (p *pipeline) train(ctx context.Context, l *config.TreeLearning) error {
	o := learn.Options{Folder: l.Run.Folder}
	run, err := results.Open(p.env.Files, o.Folder)
	if errors.Is(err, files.ErrLocked) {
		return err
	}
	if err == nil {
		o.Resume = run.Manifest().ConfigSHA256 == l.Digest()
		if err := run.Close(); err != nil {
			return err
		}
	}
	if o.Resume {
		_, err := learn.Structural(ctx, p.env, l, l.Resolved(), o)
		if err == nil || ctx.Err() != nil || errors.Is(err, files.ErrLocked) {
			return err
		}
		p.env.Log.Warn("cannot resume learning; starting from the beginning", zap.Error(err))
	}
	o.Resume, o.Force = false, true
	_, err = learn.Structural(ctx, p.env, l, l.Resolved(), o)
	return err
}

// judge evaluates the policies, and reads the outcome back.
func (p *pipeline) judge(ctx context.Context, l *config.TreeLearning) (*runs.PipelineOutcome, error) {
	entry := p.journal.Entry(runs.EvaluateStage)
	learned, err := p.journal.Made(p.journal.Entry(runs.LearnStage))
	if err != nil {
		return nil, err
	}
	err = p.stage(ctx, runs.EvaluateStage, runs.DigestOfTexts(l.Digest(), learned, p.Evaluate.LeaveOut), func() error {
		o, err := p.evaluate(ctx, l)
		if err != nil {
			return err
		}
		if o.LeftOut == nil {
			entry.Parts = []string{runs.EvaluationFolder}
		}
		return p.writeJSON(runs.OutcomeFile, o)
	})
	if err != nil {
		return nil, err
	}
	return runs.ReadPipelineOutcome(p.env.Files, p.folder)
}

// evaluate evaluates the policies on their training tables and, if tables are held out, on these. It makes the run
// folders after both.
func (p *pipeline) evaluate(ctx context.Context, l *config.TreeLearning) (*runs.PipelineOutcome, error) {
	trees, _ := l.Trees()
	e, err := evaluate.Prepare(ctx, p.env, evaluate.Options{Policies: []string{l.Run.Folder}, Tables: l.Tables.Folders,
		Trees: trees, Out: p.at(runs.EvaluationFolder), Force: true})
	if err != nil {
		return nil, err
	}
	r, err := e.Judge(ctx)
	if err != nil {
		return nil, err
	}
	outcome := &runs.PipelineOutcome{Learned: r.Against, Comparison: r.Comparison}
	if outcome.LeftOut, err = p.leaveOut(ctx, l); err != nil {
		return nil, err
	}
	return outcome, e.Keep(r)
}

// leaveOut evaluates policies on held-out tables. It returns nil if nothing is held out, or if failures have left no
// other tables.
func (p *pipeline) leaveOut(ctx context.Context, l *config.TreeLearning) (*runs.LeaveOutReport, error) {
	by, trees := p.Evaluate.LeaveOut, slices.Concat(l.Trees())
	if by == config.LeaveNone {
		return nil, nil
	}
	if evaluate.Groups(by, trees) < 2 {
		p.env.Log.Warn(
			"skipped the leave-one-out evaluation; all tables belong to one group", zap.String("leave_out", by))
		return nil, nil
	}
	if err := torch.SetThreads(1); err != nil { // a policy uses only one
		return nil, err
	}
	leave := evaluate.LeaveOut{By: by, File: p.at(runs.LearnFile), Learning: l}
	e, err := evaluate.Prepare(ctx, p.env, evaluate.Options{Out: p.at(runs.LeftOutFolder), Force: true, Leave: leave})
	if err != nil {
		return nil, err
	}
	r, err := e.Judge(ctx)
	if err != nil {
		return nil, err
	}
	return r.LeftOut, e.Keep(r)
}

// write replaces a file of the folder.
func (p *pipeline) write(name, text string) error {
	return p.env.WriteText(p.at(name), text)
}
