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
	// CPU slots that run tasks on a machine without GPUs; empty on a machine with GPUs
	Slots []Slot `json:"slots"`
	// energy that each processor domain used since the start of the command; empty if processors are not used or their
	// counters are unreadable
	Processors []telemetry.State `json:"processors"`
	// reason why GPUs or measurements are missing; empty if nothing is missing
	Note string `json:"note"`
}

// Slot is a set of the machine's processors that runs tasks like a device.
type Slot struct {
	Name string `json:"name"` // name in reports
	CPUs []int  `json:"cpus"` // numbers of the slot's CPU cores
}

// Devices lists the GPUs of this machine. Without GPUs, it lists the CPU slots with default options. It reads each
// device once. It does not run tasks.
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

// SMIReport summarizes a log file of nvidia-smi.
type SMIReport struct {
	File    string      `json:"file"`    // path of the file
	Cut     bool        `json:"cut"`     // the last row is incomplete and was skipped
	Devices []LogDevice `json:"devices"` // devices by index
}

// LogDevice holds the data about a device in a log file. The data covers the rows from the device's first row with a
// value to its last row with a value. Unknown values are null.
type LogDevice struct {
	telemetry.Device
	Samples int `json:"samples"` // number of rows
	telemetry.Measurement
}

// ReadSMI reads a log file of nvidia-smi --query-gpu=... --format=csv.
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
