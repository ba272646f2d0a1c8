package main

import (
	"io"

	"github.com/spf13/cobra"

	"graft/model"
	"graft/report/document"
	"graft/runner/describe"
	"graft/tracing/drawing"
)

// newModelCommand makes `graft model`. Only forward and import need LibTorch.
func newModelCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "model",
		Short: "List, show, run and import networks",
		Long: `model describes networks: layers, the blocks that surgery operates on, the channels that change
together, and costs. 'list' and 'show' create no tensors; 'forward' computes outputs; 'import'
reads networks that PyTorch exported.`,
		Example: `  graft model list
  graft model show ConvNet2
  graft model show net.toml --svg net.svg`,
	}, newModelListCommand(), newModelShowCommand(), newModelForwardCommand(), newModelImportCommand())
}

// modelList is the JSON output of `graft model list --json`.
type modelList struct {
	Networks []modelEntry `json:"networks"` // in the order of the zoo
}

// modelEntry is a network from the zoo, with its own input and classes.
type modelEntry struct {
	Name       string      `json:"name"`            // name in the zoo
	Alias      string      `json:"alias,omitempty"` // alternative name
	About      string      `json:"about"`           // one line
	Input      model.Shape `json:"input"`           // shape of one example
	Classes    int         `json:"classes"`         // default number of classes
	Parameters int         `json:"parameters"`      // trained parameters
	FLOP       int64       `json:"flop"`            // forward for one example; a multiply-add is two
	Blocks     int         `json:"blocks"`          // blocks for surgery
}

func newModelListCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "list",
		Short: "Print the networks from the zoo",
		Long: `list prints a line for each network from the zoo: the shape of an example, the default number of
classes, the trainable parameters, the floating-point operations of a forward pass for one example
(a multiply-add counts as two), and the number of blocks available to surgery. k, M and G are
10^3, 10^6 and 10^9; --json prints exact numbers.`,
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
	return show(w, asJSON, &list, nil, printModels)
}

func describeEntry(e model.ZooEntry) (modelEntry, error) {
	n, err := model.Zoo(e.Name, model.ZooOptions{})
	if err != nil {
		return modelEntry{}, err
	}
	blocks, err := describe.Blocks(n)
	if err != nil {
		return modelEntry{}, err
	}
	sheet, err := n.Sheet()
	if err != nil {
		return modelEntry{}, err
	}
	entry := modelEntry{Name: e.Name, Alias: e.Alias, About: e.About, Input: e.Input, Classes: e.Classes,
		Parameters: n.Parameters(), Blocks: blocks}
	for _, row := range sheet {
		entry.FLOP += row.Operations
	}
	return entry, nil
}

func printModels(w io.Writer, l *modelList) error {
	t := document.NewTable("name").Numbers("", "", "input", "classes", "parameters", "flop", "blocks").
		Texts("description")
	for _, e := range l.Networks {
		t.Add(e.Name, e.Input, e.Classes, shortText(int64(e.Parameters)), shortText(e.FLOP), e.Blocks, e.About)
	}
	p := &document.Printer{W: w}
	p.Table(t)
	p.Line("\nFLOP: floating-point operations per example, forward; a multiply-add counts as two.")
	return p.Err
}

// shortText formats a number with three digits and k, M or G.
func shortText(n int64) string {
	digits, prefix := drawing.Short(n)
	return digits + prefix
}
