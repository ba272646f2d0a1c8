package surgery

import (
	"errors"
	"fmt"

	"graft/net2net"
)

// Report describes surgery on a network; `graft surgery --json` prints it.
type Report struct {
	Model            string          `json:"model"`              // the class that it prints as
	ParametersBefore int             `json:"parameters_before"`  // that an optimizer moves
	ParametersAfter  int             `json:"parameters_after"`   // all operations
	Changes          []changeSummary `json:"changes"`            // in the order in which they were done
	Verified         []driftReport   `json:"verified,omitempty"` // with --verify
	Written          []string        `json:"written,omitempty"`  // the files
}

// changeSummary describes one operation.
type changeSummary struct {
	// as --action takes it; one that was undone begins with "take back"
	Action     string               `json:"action"`
	Parameters int                  `json:"parameters"`      // after it
	Tensors    map[net2net.Fate]int `json:"tensors"`         // how many had each fate
	Notes      []string             `json:"notes,omitempty"` // sentences for a person
}

// driftReport holds the change of the logits on one kind of batch.
type driftReport struct {
	Mode      string  `json:"mode"`      // train or eval
	Batch     string  `json:"batch"`     // which inputs: those given, or others drawn
	Tolerance float64 `json:"tolerance"` // of the relative change, or of the L2 one
	ByL2      bool    `json:"by_l2"`     // the tolerance is of the L2 change
	net2net.Drift
}

func (r driftReport) Over() bool {
	if r.ByL2 {
		return !(r.L2 <= r.Tolerance)
	}
	return !(r.Relative <= r.Tolerance)
}

// failures is an error that names each batch whose logits moved too far.
func (r *Report) failures() error {
	var faults []error
	for _, row := range r.Verified {
		if row.Over() {
			hint := ""
			if row.ByL2 {
				hint = "; option form residual keeps it on every batch, and with more option rows batches differ less"
			}
			faults = append(faults, fmt.Errorf("the function is not kept in %s mode on %s: it moves by %s, over %s; "+
				"nothing was written%s", row.Mode, row.Batch, row.moved(), PercentText(row.Tolerance), hint))
		}
	}
	return errors.Join(faults...)
}

func (r driftReport) moved() string {
	if r.ByL2 {
		return PercentText(r.L2) + " (L2)"
	}
	return PercentText(r.Relative)
}

// PercentText formats a share in percent, below 0.1% as the plain number.
func PercentText(v float64) string {
	if v != 0 && v < 1e-3 {
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.2g%%", 100*v)
}
