package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/app"
	"graft/torch/weights"
)

// newWeightsCommand makes `graft weights`. It does not need LibTorch.
func newWeightsCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "weights",
		Short: "Show and convert weight files",
		Long: `weights reads both PyTorch formats (.pth, .pt) and safetensors, regardless of the file name, and
writes PyTorch's current format and safetensors. weights never executes code from a file.`,
		Example: `  graft weights show weights.pth
  graft weights convert weights.pth weights.safetensors`,
	}, newWeightsShowCommand(), newWeightsConvertCommand())
}

// weightsReport is the JSON output of `graft weights show --json`.
type weightsReport struct {
	File     string            `json:"file"`               // path as given
	Format   weights.Format    `json:"format"`             // pth or safetensors
	Tensors  []weights.Summary `json:"tensors"`            // tensors in the order of the file
	Metadata map[string]string `json:"metadata,omitempty"` // metadata of the file
}

func newWeightsShowCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show FILE",
		Short: "Print the tensors of a file, with statistics and hashes",
		Long: `show prints a line for each tensor: name, type, shape, number of items, mean and population
standard deviation of the finite items, and the SHA-256 of all items as little-endian float32.
A tensor without finite items has "-" as mean and deviation.`,
		Example: `  graft weights show weights.pth
  graft weights show --json weights.safetensors`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runWeightsShow(command.OutOrStdout(), args[0], asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runWeightsShow(w io.Writer, path string, asJSON bool) error {
	set, err := app.ReadWeights(files.OS{}, path)
	if err != nil {
		return err
	}
	report := weightsReport{File: path, Format: set.Format, Metadata: set.Metadata, Tensors: []weights.Summary{}}
	for _, t := range set.Tensors {
		summary, err := weights.Describe(t)
		if err != nil {
			return err
		}
		report.Tensors = append(report.Tensors, summary)
	}
	return show(w, asJSON, &report, nil, printWeights)
}

// printWeights writes an aligned table and a line of totals.
func printWeights(w io.Writer, r *weightsReport) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "NAME\tTYPE\tSHAPE\tCOUNT\tMEAN\tSPREAD\tSHA256")
	items := int64(0)
	for _, t := range r.Tensors {
		items += t.Count
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s%s\n", document.Printable(t.Name), t.DType,
			shapeText(t.Shape), t.Count, numberText(t.Mean), numberText(t.Spread), t.SHA256, notFinite(t))
	}
	if err := table.Flush(); err != nil { // it keeps the first error of the lines
		return err
	}
	_, err := fmt.Fprintf(w, "%s, %s (%s)\n", words.Plural(len(r.Tensors), "tensor"), words.Plural(items, "item"),
		r.Format)
	return err
}

func shapeText(shape []int64) string {
	if len(shape) == 0 {
		return "scalar"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", "x")
}

func numberText(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.6g", *v)
}

// notFinite describes items that mean and spread leave out.
func notFinite(t weights.Summary) string {
	if t.NaN == 0 && t.Inf == 0 {
		return ""
	}
	return fmt.Sprintf("  (%d NaN, %d infinite)", t.NaN, t.Inf)
}

func newWeightsConvertCommand() *cobra.Command {
	var force bool
	var prefix string
	command := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Write a weight file in another format",
		Long: `convert writes the tensors of IN to OUT, bit for bit, in the format given by the extension of OUT:
.pth or .pt for PyTorch, .safetensors for safetensors. Only safetensors keeps metadata (numbers
and strings) stored with the tensors. With --prefix, it writes only the tensors and the metadata
whose names begin with the prefix, and removes it from their names.`,
		Example: `  graft weights convert weights.pth weights.safetensors
  graft weights convert --force old.pt weights.pth
  graft weights convert --prefix state_dict. checkpoint.pth weights.pth`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			return runWeightsConvert(command.OutOrStdout(), args[0], args[1], prefix, force)
		},
	}
	command.Flags().StringVar(&prefix, "prefix", "", "write only tensors with this prefix, such as module.; remove "+
		"it from their names")
	command.Flags().BoolVar(&force, "force", false, "replace an existing OUT file")
	return command
}

func runWeightsConvert(w io.Writer, in, out, prefix string, force bool) error {
	format, err := weights.FormatOf(out)
	if err != nil {
		return failure.With(failure.Usage, err)
	}
	if err := app.MayConvert(files.OS{}, in, out, force); err != nil {
		return err
	}
	set, err := app.ReadWeights(files.OS{}, in)
	if err != nil {
		return err
	}
	all := len(set.Tensors)
	if prefix != "" {
		if set = set.Within(prefix); len(set.Tensors) == 0 {
			return failure.Usagef("no tensor of %s has a name with the prefix %q; graft weights show %s lists the "+
				"names", in, prefix, in)
		}
	}
	if err := weights.Write(files.OS{}, out, set); err != nil {
		return err
	}
	part := ""
	if prefix != "" {
		part = fmt.Sprintf(", of %d in %s", all, in)
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s (%s)%s%s\n", out, words.Plural(len(set.Tensors), "tensor"), format, part,
		leftOut(set, format))
	return err
}

// leftOut describes the data that a format cannot hold.
func leftOut(set *weights.Set, format weights.Format) string {
	if format != weights.PTH || len(set.Metadata) == 0 {
		return ""
	}
	if len(set.Metadata) == 1 {
		return ", without 1 entry that is not a tensor"
	}
	return fmt.Sprintf(", without %d entries that are not tensors", len(set.Metadata))
}
