package train

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"graft/internal/telemetry"
	"graft/internal/words"
	"graft/report/runs"
	"graft/runner/app"
	"graft/torch"
)

// slowInterval is the interval of readings of processors: their counters only require a reading before they wrap
// around, within minutes.
const slowInterval = time.Second

// energy measures the energy of a job in segments, from one record to the next. Its methods accept nil, which measures
// nothing.
type energy struct {
	table   *runs.EnergyTable // nil if nothing can be measured and no earlier process has measured
	why     string            // reason why nothing is measured; empty if it is
	names   []string          // names of the measured devices
	source  telemetry.Source
	sampler *telemetry.Sampler
	meters  []*telemetry.Meter
	stop    func()
	epoch   int  // current epoch
	onGPU   bool // the devices are GPUs
}

// openEnergy opens the measurement of the job's devices. If that fails it keeps the reason. It returns nil if the
// environment measures nothing.
func (j *job) openEnergy(device torch.Device) error {
	if j.env.Telemetry == nil {
		return nil
	}
	e := &energy{stop: func() {}}
	j.energy = e
	indices, err := e.open(j.env, device, j.deviceCount())
	if err != nil {
		e.why = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	if _, absent := j.env.Files.Stat(j.stored.Path(runs.EnergyFile)); err != nil && absent != nil {
		return nil
	}
	if e.table, err = runs.OpenEnergy(j.stored); err != nil || e.why != "" {
		return err
	}
	return e.choose(indices)
}

// deviceCount returns the maximum number of devices of the job; zero means all of the machine.
func (j *job) deviceCount() int {
	if !j.Train.Parallel.On {
		return 1
	}
	return j.Train.Parallel.MaxProcesses
}

// open opens source and sampler, and returns the job's devices.
func (e *energy) open(env *app.Env, device torch.Device, count int) ([]int, error) {
	source, err := env.Telemetry(device.CUDA)
	if err != nil {
		return nil, err
	}
	o := telemetry.SamplerOptions{}
	if !device.CUDA {
		o.Interval = slowInterval
	}
	e.source, e.onGPU = source, device.CUDA
	if e.sampler, err = telemetry.NewSampler(source, nil, telemetry.Clock{Now: env.Now}, o); err != nil {
		return nil, err
	}
	if !device.CUDA {
		return everyIndex(source.Devices()), nil
	}
	order, err := telemetry.CUDAOrder(source.Devices(), env.Variable("CUDA_VISIBLE_DEVICES"),
		env.Variable("CUDA_DEVICE_ORDER"))
	if err != nil {
		return nil, fmt.Errorf("find %s among the GPUs that NVML reports: %w", device, err)
	}
	if device.Index >= len(order) {
		return nil, fmt.Errorf("find %s among the GPUs that NVML reports: it reports only %s", device,
			words.Plural(len(order), "GPU"))
	}
	if order = order[device.Index:]; count > 0 && count < len(order) {
		order = order[:count]
	}
	return order, nil
}

// gpus returns the job's GPUs with their last readings; nil if there are none.
func (e *energy) gpus() []telemetry.State {
	if e == nil || !e.onGPU {
		return nil
	}
	devices := e.source.Devices()
	of := make([]telemetry.Device, len(e.meters))
	for k, m := range e.meters {
		of[k] = devices[m.Device()]
	}
	return telemetry.States(of, e.sampler.Latest())
}

func everyIndex(devices []telemetry.Device) []int {
	list := make([]int, len(devices))
	for k := range list {
		list[k] = k
	}
	return list
}

// choose sets the devices to measure.
func (e *energy) choose(indices []int) error {
	for _, k := range indices {
		d := e.source.Devices()[k]
		e.names = append(e.names, d.Name)
		m, err := e.sampler.Begin(k, telemetry.Use{})
		if err != nil {
			return err
		}
		e.meters = append(e.meters, m)
	}
	return nil
}

// begin starts the first segment, and background reading.
func (e *energy) begin(epoch int) {
	if e == nil {
		return
	}
	if e.epoch = epoch; len(e.meters) == 0 {
		return
	}
	for _, m := range e.meters {
		e.sampler.Lap(m) // earlier energy does not belong to the job
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.sampler.Run(ctx) }()
	e.stop = func() {
		cancel()
		<-done
	}
}

// record ends a segment, and writes it as part of the current epoch.
func (e *energy) record() error {
	if e == nil || e.table == nil {
		return nil
	}
	s := runs.EnergySegment{Epoch: e.epoch, Method: string(telemetry.MethodUnknown) + ": " + e.why}
	if len(e.meters) > 0 {
		s = e.segment()
	}
	return e.table.Append(s)
}

// end records the end of an epoch.
func (e *energy) end(epoch int) error {
	err := e.record()
	if e != nil {
		e.epoch = epoch + 1
	}
	return err
}

// resume follows a return to the last checkpoint; a fresh job has none. Training of an earlier process without
// measurement is a segment of unknown energy.
func (e *energy) resume(fresh bool) error {
	switch {
	case e == nil || e.table == nil:
		return nil
	case fresh:
		return e.table.Clear()
	case e.table.Rows() == 0:
		return e.table.Append(runs.EnergySegment{Method: string(telemetry.MethodUnknown) +
			": an earlier process did not measure energy"})
	}
	return nil
}

// segment adds up the devices.
func (e *energy) segment() runs.EnergySegment {
	parts := make([]runs.EnergySegment, len(e.meters))
	for k, m := range e.meters {
		e.share(m)
		measured := e.sampler.Lap(m)
		parts[k] = runs.EnergySegment{Seconds: measured.Seconds, Method: measured.MethodText(),
			PeakMemory: pointer(measured.PeakMemoryMiB)}
		if measured.Method != telemetry.MethodNotAttributable {
			parts[k].Joules = pointer(measured.Joules)
		}
	}
	sum := runs.SumEnergy(parts)
	return runs.EnergySegment{Epoch: e.epoch, Seconds: parts[0].Seconds, Joules: sum.Joules, Method: sum.Method,
		PeakMemory: sum.PeakMemory}
}

// share records that other processes compute on the device of a meter. The job's own process is among them, but its
// number may differ in a container.
func (e *energy) share(m *telemetry.Meter) {
	for _, r := range e.sampler.Latest() {
		if list, _ := r.Processes.Get(); r.Device == m.Device() && len(list) > 1 {
			e.sampler.Share(m, "other processes")
		}
	}
}

func pointer(o telemetry.Optional[float64]) *float64 {
	if v, known := o.Get(); known {
		return &v
	}
	return nil
}

// measured adds up the run folder's energy; nil if the environment measures nothing.
func (j *job) measured() (*runs.MeasuredEnergy, error) {
	if j.energy == nil {
		return nil, nil
	}
	list, err := runs.ReadEnergy(j.env.Files, j.stored.Path(""))
	if err != nil {
		return nil, err
	}
	sum := runs.SumEnergy(list)
	if len(list) == 0 && j.energy.why != "" {
		sum.Method += ": " + j.energy.why
	}
	sum.Devices = append(sum.Devices, slices.Compact(j.energy.names)...)
	return &sum, nil
}

// close ends the measurement.
func (e *energy) close() error {
	if e == nil || e.source == nil {
		return nil
	}
	e.stop()
	return e.source.Close()
}
