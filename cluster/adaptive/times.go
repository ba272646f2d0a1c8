package adaptive

import (
	"fmt"
	"graft/trainer/goodput"
	"slices"
	"sort"
)

// Times holds the step times of an application, by placement and by the number of examples per device.
type Times struct {
	placed   map[string]*series    // by placement on few nodes, including all rotations of a placement
	spread   map[[2]int]*series    // by numbers of nodes and devices, for any placement
	mesh     *mesh                 // for values missing in spread; may be nil
	most     int                   // maximum number of nodes in spread; larger numbers use this one
	measured []goodput.Measured    // all measured times
	fitted   func() *goodput.Speed // fit closest to measured
}

// mostPlaced is the maximum number of nodes of tabulated placements.
const mostPlaced = 8

// series holds times at ascending numbers of examples per device. Times are in seconds; a negative step is unknown.
type series struct {
	device     []int
	step, sync []float64
	exact      bool // no interpolation between known values
}

// Step implements [goodput.StepTimes].
func (t *Times) Step(placement []int, device int) (step, sync float64, err error) {
	var key [mostPlaced]byte
	devices := 0
	for k, n := range placement {
		if devices += n; k < len(key) {
			key[k] = byte(n)
		}
	}
	if len(placement) <= len(key) {
		if s := t.placed[string(key[:len(placement)])]; s != nil {
			if step, sync, err = s.at(device); err == nil || t.mesh != nil {
				return step, sync, err
			}
		}
	}
	nodes := min(len(placement), max(t.most, 1))
	if s := t.spread[[2]int{nodes, devices}]; s != nil {
		if step, sync, err = s.at(device); err == nil {
			return step, sync, nil
		}
	}
	if t.mesh != nil {
		return t.mesh.at(float64(nodes), float64(devices), float64(device))
	}
	return t.fitted().Step(placement, device)
}

// at interpolates linearly between the times at known numbers of examples.
func (s *series) at(device int) (step, sync float64, err error) {
	i := sort.SearchInts(s.device, device)
	if s.exact {
		if i == len(s.device) || s.device[i] != device || s.step[i] < 0 {
			return 0, 0, fmt.Errorf("no step time was measured for %d examples per device; add this "+
				"measurement", device)
		}
		return s.step[i], s.sync[i], nil
	}
	if len(s.device) < 2 || device < s.device[0] || device > s.device[len(s.device)-1] {
		return 0, 0, fmt.Errorf("no step time was measured for %d examples per device; measurements cover %d to "+
			"%d", device,
			s.device[0], s.device[len(s.device)-1])
	}
	i = min(max(i, 1), len(s.device)-1)
	return s.line(i, device, s.step), s.line(i, device, s.sync), nil
}

func (s *series) line(i, device int, y []float64) float64 {
	low := i - 1
	slope := (y[i] - y[low]) / float64(s.device[i]-s.device[low])
	return float64(slope*float64(device-s.device[low])) + y[low]
}

// rotations calls add with all rotations of a placement, which have equal times.
func rotations(placement []byte, add func(key string)) {
	for k := range placement {
		add(string(slices.Concat(placement[k:], placement[:k])))
	}
}

// mesh holds times at points of (nodes, devices, examples per device). Tetrahedra interpolate between the points.
type mesh struct {
	points     [][3]float64
	step, sync []float64
	cells      [][4]int
}

// slack is the tolerance of barycentric weights: rounding puts points on a face slightly outside.
const slack = 1e-9

// at interpolates in the first tetrahedron that contains a point.
func (m *mesh) at(nodes, devices, device float64) (step, sync float64, err error) {
	for _, cell := range m.cells {
		weights, ok := m.weights(cell, [3]float64{nodes, devices, device})
		if !ok {
			continue
		}
		for k, corner := range cell {
			step += float64(weights[k] * m.step[corner])
			sync += float64(weights[k] * m.sync[corner])
		}
		return step, sync, nil
	}
	return 0, 0, fmt.Errorf("no step time was measured for %.0f devices on %.0f nodes with %.0f examples per device",
		devices, nodes, device)
}

// weights returns the barycentric weights of a point in a tetrahedron.
func (m *mesh) weights(cell [4]int, at [3]float64) (w [4]float64, ok bool) {
	a := m.points[cell[0]]
	u, v, x, p := minus(m.points[cell[1]], a), minus(m.points[cell[2]], a), minus(m.points[cell[3]], a), minus(at, a)
	volume := determinant(u, v, x)
	if volume > -slack && volume < slack {
		return w, false
	}
	w[1], w[2], w[3] = determinant(p, v, x)/volume, determinant(u, p, x)/volume, determinant(u, v, p)/volume
	w[0] = 1 - w[1] - w[2] - w[3]
	return w, min(w[0], w[1], w[2], w[3]) >= -slack
}

func minus(a, b [3]float64) [3]float64 { return [3]float64{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

func determinant(a, b, c [3]float64) float64 {
	return a[0]*(b[1]*c[2]-b[2]*c[1]) - a[1]*(b[0]*c[2]-b[2]*c[0]) + a[2]*(b[0]*c[1]-b[1]*c[0])
}
