package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/registry"
)

// newHelpCommand makes `graft help`. It replaces cobra's own, which succeeds for a command that does not exist.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "Print help for a command",
		Example: "  graft help version",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, args []string) error {
			return runHelp(command.Root(), args)
		},
	}
}

// runHelp prints the help of the command at the path of names.
func runHelp(root *cobra.Command, names []string) error {
	at := root
	for _, name := range names {
		next := child(at, name)
		if next == nil {
			return unknownCommand(at, name)
		}
		at = next
	}
	at.InitDefaultHelpFlag() // the help of a command that did not run lists --help too
	return at.Help()
}

// child returns the command with a name directly below parent, or nil.
func child(parent *cobra.Command, name string) *cobra.Command {
	for _, command := range parent.Commands() {
		if command.Name() == name || command.HasAlias(name) {
			return command
		}
	}
	return nil
}

// listed lists kinds for a help text, with names in a column of a width.
func listed[T registry.Kind](kinds registry.List[T]) string {
	width := 8
	for _, name := range kinds.Names() {
		width = max(width, len(name)+1)
	}
	var b strings.Builder
	for _, k := range kinds {
		name, about := k.Listing()
		fmt.Fprintf(&b, "  %-*s %s\n", width, name, about)
	}
	return b.String()
}
