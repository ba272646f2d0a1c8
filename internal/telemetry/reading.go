package telemetry

// Device describes a device of a Source.
type Device struct {
	Index     int               `json:"index"`      // index of the device in its source, from 0
	UUID      string            `json:"uuid"`       // globally unique identifier; empty means unknown
	Name      string            `json:"name"`       // model of a GPU, or domain of a processor; empty means unknown
	MemoryMiB Optional[float64] `json:"memory_mib"` // total device memory, in MiB
	MIG       Optional[bool]    `json:"mig"`        // whether the GPU is divided into instances (Multi-Instance GPU)
	// compute mode: default (any number of processes), exclusive process or prohibited; empty means unknown
	ComputeMode string `json:"compute_mode"`
}

// Shareable reports whether the driver lets several processes use the device at the same time. A device with unknown
// compute mode is assumed to be shareable.
func (d Device) Shareable() bool { return d.ComputeMode == "" || d.ComputeMode == modeDefault }

// Compute modes with names here; see nvmlComputeMode_t in NVML's reference.
const modeDefault, modeProhibited, modeExclusive = "default", "prohibited", "exclusive process"

// Reading holds the state of a device at one time.
type Reading struct {
	// time of the reading in seconds; for readings by graft or nvidia-smi, seconds since 1970
	At     float64 `json:"at_s"`
	Device int     `json:"device"` // index of the device in its source
	// share of the time in which a kernel ran, in percent
	UtilizationPercent Optional[float64] `json:"utilization_percent"`
	// share of the time in which device memory was read or written, in percent; not the memory in use
	MemoryUtilizationPercent Optional[float64] `json:"memory_utilization_percent"`
	MemoryUsedMiB            Optional[float64] `json:"memory_used_mib"` // device memory in use, in MiB
	MemoryFreeMiB            Optional[float64] `json:"memory_free_mib"` // free device memory, in MiB
	// power in watts; on some GPUs an average over the last second
	PowerWatts Optional[float64] `json:"power_watts"`
	// total-energy counter in joules, which starts from an arbitrary value
	EnergyJoules       Optional[float64] `json:"energy_joules"`
	TemperatureCelsius Optional[float64] `json:"temperature_celsius"` // temperature of the chip, in °C
	// clock of the streaming multiprocessors, in MHz
	SMClockMHz     Optional[float64]   `json:"sm_clock_mhz"`
	MemoryClockMHz Optional[float64]   `json:"memory_clock_mhz"` // clock of the memory, in MHz
	Throttle       Optional[Throttle]  `json:"throttle"`         // reasons why the clock is reduced
	Processes      Optional[[]Process] `json:"processes"`        // processes that compute on the device
}

// numbers lists the values of a reading that are numbers.
func (r *Reading) numbers() []Optional[float64] {
	return []Optional[float64]{r.UtilizationPercent, r.MemoryUtilizationPercent, r.MemoryUsedMiB, r.MemoryFreeMiB,
		r.PowerWatts,
		r.EnergyJoules, r.TemperatureCelsius, r.SMClockMHz, r.MemoryClockMHz}
}

// Empty reports whether every number of the reading is unknown.
func (r *Reading) Empty() bool {
	for _, n := range r.numbers() {
		if n.known {
			return false
		}
	}
	return true
}

// Process describes how a process uses a device.
type Process struct {
	PID       int               `json:"pid"`        // process ID
	MemoryMiB Optional[float64] `json:"memory_mib"` // device memory in use by the process, in MiB
	// utilization of the streaming multiprocessors by the process, in percent
	UtilizationPercent Optional[float64] `json:"utilization_percent"`
}

// Source reads the state of devices. It is not safe for concurrent use.
type Source interface {
	// Devices lists the devices found when the source was opened.
	Devices() []Device
	// Read returns the state of a device, by its index. Values that the device does not provide are unknown. If the
	// device fails, Read returns an error and the values read before it.
	Read(device int) (Reading, error)
	// Close releases the source.
	Close() error
}
