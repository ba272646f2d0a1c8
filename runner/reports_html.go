package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"graft/internal/files"
	"graft/internal/words"
	"graft/report"
	"graft/report/document"
	"graft/report/runs"
)

// writePage writes runs as a page into a file, and prints its name.
func writePage(w io.Writer, list []*runs.Run, skipped []runs.SkippedRun, o reportOptions) error {
	p, r, err := report.Page(list, skipped, report.PageOptions{All: o.all, More: "--all", Version: thisVersion()})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return r.Err()
	}
	if err := report.CheckReplace(files.OS{}, o.html, o.force); err != nil {
		return err
	}
	var text bytes.Buffer
	err = files.WriteAtomic(files.OS{}, o.html, func(w io.Writer) error { return p.Render(io.MultiWriter(w, &text)) })
	if err != nil {
		return fmt.Errorf("report --html: %w", err)
	}
	_, err = fmt.Fprintf(w, "wrote %s: %s, %s, %d kB\n", document.Printable(o.html), words.Plural(len(list), "run"),
		words.Plural(report.CountFigures(p), "figure"), (text.Len()+999)/1000)
	return errors.Join(err, r.Err())
}
