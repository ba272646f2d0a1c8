package costs

import "math"

// Seconds returns the time of operators that run in order, launched by one host thread.
func (h *Hardware) Seconds(operators []Operator) float64 { return h.blend(h.load(operators)) }

// load is the work of a list of operators: the seconds of the device and of the host.
type load struct{ device, host float64 }

func (l load) plus(other load) load { return load{l.device + other.device, l.host + other.host} }

func (h *Hardware) load(operators []Operator) (l load) {
	for k := range operators {
		o := &operators[k]
		l.device += h.DeviceSeconds(o)
		l.host += h.Device.Launch
		if o.Kind == AllReduce && o.Group.Stride <= 1 {
			l.host += h.Link.Skew * float64(max(0, o.Group.Ranks-1))
		}
	}
	return l
}

// blend returns the time in which device and host finish: the norm of their times.
func (h *Hardware) blend(l load) float64 {
	long, n := max(l.device, l.host), h.Device.Overlap
	if long == 0 {
		return 0
	}
	return long * math.Pow(math.Pow(l.device/long, n)+math.Pow(l.host/long, n), 1/n)
}

// DeviceSeconds returns the time of an operator on the device, without its launch.
func (h *Hardware) DeviceSeconds(o *Operator) float64 {
	if o.Kind == AllReduce {
		return h.AllReduceSeconds(o.Bytes, o.Group)
	}
	seconds := o.Traffic() / h.Device.Bandwidth
	if o.Kind == Product {
		seconds += h.Device.paddedOperations(o) / h.Device.rate(o)
	}
	return seconds
}

// paddedOperations returns the operations of a product with whole tiles, in whole waves over the units.
func (d *Device) paddedOperations(o *Operator) float64 {
	tile, units := max(1, d.Tile), max(1, d.Units)
	tiles := whole(o.Rows, tile) * whole(o.Columns, tile) * float64(o.Batch)
	waves := math.Ceil(tiles / float64(units))
	return 2 * waves * float64(units) * float64(tile) * float64(tile) * float64(o.Inner)
}

// whole returns the number of parts of a size that cover n.
func whole(n, size int) float64 { return math.Ceil(float64(n) / float64(size)) }

// rate returns the attained rate of a product in operations per second.
func (d *Device) rate(o *Operator) float64 {
	if o.Precision == Single {
		return d.SingleRate * d.Efficiency
	}
	rate := d.HalfRate * d.Efficiency
	if a := max(1, d.Alignment); o.Rows%a != 0 || o.Columns%a != 0 || o.Inner%a != 0 {
		rate *= d.Unaligned
	}
	return rate
}
