package estimates

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"graft/cluster/estimate"
	"graft/internal/files"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/plot"
	"graft/runner/app"
)

// DrawOptions configures [Draw].
type DrawOptions struct {
	Folder string // path of the output folder, created if missing
	Prefix string // prefix of the file names; empty means none
	Unit   string // unit of the target, such as s, shown on the axes
}

// Draw writes the importance and the shapes of a model's terms, each as a table and, if it can be drawn, as a figure.
// It replaces files with the same names. It returns the paths of the files.
func Draw(ctx context.Context, env *app.Env, m *estimate.Model, o DrawOptions) ([]string, error) {
	if err := env.Files.MkdirAll(o.Folder); err != nil {
		return nil, fmt.Errorf("write term shapes: %w", err)
	}
	o.Unit = Unit(o.Unit, m.Target())
	f := &shapeFiles{fsys: env.Files, o: o}
	terms := Terms(m)
	f.table("importance", importanceRows(terms))
	f.figure("importance", drawImportance(terms, o.Unit))
	shapes, err := shapesOf(m, "")
	if err != nil {
		return nil, err
	}
	for _, s := range shapes {
		if err := cmp.Or(ctx.Err(), f.fault); err != nil {
			return nil, err
		}
		name := strings.Join(s.Term.Features, "-")
		f.table(name, s.Table())
		if drawn := drawShape(s, o.Unit); drawn != nil {
			f.figure(name, drawn)
		}
	}
	return f.written, f.fault
}

// shapeFiles writes tables and figures. It writes nothing after its first fault.
type shapeFiles struct {
	fsys    files.FS
	o       DrawOptions
	written []string
	fault   error
}

func (f *shapeFiles) table(name string, rows [][]string) {
	f.write(name+".csv", func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

func (f *shapeFiles) figure(name string, drawn figure.Figure) {
	f.write(name+".svg", func(w io.Writer) error { return figure.Render(w, drawn, figure.Options{}) })
}

func (f *shapeFiles) write(name string, fill func(io.Writer) error) {
	if f.fault != nil {
		return
	}
	path := filepath.Join(f.o.Folder, strings.Map(plot.FileLetter, f.o.Prefix+name))
	if f.fault = files.WriteAtomic(f.fsys, path, fill); f.fault == nil {
		f.written = append(f.written, path)
	}
}

func importanceRows(terms []Term) [][]string {
	rows := [][]string{{"term", "importance"}}
	for _, t := range terms {
		rows = append(rows, []string{t.Name, document.ShortText(t.Importance)})
	}
	return rows
}
