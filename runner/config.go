package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/files"
	"graft/simulation/grid"
)

// newConfigCommand is `graft config`. It needs no LibTorch.
func newConfigCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "config",
		Short: "Check the files of jobs, show what they say, and translate old ones",
		Long: `config works on the files that say what a job is, what a scenario, or how a policy
learns: TOML, with a section for each part. A section or key that is missing has its default; one
that is not known is a fault, as is everything that would not work. A file with the
section simulate is one of a scenario, one with the section pipeline leads from
scenarios to a policy, one with the section cluster simulates a cluster, one with the section tables one of structural
policies that learn, one with the section table or learn one of a policy that learns
by the original's loop.`,
		Example: `  graft config check job.toml
  graft config show job.toml --set time.budget=90s`,
		Args: cobra.NoArgs, // so that a misspelt command under it is an error
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newConfigCheckCommand(), newConfigShowCommand(), newConfigSchemaCommand(), newConfigConvertCommand())
	return command
}

// readJob reads a job's file; where what it says is wrong, the exit code says so.
func readJob(path string, set []string) (*config.Job, error) {
	job, err := config.ReadJob(files.OS{}, path, set)
	return job, faultyConfig(err)
}

// faultyConfig gives faults of a file their exit code.
func faultyConfig(err error) error {
	var faults config.Faults
	if errors.As(err, &faults) {
		return withCode(exitConfig, err)
	}
	return err
}

// setFlag adds the flag that changes keys of a job.
func setFlag(command *cobra.Command, set *[]string) {
	command.Flags().StringArrayVar(set, "set", nil, "set a key, such as time.budget=30s, after the file; may be given several times")
}

func newConfigCheckCommand() *cobra.Command {
	var set []string
	command := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check the files of jobs, with all that they name",
		Long: `check reads the files of jobs and all network files, profiles and timelines that
they name, does their actions on the network without weights, and prints a line
for each file that is right. All faults of the others are listed with their lines.
Whether weights, data and devices are there is seen when a job begins. Of a scenario
the tree of sequences is counted, and of a policy that learns the tables, the
vocabulary and the first policy are read as well.`,
		Example: `  graft config check job.toml
  graft config check *.toml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runConfigCheck(command.OutOrStdout(), args, set)
		},
	}
	setFlag(command, &set)
	return command
}

func runConfigCheck(w io.Writer, paths, set []string) error {
	var wrong []error
	code := exitFailed
	for _, path := range paths {
		text, err := describeFile(path, set)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: right: %s\n", path, text)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
		var coded *exitError
		if errors.As(err, &coded) {
			code = coded.code
		}
	}
	return withCode(code, errors.Join(wrong...))
}

// described is what a file says, of whichever kind it is.
type described interface {
	Values() []config.Value
	Resolved() string
	Described() string
	Digest() string
}

// readAny reads a file of whichever kind.
func readAny(path string, set []string) (described, error) {
	switch {
	case path == "":
	case config.IsPipeline(files.OS{}, path):
		p, err := config.ReadPipeline(files.OS{}, path, set)
		return p, faultyConfig(err)
	case config.IsCluster(files.OS{}, path):
		c, err := config.ReadCluster(files.OS{}, path, set)
		return c, faultyConfig(err)
	case config.IsSimulation(files.OS{}, path):
		m, err := config.ReadSimulation(files.OS{}, path, set)
		return m, faultyConfig(err)
	case config.IsTreeLearning(files.OS{}, path):
		l, err := config.ReadTreeLearning(files.OS{}, path, set)
		return l, faultyConfig(err)
	case config.IsLearning(files.OS{}, path):
		l, err := config.ReadLearning(files.OS{}, path, set)
		return l, faultyConfig(err)
	}
	return readJob(path, set)
}

// describeFile is what a file says in a line.
func describeFile(path string, set []string) (string, error) {
	read, err := readAny(path, set)
	if err != nil {
		return "", err
	}
	switch read := read.(type) {
	case *config.Learning:
		return describeLearning(read), nil
	case *config.TreeLearning:
		return describeTreeLearning(read), nil
	case *config.Simulation:
		return describeSimulation(path, read)
	case *config.Pipeline:
		return describePipeline(path, read)
	case *config.Cluster:
		return describeCluster(read), nil
	}
	return describeJob(read.(*config.Job)), nil
}

// describeSimulation is a scenario in a line.
func describeSimulation(path string, m *config.Simulation) (string, error) {
	sequences, legs, err := m.Size()
	if err != nil {
		return "", withCode(exitConfig, fmt.Errorf("%s: %w", path, err))
	}
	network := cmp.Or(m.Network.Name, m.Network.File)
	design := ""
	if m.Simulate.Design != grid.All {
		design = fmt.Sprintf(" of the design %s", m.Simulate.Design)
	}
	return fmt.Sprintf("scenario %s, %s on %s, %v of a %s clock: %s in %s%s, %s each, %s; digest %.12s", m.Simulate.Name, network, m.Data.Kind, m.Time.Budget, m.Time.Clock,
		counted(sequences, "sequence"), counted(legs, "leg"), design, counted(m.Decisions(), "decision"), counted(m.Simulate.Seeds, "seed"), m.Digest()), nil
}

// describePipeline is a pipeline in a line.
func describePipeline(path string, p *config.Pipeline) (string, error) {
	sequences := 0
	for k, m := range p.Scenarios() {
		n, _, err := m.Size()
		if err != nil {
			return "", withCode(exitConfig, fmt.Errorf("%s: %s: %w", path, p.Pipeline.Scenarios[k], err))
		}
		sequences += n
	}
	text := fmt.Sprintf("%s of %s are simulated, structural policies of %s learn from them, for %s scenarios, %d steps at most", counted(sequences, "sequence"),
		counted(len(p.Scenarios()), "scenario"), counted(p.Run.Seeds, "seed"), p.Learn.For, p.Learn.Steps)
	if p.Evaluate.LeaveOut != config.LeaveNone {
		text += fmt.Sprintf(", and are judged with each %s left out", p.Evaluate.LeaveOut)
	}
	return fmt.Sprintf("%s; digest %.12s", text, p.Digest()), nil
}

// describeCluster is simulations of a cluster in a line.
func describeCluster(c *config.Cluster) string {
	return fmt.Sprintf("the jobs of %s under %s, placement %s, quirks of %s, loads %v; digest %.12s",
		c.Cluster.Trace, strings.Join(c.Schedule.Schedulers, ", "), c.Cluster.Placement, c.Cluster.Compat, c.Schedule.Loads, c.Digest())
}

// describeTreeLearning is structural policies that learn in a line.
func describeTreeLearning(l *config.TreeLearning) string {
	trees, held := l.Trees()
	sequences := 0
	for _, t := range trees {
		sequences += len(t.Records)
	}
	text := fmt.Sprintf("structural policies of %s learn from %d sequences of %s", counted(l.Run.Seeds, "seed"), sequences, counted(len(trees), "table"))
	if len(held) > 0 {
		text += fmt.Sprintf(" and stop by %s", counted(len(held), "other"))
	}
	return fmt.Sprintf("%s, for %s scenarios, %d steps at most; digest %.12s", text, l.Learn.For, l.Learn.Steps, l.Digest())
}

// describeLearning is a policy that learns in a line.
func describeLearning(l *config.Learning) string {
	table, tree := l.Lessons()
	return fmt.Sprintf("a policy learns from %d sequences of %s, %d states of %s, rule %s, %d episodes; digest %.12s",
		len(table.Records), table.Name, len(tree.States), l.Table.Network, l.Learn.Rule, l.Learn.Episodes, l.Digest())
}

// describeJob is a job in a line.
func describeJob(job *config.Job) string {
	network := cmp.Or(job.Network.Name, job.Network.File)
	return fmt.Sprintf("%s on %s, %v of a %s clock, %d events, decider %s; digest %.12s",
		network, job.Data.Kind, job.Time.Budget, job.Time.Clock, len(job.Options().Timeline.Events), job.Adapt.Decider, job.Digest())
}

// configValue is a key of `graft config show --json`.
type configValue struct {
	Key         string `json:"key"`                   // with its sections, such as time.budget
	Value       any    `json:"value"`                 // of whichever type the key has
	From        string `json:"from"`                  // default, FILE:LINE or --set
	Description string `json:"description,omitempty"` // with --describe
}

// configReport is what `graft config show --json` prints.
type configReport struct {
	File   string        `json:"file"`   // its path; empty for the defaults alone
	Digest string        `json:"digest"` // of what results depend on
	Values []configValue `json:"values"` // all keys, in the order of a file
}

func newConfigShowCommand() *cobra.Command {
	var set []string
	var o showOptions
	command := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print all keys of a job, with their values and where these come from",
		Long: `show prints a line for each key of a job: its value, defaults filled in, and
whether that is a default, from a line of the file or from --set. Without a file it
shows the defaults. --toml prints a file that says all of it, and --describe such a
file with what each key means above it.`,
		Example: `  graft config show job.toml --set time.budget=90s
  graft config show --describe >job.toml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			job, err := readAny(path, set)
			if err != nil {
				return err
			}
			return showConfig(command.OutOrStdout(), path, job, o)
		},
	}
	setFlag(command, &set)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.Flags().BoolVar(&o.toml, "toml", false, "print the file of a job")
	command.Flags().BoolVar(&o.describe, "describe", false, "say what each key means, as a comment in the file or in the JSON object")
	command.MarkFlagsMutuallyExclusive("json", "toml")
	return command
}

// showOptions are the flags of `graft config show`.
type showOptions struct {
	json     bool // print one object
	toml     bool // print a file
	describe bool // print a file with comments, or an object with descriptions
}

func showConfig(w io.Writer, path string, job described, o showOptions) error {
	switch {
	case o.describe && !o.json:
		_, err := io.WriteString(w, job.Described())
		return err
	case o.toml:
		_, err := io.WriteString(w, job.Resolved())
		return err
	}
	report := configReport{File: path, Digest: job.Digest()}
	t := newTable("KEY", "VALUE", "FROM")
	for _, v := range job.Values() {
		value := configValue{Key: v.Key, Value: v.Plain, From: v.Source.String()}
		if o.describe {
			value.Description = v.About
		}
		report.Values = append(report.Values, value)
		t.add(v.Key, v.Text, v.Source.String())
	}
	if o.json {
		return printJSON(w, report)
	}
	return t.print(w)
}

func newConfigSchemaCommand() *cobra.Command {
	markdown, scenario, pipeline, cluster, learning, trees := false, false, false, false, false, false
	command := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a job's file, or a page about the keys of all files",
		Long: `schema prints the JSON Schema (draft 2020-12) of the files of jobs, from which
editors complete, explain and check keys, or that of the files of scenarios,
pipelines, simulations of a cluster or policies that learn. 'graft config check' knows more. --markdown prints all of them as
a page for people: a table for each section.`,
		Example: `  graft config schema >job.schema.json
  graft config schema --tree-learning >policy.schema.json
  graft config schema --markdown >keys.md`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			text, err := config.Reference(), error(nil)
			switch {
			case scenario:
				text, err = config.SimulationSchema()
			case pipeline:
				text, err = config.PipelineSchema()
			case cluster:
				text, err = config.ClusterSchema()
			case learning:
				text, err = config.LearningSchema()
			case trees:
				text, err = config.TreeLearningSchema()
			case !markdown:
				text, err = config.JobSchema()
			}
			if err != nil {
				return err
			}
			_, err = io.WriteString(command.OutOrStdout(), text)
			return err
		},
	}
	command.Flags().BoolVar(&scenario, "simulation", false, "of the files of scenarios, with the section simulate, in place of jobs")
	command.Flags().BoolVar(&pipeline, "pipeline", false, "of the files of pipelines, with the section pipeline, in place of jobs")
	command.Flags().BoolVar(&cluster, "cluster", false, "of the files of simulations of a cluster, with the section cluster, in place of jobs")
	command.Flags().BoolVar(&trees, "tree-learning", false, "of the files of structural policies that learn, with the section tables, in place of jobs")
	command.Flags().BoolVar(&learning, "learning", false, "of the files of policies of the original's that learn, with the section table, in place of jobs")
	command.Flags().BoolVar(&markdown, "markdown", false, "print a page in Markdown, of all kinds of files")
	command.MarkFlagsMutuallyExclusive("simulation", "pipeline", "cluster", "learning", "tree-learning", "markdown")
	return command
}

func newConfigConvertCommand() *cobra.Command {
	var out string
	command := &cobra.Command{
		Use:   "convert ORIGINAL",
		Short: "Translate a configuration file of the original system into a job's",
		Long: `convert makes the file of a job that trains as the original system did: its
defaults are written out, each key says which one it was, and what a job does
otherwise, does not do, or what never had an effect, is a comment and a warning.
Paths stay as they are. Of a file about a policy that learns it makes one for
'graft learn'.`,
		Example: `  graft config convert original/early.toml -o early.toml
  graft config check early.toml`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runConfigConvert(command.OutOrStdout(), loggerFrom(command.Context()), args[0], out)
		},
	}
	command.Flags().StringVarP(&out, "output", "o", "", "write the file here; empty prints it")
	return command
}

func runConfigConvert(w io.Writer, log *zap.Logger, path, out string) error {
	t, err := config.ConvertLegacy(files.OS{}, path)
	if err != nil {
		return faultyConfig(err)
	}
	for _, warning := range t.Warnings {
		log.Warn(warning)
	}
	if out == "" {
		_, err := io.WriteString(w, t.Text)
		return err
	}
	err = files.WriteAtomic(files.OS{}, out, func(w io.Writer) error {
		_, err := io.WriteString(w, t.Text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	_, err = fmt.Fprintf(w, "wrote %s: %d warnings, which stand in it\n", out, len(t.Warnings))
	return err
}
