package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/files"
	"graft/original/learn"
	"graft/results"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/torch"
	"graft/torch/weights"
)

// learnOptions are the flags of `graft learn`.
type learnOptions struct {
	set    []string // assignments after the file
	folder string   // empty is the file's, or one named after it
	resume bool     // go on with a run that was stopped
	force  bool     // move an existing folder aside
	json   bool     // print one object
	board  bool     // write event files for TensorBoard; false leaves it to the file
}

// policyFile is the policy that was learned, under the original's name.
const policyFile = "agent.finalmodel.pth"

func newLearnCommand() *cobra.Command {
	var o learnOptions
	command := &cobra.Command{
		Use:   "learn CONFIG",
		Short: "Let policies learn from tables of simulated sequences",
		Long: `learn makes policies of tables, of one of two kinds, which CONFIG tells by its
sections.

With [tables] structural policies, which read any network, learn from all tables at
once, one for each of several seeds, along the exact gradient over all sequences, until
their aim grows no more. They are written one by one into policies, and together, as
they vote, into policy.safetensors.

With [table] a policy of the original's learns from one table: in each episode it draws
an action for each state that the table has, and is rewarded with the accuracy in the
end (REINFORCE, as the original). With learn.rule=exact it goes along the exact gradient
of the expected reward over all sequences instead, and an episode is a step. The policy
is agent.finalmodel.pth; 'graft config convert' makes CONFIG of a file of the
original's.

Figures, checkpoints and policies go into a run folder. An existing one is never
overwritten: --resume goes on with it, --force moves it aside. SIGTERM, SIGUSR1 and the
first SIGINT save all that was learned and leave with exit code 75; the same command
with --resume then goes on to the same bits.`,
		Example: `  graft learn policy.toml
  graft learn policy.toml --set run.seeds=20 --set learn.for=new --folder runs/new
  graft learn original.toml --set learn.rule=exact --set learn.episodes=2000
  graft learn policy.toml --resume`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runLearn(command.Context(), command.OutOrStdout(), args[0], o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a key, such as learn.steps=500; may be given several times")
	flags.StringVar(&o.folder, "folder", "", "the run folder; empty is run.folder, or runs/ and the file's name")
	flags.BoolVar(&o.resume, "resume", false, "go on with the run in the folder")
	flags.BoolVar(&o.force, "force", false, "move an existing run folder aside")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	boardFlag(command, &o.board)
	command.MarkFlagsMutuallyExclusive("resume", "force")
	return command
}

func runLearn(ctx context.Context, w io.Writer, path string, o learnOptions) error {
	if config.KindOf(files.OS{}, path) == config.TreeLearningKind {
		return runLearnTrees(ctx, w, path, o)
	}
	l, err := config.ReadLearning(files.OS{}, path, o.set)
	if err != nil {
		return faultyConfig(err)
	}
	l.Run.Tensorboard = l.Run.Tensorboard || o.board
	ctx, stop := heedRequeue(ctx)
	defer stop()
	if err := torch.SetThreads(1); err != nil { // one is all that learning uses
		return err
	}
	return torch.With(func(s *torch.Scope) error {
		p := &pupil{Learning: l, learnOptions: o, given: path, folder: o.runFolder(l.Run.Folder, path)}
		p.log, p.alone, p.record = recorded(loggerFrom(ctx))
		defer p.close()
		outcome, err := p.run(ctx, s)
		if errors.Is(err, learning.ErrStopped) {
			p.alone.Info("stopped", zap.Error(err))
			return withCode(exitRequeue, fmt.Errorf("%w in %s; go on with --resume", err, p.folder))
		}
		if err != nil {
			p.alone.Error("failed", zap.Error(err))
			return err
		}
		return p.print(w, outcome)
	})
}

// runFolder is where a run's files go; a file may say so.
func (o learnOptions) runFolder(said, path string) string {
	switch {
	case o.folder != "":
		return o.folder
	case said != "":
		return said
	}
	return filepath.Join("runs", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// openRun makes a run folder for the file at a path or, to resume, opens it.
func (o learnOptions) openRun(folder, path, resolved string, m results.Manifest) (*results.Run, error) {
	if o.resume {
		return results.Open(files.OS{}, folder)
	}
	given, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m.Created, m.Graft, m.Device, m.CommandLine = time.Now().UTC(), thisVersion(), "cpu", os.Args
	m.Host, _ = os.Hostname() // without a name the manifest has none
	run, err := results.Create(files.OS{}, folder, results.CreateOptions{Force: o.force, Config: string(given), Resolved: resolved}, m)
	if errors.Is(err, results.ErrExists) {
		err = withCode(exitUsage, err)
	}
	return run, err
}

// pupil is a study that is made from its configuration.
type pupil struct {
	*config.Learning
	learnOptions
	log    *zap.Logger
	alone  *zap.Logger // writes into the run folder only
	record *record
	folder string
	given  string // path of the configuration
	stored *results.Run
	book   *notebook
}

func (p *pupil) close() {
	if p.stored != nil {
		_ = p.stored.Close()
	}
}

// run lets the policy learn, from the beginning or from the last checkpoint.
func (p *pupil) run(ctx context.Context, s *torch.Scope) (*learn.StudyOutcome, error) {
	table, tree := p.Lessons()
	learner, err := learn.NewLearner(s, tree, p.Embedding(), p.Policy.PolicyOptions, p.Learn, p.Run.Seed)
	if err != nil {
		return nil, err
	}
	if first := p.First(); first != nil {
		if err := learner.Begin(first); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Policy.Weights, err)
		}
	}
	if err := p.open(learner, table); err != nil {
		return nil, err
	}
	study := &learn.Study{Learner: learner, Table: table, Every: p.Run.Every, Checkpoint: p.Run.Checkpoint, Now: time.Now, Book: p.book}
	outcome, err := study.Run(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.keep(learner); err != nil {
		return nil, err
	}
	return outcome, p.stored.WriteOutcome(outcome)
}

// open makes the run folder, or opens it and restores the policy.
func (p *pupil) open(l *learn.Learner, table *tables.Table) error {
	var err error
	p.stored, err = p.openRun(p.folder, p.given, p.Resolved(), results.Manifest{Seed: uint64(p.Run.Seed), ConfigSHA256: p.Digest(), Network: p.Table.Network})
	if err != nil {
		return err
	}
	folder, err := learn.OpenFolder(p.stored, table, p.Digest())
	if err != nil {
		return err
	}
	p.record.open(p.stored)
	p.book = &notebook{Folder: folder, log: p.log, now: time.Now, last: time.Now(), total: p.Learn.Episodes}
	if p.resume {
		if _, err := folder.Restore(l); err != nil {
			return err
		}
		p.log.Info("going on from the last checkpoint", zap.Int("episodes", l.Episodes()))
	}
	if p.Run.Tensorboard {
		if p.book.curves, err = openCurves(p.stored, int64(l.Episodes())+min(1, int64(l.Episodes())), p.Resolved()); err != nil {
			return err
		}
	}
	p.book.from = l.Episodes()
	p.book.begun = p.book.last
	return nil
}

// keep writes the policy that was learned.
func (p *pupil) keep(l *learn.Learner) error {
	set, err := l.Weights()
	if err != nil {
		return err
	}
	return weights.Write(files.OS{}, p.stored.Path(policyFile), set)
}

// notebook writes into the run folder, and tells the log.
type notebook struct {
	*learn.Folder
	log   *zap.Logger
	now   func() time.Time
	last  time.Time // when it was last told
	begun time.Time
	from  int // episodes when this process began
	total int
	rows  []learn.Row
	// curves are nil where TensorBoard is not wanted.
	curves *curves
}

// Row adds figures, and tells of them when it has not been told for a while, and in
// the end.
func (n *notebook) Row(r learn.Row) error {
	n.rows = append(n.rows, r)
	if now := n.now(); now.Sub(n.last) >= seldom || r.Episodes >= n.total {
		n.last = now
		n.log.Info("learning", zap.Int("episodes", r.Episodes), zap.Int("of", n.total), zap.Int("per_second", int(n.speed(r.Episodes))),
			zap.Float64("objective", rounded(r.Objective)), zap.Float64("accuracy", rounded(r.Accuracy)), zap.Float64("expected_accuracy", rounded(r.Expected)),
			zap.Float64("temperature", rounded(r.Temperature)), zap.Float64("learning_rate", r.Rate))
	}
	return errors.Join(n.Folder.Row(r), n.curves.study(r, tables.Sequence(n.Table.Records[r.Greedy].Sequence)))
}

// speed is how many episodes a second this process has learned from.
func (n *notebook) speed(episodes int) float64 {
	return float64(episodes-n.from) / max(n.now().Sub(n.begun).Seconds(), 1e-9)
}

// learnReport is what `graft learn --json` prints.
type learnReport struct {
	Folder  string              `json:"folder"`              // of the run
	Policy  string              `json:"policy"`              // its file
	Outcome *learn.StudyOutcome `json:"outcome"`             // what was learned
	Speed   float64             `json:"episodes_per_second"` // of this process
	Rows    []learnRow          `json:"rows"`                // of this process; the folder has all
}

// learnRow is a row of figures.
type learnRow struct {
	Episodes    int     `json:"episodes"`          // in all, after these
	Objective   float64 `json:"objective"`         // the mean of the episodes since the row before
	Accuracy    float64 `json:"accuracy"`          // the mean of the episodes since the row before
	Expected    float64 `json:"expected_accuracy"` // that the policy expects after them
	Greedy      string  `json:"greedy"`            // the sequence that the likeliest actions lead to
	Temperature float64 `json:"temperature"`       // of the next episode
	Rate        float64 `json:"learning_rate"`     // of the next step
}

func (p *pupil) print(w io.Writer, o *learn.StudyOutcome) error {
	table, _ := p.Lessons()
	if p.json {
		report := learnReport{Folder: p.folder, Policy: p.stored.Path(policyFile), Outcome: o, Speed: p.book.speed(o.Episodes), Rows: []learnRow{}}
		for _, r := range p.book.rows {
			report.Rows = append(report.Rows, learnRow{r.Episodes, r.Objective, r.Accuracy, r.Expected, tables.Sequence(table.Records[r.Greedy].Sequence), r.Temperature, r.Rate})
		}
		return printJSON(w, report)
	}
	_, err := fmt.Fprintf(w, "%d episodes from table %s, %.0f a second\nthe policy's likeliest sequence is %s: %.2f%%, rank %d of %d\n"+
		"the table's best is %s: %.2f%%\nwhat the policy draws has %.2f%% on average\nresults in %s, the policy in %s\n",
		o.Episodes, table.Name, p.book.speed(o.Episodes), tables.Sequence(o.Greedy), 100*o.Accuracy, o.Rank, o.Records,
		tables.Sequence(o.Best), 100*o.Most, 100*o.Expected, p.folder, p.stored.Path(policyFile))
	return err
}
