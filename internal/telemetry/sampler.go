package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Limits and the default of SamplerOptions.Interval.
const (
	leastInterval   = 10 * time.Millisecond
	defaultInterval = 100 * time.Millisecond
	mostInterval    = time.Second
)

// SamplerOptions configures a [Sampler]. The zero value means the defaults.
type SamplerOptions struct {
	Interval time.Duration // time between two readings of a device, from 10 ms to 1 s; zero means 100 ms
}

// EnsureDefaults sets zero fields to their defaults.
func (o *SamplerOptions) EnsureDefaults() {
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
}

// Validate returns an error for an invalid interval.
func (o *SamplerOptions) Validate() error {
	if o.Interval < leastInterval || o.Interval > mostInterval {
		return fmt.Errorf("interval is %s; must be from %s to %s", o.Interval, leastInterval, mostInterval)
	}
	return nil
}

// Clock is the source of time for a Sampler.
type Clock struct {
	Now func() time.Time // returns the current time, such as time.Now; required
	// function that returns after d or when ctx ends; nil waits in real time
	Pause func(ctx context.Context, d time.Duration)
}

// pause waits by the machine's clock.
func pause(ctx context.Context, d time.Duration) {
	wait, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-wait.Done()
}

// Sink receives readings in chronological order.
type Sink interface {
	// Add receives a reading of a device. After it returns an error, it is not called again.
	Add(d Device, r Reading) error
}

// Sampler reads all devices of a source at a fixed interval. It keeps only the last reading of each device and the
// meters that have not ended. It is safe for concurrent use. NewSampler creates it; the zero value cannot be used.
type Sampler struct {
	clock    Clock
	interval time.Duration
	start    time.Time
	zero     float64 // seconds since 1970 at start

	mu       sync.Mutex // guards all below, and the source
	source   Source
	devices  []Device
	sink     Sink // nil drops readings
	sinkErr  error
	meters   map[*Meter]bool
	latest   []Reading
	failures int64
	failure  error
}

// NewSampler returns a sampler without readings. With a nil sink, readings are only used for meters.
func NewSampler(source Source, sink Sink, clock Clock, o SamplerOptions) (*Sampler, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("sample devices: %w", err)
	}
	if clock.Pause == nil {
		clock.Pause = pause
	}
	start := clock.Now()
	return &Sampler{clock: clock, interval: o.Interval, start: start, zero: float64(start.UnixMicro()) / 1e6,
		source: source, devices: source.Devices(), sink: sink, meters: map[*Meter]bool{},
		latest: make([]Reading, 0, len(source.Devices()))}, nil
}

// Run reads the devices until ctx ends, then returns the first error of the sink. If a reading fails, the sink gets a
// reading without known values, and sampling continues. If sampling falls behind, it skips the missed readings.
func (s *Sampler) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		s.Sample()
		passed := s.clock.Now().Sub(s.start)
		s.clock.Pause(ctx, s.interval-passed%s.interval)
	}
	return s.Err()
}

// Sample reads each device once.
func (s *Sampler) Sample() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.devices {
		s.read(d.Index)
	}
}

// now returns the time in seconds since 1970; it advances with the clock's monotonic part.
func (s *Sampler) now() float64 { return s.zero + s.clock.Now().Sub(s.start).Seconds() }

// read reads a device and passes the reading on.
func (s *Sampler) read(device int) Reading {
	at := s.now()
	r, err := s.source.Read(device)
	r.At, r.Device = at, device
	if err != nil {
		s.failures++
		s.failure = err
		r = Reading{At: at, Device: device}
	}
	for m := range s.meters {
		if m.device == device {
			m.Add(r)
		}
	}
	if k := slices.IndexFunc(s.latest, func(l Reading) bool { return l.Device == device }); k >= 0 {
		s.latest[k] = r
	} else {
		s.latest = append(s.latest, r)
	}
	if s.sink != nil && s.sinkErr == nil {
		s.sinkErr = s.sink.Add(s.devices[device], r)
	}
	return r
}

// Begin reads a device and starts a measurement interval for the device. MIG is assumed to be on if use.MIG is true or
// the device reports it. The caller must end the returned meter with End.
func (s *Sampler) Begin(device int, use Use) (*Meter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if device < 0 || device >= len(s.devices) {
		return nil, fmt.Errorf("measure device %d: found only %d devices", device, len(s.devices))
	}
	divided, _ := s.devices[device].MIG.Get()
	use.MIG, use.SharedWith = use.MIG || divided, slices.Clone(use.SharedWith)
	first := s.read(device)
	m := &Meter{device: device, from: first.At, use: use}
	m.Add(first)
	s.meters[m] = true
	return m, nil
}

// Share records that another task runs on the meter's device. The meter must come from Begin.
func (s *Sampler) Share(m *Meter, task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Share(task)
}

// End reads the device again and returns the measurement of the interval from Begin until now.
func (s *Sampler) End(m *Meter) Measurement {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.read(m.device)
	delete(s.meters, m)
	return m.measurement(last.At)
}

// Lap reads the device once, returns the measurement of the interval so far, and starts the meter's next interval.
func (s *Sampler) Lap(m *Meter) Measurement {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.read(m.device)
	ended := m.measurement(last.At)
	*m = Meter{device: m.device, from: last.At, use: m.use}
	m.Add(last)
	return ended
}

// Latest returns the last reading of each device, in no particular order. The list is empty before the first reading.
func (s *Sampler) Latest() []Reading {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.latest)
}

// Failures returns the number of failed readings so far and the last error, or zero and nil if there are none.
func (s *Sampler) Failures() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures, s.failure
}

// Err returns the error of the sink that stopped the readings, or nil.
func (s *Sampler) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sinkErr != nil {
		return errors.Join(errors.New("device readings are no longer saved, because writing them failed"), s.sinkErr)
	}
	return nil
}
