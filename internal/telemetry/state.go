package telemetry

import (
	"slices"
	"sync"
	"time"
)

// State is a device with its last reading. Unknown values are null.
type State struct {
	Device
	Reading Reading `json:"reading"` // of processors: energy and mean power over a second alone
	Fault   string  `json:"fault"`   // of the device, for which values are unknown; empty if it has none
}

// States lists devices with their last readings, of which some may be missing.
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

// OnDemand reads a source when somebody asks, at most once an interval. Its methods may be used by several
// goroutines. It is made by NewOnDemand and has no useful zero value.
type OnDemand struct {
	every time.Duration
	now   func() time.Time

	mu     sync.Mutex // guards the source too
	source Source
	last   time.Time
	states []State
}

// NewOnDemand returns a reader of a source that it does not close.
func NewOnDemand(source Source, every time.Duration, now func() time.Time) *OnDemand {
	return &OnDemand{source: source, every: every, now: now}
}

// States returns the devices with readings that are no older than the interval.
func (o *OnDemand) States() []State {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.now(); o.states == nil || now.Sub(o.last) >= o.every {
		o.states, o.last = ReadStates(o.source, o.now), now
	}
	return slices.Clone(o.states)
}
