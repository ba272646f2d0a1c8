package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"graft/results/document"
	"graft/results/report"
	"graft/results/runs"
	"graft/simulation/tables"
	"graft/work/learn"
)

func newLearnCommand() *cobra.Command {
	var o learn.Options
	asJSON := false
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
			return runLearn(command.Context(), command.OutOrStdout(), args[0], o, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a key, such as learn.steps=500; may be given several times")
	flags.StringVar(&o.Folder, "folder", "", "the run folder; empty is run.folder, or runs/ and the file's name")
	flags.BoolVar(&o.Resume, "resume", false, "go on with the run in the folder")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	boardFlag(command, &o.Tensorboard)
	command.MarkFlagsMutuallyExclusive("resume", "force")
	return command
}

func runLearn(ctx context.Context, w io.Writer, path string, o learn.Options, asJSON bool) error {
	ctx, stop := heedRequeue(ctx)
	defer stop()
	r, err := learn.Run(ctx, environment(ctx), path, o)
	switch {
	case err != nil:
		return err
	case r.Policies != nil:
		return show(w, asJSON, r.Policies, nil, printPolicies)
	}
	return show(w, asJSON, r.Study, nil, printStudy)
}

func printStudy(w io.Writer, r *learn.StudyResult) error {
	o := r.Outcome
	_, err := fmt.Fprintf(w, "%d episodes from table %s, %.0f a second\nthe policy's likeliest sequence is %s: %.2f%%, rank %d of %d\n"+
		"the table's best is %s: %.2f%%\nwhat the policy draws has %.2f%% on average\nresults in %s, the policy in %s\n",
		o.Episodes, r.Table, r.Speed, tables.Sequence(o.Greedy), 100*o.Accuracy, o.Rank, o.Records,
		tables.Sequence(o.Best), 100*o.Most, 100*o.Expected, r.Folder, r.Policy)
	return err
}

func printPolicies(w io.Writer, r *learn.PoliciesResult) error {
	p := &document.Printer{W: w}
	p.Table(report.VerdictTable(r.Outcome))
	p.Line("")
	p.Table(report.SeedTable(r.Outcome))
	p.Line("\n%s%s in %s\nresults in %s, the vote of all in %s, each policy in %s",
		report.SummaryText(r.Outcome), document.Plural(r.Outcome.Steps, "step"), document.SecondsText(r.Took()), r.Folder, r.Policy, filepath.Join(r.Folder, runs.SeedFolder))
	return p.Err
}
