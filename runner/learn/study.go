package learn

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"graft/config"
	"graft/original/learn"
	"graft/original/policyfile"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/simulation/tables"
	"graft/torch"
	"graft/torch/weights"
)

// StudyResult is the JSON output of `graft learn --json` for a policy in the original system's format.
type StudyResult struct {
	Folder  string              `json:"folder"`              // path of the run folder
	Policy  string              `json:"policy"`              // path of the policy
	Outcome *learn.StudyOutcome `json:"outcome"`             // outcome of learning
	Speed   float64             `json:"episodes_per_second"` // learning speed of this process
	// rows of metrics from this process; the run folder has all rows
	Rows  []StudyRow `json:"rows"`
	Table string     `json:"-"` // name of the training table
}

// StudyRow is a row of learning metrics.
type StudyRow struct {
	Episodes    int     `json:"episodes"`          // total number of episodes so far
	Objective   float64 `json:"objective"`         // mean objective over the episodes since the previous row
	Accuracy    float64 `json:"accuracy"`          // mean accuracy over the episodes since the previous row
	Expected    float64 `json:"expected_accuracy"` // accuracy that the policy expects after these episodes
	Greedy      string  `json:"greedy"`            // sequence of the most likely actions
	Temperature float64 `json:"temperature"`       // temperature of the next episode
	Rate        float64 `json:"learning_rate"`     // learning rate of the next step
}

// study trains a policy of the original system on one table.
type study struct {
	run
	*policyfile.File
}

func runStudy(ctx context.Context, env *app.Env, d *config.Document, path string, o Options) (*Result, error) {
	l, err := config.ReadNamed[*policyfile.File](policyfile.KindName, d, o.Set)
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	l.Run.Tensorboard = l.Run.Tensorboard || o.Tensorboard
	if err := oneThread(); err != nil {
		return nil, err
	}
	o.Folder = app.Folder(o.Folder, l.Run.Folder, path)
	st := &study{run: newRun(env, o), File: l}
	r := &Result{}
	err = torch.With(func(s *torch.Scope) (err error) {
		r.Study, err = st.learn(ctx, s)
		return st.end(err)
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// learn trains the policy from its start or last checkpoint to the end.
func (st *study) learn(ctx context.Context, s *torch.Scope) (*StudyResult, error) {
	table, tree := st.LoadedTable()
	learner, err := learn.NewLearner(s, tree, st.Embedding(), st.Policy.PolicyOptions, st.Learn, st.Run.Seed)
	if err != nil {
		return nil, err
	}
	if first := st.InitialPolicy(); first != nil {
		if err := learner.Begin(first); err != nil {
			return nil, fmt.Errorf("%s: %w", st.Policy.Weights, err)
		}
	}
	log, err := st.begin(learner, table)
	if err != nil {
		return nil, err
	}
	outcome, err := (&learn.Study{Learner: learner, Table: table, Every: st.Run.Every, Checkpoint: st.Run.Checkpoint,
		Now: st.env.Now, Recorder: log}).Run(ctx)
	if err != nil {
		return nil, err
	}
	set, err := learner.Weights()
	if err != nil {
		return nil, err
	}
	r := &StudyResult{Folder: st.o.Folder, Policy: st.stored.Path(runs.PolicyFile), Outcome: outcome,
		Speed: log.speed(outcome.Episodes), Rows: log.reported, Table: table.Name}
	if err := weights.Write(st.env.Files, r.Policy, set); err != nil {
		return nil, err
	}
	return r, st.stored.WriteOutcome(outcome)
}

// begin makes the run folder, or opens it and restores the policy.
func (st *study) begin(l *learn.Learner, table *tables.Table) (*studyLog, error) {
	m := results.Manifest{Seed: uint64(st.Run.Seed), ConfigSHA256: config.Digest(st.File), Network: st.Table.Network}
	if err := st.open(runs.PolicyKind, st.Text(), config.Resolved(st.File), m); err != nil {
		return nil, err
	}
	folder, err := learn.OpenFolder(st.stored, table, config.Digest(st.File))
	if err != nil {
		return nil, err
	}
	st.record.Open(st.stored)
	if st.o.Resume {
		if _, err := folder.Restore(l); err != nil {
			return nil, err
		}
		st.log.Info("continuing from the last checkpoint", zap.Int("episodes", l.Episodes()))
	}
	log := newStudyLog(folder, st.log, st.env.Now, l.Episodes(), st.Learn.Episodes)
	st.track = st.env.Track(st.o.Folder, "episodes")
	log.track = st.track
	log.track.Note(float64(l.Episodes()), float64(st.Learn.Episodes))
	if st.Run.Tensorboard {
		log.curves, err = openCurves(st.env.Now, st.stored, int64(l.Episodes())+min(1, int64(l.Episodes())),
			config.Resolved(st.File))
	}
	return log, err
}
