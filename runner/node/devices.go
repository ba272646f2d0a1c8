package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"graft/cluster/execute"
	"graft/cluster/node/world"
	"graft/internal/telemetry"
	"graft/runner/app"
)

// devices holds the devices of tasks, and the source that measures them.
type devices struct {
	list   []execute.Device
	names  []string
	source telemetry.Source // nil measures nothing
	index  []int            // index in the source of each device; nil if the source measures all processors together
	why    string           // reason why GPUs or measurements are missing; empty if none are
}

// findDevices finds the GPUs of this machine, or CPU slots.
func findDevices(env *app.Env, c *world.File) (*devices, error) {
	may, must := c.Executor.GPUs()
	d := &devices{}
	if may {
		err := d.gpus(env, c)
		if err == nil {
			return d, nil
		}
		if must {
			return nil, fmt.Errorf("find GPUs: %w; to run without GPUs, set executor.devices to cpu", err)
		}
		d = &devices{why: "no GPUs: " + err.Error()}
	}
	d.list = c.Slots(processors())
	for k := range d.list {
		d.names = append(d.names, fmt.Sprintf("cpu%d", k))
	}
	if env.Telemetry != nil {
		source, err := env.Telemetry(false)
		if err != nil {
			d.why = joined(d.why, "no energy: "+err.Error())
			return d, nil
		}
		d.source = source
	}
	return d, nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// gpus selects all GPUs, or the GPUs in executor.uuids.
func (d *devices) gpus(env *app.Env, c *world.File) error {
	if env.Telemetry == nil {
		return errors.New("device measurements are disabled; unset " + app.EnergyVariable)
	}
	source, err := env.Telemetry(true)
	if err != nil {
		return err
	}
	wanted := c.Executor.UUIDs
	for _, g := range source.Devices() {
		if len(wanted) > 0 && !slices.Contains(wanted, g.UUID) {
			continue
		}
		memory, known := g.MemoryMiB.Get()
		if !known {
			memory = c.Machine.Memory
		}
		d.list, d.names, d.index = append(d.list, execute.Device{UUID: g.UUID, Memory: memory}),
			append(d.names, g.Name), append(d.index, g.Index)
	}
	if d.source = source; len(d.list) == 0 || len(wanted) > len(d.list) {
		fault := errors.New("no GPU found")
		if len(wanted) > 0 {
			fault = fmt.Errorf("found only %d of the %d GPUs in executor.uuids; 'graft node devices' lists the GPUs",
				len(d.list), len(wanted))
		}
		return errors.Join(fault, source.Close())
	}
	return nil
}

// processors returns the processors available to this process.
func processors() (all []int) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	for cpu := 0; len(all) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all
}

// close releases the source.
func (d *devices) close() error {
	if d.source == nil {
		return nil
	}
	return d.source.Close()
}

// meter measures the energy of tasks on devices.
type meter struct {
	sampler *telemetry.Sampler
	index   []int
	idle    []telemetry.Optional[float64] // W, for each index in the source
	running map[int][]*measured           // by index in the source
}

// measured is a measurement in progress.
type measured struct {
	of *meter
	at int
	m  *telemetry.Meter
}

// Begin implements [execute.Meter]. If several tasks run on a device at the same time, the energy of each task is
// unknown. CPU slots share one meter.
func (m *meter) Begin(device int) execute.Reading {
	at := 0
	if m.index != nil {
		at = m.index[device]
	}
	one, err := m.sampler.Begin(at, telemetry.Use{IdleWatts: m.idle[at]})
	if err != nil {
		return nil
	}
	r := &measured{m, at, one}
	for _, other := range m.running[at] {
		m.sampler.Share(other.m, "another task")
		m.sampler.Share(one, "another task")
	}
	m.running[at] = append(m.running[at], r)
	return r
}

// End implements [execute.Reading].
func (r *measured) End() (joules float64, method string) {
	list := r.of.running[r.at]
	r.of.running[r.at] = slices.DeleteFunc(list, func(other *measured) bool { return other == r })
	measurement := r.of.sampler.End(r.m)
	if v, known := measurement.Joules.Get(); known && measurement.Method != telemetry.MethodNotAttributable {
		joules = v
	}
	return joules, measurement.MethodText()
}

// newMeter measures the power of the idle devices, and starts sampling.
func newMeter(ctx context.Context, env *app.Env, c *world.File, d *devices, sink telemetry.Sink) (*meter, error) {
	s, err := telemetry.NewSampler(d.source, sink, telemetry.Clock{Now: env.Now},
		telemetry.SamplerOptions{Interval: c.Executor.Sampling})
	if err != nil {
		return nil, err
	}
	m := &meter{sampler: s, index: d.index, idle: make([]telemetry.Optional[float64], len(d.source.Devices())),
		running: map[int][]*measured{}}
	switch watts := c.Executor.IdleWatts; {
	case watts > 0:
		for k := range m.idle {
			m.idle[k] = telemetry.Number(watts)
		}
	case watts == 0:
		m.measureIdle(ctx)
	}
	return m, nil
}

// measureIdle measures the power of the devices for idleTime.
func (m *meter) measureIdle(ctx context.Context) { m.idle = powers(ctx, m.sampler, len(m.idle)) }

// powers measures the power of devices for idleTime.
func powers(ctx context.Context, s *telemetry.Sampler, devices int) []telemetry.Optional[float64] {
	short, cancel := context.WithTimeout(ctx, idleTime)
	defer cancel()
	watts, meters := make([]telemetry.Optional[float64], devices), make([]*telemetry.Meter, devices)
	for k := range devices {
		meters[k], _ = s.Begin(k, telemetry.Use{})
	}
	_ = s.Run(short) // a later Run also returns its error
	for k, m := range meters {
		if m != nil {
			watts[k] = s.End(m).Watts()
		}
	}
	return watts
}
