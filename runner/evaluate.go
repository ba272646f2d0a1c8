package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"graft/config"
	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/original"
	"graft/original/bilstm"
	"graft/original/published"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
)

// evaluateOptions are the flags of `graft evaluate`.
type evaluateOptions struct {
	policies    []string     // files or folders; at least one, but for leaving out
	tables      []string     // folders; at least one
	vocab       string       // a folder or a file; required for policies of the original's
	compat      bool         // print the original's report
	asPublished bool         // evaluate as the original's last code did
	prefix      string       // when token 0 is read before the layers
	json        bool         // print one object
	csv         bool         // print a row for each table and chooser
	out         string       // the run folder; empty keeps nothing
	force       bool         // move a folder aside that is there
	leave       leaveOptions // of tables; zero leaves none out
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
are left out, policies learn from the others and are judged by what was left out.

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
			o.leave.given = command.Flags().Changed
			return runEvaluate(command.Context(), command.OutOrStdout(), o)
		},
	}
	o.addFlags(command)
	return command
}

func (o *evaluateOptions) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVar(&o.policies, "policy", nil, "a policy's file, or the folder of a run; several are compared")
	flags.StringArrayVar(&o.tables, "table", nil, "the folder of a table, or of a policy of the original's that learned from one beside it; may be given several times")
	flags.StringVar(&o.vocab, "vocab", "", "the folder or file of the vocabulary that policies of the original's learned with")
	flags.BoolVar(&o.compat, "compat", false, "print the original's report")
	flags.BoolVar(&o.asPublished, "as-published", false, "with --compat: evaluate what the original's last code evaluated, mistakes included")
	flags.StringVar(&o.prefix, "prefix", "", `whether a policy of the original's reads token 0 before the layers: "always", "never", or empty for as it learned, with --compat as it was reported on`)
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	flags.BoolVar(&o.csv, "csv", false, "print a row for each table and chooser")
	flags.StringVar(&o.out, "out", "", "keep what came out in this run folder, which must not be there yet")
	flags.BoolVar(&o.force, "force", false, "with --out: move an existing folder aside")
	o.leave.addFlags(flags)
	command.MarkFlagsMutuallyExclusive("json", "compat", "csv")
	command.MarkFlagsMutuallyExclusive("prefix", "as-published")
	command.MarkFlagsMutuallyExclusive("leave-out", "compat")
	command.MarkFlagsMutuallyExclusive("out", "compat")
	command.MarkFlagsMutuallyExclusive("leave-out", "policy")
	command.MarkFlagsMutuallyExclusive("leave-out", "vocab")
	command.MarkFlagsMutuallyExclusive("leave-out", "prefix")
}

func (o evaluateOptions) validate() error {
	switch {
	case o.leave.by == "" && (len(o.policies) == 0 || slices.Contains(o.policies, "")):
		return usageErrorf("--policy says what is evaluated: a policy's file or the folder of its run")
	case o.leave.learn == "" && len(o.tables) == 0 || slices.Contains(o.tables, ""):
		return usageErrorf("--table says against what: the folder of a table")
	case o.compat && (len(o.policies) > 1 || len(o.tables) > 1):
		return usageErrorf("--compat is the original's report, about one policy and one table")
	case o.asPublished && !o.compat:
		return usageErrorf("--as-published is for the original's report; add --compat")
	case o.force && o.out == "":
		return usageErrorf("--force is for the folder of --out; add that, or leave --force away")
	}
	if twice := repeated(o.policies); twice != "" {
		return usageErrorf("--policy: %s is named twice", twice)
	}
	if twice := repeated(o.tables); twice != "" {
		return usageErrorf("--table: %s is named twice", twice)
	}
	return withCode(exitUsage, errors.Join(o.reading().Validate(), o.leave.validate()))
}

func (o evaluateOptions) needsVocab(policy string) error {
	return usageErrorf("--vocab says how %s reads a network: the folder of the vocabulary that it learned with", policy)
}

// repeated is a path that is there twice; empty where none is.
func repeated(paths []string) string {
	for k, p := range paths {
		if slices.ContainsFunc(paths[:k], func(other string) bool { return samePath(other, p) }) {
			return p
		}
	}
	return ""
}

// reading is how a policy of the original's reads and decides.
func (o evaluateOptions) reading() bilstm.Options {
	if o.asPublished {
		return bilstm.Options{Prefix: bilstm.Never}
	}
	return bilstm.Options{Prefix: bilstm.Prefix(o.prefix)}
}

func runEvaluate(ctx context.Context, w io.Writer, o evaluateOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	switch {
	case o.compat:
		return o.printOriginal(ctx, w)
	case o.leave.by != "":
		return runLeaveOut(ctx, w, o)
	}
	m, err := o.meet(ctx)
	if err != nil {
		return err
	}
	book, err := o.keep(func() (evaluationGiven, error) { return o.given(m) })
	if err != nil {
		return err
	}
	defer book.close()
	r, comparison, err := m.compare(o)
	if err != nil {
		return err
	}
	if err := book.finish(newEvaluationOutcome(r, nil)); err != nil {
		return err
	}
	switch {
	case o.json:
		return printJSON(w, r)
	case o.csv:
		return printVerdicts(w, comparison)
	}
	return r.print(w)
}

// meeting is policies, and the tables that they are held against.
type meeting struct {
	contenders []*contender
	trees      []*simulation.Tree
}

// meet reads what is to be compared.
func (o evaluateOptions) meet(ctx context.Context) (*meeting, error) {
	contenders, err := o.readPolicies(ctx)
	if err != nil {
		return nil, err
	}
	trees, err := readTrees(o.tables)
	if err != nil {
		return nil, err
	}
	tellApart(trees, o.tables)
	return &meeting{contenders, trees}, nil
}

// compare lets the policies choose, beside those who need no learning.
func (m *meeting) compare(o evaluateOptions) (*evaluationReport, *evaluation.Comparison, error) {
	entrants, err := withRivals(m.contenders, m.trees)
	if err != nil {
		return nil, nil, err
	}
	comparison, err := evaluation.Compare(m.trees, entrants, m.contenders[0].entrants[0].Name)
	if err != nil {
		return nil, nil, err
	}
	r, err := reportEvaluation(o, m.contenders, m.trees, comparison)
	return r, comparison, err
}

// readTrees reads the folders of tables.
func readTrees(folders []string) ([]*simulation.Tree, error) {
	var trees []*simulation.Tree
	for _, folder := range folders {
		t, err := config.ReadTree(files.OS{}, folder)
		if err != nil {
			return nil, unreadableTable(folder, err)
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// tellApart lets paths stand in place of names that are alike.
func tellApart(trees []*simulation.Tree, folders []string) {
	names := map[string]int{}
	for _, t := range trees {
		names[t.Name]++
	}
	for k, t := range trees {
		if names[t.Name] > 1 {
			t.Name = folders[k]
		}
	}
}

// unreadableTable says how to find all that is wrong with a table's folder.
func unreadableTable(folder string, err error) error {
	var faults tables.Faults
	if errors.As(err, &faults) {
		return withCode(exitDamaged, fmt.Errorf("%w\n'graft table check %s' says how much of it can be used", err, folder))
	}
	if errors.Is(err, tables.ErrNoTable) {
		return withCode(exitDamaged, err)
	}
	return unreadable(err)
}

// printOriginal evaluates one policy as the original did.
func (o evaluateOptions) printOriginal(ctx context.Context, w io.Writer) error {
	policy, folder := o.policies[0], o.tables[0]
	if kind, err := kindOfPolicy(policy); err == nil && kind == structuralKind {
		return usageErrorf("--compat is the original's report, and %s is a structural policy; leave --compat and --vocab away", policy)
	}
	if o.vocab == "" {
		return o.needsVocab(policy)
	}
	p, run, err := o.readOriginal(policy)
	if err != nil {
		return unreadable(err)
	}
	table, n, err := published.ReadTable(files.OS{}, folder)
	if err != nil {
		return unreadable(err)
	}
	if o.prefix == "" && !reportedWithToken(p, run, n) {
		p.Prefix = bilstm.Never
	}
	surgery := net2net.Options{Compat: net2net.Original}
	e, err := evaluation.Follow(ctx, table, n, original.StepPolicy{Policy: p}, evaluation.FollowOptions{Surgery: surgery})
	if err != nil {
		return err
	}
	return original.WriteReport(e, w, n, policy, folder)
}

// reportedWithToken says whether the original put token 0 before the layers when it
// reported on a policy. Reports were made at two times. At the first, policies with 13
// vectors that had gone on from others were held against the tables of the first
// network, as they had learned: with token 0 where 13 vectors say so. All others were
// reported on when nothing was put before the layers any more.
func reportedWithToken(p *bilstm.Policy, run *published.Run, n *model.Network) bool {
	return p.Prefixed() && run != nil && run.Source != "" && p.Early(n)
}

// readOriginal reads the policy that was named, or the one that the original would have
// taken for it, and the run of the one that was named.
func (o evaluateOptions) readOriginal(policy string) (*bilstm.Policy, *published.Run, error) {
	p, run, err := published.ReadPolicy(files.OS{}, policy, o.vocab, o.reading())
	if err != nil || !o.asPublished {
		return p, run, err
	}
	if run == nil {
		return nil, nil, usageErrorf("--as-published needs the folder of the policy, where %s says with which policy its learning began", published.ConfigFile)
	}
	if run.Source == "" {
		return p, run, nil
	}
	p, err = published.ReadFirstPolicy(files.OS{}, policy, run, o.vocab, o.reading())
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
