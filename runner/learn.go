package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"graft/internal/words"
	"graft/report"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/learn"
	"graft/simulation/tables"
)

// learnHelp is the help text of graft learn.
const learnHelp = `learn trains policies or schedulers, selected by the sections of CONFIG. With [workloads], learn
trains schedulers of elastic jobs, one per seed: first by imitating a teacher, then by
reinforcement learning. 'graft evaluate CONFIG' compares the trained schedulers with other
schedulers on separate test workloads; 'graft cluster run' accepts the run folder as a scheduler.
With [cluster], learn trains schedulers that divide the GPUs of a cluster among the jobs of its
trace, for 'graft cluster run'. With [machine], learn trains schedulers that place tasks on the
GPUs of one machine, for 'graft node simulate'. With [fabric], learn trains schedulers that choose
the number of parallel parts into which each training step is divided, for 'graft fabric run'.

With [tables], learn trains structural policies, which accept any network as input. It trains one
policy per seed, each on all tables at once. Training follows the exact gradient of the objective
over all sequences, until the objective stops improving. In the run folder, the folder "policies"
contains each policy, and policy.safetensors combines all policies: it averages their action
probabilities.

With [table], learn trains a policy of the original system on one table by REINFORCE: in each
episode, the policy draws an action at each decision, and the reward is the final accuracy. With
learn.rule=exact, training follows the exact gradient of the expected reward over all sequences,
and each episode is one training step. The policy of the original system is written to
agent.finalmodel.pth. 'graft config convert' makes a CONFIG from a configuration file of the
original system.

--cases trains schedulers for each case of a TOML file, one after the other. The TOML file has a
table for each case, with the keys of CONFIG that the case changes. All cases are checked before
the first case starts. Each case has its own folder inside the run folder; a table of all cases is
printed at the end.

Metrics, checkpoints and policies are written into a run folder. An existing run folder is never
overwritten: --resume continues the run, --force moves the folder aside. On SIGTERM, SIGUSR1 or
the first SIGINT, learn saves a checkpoint and exits with code 75; the same command with --resume
continues, and the result is bit-identical.`

func newLearnCommand() *cobra.Command {
	var o learn.Options
	asJSON := false
	command := &cobra.Command{
		Use:   "learn CONFIG",
		Short: "Train policies on tables, or schedulers on workloads",
		Long:  learnHelp,
		Example: `  graft learn policy.toml
  graft learn policy.toml --set run.seeds=20 --set learn.for=new --folder runs/new
  graft learn original.toml --set learn.rule=exact --set learn.episodes=2000
  graft learn policy.toml --resume
  graft learn scheduler.toml --set run.seeds=10
  graft learn scenarios/dl2/template.toml --cases scenarios/dl2/window.toml`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runLearn(command.Context(), command.OutOrStdout(), args[0], o, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key, such as learn.steps=500; repeatable")
	flags.StringVar(&o.Folder, "folder", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a file NAME.toml)")
	flags.BoolVar(&o.Resume, "resume", false, "resume the run in the run folder; start a new run if there is none")
	flags.BoolVar(&o.Force, "force", false, "move an existing run folder aside")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	flags.StringVar(&o.Cases, "cases", "",
		"TOML file of cases to train, with one table of keys and values per case")
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
	case r.Cases != nil:
		return show(w, asJSON, r.Cases, nil, printCases)
	case r.Scheduler != nil:
		return show(w, asJSON, r.Scheduler, nil, printScheduler)
	case r.Policies != nil:
		return show(w, asJSON, r.Policies, nil, printPolicies)
	}
	return show(w, asJSON, r.Study, nil, printStudy)
}

func printScheduler(w io.Writer, r *learn.SchedulerResult) error {
	if err := report.PrintElasticLearning(r.Outcome, w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%.0f s; results in %s, scheduler of the best seed in %s\n", r.Seconds, r.Folder,
		r.Scheduler)
	return err
}

func printCases(w io.Writer, r *learn.CasesResult) error {
	if err := report.PrintElasticCases(r.Outcome, w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%.0f s; results in %s, results of each case in %s\n", r.Seconds, r.Folder,
		filepath.Join(r.Folder, runs.CasesFolder))
	return err
}

func printStudy(w io.Writer, r *learn.StudyResult) error {
	o := r.Outcome
	_, err := fmt.Fprintf(w,
		"%s from table %s, %.0f episodes a second\nthe policy's most likely sequence is %s: %.2f%%, rank %d of %d\n"+
			"the table's best is %s: %.2f%%\nmean accuracy of sequences drawn by the policy: %.2f%%\nresults in %s, "+
			"the policy in %s\n", words.Plural(o.Episodes, "episode"), r.Table, r.Speed, tables.Sequence(o.Greedy),
		100*o.Accuracy, o.Rank, o.Records, tables.Sequence(o.Best), 100*o.Most, 100*o.Expected, r.Folder, r.Policy)
	return err
}

func printPolicies(w io.Writer, r *learn.PoliciesResult) error {
	p := &document.Printer{W: w}
	p.Table(report.VerdictTable(r.Outcome))
	p.Line("")
	p.Table(report.SeedTable(r.Outcome))
	p.Line("\n%s%s in %s\nresults in %s, vote of all policies in %s, each policy in %s",
		report.SummaryText(r.Outcome), words.Plural(r.Outcome.Steps, "step"), document.SecondsText(r.Took()),
		r.Folder, r.Policy, filepath.Join(r.Folder, runs.SeedFolder))
	return p.Err
}
