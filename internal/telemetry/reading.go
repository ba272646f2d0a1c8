package telemetry

// Device describes a device of a source.
type Device struct {
	Index     int               `json:"index"`      // index in the source's list, from 0
	UUID      string            `json:"uuid"`       // globally unique; empty means unknown
	Name      string            `json:"name"`       // model, or domain of a processor; empty means unknown
	MemoryMiB Optional[float64] `json:"memory_mib"` // total memory
	MIG       Optional[bool]    `json:"mig"`        // divided into instances (Multi-Instance GPU)
	// default (any number of processes), exclusive process or prohibited; empty means unknown
	ComputeMode string `json:"compute_mode"`
}

// Shareable reports whether the driver lets several processes use the device at once. An unknown compute mode counts as
// shareable.
func (d Device) Shareable() bool { return d.ComputeMode == "" || d.ComputeMode == modeDefault }

// Compute modes with names here; see nvmlComputeMode_t in NVML's reference.
const modeDefault, modeProhibited, modeExclusive = "default", "prohibited", "exclusive process"

// Reading is the state of a device at a moment.
type Reading struct {
	// seconds on the clock of the reader: since 1970 for a Sampler and ReadSMI
	At                 float64           `json:"at_s"`
	Device             int               `json:"device"`              // index in its source
	UtilizationPercent Optional[float64] `json:"utilization_percent"` // share of the time in which a kernel ran
	// share of the time in which device memory was read or written; not the memory in use
	MemoryUtilizationPercent Optional[float64] `json:"memory_utilization_percent"`
	MemoryUsedMiB            Optional[float64] `json:"memory_used_mib"` // memory in use
	MemoryFreeMiB            Optional[float64] `json:"memory_free_mib"` // free memory
	// power; an average of the last second on some GPUs
	PowerWatts Optional[float64] `json:"power_watts"`
	// total-energy counter, from an arbitrary zero
	EnergyJoules       Optional[float64]   `json:"energy_joules"`
	TemperatureCelsius Optional[float64]   `json:"temperature_celsius"` // temperature of the chip
	SMClockMHz         Optional[float64]   `json:"sm_clock_mhz"`        // clock of the streaming multiprocessors
	MemoryClockMHz     Optional[float64]   `json:"memory_clock_mhz"`    // clock of the memory
	Throttle           Optional[Throttle]  `json:"throttle"`            // reasons for a reduced clock
	Processes          Optional[[]Process] `json:"processes"`           // computing processes
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

// Process is the use of a device by a process.
type Process struct {
	PID                int               `json:"pid"`                 // number of the process
	MemoryMiB          Optional[float64] `json:"memory_mib"`          // device memory in use by the process
	UtilizationPercent Optional[float64] `json:"utilization_percent"` // utilization of the streaming multiprocessors
}

// Source reads devices. It is not safe for concurrent use.
type Source interface {
	// Devices lists the devices found when the source was opened.
	Devices() []Device
	// Read reads a device by its index. Values that the device does not offer are unknown. An error means that the
	// device failed; Read also returns the values read before.
	Read(device int) (Reading, error)
	// Close releases the source.
	Close() error
}
