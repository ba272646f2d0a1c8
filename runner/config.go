package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/files"
	"graft/original/convert"
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
		text, err := configSummary(path, set)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s: ok: %s\n", path, text)
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

// readAny reads a file of whichever kind.
func readAny(path string, set []string) (config.File, *config.Kind, error) {
	f, kind, err := config.Read(files.OS{}, path, set)
	return f, kind, faultyConfig(err)
}

// configSummary describes a file in a line.
func configSummary(path string, set []string) (string, error) {
	f, kind, err := readAny(path, set)
	if err != nil {
		return "", err
	}
	text, err := kind.Summary(f)
	if err != nil {
		return "", withCode(exitConfig, fmt.Errorf("%s: %w", path, err))
	}
	return text, nil
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
			f, _, err := readAny(path, set)
			if err != nil {
				return err
			}
			return showConfig(command.OutOrStdout(), path, f, o)
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

func showConfig(w io.Writer, path string, f config.File, o showOptions) error {
	switch {
	case o.describe && !o.json:
		_, err := io.WriteString(w, config.Described(f))
		return err
	case o.toml:
		_, err := io.WriteString(w, config.Resolved(f))
		return err
	}
	report := configReport{File: path, Digest: config.Digest(f)}
	t := newTable("KEY", "VALUE", "FROM")
	for _, v := range config.Values(f) {
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
	markdown, wanted := false, map[string]*bool{}
	command := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a job's file, or a page about the keys of all files",
		Long: `schema prints the JSON Schema (draft 2020-12) of the files of jobs, or of those of
another kind, from which editors complete, explain and check keys. 'graft config check'
checks more. --markdown prints a page about the keys of all kinds of files: a table for
each section.`,
		Example: `  graft config schema >job.schema.json
  graft config schema --tree-learning >policy.schema.json
  graft config schema --markdown >keys.md`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			text, err := config.Reference(), error(nil)
			if !markdown {
				text, err = schemaOf(wanted)
			}
			if err != nil {
				return err
			}
			_, err = io.WriteString(command.OutOrStdout(), text)
			return err
		},
	}
	names := []string{"markdown"}
	command.Flags().BoolVar(&markdown, "markdown", false, "print a page in Markdown, of all kinds of files")
	for _, kind := range config.Kinds() {
		if kind == config.JobKind {
			continue
		}
		text := fmt.Sprintf("of %s, with the section %s, in place of jobs", kind.Files, strings.Join(kind.Sections, " or "))
		wanted[kind.Name] = command.Flags().Bool(kind.Name, false, text)
		names = append(names, kind.Name)
	}
	command.MarkFlagsMutuallyExclusive(names...)
	return command
}

// schemaOf is the schema of the kind whose flag is set, or else of jobs.
func schemaOf(wanted map[string]*bool) (string, error) {
	for _, kind := range config.Kinds() {
		if set := wanted[kind.Name]; set != nil && *set {
			return kind.Schema()
		}
	}
	return config.JobKind.Schema()
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
	t, err := convert.Convert(files.OS{}, path)
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
