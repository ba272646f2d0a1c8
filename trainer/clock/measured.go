package clock

import (
	"strconv"

	"graft/internal/stat"
)

// Measured holds the times that trainer.Measure measured.
type Measured struct {
	Networks []Measurement // one measurement per network and batch size
	Decision Seconds       // time of a decision
	// time of a surgery operation, including calibration and the change of the optimizer, averaged over kinds of
	// operations
	Surgery Seconds
}

// Seconds holds the median and the spread of repeated measurements of a time, in seconds.
type Seconds struct {
	Median float64
	Spread float64 // half the interquartile range in seconds
}

// SecondsOf returns the median and the spread of measured times, or zero for an empty list.
func SecondsOf(values []float64) Seconds {
	if len(values) == 0 {
		return Seconds{}
	}
	median, spread := stat.MedianSpread(values)
	return Seconds{median, spread}
}

// Rounded returns the time with five significant digits, since further digits would be noise.
func (s Seconds) Rounded() Seconds { return Seconds{digits(s.Median), digits(s.Spread)} }

// digits rounds to five decimal digits.
func digits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 4, 64), 64)
	if err != nil {
		return v // unreachable: the text was just formatted
	}
	return rounded
}

// Profile creates a device profile from the measurements, and fits rates per unit of work to them.
func (m *Measured) Profile(name, device string, made Provenance) *Profile {
	p := &Profile{Version: profileVersion, Name: name, Device: device, Made: made, Measured: m.Networks}
	decision, surgery := m.Decision.Rounded(), m.Surgery.Rounded()
	p.Costs.DecisionSeconds, p.Costs.DecisionSpread = decision.Median, decision.Spread
	p.Costs.SurgerySeconds, p.Costs.SurgerySpread = surgery.Median, surgery.Spread
	p.Refit()
	return p
}
