// Package plot draws the figures of runs. It has one function per kind of figure.
package plot

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"graft/decider"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/report/figure"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// Options selects the figures to draw, and their format.
type Options struct {
	Out    string   // path of the output folder, created if missing
	Format string   // file format: svg, png or pdf
	Width  string   // width: column (84 mm) or page (174 mm)
	Theme  string   // theme: light, dark or page
	Kinds  []string // figures to draw; empty means all that apply to the runs
}

// Widths and themes by the value of their flag.
var (
	plotWidths = map[string]float64{"column": figure.Column, "page": figure.Wide}
	plotThemes = map[string]figure.Theme{"light": figure.Light, "dark": figure.Dark, "page": figure.Page}
)

// Validate returns an error that lists every invalid option.
func (o Options) Validate() error {
	names := Kinds(Given{}).Names()
	faults := validate.Faults{oneOf("option \"format\"", o.Format, "svg", "png", "pdf"),
		oneOf("option \"width\"", o.Width, "column", "page"), oneOf("option \"theme\"", o.Theme, "light", "dark",
			"page")}
	for _, kind := range o.Kinds {
		faults = append(faults, oneOf("option \"kind\"", kind, names...))
	}
	return errors.Join(faults...)
}

func oneOf(what, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	last := len(known) - 1
	return fmt.Errorf("%s: unknown value %q; expected %s or %s", what, value, strings.Join(known[:last], ", "),
		known[last])
}

// Report lists the files that `graft plot` wrote; --json prints it.
type Report struct {
	Written []Written `json:"written"`  // files in the order of the figures
	Skipped []Skipped `json:"left_out"` // runs and figures that could not be drawn
}

// Written describes a figure file.
type Written struct {
	Figure string   `json:"figure"` // kind of the figure
	Runs   []string `json:"runs"`   // runs in the figure
	File   string   `json:"file"`   // path of the file
}

// Skipped describes a run or a figure that could not be drawn.
type Skipped struct {
	Run    string `json:"run"`              // folder of the run
	Figure string `json:"figure,omitempty"` // kind of the figure; empty means the whole run
	Why    string `json:"why"`              // reason
}

// Draw finds the runs at the given paths and writes their figures into a folder.
func Draw(fsys files.FS, paths []string, given Given, o Options) (*Report, error) {
	p := &plotter{Options: o, fsys: fsys, given: given, report: &Report{Written: []Written{}, Skipped: []Skipped{}}}
	runs, faults := p.open(folders(fsys, paths))
	if len(runs) == 0 {
		return nil, faults
	}
	if err := fsys.MkdirAll(o.Out); err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	return p.report, p.draw(runs)
}

// folders lists the run folders at the paths: the paths themselves or the runs inside. It replaces a pipeline by its
// parts, except evaluations, which the pipeline's own figures show.
func folders(fsys files.FS, paths []string) []string {
	var all []string
	for _, path := range paths {
		f, err := runs.ReadFolder(fsys, path)
		if err != nil || !isKind(f, runs.PipelineKind) && f.IsRun() {
			all = append(all, path)
			continue
		}
		below := runsIn(f)
		if isKind(f, runs.PipelineKind) || below == nil { // opening it gives the error
			all = append(all, path)
		}
		all = append(all, below...)
	}
	return all
}

// isKind reports whether a folder has a kind. It returns false for an unknown kind; opening the folder reports that.
func isKind(f *runs.Folder, want *runs.Kind) bool {
	k, err := f.Kind()
	return err == nil && k == want
}

// runsIn lists the run folders directly inside a folder.
func runsIn(f *runs.Folder) (below []string) {
	for _, entry := range f.Entries {
		inside, err := runs.ReadFolder(f.Files, f.At(entry.Name()))
		if err != nil || !entry.IsDir() || !inside.IsRun() ||
			isKind(f, runs.PipelineKind) && isKind(inside, runs.EvaluationKind) {
			continue
		}
		below = append(below, inside.Path)
	}
	return below
}

// plotter writes figure files.
type plotter struct {
	Options
	fsys   files.FS
	given  Given
	report *Report
	files  map[string]bool // written files
	prefix map[*runs.Run]string
}

// open reads runs and reports unreadable ones as skipped.
func (p *plotter) open(paths []string) (list []*runs.Run, faults error) {
	for _, path := range paths {
		r, err := runs.Open(p.fsys, path)
		if err == nil && r.Begun {
			err = failure.With(failure.Damaged, fmt.Errorf("%s: %w", path, runs.ErrBegun))
		}
		if err != nil {
			faults = errors.Join(faults, err)
			p.report.Skipped = append(p.report.Skipped, Skipped{Run: path, Why: err.Error()})
			continue
		}
		if r.Faults != nil {
			p.report.Skipped = append(p.report.Skipped,
				Skipped{Run: path, Figure: "parts of it", Why: r.Faults.Error()})
		}
		list = append(list, r)
	}
	p.prefix = fileNames(list)
	return list, faults
}

// fileNames maps runs to the prefix of their files: the base of the run's path, with its parent if several runs have
// the same base.
func fileNames(list []*runs.Run) map[*runs.Run]string {
	counts := map[string]int{}
	for _, r := range list {
		counts[r.Base()]++
	}
	names := map[*runs.Run]string{}
	for _, r := range list {
		names[r] = r.Base()
		if counts[names[r]] > 1 {
			names[r] = filepath.Base(filepath.Dir(runs.Absolute(r.Path))) + "-" + names[r]
		}
	}
	return names
}

// draw writes each kind of figure that applies to the runs.
func (p *plotter) draw(list []*runs.Run) error {
	p.files = map[string]bool{}
	for _, kind := range Kinds(p.given) {
		if len(p.Kinds) > 0 && !slices.Contains(p.Kinds, kind.Name) {
			continue
		}
		for _, group := range kind.Groups(list) {
			drawings, err := kind.Draw(group)
			if err != nil {
				p.report.Skipped = append(p.report.Skipped,
					Skipped{Run: group[0].Path, Figure: kind.Name, Why: err.Error()})
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
func (p *plotter) write(kind Kind, group []*runs.Run, d drawing) error {
	var names, paths []string
	for _, r := range group {
		names, paths = append(names, p.prefix[r]), append(paths, r.Path)
	}
	if len(names) > 2 {
		names = []string{names[0], fmt.Sprintf("and-%d", len(names)-1)}
	}
	name := strings.Join(append(names, kind.Name), "-")
	if d.name != "" {
		name += "-" + d.name
	}
	base := filepath.Join(p.Out, strings.Map(FileLetter, name))
	path := base + "." + p.Format
	for n := 2; p.files[path]; n++ {
		path = fmt.Sprintf("%s-%d.%s", base, n, p.Format)
	}
	p.files[path] = true
	o := figure.Options{Format: figure.Format(p.Format), Width: plotWidths[p.Width], Theme: plotThemes[p.Theme]}
	if err := files.WriteAtomic(p.fsys, path,
		func(w io.Writer) error { return figure.Render(w, d.Figure, o) }); err != nil {
		return fmt.Errorf("plot %s of %s: %w", kind.Name, group[0].Path, err)
	}
	p.report.Written = append(p.report.Written, Written{kind.Name, paths, path})
	return nil
}

// FileLetter replaces a character that is not portable in file names with a hyphen.
func FileLetter(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
		return r
	}
	return '-'
}

// Policy is a policy whose decisions are shown in figures.
type Policy struct {
	Name       string
	Chooser    evaluation.Policy
	Structural *decider.Structural // structural policy; nil for a policy in the original system's format
}
