package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"graft/model"
	"graft/results/document"
	"graft/tracing"
	"graft/tracing/drawing"
)

// newModelCommand is `graft model`. It needs no LibTorch.
func newModelCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "model",
		Short: "List the networks of the zoo, and look into one of them or of a file",
		Long: `model says what a network is made of: its layers, the blocks that surgery works
on, the channels that change together, and what all of it costs. It makes no
tensors and runs nothing.`,
		Example: `  graft model list
  graft model show ConvNet2
  graft model show net.toml --svg net.svg`,
		Args: cobra.NoArgs, // so that a misspelt command under it is an error
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(newModelListCommand(), newModelShowCommand())
	return command
}

// modelList is the JSON output of `graft model list --json`.
type modelList struct {
	Networks []modelEntry `json:"networks"` // in the order of the zoo
}

// modelEntry is a network of the zoo, made for its own input and classes.
type modelEntry struct {
	Name       string      `json:"name"`            // that it can be had by
	Alias      string      `json:"alias,omitempty"` // another name for it
	About      string      `json:"about"`           // one line
	Input      model.Shape `json:"input"`           // of one example
	Classes    int         `json:"classes"`         // that it tells apart unless told otherwise
	Parameters int         `json:"parameters"`      // that an optimizer moves
	FLOP       int64       `json:"flop"`            // forward for one example; a multiply-add is two
	Blocks     int         `json:"blocks"`          // that surgery can work on
}

func newModelListCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "Print the networks that can be had by name",
		Long: `list prints a line for each network of the zoo: the shape of an example and the
classes that it is made for unless told otherwise, its trained parameters, the
floating-point operations of a forward pass for one example, where a multiply-add
counts as two, and how many blocks surgery can work on. k, M and G are 10^3, 10^6
and 10^9; --json has exact numbers.`,
		Example: `  graft model list
  graft model list --json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runModelList(command.OutOrStdout(), asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runModelList(w io.Writer, asJSON bool) error {
	var list modelList
	for _, e := range model.ZooEntries() {
		entry, err := describeEntry(e)
		if err != nil {
			return err
		}
		list.Networks = append(list.Networks, entry)
	}
	if asJSON {
		return document.PrintJSON(w, list)
	}
	return list.print(w)
}

func describeEntry(e model.ZooEntry) (modelEntry, error) {
	n, err := model.Zoo(e.Name, model.ZooOptions{})
	if err != nil {
		return modelEntry{}, err
	}
	trace, err := tracing.Read(n)
	if err != nil {
		return modelEntry{}, err
	}
	sheet, err := n.Sheet()
	if err != nil {
		return modelEntry{}, err
	}
	entry := modelEntry{Name: e.Name, Alias: e.Alias, About: e.About, Input: e.Input, Classes: e.Classes, Parameters: n.Parameters(), Blocks: len(trace.Blocks)}
	for _, row := range sheet {
		entry.FLOP += row.Operations
	}
	return entry, nil
}

func (l modelList) print(w io.Writer) error {
	t := document.NewTable("name").Numbers("", "", "input", "classes", "parameters", "flop", "blocks").Texts("what it is")
	for _, e := range l.Networks {
		t.Add(e.Name, e.Input, e.Classes, shortText(int64(e.Parameters)), shortText(e.FLOP), e.Blocks, e.About)
	}
	if err := t.Print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nFLOP: floating-point operations forward for one example; a multiply-add counts as two.")
	return err
}

// shortText is a number with three digits and k, M or G.
func shortText(n int64) string {
	digits, prefix := drawing.Short(n)
	return digits + prefix
}
