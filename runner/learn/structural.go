package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/config"
	"graft/decider"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
)

// PoliciesResult is the JSON output of `graft learn --json` for structural policies.
type PoliciesResult struct {
	Folder  string                `json:"folder"`  // path of the run folder
	Policy  string                `json:"policy"`  // path of the vote of all seeds
	Outcome *runs.PoliciesOutcome `json:"outcome"` // outcome of learning
	// duration of learning in this process in seconds, on the machine's clock
	Seconds float64 `json:"seconds"`
}

// Took returns Seconds as a duration.
func (r *PoliciesResult) Took() time.Duration { return time.Duration(r.Seconds * float64(time.Second)) }

// structural trains structural policies on the same tables, one per seed.
type structural struct {
	run
	*config.TreeLearning
	took time.Duration // duration of learning in this process
}

// Structural trains structural policies from a configuration whose tables are already read. The run folder is o.Folder;
// it stores the argument text, which is the configuration before defaults are added. The assignments in o.Set are
// ignored.
func Structural(ctx context.Context, env *app.Env, l *config.TreeLearning, text string,
	o Options) (*PoliciesResult, error) {
	if err := oneThread(); err != nil {
		return nil, err
	}
	own := *l
	own.Run.Tensorboard = l.Run.Tensorboard || o.Tensorboard
	st := &structural{run: newRun(env, o), TreeLearning: &own}
	outcome, err := st.learn(ctx, text)
	if err := st.end(err); err != nil {
		return nil, err
	}
	return &PoliciesResult{o.Folder, st.stored.Path(runs.VoteFile), outcome, st.took.Seconds()}, nil
}

// learn trains the policies from the start or from their checkpoints.
func (st *structural) learn(ctx context.Context, text string) (*runs.PoliciesOutcome, error) {
	seeds, err := st.begin(text)
	if err != nil {
		return nil, err
	}
	all, err := st.train(ctx, seeds)
	if err != nil {
		return nil, err
	}
	if err := seeds.Finish(all); err != nil {
		return nil, err
	}
	vote, err := st.write(all)
	if err != nil {
		return nil, err
	}
	outcome, err := st.outcome(all, vote)
	if err != nil {
		return nil, err
	}
	st.log.Info("trained policies", zap.Int("policies", len(all)), zap.Int("steps", outcome.Steps), zap.Duration("took",
		st.took.Round(time.Millisecond)), zap.Float64("regret_points", app.Rounded(outcome.Regret)))
	return outcome, st.stored.WriteOutcome(outcome)
}

// begin makes the run folder, or opens the folder of these policies.
func (st *structural) begin(text string) (*seedLog, error) {
	var networks []string
	trees, _ := st.Trees()
	for _, t := range trees {
		networks = append(networks, t.Network)
	}
	slices.Sort(networks)
	m := results.Manifest{Seed: st.Run.Seed, ConfigSHA256: st.Digest(),
		Network: strings.Join(slices.Compact(networks), ", ")}
	if err := st.open(runs.PoliciesKind, text, st.Resolved(), m); err != nil {
		return nil, err
	}
	if err := st.checkSame(); err != nil {
		return nil, err
	}
	st.record.Open(st.stored)
	folder, err := learning.OpenFolder(st.env.Files, st.stored)
	if err != nil {
		return nil, err
	}
	seeds := newSeedLog(folder, st.log, st.Run.All(), st.Learn.Length())
	st.track = st.env.Track(st.o.Folder, "steps")
	seeds.track = st.track
	if err := st.stored.ForgetEvents(); err != nil || !st.Run.Tensorboard { // all rows are reported again
		return seeds, err
	}
	seeds.curves, err = openCurves(st.env.Now, st.stored, 0, st.Resolved())
	return seeds, err
}

// checkSame returns an error if the folder has other policies.
func (st *structural) checkSame() error {
	if st.stored.Manifest().ConfigSHA256 == st.Digest() {
		return nil
	}
	what := config.Changes(st.env.Files, st.stored.Path(runs.ResolvedFile), st.TreeLearning)
	return failure.With(failure.Configuration, fmt.Errorf("resume %s: the configuration has changed since "+
		"the run started: %s; restore the configuration, or start a new run with option \"folder\"", st.o.Folder, what))
}

// train runs all seeds to their end, and shows the progress.
func (st *structural) train(ctx context.Context, seeds *seedLog) ([]learning.Result, error) {
	trees, held := st.Trees()
	study := &learning.Study{Trees: trees, Held: held, Options: st.Options(), Seeds: st.Run.All(),
		AtOnce: cmp.Or(st.Run.Workers, runtime.GOMAXPROCS(0)), Every: st.Run.Every, Checkpoint: st.Run.Checkpoint,
		Now: st.env.Now, Recorder: seeds}
	seeds.pace, seeds.drawn = app.NewProgressLimiter(st.env.Now), st.env.Show != nil
	if seeds.drawn {
		defer st.env.Show(seeds.scene())()
	}
	began := st.env.Now()
	all, err := study.Run(ctx)
	st.took = st.env.Now().Sub(began)
	return all, err
}

// write writes the policies, separately and as a vote, and returns the vote.
func (st *structural) write(all []learning.Result) (*decider.Structural, error) {
	if err := st.env.Files.MkdirAll(st.stored.Path(runs.SeedFolder)); err != nil {
		return nil, err
	}
	trees, _ := st.Trees()
	var names, seeds []string
	var learned []decider.LearnedTable
	for _, t := range trees {
		names = append(names, t.Name)
		learned = append(learned, decider.LearnedTable{Name: t.Name, Runs: t.RunsDigest(),
			Sample: t.Hashes().Sample()})
	}
	tables := strings.Join(names, ", ")
	var policies []*decider.Structural
	steps := 0
	for _, l := range all {
		l.Policy.Notes["tables"], l.Policy.Notes["for"], l.Policy.Notes["graft"] = tables, st.Learn.For, st.env.Version
		l.Policy.Tables = learned
		if err := l.Policy.Write(st.env.Files, st.stored.Path(runs.SeedFile(l.Seed))); err != nil {
			return nil, err
		}
		policies, seeds = append(policies, l.Policy), append(seeds, fmt.Sprint(l.Seed))
		steps += l.Steps
	}
	vote, err := decider.JoinStructural(policies...)
	if err != nil {
		return nil, err
	}
	vote.Tables = learned
	vote.Notes = map[string]string{"seeds": strings.Join(seeds, ", "), "steps": fmt.Sprint(steps), "tables": tables,
		"for": st.Learn.For, "graft": st.env.Version}
	return vote, vote.Write(st.env.Files, st.stored.Path(runs.VoteFile))
}

// outcome evaluates the policies, on training tables and held-out tables.
func (st *structural) outcome(all []learning.Result, vote *decider.Structural) (*runs.PoliciesOutcome, error) {
	trees, held := st.Trees()
	var inside, outside [][]evaluation.Score
	o := &runs.PoliciesOutcome{HeldOut: []evaluation.Score{}}
	for _, l := range all {
		verdicts, err := evaluation.Evaluate(slices.Concat(trees, held),
			evaluation.Structural(fmt.Sprintf("seed %d", l.Seed), l.Policy))
		if err != nil {
			return nil, err
		}
		in, out := verdicts[:len(trees)], verdicts[len(trees):]
		inside, outside = append(inside, in), append(outside, out)
		o.Seeds = append(o.Seeds, runs.SeedOutcome{Seed: l.Seed, Steps: l.Steps, Ended: l.Why,
			Regret: runs.MeanRegret(in), Out: runs.MeanRegret(out), Policy: runs.SeedFile(l.Seed)})
		o.Steps += l.Steps
	}
	o.Summary = evaluation.Summarize("each seed", inside)
	var err, outer error
	o.Tables, err = evaluation.Evaluate(trees, evaluation.Structural("vote", vote))
	o.Regret = runs.MeanRegret(o.Tables)
	if len(held) > 0 {
		summary := evaluation.Summarize("each seed", outside)
		o.Outside = &summary
		o.HeldOut, outer = evaluation.Evaluate(held, evaluation.Structural("vote", vote))
	}
	return o, errors.Join(err, outer)
}
