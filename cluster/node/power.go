package node

import (
	"cmp"
	"fmt"
)

// Power models the electrical power of a device. A device without tasks draws the power Empty. With tasks, the power
// grows from Active to Full in proportion to the busy share of the cores (linear in utilisation as in Fan, Weber and
// Barroso, Power Provisioning for a Warehouse-sized Computer, ISCA 2007).
type Power struct {
	Empty  float64 // watts without tasks; zero means 25
	Active float64 // watts with an idle task; zero means 60
	Full   float64 // watts with all cores busy; zero means 250
}

// Default powers, for a board of 250 W (Tesla P100 PCIe, data sheet of 2016) at rest in its lowest and in its highest
// performance state. 'graft node devices' measures the powers of the machine's GPUs.
const (
	usualEmpty, usualActive, usualFull = 25, 60, 250
	maxPower                           = 1e5
)

// EnsureDefaults fills unset values.
func (p *Power) EnsureDefaults() {
	p.Empty, p.Active, p.Full = cmp.Or(p.Empty, usualEmpty), cmp.Or(p.Active, usualActive), cmp.Or(p.Full, usualFull)
}

// Validate returns an error if a value is out of range or the values are not in ascending order.
func (p *Power) Validate() error {
	if !(p.Empty >= 0 && p.Empty <= p.Active && p.Active <= p.Full && p.Full <= maxPower) {
		return fmt.Errorf("empty_watts is %g, active_watts is %g and full_watts is %g; expected ascending values "+
			"from 0 to %g",
			p.Empty, p.Active, p.Full, float64(maxPower))
	}
	return nil
}

// at returns the power of a device whose tasks keep a share of its cores busy.
func (p *Power) at(tasks int, busy float64) float64 {
	if tasks == 0 {
		return p.Empty
	}
	return p.Active + (p.Full-p.Active)*min(1, busy)
}
