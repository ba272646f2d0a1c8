package main

import (
	"fmt"
	"io"

	"graft/results/document"
	"graft/work/simulate"
)

func printSubmission(s *simulate.Submission, w io.Writer, json bool) error {
	if json {
		return document.PrintJSON(w, s)
	}
	last := s.Jobs[len(s.Jobs)-1]
	_, err := fmt.Fprintf(w, "%s: job %s of %s, called %s\nwatch them, and collect the table, with\n  graft fleet attach %s\n", document.Counted(s.Workers, "worker"), last, s.Engine, s.Batch, s.Folder)
	return err
}
