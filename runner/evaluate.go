package main

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"graft/config"
	"graft/decider"
	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/simulation"
)

// evaluateOptions are the flags of `graft evaluate`.
type evaluateOptions struct {
	policy      string // a folder or a file of weights; required
	table       string // a folder; required
	vocab       string // a folder or a file; required
	compat      bool   // print the original's report
	asPublished bool   // evaluate as the original's last code did
	prefix      string // when token 0 is read before the layers
	json        bool   // print one object
}

func newEvaluateCommand() *cobra.Command {
	var o evaluateOptions
	command := &cobra.Command{
		Use:   "evaluate --policy DIR --table DIR --vocab DIR",
		Short: "Hold a policy against a table of all sequences of actions",
		Long: `evaluate follows a policy of the original's through one of its tables: each time
the likeliest action is taken, on the network as the actions before have made it and
with the time that the table says was left. It says what accuracy the table has for
that sequence, and how that compares with the best one, with no adaptation, with the
best action taken every time and with decisions at random.

The folder of a policy holds agent.finalmodel.pth and config.toml, that of a table
data.pkl and config.toml, that of a vocabulary NAME.ids.pkl and NAME.embeddings.pkl,
or what 'graft vocab build' wrote.

--compat prints the report of the original about the policy that is named, with token
0 before the layers where it was there when the policy was reported on. The original's
last code made two mistakes, which --as-published makes as well: of a policy whose
learning began with another, that other one was evaluated (it is looked for in the
folder beside); and token 0 was never put before the layers, though the policies of
the first network learned with it.`,
		Example: `  graft evaluate --policy results/simulation_early_learn2 --table results/simulation_early2 --vocab vocabs
  graft evaluate --policy results/simulation_early_learn2 --table results/simulation_early2 --vocab vocabs \
      --compat --as-published`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runEvaluate(command.Context(), command.OutOrStdout(), o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.policy, "policy", "", "the folder of a policy, or its file of weights")
	flags.StringVar(&o.table, "table", "", "the folder of a table, or of a policy that learned from one beside it")
	flags.StringVar(&o.vocab, "vocab", "", "the folder or file of the vocabulary that the policy learned with")
	flags.BoolVar(&o.compat, "compat", false, "print the original's report")
	flags.BoolVar(&o.asPublished, "as-published", false, "with --compat: evaluate what the original's last code evaluated, mistakes included")
	flags.StringVar(&o.prefix, "prefix", "", `whether token 0 is read before the layers: "always", "never", or empty for as the policy learned, with --compat as it was reported on`)
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("json", "compat")
	command.MarkFlagsMutuallyExclusive("prefix", "as-published")
	return command
}

func (o evaluateOptions) validate() error {
	switch {
	case o.policy == "":
		return usageErrorf("--policy says what is evaluated: the folder of a policy")
	case o.table == "":
		return usageErrorf("--table says against what: the folder of a table")
	case o.vocab == "":
		return usageErrorf("--vocab says how the policy reads a network: the folder of the vocabulary that it learned with")
	case o.asPublished && !o.compat:
		return usageErrorf("--as-published is for the original's report; add --compat")
	}
	return withCode(exitUsage, o.reading().Validate())
}

// reading is how the policy reads and decides.
func (o evaluateOptions) reading() decider.LegacyOptions {
	if o.asPublished {
		return decider.LegacyOptions{Prefix: decider.Never}
	}
	return decider.LegacyOptions{Prefix: decider.Prefix(o.prefix)}
}

func runEvaluate(ctx context.Context, w io.Writer, o evaluateOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	p, run, err := o.readPolicy()
	if err != nil {
		return unreadable(err)
	}
	table, n, err := config.ReadLegacyTable(files.OS{}, o.table)
	if err != nil {
		return unreadable(err)
	}
	if o.compat && o.prefix == "" && !reportedWithToken(p, run, n) {
		p.Prefix = decider.Never
	}
	surgery := net2net.Options{Compat: net2net.Original}
	e, err := simulation.Evaluate(ctx, table, n, simulation.OfLegacy{LegacyPolicy: p}, simulation.EvaluateOptions{Surgery: surgery})
	if err != nil {
		return err
	}
	if o.compat {
		return e.WriteLegacy(w, n, o.policy, o.table)
	}
	report := reportEvaluation(o, p, e)
	if o.json {
		return printJSON(w, report)
	}
	return report.print(w)
}

// reportedWithToken says whether the original put token 0 before the layers when it
// reported on a policy. Reports were made at two times. At the first, policies with 13
// vectors that had gone on from others were held against the tables of the first
// network, as they had learned: with token 0 where 13 vectors say so. All others were
// reported on when nothing was put before the layers any more.
func reportedWithToken(p *decider.LegacyPolicy, run *config.LegacyRun, n *model.Network) bool {
	return p.Prefixed() && run != nil && run.Source != "" && p.Early(n)
}

// readPolicy reads the policy that was named, or the one that the original would have
// taken for it, and the run of the one that was named.
func (o evaluateOptions) readPolicy() (*decider.LegacyPolicy, *config.LegacyRun, error) {
	p, run, err := config.ReadLegacyPolicy(files.OS{}, o.policy, o.vocab, o.reading())
	if err != nil || !o.asPublished {
		return p, run, err
	}
	if run == nil {
		return nil, nil, usageErrorf("--as-published needs the folder of the policy, where %s says with which policy its learning began", config.LegacyRunFile)
	}
	if run.Source == "" {
		return p, run, nil
	}
	p, err = config.ReadLegacySource(files.OS{}, o.policy, run, o.vocab, o.reading())
	return p, run, err
}

// unreadable tells files that are not there and configurations that are wrong from
// files that are damaged.
func unreadable(err error) error {
	var system *fs.PathError
	var faults config.Faults
	var coded *exitError
	switch {
	case errors.As(err, &coded), errors.As(err, &system), errors.Is(err, fs.ErrNotExist):
		return err
	case errors.As(err, &faults):
		return withCode(exitConfig, err)
	}
	return withCode(exitDamaged, err)
}
