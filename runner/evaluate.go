package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graft/internal/failure"
	"graft/internal/validate"
	"graft/report"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/evaluate"
	"graft/simulation/evaluation"
)

// evaluateOptions are the flags of `graft evaluate`.
type evaluateOptions struct {
	evaluate.Options                        // options for the evaluation; the zero value is incomplete
	seeds            int                    // policies per held-out group
	compat           bool                   // print the original's report
	asPublished      bool                   // evaluate as the original's last code did
	json             bool                   // print one object
	csv              bool                   // print a row per table and chooser
	set              []string               // assignments after the file of schedulers
	given            func(flag string) bool // whether a flag was given
}

// evaluateHelp is the help text of graft evaluate.
const evaluateHelp = `evaluate replays policies on tables, which hold the accuracy of every action sequence of a
scenario. At each decision, evaluate takes the policy's most likely action, given the current
network and the time left. For each policy, evaluate prints the accuracy of the resulting
sequence. It also prints the sequence's regret: the number of percentage points by which its
accuracy is below the accuracy of the best sequence. The same values are printed for baselines
that need no training: never adapting, random actions, always the same action, one-step lookahead,
the best fixed sequence over all these tables, and the optimum. The noise of a table is the
standard deviation of the random variation in a sequence's accuracy. The column TIES contains the
range of ranks of all sequences whose accuracy is within this noise of the printed accuracy. The
noise floor is the expected regret of an oracle that knows the true mean accuracy of every
sequence.

--policy names the file of a structural policy (.safetensors), a run folder of 'graft learn' that
contains policy.safetensors, or a policy of the original system: a folder with
agent.finalmodel.pth and config.toml, or only the weight file. Policies of the original system
need --vocab, a folder with NAME.ids.pkl and NAME.embeddings.pkl or the output of 'graft vocab
build'. --table names a table folder of graft, or a folder of the original system, which contains
data.pkl and config.toml.

--leave-out runs a cross-validation instead of evaluating a --policy. It leaves out, in turn, the
tables of each scenario, network, dataset or budget. Policies are trained on the other tables and
evaluated on the tables left out. With --leave-out held-out, policies are evaluated on the
held-out tables of the --learn file.

FILE is a configuration file of 'graft learn' with a section [workloads]. With FILE, evaluate
compares schedulers of elastic jobs on the file's test workloads, which are never used for
training. The schedulers of the section [schedule] are compared with learned schedulers; each
--policy names the run folder or the file of a learned scheduler. Without --policy, the learned
schedulers come from the run folder of FILE. Differences are relative to the baseline that
--against names.

--out also writes a run folder with the inputs, the result of each seed on each table, and the
printed report. 'graft report' and 'graft plot' read this run folder.

--compat prints, for one policy, the report that the original system prints. If the published
evaluation of this policy put token 0 in front of the layers' tokens in the policy's input,
--compat does the same. --as-published also reproduces two bugs of the original system's last
version. First, if the training of a policy had started from another policy's weights, the
original system evaluated that other policy by mistake. Second, the original system trained its
earliest policies with token 0 in front of the layers' tokens, but evaluated these policies
without token 0.`

func newEvaluateCommand() *cobra.Command {
	var o evaluateOptions
	command := &cobra.Command{
		Use:   "evaluate [FILE] --policy P [--policy P…] --table DIR [--table DIR…]",
		Short: "Compare policies on tables of simulated sequences, or schedulers on workloads",
		Long:  evaluateHelp,
		Example: `  graft evaluate --policy runs/mine --policy policy.safetensors --table tables/early --table tables/late
  graft evaluate --leave-out scenario --seeds 5 --table tables/early --table tables/middle --table tables/late
  graft evaluate --leave-out network --learn policy.toml --out runs/unseen
  graft evaluate scheduler.toml --against optimus --out runs/compared
  graft evaluate --policy results/simulation_early_learn2 --table results/simulation_early2 --vocab vocabs
  graft evaluate --policy results/simulation_early_learn2 --table results/simulation_early2 --vocab vocabs \
      --compat --as-published`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			o.given = command.Flags().Changed
			if len(args) == 1 && app.IsFolder(environment(command.Context()).Files, args[0]) {
				return failure.Usagef("evaluate: %[1]s is a folder; name a policy and tables, as in 'graft "+
					"evaluate --policy "+
					"RUN --table TABLE', or the file of 'graft learn' with the section workloads", args[0])
			}
			if len(args) == 1 {
				return runEvaluateSchedulers(command, args[0], o)
			}
			return runEvaluate(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.addFlags(command)
	return command
}

func (o *evaluateOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&o.Policies, "policy", nil, "policy to evaluate, as a file or run folder; repeatable")
	flags.StringArrayVar(&o.Tables, "table", nil,
		"table to evaluate on: a table folder, or a folder of the original system that contains a policy and its "+
			"table; repeatable")
	flags.StringVar(&o.Vocab, "vocab", "",
		"vocabulary (folder or file) for policies of the original system")
	flags.BoolVar(&o.compat, "compat", false, "print the report that the original system prints")
	flags.BoolVar(&o.asPublished, "as-published", false,
		"reproduce the bugs of the original system's last version; requires --compat")
	flags.StringVar(&o.Prefix, "prefix", "", `token 0 at the start of the input of an original policy: "always" `+
		`or "never" (default: as the policy was trained or, with --compat, as its published evaluation did)`)
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.csv, "csv", false, "print CSV: a header, then a row for each table and policy")
	flags.StringVar(&o.Out, "out", "", "new run folder for the results")
	flags.BoolVar(&o.Force, "force", false, "move an existing --out folder aside")
	flags.StringArrayVar(&o.set, "set", nil,
		"set a configuration key of FILE, such as schedule.schedulers=[\"drf\"]; repeatable")
	o.addLeaveFlags(flags)
	command.MarkFlagsMutuallyExclusive("json", "compat", "csv")
	command.MarkFlagsMutuallyExclusive("prefix", "as-published")
	command.MarkFlagsMutuallyExclusive("leave-out", "compat")
	command.MarkFlagsMutuallyExclusive("out", "compat")
	command.MarkFlagsMutuallyExclusive("leave-out", "policy")
	command.MarkFlagsMutuallyExclusive("leave-out", "vocab")
	command.MarkFlagsMutuallyExclusive("leave-out", "prefix")
}

func (o *evaluateOptions) addLeaveFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Leave.By, "leave-out", "", `run a cross-validation, which leaves out tables in turn: `+
		`"scenario" leaves out one table at a time; "network", "dataset" or "budget" leaves out all tables with `+
		`the same network, dataset or budget; "held-out" leaves out the held-out tables of the --learn file`)
	flags.StringVar(&o.Leave.File, "learn", "",
		"configuration file of 'graft learn' with the tables, options and number of seeds for --leave-out")
	flags.StringArrayVar(&o.Leave.Try, "try", nil, "setting to try as an alternative to the --learn file, "+
		"such as learn.leaf=5; repeatable. Cross-validation on the training tables selects the best setting")
	flags.StringVar(&o.Leave.For, "for", "new",
		`scenarios in which the policies will be used: "new" (not among the training tables) or "known" (among the `+
			`training tables); this choice sets the default learning options of --leave-out`)
	flags.IntVar(&o.seeds, "seeds", 10,
		"number of policies that --leave-out trains for each group of tables left out; their seeds are consecutive, "+
			"starting at 1 or at run.seed of the --learn file")
	flags.StringSliceVar(&o.Leave.Against, "against", nil,
		fmt.Sprintf("baseline to compare with. With FILE, a scheduler (default: optimus); with --leave-out, "+
			"one or more of: %s (default: the first). With several, separated by commas, p-values are corrected for "+
			"their number", strings.Join(evaluation.BaselineNames, "; ")))
	flags.IntVar(&o.Leave.Steps, "steps", 0,
		"maximum number of learning steps for --leave-out (default: depends on --for)")
}

// validate returns an error that lists every invalid option or combination of flags.
func (o evaluateOptions) validate(env *app.Env) error {
	switch {
	case o.compat && (len(o.Policies) > 1 || len(o.Tables) > 1):
		return failure.Usagef("--compat reports one policy on one table; give one --policy and one --table")
	case o.asPublished && !o.compat:
		return failure.Usagef("--as-published requires --compat; add --compat, or omit --as-published")
	case len(o.set) > 0:
		return failure.Usagef("--set requires FILE, a file that trains schedulers; name one, or omit --set")
	case o.Force && o.Out == "":
		return failure.Usagef("--force needs --out; add --out, or omit --force")
	}
	if err := failure.With(failure.Usage, o.validateLeave()); o.Leave.By == "" && err != nil {
		return err
	}
	return failure.With(failure.Usage, errors.Join(o.Options.Validate(env.Files), o.validateLeave()))
}

// validateLeave returns an error that lists every invalid flag about held-out tables.
func (o evaluateOptions) validateLeave() error {
	var faults validate.Faults
	for _, flag := range []string{"learn", "try", "for", "seeds", "steps", "against"} {
		faults.When(o.Leave.By == "" && o.given(flag), "--%s requires --leave-out; add --leave-out, or omit --%s",
			flag, flag)
	}
	for _, flag := range []string{"for", "steps", "table"} {
		faults.When(o.Leave.By != "" && o.Leave.File != "" && o.given(flag),
			"--%s and --learn are mutually exclusive, because the --learn file sets %s; omit one", flag, flag)
	}
	faults.When(o.Leave.By != "" && o.seeds < 1, "--seeds is %d; must be at least 1", o.seeds)
	return errors.Join(faults...)
}

// ofSchedulers are the flags for the comparison of schedulers.
var ofSchedulers = []string{"policy", "against", "set", "out", "force", "json"}

func runEvaluateSchedulers(command *cobra.Command, path string, o evaluateOptions) error {
	var unfit []string
	command.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(ofSchedulers, flag.Name) {
			unfit = append(unfit, "--"+flag.Name)
		}
	})
	if len(unfit) > 0 {
		return failure.Usagef(
			"%s: valid only for policies on tables, but FILE trains schedulers; omit these flags",
			strings.Join(unfit, ", "))
	}
	if o.Force && o.Out == "" {
		return failure.Usagef("--force needs --out; add --out, or omit --force")
	}
	if len(o.Leave.Against) > 1 {
		return failure.Usagef("--against names %d schedulers; name one", len(o.Leave.Against))
	}
	c, err := evaluate.Schedulers(command.Context(), environment(command.Context()),
		evaluate.SchedulerOptions{File: path, Set: o.set, Policies: o.Policies,
			Against: strings.Join(o.Leave.Against, ""), Out: o.Out, Force: o.Force})
	return show(command.OutOrStdout(), o.json, c, err,
		func(w io.Writer, c *runs.ElasticComparison) error { return report.PrintElasticComparison(c, w) })
}

func runEvaluate(ctx context.Context, w io.Writer, o evaluateOptions) error {
	env := environment(ctx)
	if err := o.validate(env); err != nil {
		return err
	}
	if o.compat {
		r, err := evaluate.Original(ctx, env, evaluate.OriginalOptions{Policy: o.Policies[0], Table: o.Tables[0],
			Vocab: o.Vocab, Prefix: o.Prefix, AsPublished: o.asPublished})
		if err != nil {
			return err
		}
		return r.Write(w)
	}
	if o.given("seeds") {
		o.Leave.Seeds = o.seeds
	}
	r, err := evaluate.Run(ctx, env, o.Options)
	switch {
	case err != nil:
		return err
	case o.csv:
		return report.PrintVerdicts(w, r.Comparison)
	case o.json && r.LeftOut != nil:
		return document.PrintJSON(w, r.LeftOut)
	case o.json:
		return document.PrintJSON(w, r.Compared)
	case r.LeftOut != nil:
		return report.PrintLeftOut(*r.LeftOut, w)
	}
	return report.PrintEvaluation(r.Compared, w)
}
