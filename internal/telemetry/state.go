package telemetry

import (
	"slices"
	"sync"
	"time"
)

// State holds a device with its last reading. In JSON, unknown values are null.
type State struct {
	Device
	Reading Reading `json:"reading"` // last reading; a processor has only energy, and mean power over a second
	Fault   string  `json:"fault"`   // error of the device because of which values are unknown; empty means none
}

// States combines devices with their last readings. A device without a reading has unknown values.
func States(devices []Device, latest []Reading) []State {
	list := make([]State, 0, len(devices))
	for _, d := range devices {
		s := State{Device: d}
		if k := slices.IndexFunc(latest, func(r Reading) bool { return r.Device == d.Index }); k >= 0 {
			s.Reading = latest[k]
		}
		list = append(list, s)
	}
	return list
}

// ReadStates reads each device of a source once.
func ReadStates(source Source, now func() time.Time) []State {
	list := []State{}
	for _, d := range source.Devices() {
		s := State{Device: d}
		at := float64(now().UnixMicro()) / 1e6
		r, err := source.Read(d.Index)
		if err != nil {
			s.Fault = err.Error()
		}
		s.Reading = r
		s.Reading.At = at
		list = append(list, s)
	}
	return list
}

// OnDemand reads a source on request, at most once per interval. It is safe for concurrent use. Only NewOnDemand
// creates it; the zero value cannot be used.
type OnDemand struct {
	every time.Duration
	now   func() time.Time

	mu     sync.Mutex // guards the source too
	source Source
	last   time.Time
	states []State
}

// NewOnDemand returns a reader of a source. The argument every is the minimum time between two readings. The reader
// does not close the source.
func NewOnDemand(source Source, every time.Duration, now func() time.Time) *OnDemand {
	return &OnDemand{source: source, every: every, now: now}
}

// States returns the devices with readings that are at most one interval old.
func (o *OnDemand) States() []State {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.now(); o.states == nil || now.Sub(o.last) >= o.every {
		o.states, o.last = ReadStates(o.source, o.now), now
	}
	return slices.Clone(o.states)
}
