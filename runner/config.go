package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/original/convert"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/pipeline"
	simulations "graft/runner/study"
	"graft/runner/train"
)

// newConfigCommand makes `graft config`. It does not need LibTorch, but check measures steps if LibTorch is there.
func newConfigCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "config",
		Short: "Check, show and convert configuration files",
		Long: `config checks, shows and converts configuration files, which are TOML files with sections. Missing
sections and keys have default values; unknown keys and invalid values are errors. The sections of
a file determine its kind. A file is a job file unless it has one of these sections:
` + kindsHelp(),
		Example: `  graft config check job.toml
  graft config show job.toml --set time.budget=90s`,
	}, newConfigCheckCommand(), newConfigShowCommand(), newConfigSchemaCommand(), newConfigConvertCommand())
}

// kindsHelp lists the kinds of files by their sections.
func kindsHelp() string {
	var b strings.Builder
	for _, kind := range config.Kinds() {
		if len(kind.Sections) > 0 {
			fmt.Fprintf(&b, "\n  %-22s  %s", strings.Join(kind.Sections, ", "), kind.Files)
		}
	}
	return b.String()
}

// setFlag adds the flag that sets keys.
func setFlag(command *cobra.Command, set *[]string) {
	command.Flags().StringArrayVar(set, "set", nil,
		"set a configuration key, such as time.budget=30s; overrides the file; repeatable")
}

func newConfigCheckCommand() *cobra.Command {
	var set []string
	withoutData := false
	command := &cobra.Command{
		Use:   "check FILE…",
		Short: "Check configuration files and the files that they refer to",
		Long: `check reads configuration files and the network files, profiles, timelines, tables, policies,
traces and cluster data that they refer to. For a job, check applies the job's actions to the
network (without weights), locates the dataset's files, and checks that the initial weights and
the dataset's shape fit the network (without reading images). For a scenario, check also counts
the action sequences. For a pipeline of trials, check applies all cases to their jobs, and counts
the trials and sums their budgets. In a trace larger than 64 MiB, check reads only the first job. check prints
one line for each valid file, and at most 20 errors, with line numbers, for each invalid file.
Devices and dataset contents are checked only when a job starts. check warns if this machine cannot
listen on run.listen or parallel.listen now.

For a job on the virtual clock, check also estimates how many epochs and steps the job runs
between device changes. It also measures a few steps on this machine, and estimates from them how
long the whole job takes on this machine. These estimates assume that only scripted decisions
change the network.`,
		Example: `  graft config check job.toml
  graft config check job.toml --without-data
  graft config check *.toml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			env := environment(command.Context())
			return checkFiles(command.OutOrStdout(), args,
				func(path string) (string, error) {
					return configSummary(command.Context(), env, path, set, withoutData)
				})
		},
	}
	setFlag(command, &set)
	command.Flags().BoolVar(&withoutData, "without-data", false,
		"accept a dataset that is missing on this machine, for jobs that run on another machine")
	return command
}

// checkFiles prints a line for each valid file, and returns the faults of invalid files.
func checkFiles(w io.Writer, paths []string, summary func(path string) (string, error)) error {
	var wrong []error
	code := failure.Failed
	for _, path := range paths {
		text, err := summary(path)
		if err == nil {
			first, more, _ := strings.Cut(text, "\n")
			_, err = fmt.Fprintf(w, "%s: ok: %s\n%s", path, first, more)
		}
		wrong = append(wrong, err)
		var coded *failure.ExitError
		if errors.As(err, &coded) {
			code = coded.Code
		}
	}
	return failure.With(code, errors.Join(wrong...))
}

// readAny reads a file of any kind.
func readAny(env *app.Env, path string, set []string) (config.File, *config.Kind, error) {
	d := config.Open(env.Files, path)
	f, err := d.Read(set)
	return f, d.Kind(), runs.AsConfigFault(err)
}

// jobsOf returns the jobs of a file: its own, or the jobs of a pipeline's scenarios and trials.
func jobsOf(f config.File) (jobs []*config.Job) {
	switch c := f.(type) {
	case *config.Pipeline:
		for _, m := range c.Scenarios() {
			jobs = append(jobs, &m.Job)
		}
		for _, e := range c.Entries() {
			jobs = append(jobs, &e.Base.Job)
		}
	case interface{ OneJob() *config.Job }:
		jobs = append(jobs, c.OneJob())
	}
	return jobs
}

// configSummary describes a file in a line, and the work of its job in further lines.
func configSummary(ctx context.Context, env *app.Env, path string, set []string, withoutData bool) (string, error) {
	f, kind, err := readAny(env, path, set)
	if err != nil {
		return "", err
	}
	if !withoutData {
		for _, c := range jobsOf(f) {
			if err := train.Introduce(ctx, env, c); err != nil {
				return "", fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	text, err := kind.Summary(f)
	var job *config.Job
	switch c := f.(type) {
	case study.File:
		remark, failed := simulations.Check(ctx, env, c)
		text, err = text+remark, errors.Join(err, failed)
	case *config.Pipeline:
		err = errors.Join(err, pipeline.CheckTrials(env, c))
		for _, e := range c.Entries() {
			if absent := e.Base.MissingData(); absent != nil && !withoutData {
				err = errors.Join(err, fmt.Errorf("%s: %w; if the trials run on another machine, add --without-data",
					e.Name, absent))
			}
		}
	case interface{ OneJob() *config.Job }:
		job = c.OneJob()
		err = errors.Join(err, train.Check(ctx, env, job))
		if absent := job.MissingData(); absent != nil && !withoutData {
			err = errors.Join(err, fmt.Errorf("%w; if the job runs on another machine, add --without-data", absent))
		}
	}
	if err != nil {
		return "", failure.With(failure.Configuration, fmt.Errorf("%s: %w", path, err))
	}
	app.Warn(env.Log, f)
	if job != nil {
		for _, text := range train.CannotListen(ctx, job) {
			env.Log.Warn(text)
		}
	}
	if c, expects := f.(interface {
		Expected() (config.Expected, bool)
	}); expects {
		if e, known := c.Expected(); known {
			expected, err := train.Expected(ctx, env, job, e)
			if err != nil {
				return "", failure.With(failure.Configuration, fmt.Errorf("%s: %w", path, err))
			}
			text += "\n" + expected
		}
	}
	return text, nil
}

// configValue is a key of `graft config show --json`.
type configValue struct {
	Key         string `json:"key"`                   // key with its sections, such as time.budget
	Value       any    `json:"value"`                 // value of any type
	From        string `json:"from"`                  // default, FILE:LINE or --set
	Description string `json:"description,omitempty"` // with --describe
}

// configReport is the JSON output of `graft config show --json`.
type configReport struct {
	File   string        `json:"file"`   // path of the file; empty for only the defaults
	Digest string        `json:"digest"` // digest of the inputs of results
	Values []configValue `json:"values"` // all keys, in the order of a file
}

func newConfigShowCommand() *cobra.Command {
	var set []string
	var o showOptions
	command := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print all keys of a configuration file, with values and their sources",
		Long: `show prints one line for each key, with its value and the source of the value: the default, a line
of the file, or --set. In a long list of tables, such as [[task]], show omits keys whose value is
zero. Without a file, show prints the defaults of a job. --toml prints a file with every key; --describe
also adds the description of each key as a comment.`,
		Example: `  graft config show job.toml --set time.budget=90s
  graft config show --describe >job.toml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			f, _, err := readAny(environment(command.Context()), first(args), set)
			if err != nil {
				return err
			}
			return showConfig(command.OutOrStdout(), first(args), f, o)
		},
	}
	setFlag(command, &set)
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.Flags().BoolVar(&o.toml, "toml", false, "print a TOML file with every key to stdout; '> FILE' saves it")
	command.Flags().BoolVar(&o.describe, "describe", false,
		"include the description of each key, as comments or in the JSON object")
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
	t := document.NewTable("key", "value", "from")
	for _, v := range config.Values(f) {
		value := configValue{Key: v.Key, Value: v.Plain, From: v.Source.String()}
		if o.describe {
			value.Description = v.About
		}
		report.Values = append(report.Values, value)
		addValue(t, v)
	}
	if o.json {
		return document.PrintJSON(w, report)
	}
	return t.Print(w)
}

// widestTables is the maximum length in characters of a list of tables on one line.
const widestTables = 100

// addValue adds a line for a key. A long list of tables has a line for each of its nonzero keys.
func addValue(t *document.Table, v config.Value) {
	parts := v.Parts()
	if len(parts) == 0 || len(v.Text) <= widestTables {
		t.Add(v.Key, v.Text, v.Source)
		return
	}
	for _, p := range parts {
		t.Add(p.Key, p.Text, v.Source)
	}
}

func newConfigSchemaCommand() *cobra.Command {
	markdown, wanted := false, map[string]*bool{}
	command := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of job files, or a reference page of all keys",
		Long: `schema prints the JSON Schema (draft 2020-12) of job files or of another kind of file. Editors use
the schema to complete, explain and check keys; 'graft config check' also finds faults that a
schema cannot express. --markdown prints a reference page for all kinds of configuration files,
with a table of keys for each section.`,
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
	command.Flags().BoolVar(&markdown, "markdown", false,
		"print a Markdown reference page for all kinds of configuration files")
	for _, kind := range config.Kinds() {
		if kind == config.JobKind {
			continue
		}
		text := fmt.Sprintf("print the schema of %s (section %s) instead of job files", kind.Files,
			strings.Join(kind.Sections, " or "))
		wanted[kind.Name] = command.Flags().Bool(kind.Name, false, text)
		names = append(names, kind.Name)
	}
	command.MarkFlagsMutuallyExclusive(names...)
	return command
}

// schemaOf returns the schema of the kind whose flag is set; the default is jobs.
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
		Short: "Convert a configuration file of the original system",
		Long: `convert writes a job file that reproduces training in the original system, including the original
defaults. A comment next to each key names the key of the original file. Comments also mark
differences from the original system, and original keys that never had an effect; convert reports
both as warnings. Paths are copied unchanged. An original simulation file becomes a scenario file;
an original policy file becomes a configuration file for 'graft learn'.`,
		Example: `  graft config convert original/early.toml -o early.toml
  graft config check early.toml`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runConfigConvert(command.OutOrStdout(), loggerFrom(command.Context()), args[0], out)
		},
	}
	command.Flags().StringVarP(&out, "output", "o", "", "output file (default: stdout)")
	return command
}

func runConfigConvert(w io.Writer, log *zap.Logger, path, out string) error {
	t, err := convert.Convert(files.OS{}, path)
	if err != nil {
		return runs.AsConfigFault(err)
	}
	for _, warning := range t.Warnings {
		log.Warn(warning)
	}
	if out == "" {
		_, err := io.WriteString(w, t.Text)
		return err
	}
	if err := (&app.Env{Files: files.OS{}}).WriteText(out, t.Text); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	_, err = fmt.Fprintf(w, "wrote %s, with %s as comments\n", out, words.Plural(len(t.Warnings), "warning"))
	return err
}
