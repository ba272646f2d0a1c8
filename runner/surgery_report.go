package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"graft/net2net"
	"graft/results/document"
)

// surgeryReport is what `graft surgery --json` prints.
type surgeryReport struct {
	Model            string          `json:"model"`              // the class that it prints as
	ParametersBefore int             `json:"parameters_before"`  // that an optimizer moves
	ParametersAfter  int             `json:"parameters_after"`   // all operations
	Changes          []changeSummary `json:"changes"`            // in the order in which they were done
	Verified         []driftRow      `json:"verified,omitempty"` // with --verify
	Written          []string        `json:"written,omitempty"`  // the files
}

// changeSummary is one operation.
type changeSummary struct {
	Action     string               `json:"action"`          // as --action takes it, or what was taken back
	Parameters int                  `json:"parameters"`      // after it
	Tensors    map[net2net.Fate]int `json:"tensors"`         // how many had each fate
	Notes      []string             `json:"notes,omitempty"` // sentences for a person
}

// driftRow is how far logits moved on one kind of batch.
type driftRow struct {
	Mode      string  `json:"mode"`      // train or eval
	Batch     string  `json:"batch"`     // which inputs: those given, or others drawn
	Tolerance float64 `json:"tolerance"` // of the relative change, or of the L2 one
	ByL2      bool    `json:"by_l2"`     // the tolerance is of the L2 change
	net2net.Drift
}

func (r driftRow) over() bool {
	if r.ByL2 {
		return !(r.L2 <= r.Tolerance)
	}
	return !(r.Relative <= r.Tolerance)
}

// failures says where the logits moved too far.
func (r *surgeryReport) failures() error {
	var faults []error
	for _, row := range r.Verified {
		if row.over() {
			hint := ""
			if row.ByL2 {
				hint = "; --form residual keeps it on every batch, and with more --rows batches differ less"
			}
			faults = append(faults, fmt.Errorf("the function is not kept in %s mode on %s: it moves by %s, over %s; nothing was written%s",
				row.Mode, row.Batch, row.moved(), percent(row.Tolerance), hint))
		}
	}
	return errors.Join(faults...)
}

func (r driftRow) moved() string {
	if r.ByL2 {
		return percent(r.L2) + " (L2)"
	}
	return percent(r.Relative)
}

// percent writes a share such that small ones can still be read.
func percent(v float64) string {
	if v != 0 && v < 1e-3 {
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.2g%%", 100*v)
}

// print writes what was done, and by how much the logits moved.
func (r *surgeryReport) print(w io.Writer) error {
	done := document.NewTable("ACTION", ">PARAMETERS", "TENSORS")
	done.Add(r.Model, fmt.Sprint(r.ParametersBefore), "")
	for _, c := range r.Changes {
		done.Add(c.Action, fmt.Sprint(c.Parameters), fates(c.Tensors))
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
	if err := r.printVerified(w); err != nil {
		return err
	}
	for _, path := range r.Written {
		if _, err := fmt.Fprintf(w, "wrote %s\n", path); err != nil {
			return err
		}
	}
	return nil
}

func (r *surgeryReport) printVerified(w io.Writer) error {
	if len(r.Verified) == 0 {
		return nil
	}
	verified := document.NewTable("MODE", "INPUTS", ">LOGITS MOVE BY", ">IN L2", "ALLOWED", "")
	for _, row := range r.Verified {
		allowed, verdict := percent(row.Tolerance), "kept"
		if row.ByL2 {
			allowed += " in L2"
		}
		if row.over() {
			verdict = "NOT KEPT"
		}
		verified.Add(row.Mode, row.Batch, percent(row.Relative), percent(row.L2), allowed, verdict)
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
