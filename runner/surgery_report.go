package main

import (
	"fmt"
	"io"
	"strings"

	"graft/net2net"
	"graft/results/document"
	"graft/work/surgery"
)

// printSurgery writes what was done, and by how much the logits moved.
func printSurgery(r *surgery.Report, w io.Writer) error {
	done := document.NewTable("action").Numbers("", "", "parameters").Texts("tensors")
	done.Add(r.Model, r.ParametersBefore, "")
	for _, c := range r.Changes {
		done.Add(c.Action, c.Parameters, fates(c.Tensors))
	}
	if err := done.Print(w); err != nil {
		return err
	}
	for _, c := range r.Changes {
		for _, note := range c.Notes {
			if _, err := fmt.Fprintf(w, "%s: %s\n", c.Action, note); err != nil {
				return err
			}
		}
	}
	if err := printVerified(r, w); err != nil {
		return err
	}
	for _, path := range r.Written {
		if _, err := fmt.Fprintf(w, "wrote %s\n", path); err != nil {
			return err
		}
	}
	return nil
}

func printVerified(r *surgery.Report, w io.Writer) error {
	if len(r.Verified) == 0 {
		return nil
	}
	verified := document.NewTable("mode", "inputs").Numbers("", "", "logits move by", "in l2").Texts("allowed", "")
	for _, row := range r.Verified {
		allowed, verdict := surgery.PercentText(row.Tolerance), "kept"
		if row.ByL2 {
			allowed += " in L2"
		}
		if row.Over() {
			verdict = "NOT KEPT"
		}
		verified.Add(row.Mode, row.Batch, surgery.PercentText(row.Relative), surgery.PercentText(row.L2), allowed, verdict)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return verified.Print(w)
}

// fates lists how many tensors had which, in a fixed order.
func fates(count map[net2net.Fate]int) string {
	var words []string
	for _, fate := range []net2net.Fate{net2net.Kept, net2net.Copied, net2net.Split, net2net.Merged, net2net.Padded, net2net.Cropped, net2net.New} {
		if count[fate] > 0 {
			words = append(words, fmt.Sprintf("%d %s", count[fate], fate))
		}
	}
	return strings.Join(words, ", ")
}
