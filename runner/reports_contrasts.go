package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

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
	for k, arg := range args {
		if slices.ContainsFunc(args[:k], func(other string) bool { return filepath.Clean(other) == filepath.Clean(arg) }) {
			return failure.Usagef("%s is named twice; name each folder once", arg)
		}
	}
	list, skipped := runs.OpenAll(env.Files, args)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, s := range skipped {
		err = errors.Join(err, s.Err)
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
