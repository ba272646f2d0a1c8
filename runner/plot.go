package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/results/figure"
)

// plotOptions are the flags of `graft plot`.
type plotOptions struct {
	drawOptions
	json bool // print one object

	policy    string  // whose path is in trees of tables; empty is none
	vocab     string  // of a policy of the original's
	threshold float64 // of transfer, in the unit of the figure
	told      bool    // there is a threshold
}

// drawOptions say which figures are drawn, and how.
type drawOptions struct {
	out    string   // folder, created if missing
	format string   // svg, png or pdf
	width  string   // column (84 mm) or page (174 mm)
	theme  string   // light, dark or page
	kinds  []string // figures to draw; empty draws all that fit
}

// plotWidths and plotThemes are what the flags may say.
var (
	plotWidths = map[string]float64{"column": figure.Column, "page": figure.Wide}
	plotThemes = map[string]figure.Theme{"light": figure.Light, "dark": figure.Dark, "page": figure.Page}
)

func newPlotCommand() *cobra.Command {
	var o plotOptions
	command := &cobra.Command{
		Use:   "plot RUN…",
		Short: "Draw what runs have led to, for a paper or a page",
		Long: `plot draws the figures that fit each run, and those that several make together, into
files named after run and figure. A RUN is a folder: of a job, a simulation, a table,
of policies that learned, of an evaluation or a pipeline, or of the original's results;
or a folder with such folders in it. They are only read, also while they are written.

` + plotHelp() + `
Figures are as wide as a column (84 mm) or a page (174 mm) of a paper with two columns,
in colours that all can tell apart. Equal runs give equal files, to the byte.

With --policy the path of a policy is drawn into the trees of tables that did not come
with it, and what it decides in each of them as a map.

What cannot be read is named and left out; then the exit code is 3.`,
		Example: `  graft plot runs/job --out figures
  graft plot runs/seed-1 runs/seed-2 --format pdf --width page
  graft plot runs/scratch runs/transfer --kind transfer --threshold 70
  graft plot tables/late --policy runs/mine
  graft plot tables/late --kind tree,ranks --format png`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			o.told = command.Flags().Changed("threshold")
			return runPlot(command.Context(), command.OutOrStdout(), command.ErrOrStderr(), args, o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.out, "out", "figures", "the folder for the files; those of equal names are replaced")
	flags.StringVar(&o.format, "format", "svg", "svg, png (300 dots an inch) or pdf")
	flags.StringVar(&o.width, "width", "column", "column (84 mm) or page (174 mm)")
	flags.StringVar(&o.theme, "theme", "light", "light, dark, or page: no ground, and in SVG the colours that its reader prefers")
	flags.StringSliceVar(&o.kinds, "kind", nil, "which figures; empty is all that fit")
	flags.StringVar(&o.policy, "policy", "", "a policy's file, or the folder of a run, for trees of tables and for decisions")
	flags.StringVar(&o.vocab, "vocab", "", "the folder or file of the vocabulary that a policy of the original's learned with")
	flags.Float64Var(&o.threshold, "threshold", 0, "for transfer: how good a run has to be, in the figure's unit: % of accuracy, or points of regret (default: what the first run has in the end)")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}

// plotHelp lists the kinds of figures.
func plotHelp() string {
	var b strings.Builder
	for _, k := range plotKinds(plotGiven{}) {
		fmt.Fprintf(&b, "  %-12s %s\n", k.name, k.about)
	}
	return b.String()
}

func (o plotOptions) validate() error {
	faults := []error{o.drawOptions.validate()}
	if o.vocab != "" && o.policy == "" {
		faults = append(faults, errors.New("--vocab is for the policy of --policy; add that, or leave --vocab away"))
	}
	if o.told && (math.IsNaN(o.threshold) || math.IsInf(o.threshold, 0)) {
		faults = append(faults, fmt.Errorf("--threshold is %v; give a number", o.threshold))
	}
	return withCode(exitUsage, errors.Join(faults...))
}

// validate lists every fault of the options.
func (o drawOptions) validate() error {
	var faults []error
	if !slices.Contains(figure.Formats(), figure.Format(o.format)) {
		faults = append(faults, fmt.Errorf("--format: there is no %q; there are svg, png and pdf", o.format))
	}
	if _, known := plotWidths[o.width]; !known {
		faults = append(faults, fmt.Errorf("--width: there is no %q; there are column and page", o.width))
	}
	if _, known := plotThemes[o.theme]; !known {
		faults = append(faults, fmt.Errorf("--theme: there is no %q; there are light, dark and page", o.theme))
	}
	var names []string
	for _, k := range plotKinds(plotGiven{}) {
		names = append(names, k.name)
	}
	for _, kind := range o.kinds {
		if !slices.Contains(names, kind) {
			faults = append(faults, fmt.Errorf("--kind: there is no %q; there are %s", kind, strings.Join(names, ", ")))
		}
	}
	return errors.Join(faults...)
}

// read reads what figures are told beside the runs.
func (o plotOptions) read(ctx context.Context) (given plotGiven, err error) {
	if o.told {
		given.threshold = &o.threshold
	}
	if o.policy == "" {
		return given, nil
	}
	all, err := evaluateOptions{policies: []string{o.policy}, vocab: o.vocab}.readPolicies(ctx)
	if err == nil {
		given.policy = &plotPolicy{all[0].name, all[0].entrants[0].Choosers[0], all[0].structural}
	}
	return given, err
}

// plotReport is what `graft plot --json` prints.
type plotReport struct {
	Written []plotWritten `json:"written"`  // files, in the order of the figures
	Skipped []plotSkipped `json:"left_out"` // what could not be drawn
}

// plotWritten is a file that was written.
type plotWritten struct {
	Figure string   `json:"figure"` // its kind
	Runs   []string `json:"runs"`   // that are in it
	File   string   `json:"file"`   // path of the figure
}

// plotSkipped is a run or a figure that could not be drawn.
type plotSkipped struct {
	Run    string `json:"run"`              // its folder
	Figure string `json:"figure,omitempty"` // empty is all of the run
	Why    string `json:"why"`              // what is wrong with it
}

func runPlot(ctx context.Context, w, stderr io.Writer, paths []string, o plotOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	given, err := o.read(ctx)
	if err != nil {
		return err
	}
	r, err := drawRuns(files.OS{}, paths, given, o.drawOptions)
	if err != nil {
		return err
	}
	return tellPlots(w, stderr, r, o.json)
}

// drawRuns draws the figures of all runs that paths name.
func drawRuns(fsys files.FS, paths []string, given plotGiven, o drawOptions) (*plotReport, error) {
	p := &plotter{drawOptions: o, fsys: fsys, given: given, report: &plotReport{Written: []plotWritten{}, Skipped: []plotSkipped{}}}
	runs, faults := p.open(plotFolders(paths))
	if len(runs) == 0 {
		return nil, faults
	}
	if err := fsys.MkdirAll(o.out); err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	return p.report, p.draw(runs)
}

// plotFolders are the runs that paths name: themselves, or those in them. A pipeline
// stands for itself and for its parts, but for evaluations, which are drawn as its own.
func plotFolders(paths []string) []string {
	var all []string
	for _, path := range paths {
		f, err := viewFolder(path)
		if err != nil {
			all = append(all, path)
			continue
		}
		kind := f.kind()
		if kind != pipelineRuns && (kind != nil || f.has(manifestFile) || f.has(lockFile)) {
			all = append(all, path)
			continue
		}
		below := runsIn(f)
		if kind == pipelineRuns {
			below = append([]string{path}, slices.DeleteFunc(below, isEvaluation)...)
		} else if below == nil {
			below = []string{path} // whose error says what it is not
		}
		all = append(all, below...)
	}
	return all
}

// runsIn are the folders of runs in one.
func runsIn(f *runFolderView) (below []string) {
	for _, entry := range f.entries {
		if inside, err := viewFolder(f.at(entry.Name())); entry.IsDir() && err == nil && (inside.kind() != nil || inside.has(lockFile)) {
			below = append(below, f.at(entry.Name()))
		}
	}
	return below
}

func isEvaluation(folder string) bool {
	f, err := viewFolder(folder)
	return err == nil && f.kind() == evaluationRuns
}

// plotter writes figures.
type plotter struct {
	drawOptions
	fsys   files.FS
	given  plotGiven
	report *plotReport
	files  map[string]bool // that were written
	prefix map[*runData]string
}

// open reads the runs, and says why others could not be read.
func (p *plotter) open(paths []string) (runs []*runData, faults error) {
	for _, path := range paths {
		r, err := openRun(path)
		if err != nil {
			faults = errors.Join(faults, err)
			p.report.Skipped = append(p.report.Skipped, plotSkipped{Run: path, Why: err.Error()})
			continue
		}
		if r.Faults != nil {
			p.report.Skipped = append(p.report.Skipped, plotSkipped{Run: path, Figure: "parts of it", Why: r.Faults.Error()})
		}
		runs = append(runs, r)
	}
	p.prefix = plotNames(runs)
	return runs, faults
}

// plotNames are what files of runs begin with: the last parts of their paths, or more
// of them where those are alike.
func plotNames(runs []*runData) map[*runData]string {
	counts := map[string]int{}
	for _, r := range runs {
		counts[r.base()]++
	}
	names := map[*runData]string{}
	for _, r := range runs {
		names[r] = r.base()
		if counts[names[r]] > 1 {
			names[r] = filepath.Base(filepath.Dir(absolute(r.Path))) + "-" + names[r]
		}
	}
	return names
}

// base is the name of a run's folder, which stands in figures: where the folder lies is
// nobody else's business.
func (r *runData) base() string { return filepath.Base(absolute(r.Path)) }

// absolute is a path with a name at its end, which "." has not.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// draw draws each figure that fits.
func (p *plotter) draw(runs []*runData) error {
	p.files = map[string]bool{}
	for _, kind := range plotKinds(p.given) {
		if len(p.kinds) > 0 && !slices.Contains(p.kinds, kind.name) {
			continue
		}
		for _, group := range kind.groups(runs) {
			drawings, err := kind.draw(group)
			if err != nil {
				p.report.Skipped = append(p.report.Skipped, plotSkipped{Run: group[0].Path, Figure: kind.name, Why: err.Error()})
			}
			for _, d := range drawings {
				if err := p.write(kind, group, d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// write writes one figure.
func (p *plotter) write(kind plotKind, group []*runData, d plotted) error {
	var names, paths []string
	for _, r := range group {
		names, paths = append(names, p.prefix[r]), append(paths, r.Path)
	}
	if len(names) > 2 {
		names = []string{names[0], fmt.Sprintf("and-%d", len(names)-1)}
	}
	name := strings.Join(append(names, kind.name), "-")
	if d.name != "" {
		name += "-" + d.name
	}
	base := filepath.Join(p.out, strings.Map(fileLetter, name))
	path := base + "." + p.format
	for n := 2; p.files[path]; n++ {
		path = fmt.Sprintf("%s-%d.%s", base, n, p.format)
	}
	p.files[path] = true
	o := figure.Options{Format: figure.Format(p.format), Width: plotWidths[p.width], Theme: plotThemes[p.theme]}
	if err := files.WriteAtomic(p.fsys, path, func(w io.Writer) error { return figure.Render(w, d.figure, o) }); err != nil {
		return fmt.Errorf("plot %s of %s: %w", kind.name, group[0].Path, err)
	}
	p.report.Written = append(p.report.Written, plotWritten{kind.name, paths, path})
	return nil
}

// fileLetter keeps letters that names of files have everywhere.
func fileLetter(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
		return r
	}
	return '-'
}

// tellPlots prints what was written, and what was left out and why.
func tellPlots(w, stderr io.Writer, r *plotReport, json bool) error {
	var err error
	if json {
		err = printJSON(w, r)
	} else {
		t := newTable("FIGURE", "RUNS", "FILE")
		for _, f := range r.Written {
			t.add(f.Figure, printable(strings.Join(f.Runs, ", ")), printable(f.File))
		}
		err = t.print(w)
	}
	switch {
	case err != nil:
		return err
	case len(r.Skipped) > 0:
	case len(r.Written) == 0:
		return errors.New("plot: none of the figures fits these runs, or they have not got so far yet; 'graft help plot' lists the figures")
	default:
		return nil
	}
	if !json {
		for _, s := range r.Skipped {
			fmt.Fprintf(stderr, "left out: %s\n", printable(strings.TrimSpace(s.Run+" "+s.Figure+": "+s.Why)))
		}
	}
	if len(r.Written) == 0 {
		return withCode(exitDamaged, errors.New("nothing could be drawn"))
	}
	return withCode(exitPartial, fmt.Errorf("%d of what was asked for could not be drawn", len(r.Skipped)))
}
