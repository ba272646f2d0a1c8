package operators

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"graft/internal/stat"
	"graft/internal/validate"
)

// Device holds the measured times of a device's operators in training steps of many networks. It predicts the steps of
// any network on this device. The zero Device is empty.
type Device struct {
	Path Path // path of graft that ran the operators; empty means an empty Device
	// format of the points; zero means the format of earlier versions of graft, with fewer names and sizes
	Format    int
	Networks  int        // number of networks in which the operators were measured
	Operators []Operator // operators, each with all its measurements
}

// Operator holds the measured times of an operator.
type Operator struct {
	Name string // name in PyTorch, with endings for variants, such as "conv2d channels-last"
	// Points has a text of 14 numbers for each measured call: 7 sizes, the memory of the step in units of 1024 bytes,
	// the number of different operators of the step, the operations and bytes of the forward pass, and the seconds of
	// the forward pass and of the backward pass of a step, and of the forward pass of an evaluation. The order of the
	// sizes depends on the operator. Texts of earlier versions of graft lack the number of different operators.
	Points []string
}

// Number of values of a point before and after the sizes.
const (
	pointTimes  = 3
	pointValues = len(sizes{}) + 2 + pointTimes
)

// Indices in the times of a point.
const (
	forwardTime = iota
	backwardTime
	evaluationTime // forward pass of an evaluation
)

// measured is a point of an operator.
type measured struct {
	call  Call
	times [pointTimes]float64
}

// text formats the point.
func (m *measured) text() string {
	var words []string
	for _, n := range m.call.sizes {
		words = append(words, strconv.Itoa(n))
	}
	for _, v := range []float64{m.call.Operations, m.call.Bytes, digits(m.times[0]), digits(m.times[1]),
		digits(m.times[2])} {
		words = append(words, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(words, " ")
}

// parsePoint reads a point of an operator.
func parsePoint(name, text string) (m measured, err error) {
	words, before := strings.Fields(text), len(m.call.sizes) // numbers before the amounts
	if len(words) == pointValues-1 {                         // without the number of different operators
		words, before = slices.Insert(words, kinds, "0"), before-1
	}
	if len(words) != pointValues {
		return m, fmt.Errorf("got %d numbers; expected %d", len(words), pointValues)
	}
	m.call.Name = name
	for k, word := range words[:len(m.call.sizes)] {
		n, err := strconv.Atoi(word)
		if m.call.sizes[k] = n; err != nil || n < 0 || n > largestSize {
			return m, fmt.Errorf("size %d is %q; must be a whole number from 0 to %d", k+1, word, int64(largestSize))
		}
	}
	for k, to := range []*float64{&m.call.Operations, &m.call.Bytes, &m.times[0], &m.times[1], &m.times[2]} {
		word := words[len(m.call.sizes)+k]
		if *to, err = strconv.ParseFloat(word, 64); err != nil || !amount(*to) {
			return m, fmt.Errorf("number %d is %q; must be finite and at least 0", before+k+1, word)
		}
	}
	return m, nil
}

// Limits of a device.
const (
	mostOperators = 1 << 10
	mostPoints    = 1 << 10
)

// Validate returns an error that lists every invalid value.
func (d *Device) Validate() error {
	var f validate.Faults
	f.Unless(len(d.Operators) == 0 || d.Path == Exact || d.Path == Fast, "path is %q; expected one of: %s, %s", d.Path,
		Exact, Fast)
	f.Unless(d.Format >= 0 && d.Format <= pointFormat, "format is %d; must be from 0 to %d; a newer version of graft "+
		"may have written the profile", d.Format, pointFormat)
	f.When(d.Networks < 0, "networks is %d; must be at least 0", d.Networks)
	f.Unless(len(d.Operators) <= mostOperators, "operators has %d entries; the maximum is %d", len(d.Operators),
		mostOperators)
	known := map[string]bool{}
	for k := range d.Operators {
		o := &d.Operators[k]
		f.When(o.Name == "", "operators: operator %d has no name", k+1)
		f.When(known[o.Name], "operators: duplicate operator %s; remove one", o.Name)
		known[o.Name] = true
		f.Unless(len(o.Points) > 0 && len(o.Points) <= mostPoints, "operators: %s has %d points; must be from 1 to %d",
			o.Name, len(o.Points), mostPoints)
		for i, p := range o.Points {
			if _, err := parsePoint(o.Name, p); err != nil {
				f = append(f, fmt.Errorf("operators: %s: point %d: %w", o.Name, i+1, err))
			}
		}
	}
	return errors.Join(f...)
}

// largestSize limits the sizes of a point.
const largestSize = 1 << 50

// deviceFit predicts times from a device's operators.
type deviceFit struct {
	path     Path
	names    []string // in the order of the device
	points   map[string][]measured
	rates    [pointTimes][baseRates]float64 // of all layers, for operators with few points
	surfaces map[string]*surface            // made when they are needed
	known    map[wanted]predicted           // predicted calls
	format   int
	oldest   bool // whether a version of graft measured the operators that did not count the different operators
}

// wanted identifies the calls that take equal time.
type wanted struct {
	name                      string
	operations, bytes, scores uint64 // bits of the numbers, which are faster to look up
	sizes                     sizes
}

// predicted holds the predicted times of a call.
type predicted struct {
	times [pointTimes]float64
	at    callRange
}

// mostPredicted limits the remembered calls.
const mostPredicted = 1 << 14

// fit prepares predictions.
func (d *Device) fit() *deviceFit {
	f := &deviceFit{path: d.Path, format: d.Format, points: map[string][]measured{}, surfaces: map[string]*surface{},
		known: map[wanted]predicted{}}
	var all []measured
	for _, o := range d.Operators {
		for _, text := range o.Points {
			if m, err := parsePoint(o.Name, text); err == nil { // an invalid device is not used
				f.points[o.Name] = append(f.points[o.Name], m)
			}
		}
		f.names = append(f.names, o.Name)
		all = append(all, f.points[o.Name]...)
	}
	layers := slices.DeleteFunc(slices.Clone(all), func(m measured) bool {
		return around(base(m.call.Name)) || m.call.Name == Updating
	})
	for back := range f.rates {
		f.rates[back] = baseOf(layers, back)
	}
	f.oldest = !slices.ContainsFunc(all, func(m measured) bool { return m.call.sizes[kinds] > 0 })
	return f
}

// pointFormat is the format of the points that are written.
const pointFormat = 1

// older returns a call in the points' format 0.
func (c *Call) older() *Call {
	o := *c
	o.Name = strings.Replace(o.Name, withoutGradient, "", 1)
	switch {
	case strings.HasPrefix(o.Name, attending):
		o.sizes = o.sizes.olderAttention()
	case o.pixelled():
		o.sizes[pixelSize] = 0
	}
	return &o
}

// oldest returns a call as the first version of graft that measured operators described it.
func (c *Call) oldest() *Call {
	o := c.older()
	o.sizes[kinds] = 0
	for _, ending := range []string{ofPermuted, beforeFork, beforePool} {
		o.Name = strings.Replace(o.Name, ending, "", 1)
	}
	return o
}

// baseOf fits rates that are never negative, with the least sum of squared relative errors. A time of zero means that
// the operator has no such pass.
func baseOf(all []measured, back int) (rates [baseRates]float64) {
	var rows [][]float64
	var targets []float64
	for k := range all {
		m := &all[k]
		if m.times[back] == 0 {
			continue
		}
		row, seconds := amountsOf(&m.call), max(m.times[back], leastSeconds)
		for i := range row {
			row[i] /= seconds
		}
		rows, targets = append(rows, row[:]), append(targets, 1)
	}
	if len(rows) > 0 {
		copy(rates[:], stat.NonNegative(rows, targets))
	}
	return rates
}

// seconds returns the times of a call, and its place relative to the measured sizes.
func (f *deviceFit) seconds(c *Call) (times [pointTimes]float64, at callRange) {
	switch {
	case f.oldest:
		c = c.oldest()
	case f.format < pointFormat:
		c = c.older()
	}
	if times, at = f.fitted(c); c.still {
		times[backwardTime] = 0
	}
	return times, at
}

func (f *deviceFit) fitted(c *Call) (times [pointTimes]float64, at callRange) {
	name := f.nearest(c.Name)
	if name == "" {
		for back := range times {
			w := way{rates: f.rates[back]}
			times[back] = w.base(amountsOf(c))
		}
		return times, unknownRange
	}
	s := f.surfaces[name]
	if s == nil {
		s = newSurface(f.points[name], f.related(name), f.rates)
		f.surfaces[name] = s
	}
	if name != c.Name {
		variant := *c
		variant.Bytes -= c.scores // which the measured bytes of fused attention do not include
		return s.seconds(&variant), unknownRange
	}
	return s.seconds(c), s.rangeOf(c)
}

// nearest returns the name of the measured operator whose times a call takes: its own name or, if the device lacks it,
// the name of the nearest variant or of a stand-in. It is empty if the device has neither. Surgery can turn an operator
// into another variant, such as fused attention into unfused attention; with the rates of all operators, the larger
// network would then seem to be faster.
func (f *deviceFit) nearest(name string) string {
	for rest := name; rest != ""; rest = shorter(rest) {
		if len(f.points[rest]) > 0 {
			return rest
		}
	}
	for _, other := range standIns[base(name)] {
		if len(f.points[other]) > 0 {
			return other
		}
	}
	return ""
}

// related returns measurements of an operator that resembles one that was rarely measured: without the last layer that
// is computed together with it or, for a single layer, the nearest variant.
func (f *deviceFit) related(name string) []measured {
	if len(f.points[name]) >= keptOthers {
		return nil
	}
	layers := base(name)
	kin := f.nearest(shorter(name))
	if last := strings.LastIndexByte(layers, ' '); last > 0 {
		kin = layers[:last] + name[len(layers):]
	}
	all := f.points[kin]
	return all[:min(len(all), keptOthers)]
}

// shorter removes the last ending of an operator's name: a variant, or a layer that is computed together with it.
func shorter(name string) string {
	for _, ending := range variants {
		if rest, has := strings.CutSuffix(name, ending); has {
			return rest
		}
	}
	return name[:max(0, strings.LastIndexByte(name, ' '))]
}

// remembered returns the times of a call. Grown networks have most of their calls in common.
func (f *deviceFit) remembered(c *Call) predicted {
	at := wanted{c.Name, math.Float64bits(c.Operations), math.Float64bits(c.Bytes), math.Float64bits(c.scores), c.sizes}
	of, known := f.known[at]
	if known {
		return of
	}
	if len(f.known) == mostPredicted {
		clear(f.known)
	}
	of.times, of.at = f.seconds(c)
	f.known[at] = of
	return of
}

func (f *deviceFit) part(c *Call) (forward, step float64) {
	of := f.remembered(c)
	return of.times[evaluationTime], of.times[forwardTime] + of.times[backwardTime]
}

func (f *deviceFit) predict(calls []Call) (p Prediction) {
	for k := range calls {
		c := &calls[k]
		of := f.remembered(c)
		both := of.times[forwardTime] + of.times[backwardTime]
		p.Step += both
		*p.share(of.at) += both
		if c.Name != Updating {
			p.Forward += of.times[evaluationTime]
		}
	}
	p.normalize()
	return p
}
