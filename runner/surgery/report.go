package surgery

import (
	"errors"
	"fmt"

	"graft/net2net"
)

// Report describes surgery on a network; `graft surgery --json` prints it.
type Report struct {
	Model string `json:"model"` // class name in prints
	// number of trained parameters before the first surgery operation
	ParametersBefore int             `json:"parameters_before"`
	ParametersAfter  int             `json:"parameters_after"`   // number of trained parameters after all operations
	Changes          []changeSummary `json:"changes"`            // changes in order
	Verified         []driftReport   `json:"verified,omitempty"` // measured changes of the function, with --verify
	Written          []string        `json:"written,omitempty"`  // paths of the written files
}

// changeSummary describes one operation.
type changeSummary struct {
	// action in the syntax of --action; a reverted action starts with "take back"
	Action     string               `json:"action"`
	Parameters int                  `json:"parameters"`      // parameters after it
	Tensors    map[net2net.Fate]int `json:"tensors"`         // number of tensors by fate
	Notes      []string             `json:"notes,omitempty"` // notes as sentences
}

// driftReport holds the change of the logits on one kind of batch.
type driftReport struct {
	Mode      string  `json:"mode"`      // train or eval
	Batch     string  `json:"batch"`     // inputs: the given ones, or random ones
	Tolerance float64 `json:"tolerance"` // tolerance of the relative change, or of the L2 change
	ByL2      bool    `json:"by_l2"`     // the tolerance applies to the L2 change
	net2net.Drift
}

func (r driftReport) Over() bool {
	if r.ByL2 {
		return !(r.L2 <= r.Tolerance)
	}
	return !(r.Relative <= r.Tolerance)
}

// failures returns an error that names each batch whose logits changed too much. Outputs states whether output files
// were requested.
func (r *Report) failures(outputs bool) error {
	var faults []error
	for _, row := range r.Verified {
		if !row.Over() {
			continue
		}
		text, hint := "", "a larger option \"tolerance\" accepts the change"
		if row.ByL2 {
			hint = "\"residual\" for option \"form\" keeps the function on every batch, and a larger option \"rows\" " +
				"makes batches more similar"
		}
		if outputs {
			text = "; no files were written"
		}
		faults = append(faults, fmt.Errorf("the network's function changed: in %s mode on %s, the outputs differ by "+
			"%s, but the tolerance is %s%s; %s", row.Mode, row.Batch, row.moved(), PercentText(row.Tolerance), text,
			hint))
	}
	return errors.Join(faults...)
}

func (r driftReport) moved() string {
	if r.ByL2 {
		return PercentText(r.L2) + " (L2)"
	}
	return PercentText(r.Relative)
}

// PercentText formats a fraction as a percentage, or as a plain number if it is below 0.1%.
func PercentText(v float64) string {
	if v != 0 && v < 1e-3 {
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.2g%%", 100*v)
}
