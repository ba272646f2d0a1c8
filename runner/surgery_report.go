package main

import (
	"fmt"
	"io"
	"strings"

	"graft/net2net"
	"graft/report/document"
	"graft/runner/surgery"
)

// printSurgery writes the changes, and the resulting change of the logits.
func printSurgery(w io.Writer, r *surgery.Report) error {
	p := &document.Printer{W: w}
	done := document.NewTable("action").Numbers("", "", "parameters").Texts("tensors")
	done.Add(r.Model, r.ParametersBefore, "")
	for _, c := range r.Changes {
		done.Add(c.Action, c.Parameters, fates(c.Tensors))
	}
	p.Table(done)
	for _, c := range r.Changes {
		for _, note := range c.Notes {
			p.Line("%s: %s", c.Action, note)
		}
	}
	if len(r.Verified) > 0 {
		p.Line("")
		p.Table(verifiedTable(r))
	}
	for _, path := range r.Written {
		p.Line("wrote %s", path)
	}
	return p.Err
}

func verifiedTable(r *surgery.Report) *document.Table {
	verified := document.NewTable("mode", "inputs").Numbers("", "", "logits move by", "in l2").Texts("allowed", "")
	for _, row := range r.Verified {
		allowed, verdict := surgery.PercentText(row.Tolerance), "kept"
		if row.ByL2 {
			allowed += " in L2"
		}
		if row.Over() {
			verdict = "NOT KEPT"
		}
		verified.Add(row.Mode, row.Batch, surgery.PercentText(row.Relative), surgery.PercentText(row.L2),
			allowed, verdict)
	}
	return verified
}

// fates lists the number of tensors by fate, in a fixed order.
func fates(count map[net2net.Fate]int) string {
	var words []string
	for _, fate := range []net2net.Fate{net2net.Kept, net2net.Copied, net2net.Split, net2net.Merged, net2net.Padded,
		net2net.Cropped, net2net.New} {
		if count[fate] > 0 {
			words = append(words, fmt.Sprintf("%d %s", count[fate], fate))
		}
	}
	return strings.Join(words, ", ")
}
