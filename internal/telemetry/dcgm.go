package telemetry

import (
	"fmt"
	"math"
	"strconv"

	"graft/internal/prometheus"
)

// dcgmMetrics are the metrics of NVIDIA's DCGM exporter that readings contain, with its names, kinds and units
// (github.com/NVIDIA/dcgm-exporter, etc/default-counters.csv).
var dcgmMetrics = []struct {
	name, kind, help string
	value            func(r *Reading) Optional[float64]
}{
	{"DCGM_FI_DEV_GPU_UTIL", "gauge", "Time in which a kernel ran, in percent.",
		func(r *Reading) Optional[float64] { return r.UtilizationPercent }},
	{"DCGM_FI_DEV_MEM_COPY_UTIL", "gauge", "Time in which device memory was accessed, in percent.",
		func(r *Reading) Optional[float64] { return r.MemoryUtilizationPercent }},
	{"DCGM_FI_DEV_FB_USED", "gauge", "Device memory in use, in MiB.", func(r *Reading) Optional[float64] {
		return r.MemoryUsedMiB
	}},
	{"DCGM_FI_DEV_FB_FREE", "gauge", "Free device memory, in MiB.", func(r *Reading) Optional[float64] {
		return r.MemoryFreeMiB
	}},
	{"DCGM_FI_DEV_POWER_USAGE", "gauge", "Power, in W.", func(r *Reading) Optional[float64] { return r.PowerWatts }},
	{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "Energy since the driver was loaded, in mJ.", millijoules},
	{"DCGM_FI_DEV_GPU_TEMP", "gauge", "Temperature, in degrees Celsius.",
		func(r *Reading) Optional[float64] { return r.TemperatureCelsius }},
	{"DCGM_FI_DEV_SM_CLOCK", "gauge", "Clock of the streaming multiprocessors, in MHz.",
		func(r *Reading) Optional[float64] { return r.SMClockMHz }},
	{"DCGM_FI_DEV_MEM_CLOCK", "gauge", "Clock of the memory, in MHz.",
		func(r *Reading) Optional[float64] { return r.MemoryClockMHz }},
	{"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "gauge", "Reasons for a reduced clock, as bits.", throttleBits},
}

func millijoules(r *Reading) Optional[float64] {
	if joules, known := r.EnergyJoules.Get(); known {
		return Known(math.Round(joules*1e6) / 1e3) // the same digits as the driver's
	}
	return Optional[float64]{}
}

func throttleBits(r *Reading) Optional[float64] {
	if reasons, known := r.Throttle.Get(); known {
		return Known(float64(reasons))
	}
	return Optional[float64]{}
}

// WriteDCGM writes readings for Prometheus, with the names and labels of NVIDIA's DCGM exporter, in the order of the
// devices. The label "host" is the name of the machine. An unknown value has no sample, and a metric without samples is
// omitted.
func WriteDCGM(t *prometheus.Text, host string, devices []Device, readings []Reading) {
	latest := map[int]Reading{}
	for _, r := range readings {
		latest[r.Device] = r
	}
	for _, m := range dcgmMetrics {
		begun := false
		for _, d := range devices {
			r, found := latest[d.Index]
			value, known := m.value(&r).Get()
			if !found || !known {
				continue
			}
			if !begun {
				t.Family(m.name, m.kind, m.help)
				begun = true
			}
			t.Sample(value, "gpu", strconv.Itoa(d.Index), "UUID", d.UUID, "device", fmt.Sprintf("nvidia%d", d.Index),
				"modelName", d.Name, "Hostname", host)
		}
	}
}
