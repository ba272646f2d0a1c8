package costs

import (
	"errors"
	"math"

	"graft/internal/validate"
)

// Hardware holds the performance constants of devices and of the links between them. The zero Hardware is invalid.
type Hardware struct {
	Name    string   // name that selects the hardware
	About   string   // description of the device and of the server
	Sources []string // origin of each constant
	Device  Device   // the device
	Link    Link     // links inside a server
	Network Network  // network between servers
	Steps   Steps    // times of the host in graft's own steps; zero means unknown
	Checked []Check  // errors of predicted times; empty means that no prediction was checked
}

// Listing returns the hardware's name and description.
func (h *Hardware) Listing() (name, about string) { return h.Name, h.About }

// Device holds the performance constants of a device and of the host that launches its operators.
type Device struct {
	HalfRate   float64 // peak rate of matrix products in half precision, in operations per second
	SingleRate float64 // peak rate of matrix products in single precision, in operations per second
	// peak rate of matrix products whose operands are rounded to TF32, in operations per second; zero means that the
	// device does not round
	Tf32Rate   float64
	Efficiency float64 // fraction of the peak rate that large products reach, from 0 to 1
	// fraction of Efficiency that remains if a dimension of a half-precision product is not a multiple of Alignment
	Unaligned float64
	Alignment int     // dimensions of fast half-precision products are multiples of this; zero means 1
	Units     int     // number of units that multiply tiles at the same time; zero means 1
	Tile      int     // rows and columns of a tile of a product; zero means 1
	Bandwidth float64 // attained bandwidth of the memory, in bytes per second
	Launch    float64 // time of the host per operator, in seconds
	// order of the norm that blends the times of device and host; 1 means no overlap, and a large value means perfect
	// overlap
	Overlap float64
	Power   float64 // maximum electrical power, in watts; zero means unknown
}

// Steps holds the times that the host, and kernels without work, take in graft's own steps, in seconds.
type Steps struct {
	Step     float64 // time of the host for a training step, without its tensors
	Tensor   float64 // time of the host for each trained tensor in a training step
	Batch    float64 // time of the host for an evaluation batch, without its operators
	Operator float64 // time of the host for each operator in an evaluation
	Kernel   float64 // time of the device for each kernel without work
	// Checked holds the errors of computed steps on measurements of this device that decided no constant; empty means
	// that none was checked.
	Checked []StepCheck
}

// StepCheck holds the relative errors of computed times of graft's own steps, as fractions.
type StepCheck struct {
	On     string  // description of the measurements
	Rows   int     // number of measurements
	Median float64 // median absolute error
	Worst  float64 // largest absolute error
}

// Link holds the performance constants of collective operations inside a server.
type Link struct {
	Devices int     // number of devices of a server
	Rate    float64 // rate of a device's links in each direction, or of a ring, in bytes per second
	// Rings[k] is the number of parallel rings, each with the rate Rate, in a group of k+2 devices; larger groups use
	// the last entry, and empty means one ring. Servers without a switch have links between some pairs of devices only,
	// so the number of devices decides how many rings use separate links.
	Rings  []float64
	Reduce float64 // rate at which a device passes a message through its memory, in bytes per second
	Start  float64 // time to start a collective, in seconds
	Step   float64 // time of a step of a ring, in seconds
	Skew   float64 // wait for the slowest rank of a tensor-parallel collective, in seconds per further rank
}

// Network holds the performance constants of the network between servers.
type Network struct {
	Rate       float64 // rate of a server's network in each direction, in bytes per second
	Efficiency float64 // fraction of Rate that collectives reach, from 0 to 1
	Step       float64 // time of a step of a ring between servers, in seconds
	// bandwidth of a message between two pipeline stages while all devices of a server send, in bytes per second
	Message float64
}

// Check holds the prediction errors on measurements that were not used to fit the constants, and the range of these
// measurements.
type Check struct {
	On            string  // description of the measurements
	FewestDevices int     // smallest number of devices
	MostDevices   int     // largest number of devices
	LeastHidden   int     // smallest hidden size of a model
	MostHidden    int     // largest hidden size of a model
	Rows          int     // number of measurements
	Mean          float64 // mean absolute relative error, as a fraction
	Median        float64 // median absolute relative error, as a fraction
	Ninth         float64 // 90th percentile of the absolute relative error, as a fraction
	Explained     float64 // fraction of the variance of the times that predictions explain, R2
}

// Validate returns an error that lists every invalid constant.
func (h *Hardware) Validate() error {
	var f validate.Faults
	f.When(h.Name == "", "name: missing")
	for _, c := range h.rates() {
		f.Unless(c.value > 0 && !math.IsInf(c.value, 0), "%s: got %v; expected a positive number", c.key, c.value)
	}
	for _, c := range h.times() {
		f.Unless(c.value >= 0 && c.value <= longest, "%s: got %v; expected 0 to %v seconds", c.key, c.value, longest)
	}
	for _, c := range h.fractions() {
		f.Unless(c.value > 0 && c.value <= 1, "%s: got %v; expected more than 0, at most 1", c.key, c.value)
	}
	f.Unless(h.Device.Overlap >= 1 && h.Device.Overlap <= mostOverlap,
		"device.overlap: got %v; expected 1 to %v", h.Device.Overlap, mostOverlap)
	for _, c := range h.Checked {
		f.Unless(c.Rows >= 1, "checked: %q: rows: got %d; expected 1 or more", c.On, c.Rows)
		f.Unless(c.finite(), "checked: %q: expected finite errors of at least 0, and a finite value of \"explained\"",
			c.On)
	}
	f.Unless(h.Device.Tf32Rate >= 0 && !math.IsInf(h.Device.Tf32Rate, 0) && h.Device.Power >= 0 &&
		!math.IsInf(h.Device.Power, 0), "device: tf32_rate is %v and power is %v; must be finite and at least 0",
		h.Device.Tf32Rate, h.Device.Power)
	for _, c := range h.Steps.Checked {
		f.Unless(c.Rows >= 1 && c.Median >= 0 && c.Worst >= c.Median && !math.IsInf(c.Worst, 0),
			"steps.checked: %q: rows is %d with errors of %v and %v; expected 1 or more, and a finite worst error "+
				"of at least the median", c.On, c.Rows, c.Median, c.Worst)
	}
	f.When(min(h.Device.Alignment, h.Device.Units, h.Device.Tile) < 0,
		"device: alignment, units and tile must not be negative")
	f.Unless(len(h.Link.Rings) == 0 || len(h.Link.Rings) == h.Link.Devices-1,
		"link.rings: got %d numbers for %d devices; expected none, or one for each group size from 2 to this number",
		len(h.Link.Rings), h.Link.Devices)
	for _, rings := range h.Link.Rings {
		f.Unless(rings > 0 && rings <= mostRings, "link.rings: got %v; expected more than 0, at most %d", rings,
			mostRings)
	}
	f.Unless(h.Link.Devices >= 1 && h.Link.Devices <= mostDevices, "link.devices: got %d; expected 1 to %d",
		h.Link.Devices, mostDevices)
	return errors.Join(f...)
}

func (c *Check) finite() bool {
	most := max(c.Mean, c.Median, c.Ninth, math.Abs(c.Explained))
	return min(c.Mean, c.Median, c.Ninth) >= 0 && !math.IsInf(most, 0) && !math.IsNaN(most)
}

// CheckOf returns the check whose range contains a model and its plan, and whether there is one.
func (h *Hardware) CheckOf(t Transformer, p Plan) (Check, bool) {
	devices := p.Devices()
	for _, c := range h.Checked {
		if devices >= c.FewestDevices && devices <= c.MostDevices && t.Hidden >= c.LeastHidden &&
			t.Hidden <= c.MostHidden {
			return c, true
		}
	}
	return Check{}, false
}

// Limits of the constants. Beyond the order of the norm, its powers exceed the range of float64.
const (
	longest     = 1.0 // of a launch or a step, in seconds
	mostOverlap = 16
	mostDevices = 1 << 20
	mostRings   = 1024
)

type constant struct {
	key   string
	value float64
}

func (h *Hardware) rates() []constant {
	return []constant{{"device.half_rate", h.Device.HalfRate}, {"device.single_rate", h.Device.SingleRate},
		{"device.bandwidth", h.Device.Bandwidth}, {"link.rate", h.Link.Rate}, {"link.reduce", h.Link.Reduce},
		{"network.rate", h.Network.Rate}, {"network.message", h.Network.Message}}
}

func (h *Hardware) times() []constant {
	return []constant{{"device.launch", h.Device.Launch}, {"link.start", h.Link.Start}, {"link.step", h.Link.Step},
		{"link.skew", h.Link.Skew}, {"network.step", h.Network.Step}, {"steps.step", h.Steps.Step},
		{"steps.tensor", h.Steps.Tensor}, {"steps.batch", h.Steps.Batch}, {"steps.operator", h.Steps.Operator},
		{"steps.kernel", h.Steps.Kernel}}
}

func (h *Hardware) fractions() []constant {
	return []constant{{"device.efficiency", h.Device.Efficiency}, {"device.unaligned", h.Device.Unaligned},
		{"network.efficiency", h.Network.Efficiency}}
}
