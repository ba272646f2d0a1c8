package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"graft/internal/failure"
	"graft/report"
	"graft/report/contrast"
	"graft/report/runs"
)

// reportContrasts prints the contrasts of a file over several sweeps. A folder that cannot be read is an error, because
// a contrast over fewer settings answers another question.
func reportContrasts(ctx context.Context, w io.Writer, args []string, o reportOptions) error {
	env := environment(ctx)
	f, err := contrast.Read(env.Files, o.contrasts)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, arg := range args {
		clean := filepath.Clean(arg)
		if named[clean] {
			return failure.Usagef("%s is named twice; name each folder once", arg)
		}
		named[clean] = true
	}
	list, skipped := runs.OpenAll(env.Files, args)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, s := range skipped {
		err = errors.Join(err, s.Err)
	}
	for _, r := range list {
		err = errors.Join(err, r.Faults)
	}
	if err != nil {
		return err
	}
	r, err := report.NewContrasts(f, list, o.all)
	if err != nil {
		return err
	}
	return errors.Join(r.Write(w, o.form()), r.Err())
}
