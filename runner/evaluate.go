package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"graft/results/document"
	"graft/results/failure"
	"graft/results/report"
	"graft/work"
	"graft/work/evaluate"
)

// evaluateOptions are the flags of `graft evaluate`.
type evaluateOptions struct {
	evaluate.Options                        // what is evaluated; the zero value is incomplete
	seeds            int                    // policies that learn each time, where tables are left out
	compat           bool                   // print the original's report
	asPublished      bool                   // evaluate as the original's last code did
	json             bool                   // print one object
	csv              bool                   // print a row for each table and chooser
	given            func(flag string) bool // whether a flag was given
}

func newEvaluateCommand() *cobra.Command {
	var o evaluateOptions
	command := &cobra.Command{
		Use:   "evaluate --policy P [--policy P…] --table DIR [--table DIR…]",
		Short: "Hold policies against tables of all sequences of actions",
		Long: `evaluate follows policies through tables: each time the likeliest action is taken,
on the network as the actions before have made it and with the time that the table says
was left. It says what accuracy the table has for that sequence, how many points the best
one has more, and how others fare who need no learning: never adapting, drawing at random,
each action taken every time, looking one step ahead, the one sequence that is best over
all these tables, and the best. Beside that stand the noise of the tables, the ranks that
it could exchange, and what it leaves to be regretted by whoever knew the truth.

A policy is a file of a structural policy (.safetensors), the folder of a run of 'graft
learn' that holds policy.safetensors, or a policy of the original's: a folder with
agent.finalmodel.pth and config.toml, or its file of weights. Those need --vocab, a folder
with NAME.ids.pkl and NAME.embeddings.pkl or what 'graft vocab build' wrote. A table is a
folder of graft's own, or one of the original's with data.pkl and config.toml.

With --leave-out there is no --policy: in turn each scenario, or all tables of a network,
are left out, policies learn from the others and are evaluated on those.

With --out what came out is kept as well, in a run folder: what was compared, each seed in
each table, and all that is printed. 'graft report' and 'graft plot' read it.

--compat prints the report of the original about the policy that is named, with token
0 before the layers where it was there when the policy was reported on. The original's
last code made two mistakes, which --as-published makes as well: of a policy whose
learning began with another, that other one was evaluated (it is looked for in the
folder beside); and token 0 was never put before the layers, though the policies of
the first network learned with it.`,
		Example: `  graft evaluate --policy runs/mine --policy policy.safetensors --table tables/early --table tables/late
  graft evaluate --leave-out scenario --seeds 5 --table tables/early --table tables/middle --table tables/late
  graft evaluate --leave-out network --learn policy.toml --out runs/unseen
  graft evaluate --policy results/simulation_early_learn2 --table results/simulation_early2 --vocab vocabs
  graft evaluate --policy results/simulation_early_learn2 --table results/simulation_early2 --vocab vocabs \
      --compat --as-published`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.given = command.Flags().Changed
			return runEvaluate(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.addFlags(command)
	return command
}

func (o *evaluateOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&o.Policies, "policy", nil, "a policy's file, or the folder of a run; several are compared")
	flags.StringArrayVar(&o.Tables, "table", nil, "the folder of a table, or of a policy of the original's that learned from one beside it; may be given several times")
	flags.StringVar(&o.Vocab, "vocab", "", "the folder or file of the vocabulary that policies of the original's learned with")
	flags.BoolVar(&o.compat, "compat", false, "print the original's report")
	flags.BoolVar(&o.asPublished, "as-published", false, "with --compat: evaluate what the original's last code evaluated, mistakes included")
	flags.StringVar(&o.Prefix, "prefix", "", `whether a policy of the original's reads token 0 before the layers: "always", "never", or empty for as it learned, with --compat as it was reported on`)
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.csv, "csv", false, "print a row for each table and chooser")
	flags.StringVar(&o.Out, "out", "", "keep what came out in this run folder, which must not be there yet")
	flags.BoolVar(&o.Force, "force", false, "with --out: move an existing folder aside")
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
	flags.StringVar(&o.Leave.By, "leave-out", "", `leave tables out in turn, and judge by them what policies learn from the others: "scenario" one at a time, "network" all of a network's`)
	flags.StringVar(&o.Leave.File, "learn", "", "with --leave-out: the file of 'graft learn' that says from which tables policies learn, how, and with how many seeds")
	flags.StringVar(&o.Leave.For, "for", "new", `with --leave-out: how policies learn: for "new" scenarios, or for "known" ones`)
	flags.IntVar(&o.seeds, "seeds", 10, "with --leave-out: policies that learn each time, with the seeds from 1 on")
	flags.IntVar(&o.Leave.Steps, "steps", 0, "with --leave-out: steps of learning at most (default: as --for has them)")
}

// validate lists what is wrong with flags beside each other, and with the options.
func (o evaluateOptions) validate(env *work.Env) error {
	switch {
	case o.compat && (len(o.Policies) > 1 || len(o.Tables) > 1):
		return failure.Usagef("--compat is the original's report, about one policy and one table")
	case o.asPublished && !o.compat:
		return failure.Usagef("--as-published is for the original's report; add --compat")
	case o.Force && o.Out == "":
		return failure.Usagef("--force is for the folder of --out; add that, or leave --force away")
	}
	if err := failure.With(failure.Usage, o.validateLeave()); o.Leave.By == "" && err != nil {
		return err
	}
	return failure.With(failure.Usage, errors.Join(o.Options.Validate(env.Files), o.validateLeave()))
}

// validateLeave lists what is wrong with the flags about leaving tables out.
func (o evaluateOptions) validateLeave() error {
	var faults []error
	for _, flag := range []string{"learn", "for", "seeds", "steps"} {
		if o.Leave.By == "" && o.given(flag) {
			faults = append(faults, fmt.Errorf("--%s is for --leave-out; add that, or leave --%s away", flag, flag))
		}
	}
	for _, flag := range []string{"for", "steps", "table"} {
		if o.Leave.By != "" && o.Leave.File != "" && o.given(flag) {
			faults = append(faults, fmt.Errorf("--%s is what the file of --learn says; leave one of them away", flag))
		}
	}
	if o.Leave.By != "" && o.seeds < 1 {
		faults = append(faults, fmt.Errorf("--seeds is %d; at least one policy learns", o.seeds))
	}
	return errors.Join(faults...)
}

func runEvaluate(ctx context.Context, w io.Writer, o evaluateOptions) error {
	env := environment(ctx)
	if err := o.validate(env); err != nil {
		return err
	}
	if o.compat {
		r, err := evaluate.Original(ctx, env, evaluate.OriginalOptions{Policy: o.Policies[0], Table: o.Tables[0], Vocab: o.Vocab, Prefix: o.Prefix, AsPublished: o.asPublished})
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
