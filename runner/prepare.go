package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/failure"
)

// suggestionDistance limits the edit distance between a mistyped command and a suggestion.
const suggestionDistance = 2

// prepare gives all commands of a tree a logger in their context, group help and an error for unknown commands. After
// the run began is true if a command's own code was reached.
func prepare(root *cobra.Command, stderr io.Writer) (began *bool) {
	began = new(bool)
	options := logFlags(root)
	walk(root, func(command *cobra.Command) {
		if command.HasSubCommands() && !command.Runnable() {
			makeGroup(command)
		}
		inner := command.RunE
		command.RunE = func(command *cobra.Command, args []string) error {
			*began = true
			command.SetContext(withLogger(command.Context(), &screen{logOptions: *options, w: stderr}))
			return inner(command, args)
		}
	})
	return began
}

// logFlags adds the flags that every command has.
func logFlags(root *cobra.Command) *logOptions {
	options := new(logOptions)
	flags := root.PersistentFlags()
	flags.BoolVarP(&options.verbose, "verbose", "v", false, "also log debug messages to stderr")
	flags.BoolVarP(&options.quiet, "quiet", "q", false, "log only error messages to stderr")
	root.MarkFlagsMutuallyExclusive("verbose", "quiet")
	return options
}

// group makes a command with subcommands.
func group(command *cobra.Command, below ...*cobra.Command) *cobra.Command {
	command.AddCommand(below...)
	return command
}

// first returns the first argument, or empty.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// makeGroup turns a command that only has subcommands into one that prints its help, and refuses any argument as an
// unknown command.
func makeGroup(command *cobra.Command) {
	command.SuggestionsMinimumDistance = suggestionDistance
	command.Args = func(command *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return unknownCommand(command, args[0])
	}
	command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
}

// unknownCommand names the unknown command with suggestions.
func unknownCommand(parent *cobra.Command, name string) error {
	near := parent.SuggestionsFor(name)
	if len(near) == 0 {
		return failure.Usagef("unknown command %q for %q", name, parent.CommandPath())
	}
	return failure.Usagef("unknown command %q for %q; did you mean %s?",
		name, parent.CommandPath(), strings.Join(near, " or "))
}

// walk calls visit for a command and all its subcommands, parents first.
func walk(command *cobra.Command, visit func(*cobra.Command)) {
	visit(command)
	for _, child := range command.Commands() {
		walk(child, visit)
	}
}
