package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/cluster/estimate"
	"graft/files"
	"graft/results/document"
	"graft/results/failure"
	"graft/work"
)

// clusterShapesOptions are the flags of `graft cluster shapes`.
type clusterShapesOptions struct {
	term string // name; empty is all
	csv  bool   // print a term's shape as CSV
	json bool   // print one object
}

func newClusterShapesCommand() *cobra.Command {
	var o clusterShapesOptions
	command := &cobra.Command{
		Use:   "shapes MODEL",
		Short: "Print what a model of estimates says of each feature",
		Long: `shapes prints a model that 'graft cluster estimate --model' or 'graft cluster forecast
--models' has written: how much each term says, and the curve of each feature. What a bin's
value says is added to the base, in seconds, jobs or GPUs; of a model that learned logarithms
it is added to log(1 + target). Deviation is over the bags: it says where a curve is shaky.
Bins without rows are left out, and maps of two features are printed where --term names one.`,
		Example: `  graft cluster shapes model.json
  graft cluster shapes model.json --term hour
  graft cluster shapes model.json --term 'vc x hour' --csv`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: ofType("json"),
		RunE: func(command *cobra.Command, args []string) error {
			return runClusterShapes(command.OutOrStdout(), args[0], o)
		},
	}
	command.Flags().StringVar(&o.term, "term", "", "only this one: a feature, or two as 'vc x hour'")
	command.Flags().BoolVar(&o.csv, "csv", false, "print the shape of --term as CSV")
	command.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	command.MarkFlagsMutuallyExclusive("csv", "json")
	return command
}

func runClusterShapes(w io.Writer, path string, o clusterShapesOptions) error {
	if o.csv && o.term == "" {
		return failure.Usagef("--csv is of one term, since others have other columns: name it with --term")
	}
	m, err := estimate.Load(files.OS{}, path)
	if err != nil {
		return work.ReadFault(err)
	}
	shapes, err := shapesOf(m, o.term)
	if err != nil {
		return err
	}
	switch {
	case o.csv:
		return shapes[0].WriteCSV(w)
	case o.json:
		return document.PrintJSON(w, shapesReportOf(path, m, shapes))
	}
	return printShapes(w, path, m, shapes, o.term != "")
}

// shapesOf are the shapes of a model, or that of one term.
func shapesOf(m *estimate.Model, name string) ([]estimate.Shape, error) {
	var shapes []estimate.Shape
	for k, t := range m.Terms() {
		if name != "" && plainTerm(name) != plainTerm(t.Name) {
			continue
		}
		s, err := m.Shape(k)
		if err != nil {
			return nil, err
		}
		shapes = append(shapes, s)
	}
	if len(shapes) == 0 {
		return nil, failure.Usagef("--term %s: there is none of this name; there are %s", name, termNames(learnedTermsOf(m)))
	}
	return shapes, nil
}

// plainTerm is a term's name as it is typed.
func plainTerm(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, " × ", " "), " x ", " ")
}

// shapesReport is what `graft cluster shapes --json` prints.
type shapesReport struct {
	Path   string       `json:"path"`   // of the model
	Rows   int          `json:"rows"`   // that it was learned from
	Base   float64      `json:"base"`   // to which terms are added
	Target string       `json:"target"` // plain; with log and median all values are added to log(1 + target)
	Terms  []shapedTerm `json:"terms"`  // in the model's order
}

// shapedTerm is a term with its shape.
type shapedTerm struct {
	learnedTerm
	Axes  []shapeAxis `json:"axes"`  // one, or two of a map
	Cells []shapeCell `json:"cells"` // by bin of the first axis and, of a map, within it by bin of the second
}

// shapeAxis is a feature of a shape.
type shapeAxis struct {
	Feature string     `json:"feature"` // its name
	Text    bool       `json:"text"`    // whether its values are texts
	Bins    []shapeBin `json:"bins"`    // in order, that of missing values first
}

// shapeBin is a part of a feature's values.
type shapeBin struct {
	Missing bool     `json:"missing,omitempty"` // holds the rows without a value
	Low     *float64 `json:"low,omitempty"`     // of numbers: it holds those from here on
	High    *float64 `json:"high,omitempty"`    // up to here, and in the last bin this one too
	Levels  []string `json:"levels,omitempty"`  // of texts: those that it holds
}

// shapeCell is what a term adds.
type shapeCell struct {
	Value     float64 `json:"value"`     // in the target's unit, or added to log(1 + target)
	Deviation float64 `json:"deviation"` // of the value, over the bags
	Rows      float64 `json:"rows"`      // that it was learned from
}

func shapesReportOf(path string, m *estimate.Model, shapes []estimate.Shape) shapesReport {
	r := shapesReport{Path: path, Rows: m.Rows(), Base: m.Base(), Target: m.Target()}
	for _, s := range shapes {
		term := shapedTerm{learnedTerm: learnedTerm{s.Term.Name, s.Term.Features, s.Term.Importance}}
		for _, a := range s.Axes {
			axis := shapeAxis{Feature: a.Feature, Text: a.Text}
			for k := range a.Bins {
				b := &a.Bins[k]
				bin := shapeBin{Missing: b.Missing, Levels: b.Levels}
				if !b.Missing && !a.Text {
					bin.Low, bin.High = &b.Low, &b.High
				}
				axis.Bins = append(axis.Bins, bin)
			}
			term.Axes = append(term.Axes, axis)
		}
		for _, c := range s.Cells {
			term.Cells = append(term.Cells, shapeCell{c.Value, c.Deviation, c.Weight})
		}
		r.Terms = append(r.Terms, term)
	}
	return r
}

// printShapes prints shapes for people; one that is asked for also if it is a map.
func printShapes(w io.Writer, path string, m *estimate.Model, shapes []estimate.Shape, asked bool) error {
	d := &document.Document{}
	d.Say(fmt.Sprintf("%s: learned from %d rows, base %s, target %s", path, m.Rows(), fourDigits(m.Base()), m.Target()))
	if !asked {
		d.Show(termTable(learnedTermsOf(m), unitOf("target's unit", m.Target())))
	}
	for _, s := range shapes {
		if asked || len(s.Axes) == 1 {
			d.Head("%s", s.Term.Name)
			d.Show(shapeTable(s))
		}
	}
	return d.Print(w)
}

// shapeTable has a line for each bin, or cell of a map, in which there were rows.
func shapeTable(s estimate.Shape) *document.Table {
	var head []string
	for _, a := range s.Axes {
		head = append(head, strings.ToUpper(a.Feature))
	}
	t := document.NewTable(append(head, ">VALUE", ">DEVIATION", ">ROWS")...)
	for k, c := range s.Cells {
		if c.Weight == 0 {
			continue
		}
		t.Add(append(binsOf(s, k), fourDigits(c.Value), fourDigits(c.Deviation), fourDigits(c.Weight))...)
	}
	return t
}

// binsOf names the bins of a cell.
func binsOf(s estimate.Shape, cell int) []string {
	last := s.Axes[len(s.Axes)-1]
	names := []string{document.Printable(last.Bins[cell%len(last.Bins)].String())}
	if len(s.Axes) > 1 {
		names = append([]string{document.Printable(s.Axes[0].Bins[cell/len(last.Bins)].String())}, names...)
	}
	return names
}
