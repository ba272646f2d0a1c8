package node

import (
	"context"
	"fmt"

	"graft/cluster/node/world"
	"graft/internal/telemetry"
	"graft/runner/app"
)

// DeviceReport lists the devices of this machine that can run tasks.
type DeviceReport struct {
	GPUs []telemetry.State `json:"gpus"` // GPUs of the machine; empty if there are none
	// slots of processors, which run tasks on a machine without GPUs; otherwise empty
	Slots []Slot `json:"slots"`
	// domains of the processors, with energy since the start of the command; empty if not needed or unreadable
	Processors []telemetry.State `json:"processors"`
	// reason why GPUs or measurements are missing; empty if none are
	Note string `json:"note"`
}

// Slot is a share of the processors.
type Slot struct {
	Name string `json:"name"` // name in reports
	CPUs []int  `json:"cpus"` // numbers of its CPU cores
}

// Devices lists the GPUs of this machine, or otherwise slots of its processors as with default options, and reads each
// device once. It runs nothing.
func Devices(ctx context.Context, env *app.Env) (*DeviceReport, error) {
	c := world.New()
	c.EnsureDefaults()
	d, err := findDevices(env, c)
	if err != nil {
		return nil, err
	}
	r := &DeviceReport{GPUs: []telemetry.State{}, Slots: []Slot{}, Processors: []telemetry.State{}, Note: d.why}
	states, err := readDevices(ctx, env, d)
	if d.index != nil {
		r.GPUs = states
		return r, closing(err, d)
	}
	r.Processors = states
	for k, slot := range d.list {
		r.Slots = append(r.Slots, Slot{d.names[k], slot.CPUs})
	}
	return r, closing(err, d)
}

func closing(err error, d *devices) error {
	if closed := d.close(); err == nil {
		err = closed
	}
	return err
}

// readDevices reads each device of the source. Processors have no power reading: it is measured.
func readDevices(ctx context.Context, env *app.Env, d *devices) ([]telemetry.State, error) {
	states := []telemetry.State{}
	if d.source == nil {
		return states, nil
	}
	var watts []telemetry.Optional[float64]
	if d.index == nil {
		s, err := telemetry.NewSampler(d.source, nil, telemetry.Clock{Now: env.Now}, telemetry.SamplerOptions{})
		if err != nil {
			return nil, err
		}
		watts = powers(ctx, s, len(d.source.Devices()))
	}
	states = telemetry.ReadStates(d.source, env.Now)
	for k := range watts {
		states[k].Reading.PowerWatts = watts[k]
	}
	return states, ctx.Err()
}

// SMIReport summarizes a file written by nvidia-smi.
type SMIReport struct {
	File    string      `json:"file"`    // path
	Cut     bool        `json:"cut"`     // the last row is incomplete and omitted
	Devices []LogDevice `json:"devices"` // by index
}

// LogDevice holds a file's data about a device, from its first row with a value to the last. Unknown values are null.
type LogDevice struct {
	telemetry.Device
	Samples int `json:"samples"` // rows
	telemetry.Measurement
}

// ReadSMI reads a file written by nvidia-smi --query-gpu=... --format=csv.
func ReadSMI(env *app.Env, path string) (*SMIReport, error) {
	file, err := env.Files.Open(path)
	if err != nil {
		return nil, err
	}
	log, err := telemetry.ReadSMI(file, nil)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, app.ReadFault(fmt.Errorf("%s: %w", path, err))
	}
	r := &SMIReport{File: path, Cut: log.Cut, Devices: []LogDevice{}}
	for _, d := range log.Devices {
		list := log.Of(d.Index)
		r.Devices = append(r.Devices, LogDevice{Device: d, Samples: len(list),
			Measurement: telemetry.MeasureAll(list, telemetry.Use{})})
	}
	return r, nil
}
