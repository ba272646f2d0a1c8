// Package curves fits learning curves of growing networks to tables, for cluster simulations.
package curves

import (
	"context"
	"errors"
	"fmt"
	"io"

	"graft/cluster/curves"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/runner/app"
	"graft/simulation/tables"
)

// Options configures [Fit].
type Options struct {
	Out     string // path of the file of curves; required
	Force   bool   // replaces an existing file; if false, an existing file is an error
	Workers int    // number of tables fitted in parallel; zero means one per processor
}

// Report lists fitted curves. `graft cluster curves --json` prints it.
type Report struct {
	Out    string          `json:"out"`    // path of the file
	Curves []*curves.Curve `json:"curves"` // curves in the order of the tables
	// means of the errors of predictions over the curves; "sequences" is their total number
	Mean curves.Quality `json:"mean"`
}

// Fit fits a curve to each table, and writes the curves.
func Fit(ctx context.Context, env *app.Env, folders []string, o Options) (*Report, error) {
	if err := app.MayWriteFile(env.Files, o.Out, o.Force); err != nil {
		return nil, err
	}
	r := &Report{Out: o.Out, Curves: make([]*curves.Curve, len(folders))}
	errs := parallel.Each(ctx, len(folders), o.Workers, func(k int) (err error) {
		r.Curves[k], err = fit(env.Files, folders[k])
		return err
	})
	if err := errors.Join(ctx.Err(), errs.Join()); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for k, c := range r.Curves {
		if other := names[c.Name]; other != "" {
			return nil, failure.Usagef("the tables %s and %s have the same name %s; fit one of them", other, folders[k],
				c.Name)
		}
		names[c.Name] = folders[k]
	}
	r.Mean = mean(r.Curves)
	return r, files.WriteAtomic(env.Files, o.Out, func(w io.Writer) error { return curves.Write(w, r.Curves) })
}

func fit(fsys files.FS, folder string) (*curves.Curve, error) {
	table, network, _, err := tables.ReadFolder(fsys, folder, config.NetworkOf)
	if err != nil {
		return nil, app.ReadFault(fmt.Errorf("%w; name folders of tables, such as runs/NAME/table of "+
			"'graft simulate'", err))
	}
	c, err := curves.Fit(table, network)
	if err != nil {
		return nil, failure.With(failure.Damaged, fmt.Errorf("fit a learning curve to %s: %w", folder, err))
	}
	return c, nil
}

// mean returns the means of errors.
func mean(list []*curves.Curve) (q curves.Quality) {
	over := func(of func(q curves.Quality) float64) float64 {
		var values []float64
		for _, c := range list {
			values = append(values, of(c.Fit))
		}
		return stat.Mean(values)
	}
	for _, c := range list {
		q.Sequences += c.Fit.Sequences
	}
	q.Error = over(func(q curves.Quality) float64 { return q.Error })
	q.Constant = over(func(q curves.Quality) float64 { return q.Constant })
	q.Noise = over(func(q curves.Quality) float64 { return q.Noise })
	q.Regret = over(func(q curves.Quality) float64 { return q.Regret })
	q.Never = over(func(q curves.Quality) float64 { return q.Never })
	return q
}
