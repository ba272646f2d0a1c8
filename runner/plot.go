package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/report/document"
	"graft/report/plot"
	"graft/runner/evaluate"
)

// plotOptions are the flags of `graft plot`.
type plotOptions struct {
	plot.Options      // selection and format of figures
	json         bool // print one object

	policy    string  // policy whose path trees of tables show; empty for none
	x         string  // axis of curves and accuracy
	vocab     string  // vocabulary of a policy of the original system
	threshold float64 // threshold of transfer, in the unit of the figure
	given     bool    // a threshold was given
}

func newPlotCommand() *cobra.Command {
	var o plotOptions
	command := &cobra.Command{
		Use:   "plot RUN…",
		Short: "Draw figures of runs, for papers and web pages",
		Long: `plot draws the figures available for each run, and the figures that combine several runs. Files
are named after the run and the figure. RUN is a run folder of a job, a simulation, a cluster
simulation, learned policies, an evaluation or a pipeline. RUN can also be a simulated scheduler in a
cluster simulation, a table, a result folder of the original system, or a folder of such folders. plot does not
change runs, and can draw runs in progress.

` + listed(plot.Kinds(plot.Given{})) + `
Figures have the width of a column (84 mm) or a page (174 mm) of a two-column paper. Their colours
are suitable for colour-blind readers. Identical runs give byte-identical files.

With --policy, plot marks the policy's path in the decision tree of each table, and draws a map of
the policy's decisions for each table.

Unreadable runs are reported and left out, and the exit code is then 3.`,
		Example: `  graft plot runs/job --out figures
  graft plot runs/seed-1 runs/seed-2 --format pdf --width page
  graft plot runs/scratch runs/transfer --kind transfer --threshold 70
  graft plot tables/late --policy runs/mine
  graft plot tables/late --kind tree,ranks --format png`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			o.given = command.Flags().Changed("threshold")
			return runPlot(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), args, o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Out, "out", "figures", "output folder; existing files of the same name are replaced")
	flags.StringVar(&o.Format, "format", "svg", "file format: svg, png (300 dpi) or pdf")
	flags.StringVar(&o.Width, "width", "column", "figure width: column (84 mm) or page (174 mm)")
	flags.StringVar(&o.Theme, "theme", "light",
		"colour theme: light, dark, or page (no background; SVG files follow the viewer's light or dark mode)")
	flags.StringSliceVar(&o.Kinds, "kind", nil, "kinds of figures to draw (default: all available kinds)")
	flags.StringVar(&o.x, "x", "time",
		"horizontal axis of a job's figures \"curves\" and \"accuracy\": time, device-time or flop")
	flags.StringVar(&o.policy, "policy", "",
		"policy to draw (file or run folder): its path in the decision tree of each table, and its decisions as a map")
	flags.StringVar(&o.vocab, "vocab", "",
		"vocabulary (folder or file), required if --policy names a policy of the original system")
	flags.Float64Var(&o.threshold, "threshold", 0,
		"target value in the figure \"transfer\": an accuracy in %, or a regret in points (default: final value of "+
			"the first run)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

func (o plotOptions) validate() error {
	faults := validate.Faults{o.Options.Validate(), plot.Given{X: o.x}.Validate()}
	faults.When(o.vocab != "" && o.policy == "",
		"--vocab requires --policy; add --policy, or omit --vocab")
	faults.When(o.given && (math.IsNaN(o.threshold) || math.IsInf(o.threshold, 0)),
		"--threshold is %v; expected a finite number",
		o.threshold)
	return failure.With(failure.Usage, errors.Join(faults...))
}

// read reads the inputs of figures other than the runs.
func (o plotOptions) read(ctx context.Context) (given plot.Given, err error) {
	given.X = o.x
	if o.given {
		given.Threshold = &o.threshold
	}
	if o.policy == "" {
		return given, nil
	}
	all, err := evaluate.ReadPolicies(ctx, files.OS{}, evaluate.Options{Policies: []string{o.policy}, Vocab: o.vocab})
	if err == nil {
		given.Policy = &plot.Policy{Name: all[0].Name, Chooser: all[0].Candidates[0].Policies[0],
			Structural: all[0].Structural}
	}
	return given, err
}

func runPlot(ctx context.Context, w, stderr io.Writer, paths []string, o plotOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	given, err := o.read(ctx)
	if err != nil {
		return err
	}
	r, err := plot.Draw(files.OS{}, paths, given, o.Options)
	if err != nil {
		return err
	}
	if len(r.Written)+len(r.Skipped) == 0 {
		return o.nothingFits()
	}
	return printPlots(w, stderr, r, o.json)
}

// nothingFits names the kinds of runs for the requested figures.
func (o plotOptions) nothingFits() error {
	text := "no figure fits these runs, or the runs have no data for one yet"
	for _, k := range plot.Kinds(plot.Given{}) {
		if !slices.Contains(o.Kinds, k.Name) {
			continue
		}
		var titles []string
		for _, of := range k.Runs() {
			titles = append(titles, of.Titles)
		}
		text += fmt.Sprintf("; %s is a figure of %s", k.Name, strings.Join(titles, ", "))
	}
	return fmt.Errorf("plot: %s; 'graft list figures' lists all figures", text)
}

// printPlots prints the written figures, and the skipped ones with the reason.
func printPlots(w, stderr io.Writer, r *plot.Report, json bool) error {
	var err error
	if json {
		err = document.PrintJSON(w, r)
	} else {
		t := document.NewTable("figure", "runs", "file")
		for _, f := range r.Written {
			t.Add(f.Figure, strings.Join(f.Runs, ", "), f.File)
		}
		err = t.Print(w)
	}
	switch {
	case err != nil:
		return err
	case len(r.Skipped) == 0:
		return nil
	}
	if !json {
		for _, s := range r.Skipped {
			fmt.Fprintf(stderr, "left out: %s\n", document.Printable(strings.TrimSpace(s.Run+" "+s.Figure+": "+s.Why)))
		}
	}
	if len(r.Written) == 0 {
		return failure.With(failure.Damaged, errors.New("no figure could be drawn; the output lists the reasons"))
	}
	return failure.With(failure.Partial, fmt.Errorf(
		"%d of the requested figures or runs could not be drawn; the output lists the reasons", len(r.Skipped)))
}
