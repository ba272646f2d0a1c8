package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/report/document"
	"graft/runner/lists"
)

// listIndex is the JSON output of `graft list` without a kind.
type listIndex struct {
	Kinds []listedKind `json:"kinds"` // in the order of the help
}

// listedKind is a list that `graft list` can print.
type listedKind struct {
	Kind    string `json:"kind"`    // name of the kind
	About   string `json:"about"`   // one line
	Entries int    `json:"entries"` // number of entries
}

// listReport is the JSON output of `graft list KIND`.
type listReport struct {
	Kind    string        `json:"kind"`    // name of the kind
	About   string        `json:"about"`   // one line
	Entries []lists.Entry `json:"entries"` // in the order of the registry
}

// newListCommand makes `graft list`. It does not need LibTorch.
func newListCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list [KIND]",
		Short: "List schedulers, layers, datasets, figures and other items, with examples",
		Long: `list prints all items of a kind, each with a description and an example: a command line, or a
part of a TOML file. Replace the file names in examples with your own. Without a kind, list prints
the kinds:

` + listed(lists.Kinds()),
		Example: `  graft list
  graft list schedulers
  graft list layers --json`,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: lists.Kinds().Names(),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				return printKinds(command.OutOrStdout(), asJSON)
			}
			return printList(command.OutOrStdout(), args[0], asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// printKinds lists the lists.
func printKinds(w io.Writer, asJSON bool) error {
	var index listIndex
	t := document.NewTable("kind").Numbers("", "", "entries").Texts("about")
	for _, k := range lists.Kinds() {
		one := listedKind{k.Name, k.About, len(k.Entries())}
		index.Kinds = append(index.Kinds, one)
		t.Add(one.Kind, one.Entries, one.About)
	}
	if asJSON {
		return document.PrintJSON(w, index)
	}
	return t.Print(w)
}

// printList lists the entries of a kind.
func printList(w io.Writer, name string, asJSON bool) error {
	k, err := lists.Kinds().Named("list", name)
	if err != nil {
		return failure.With(failure.Usage, err)
	}
	l := listReport{k.Name, k.About, k.Entries()}
	if asJSON {
		return document.PrintJSON(w, l)
	}
	_, err = io.WriteString(w, l.text())
	return err
}

// text has a line per entry, followed by the example.
func (l listReport) text() string {
	var b strings.Builder
	part := ""
	for k, e := range l.Entries {
		if e.Of != part || k == 0 && e.Of != "" {
			fmt.Fprintf(&b, "%s%s\n\n", strings.Repeat("\n", min(k, 1)), strings.ToUpper(e.Of))
		}
		part = e.Of
		fmt.Fprintf(&b, "%s: %s\n", e.Name, e.About)
		for _, line := range e.Example() {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}
