package main

import (
	"fmt"
	"io"

	"graft/results/report"
	"graft/work/simulate"
)

func printSimulateReport(r *simulate.Report, w io.Writer) error {
	if r.Outcome != nil {
		if err := report.PrintTable(r.Outcome, w, false); err != nil {
			return err
		}
	}
	s := r.State
	_, err := fmt.Fprintf(w, "%d of %d runs ended, of %d legs: %d steps of training", s.Ended, s.Sequences, s.Segments, s.Steps)
	if err == nil && s.Alone > s.Steps {
		_, err = fmt.Fprintf(w, ", %d if each had been run alone (%.1f times)", s.Alone, float64(s.Alone)/float64(s.Steps))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "\nthe table is %s, in the cache %s\n", r.Table, r.Cache)
	}
	for _, path := range r.Damaged {
		if err == nil {
			_, err = fmt.Fprintf(w, "damaged, and run again: %s\n", path)
		}
	}
	return err
}
