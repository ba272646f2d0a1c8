package telemetry

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

const mebibyte = 1 << 20

// gpu is a GPU opened by NVML.
type gpu struct {
	of     *NVML
	handle nvml.Device
	index  int
	about  Device
	seen   uint64 // microseconds since 1970, of the last sample of a process's utilization
}

// describe reads constant properties.
func (g *gpu) describe() {
	a := &asking{g: g}
	g.about = Device{Index: g.index}
	a.ask(func() (code nvml.Return) { g.about.UUID, code = g.handle.GetUUID(); return code }, "nvmlDeviceGetUUID")
	a.ask(func() (code nvml.Return) { g.about.Name, code = g.handle.GetName(); return code }, "nvmlDeviceGetName")
	a.memory(func(total, _, _ uint64) { g.about.MemoryMiB = Known(float64(total) / mebibyte) })
	g.about.MIG = Known(false)
	a.ask(func() nvml.Return {
		current, _, code := g.handle.GetMigMode()
		if code == nvml.SUCCESS {
			g.about.MIG = Known(current == nvml.DEVICE_MIG_ENABLE)
		} else if code != nvml.ERROR_NOT_SUPPORTED {
			g.about.MIG = Optional[bool]{}
		}
		return code
	}, "nvmlDeviceGetMigMode")
	a.ask(func() nvml.Return {
		mode, code := g.handle.GetComputeMode()
		if code == nvml.SUCCESS {
			g.about.ComputeMode = map[nvml.ComputeMode]string{nvml.COMPUTEMODE_DEFAULT: modeDefault,
				nvml.COMPUTEMODE_PROHIBITED: modeProhibited, nvml.COMPUTEMODE_EXCLUSIVE_PROCESS: modeExclusive}[mode]
		}
		return code
	}, "nvmlDeviceGetComputeMode")
}

// read reads all changing values.
func (g *gpu) read() (Reading, error) {
	a, r := &asking{g: g}, Reading{Device: g.index}
	a.ask(func() nvml.Return {
		use, code := g.handle.GetUtilizationRates()
		if code == nvml.SUCCESS {
			r.UtilizationPercent, r.MemoryUtilizationPercent = Known(float64(use.Gpu)), Known(float64(use.Memory))
		}
		return code
	}, "nvmlDeviceGetUtilizationRates")
	a.memory(func(_, used, free uint64) {
		r.MemoryUsedMiB, r.MemoryFreeMiB = Known(float64(used)/mebibyte), Known(float64(free)/mebibyte)
	})
	r.PowerWatts = a.number(1000, g.handle.GetPowerUsage, "nvmlDeviceGetPowerUsage")
	a.ask(func() nvml.Return {
		millijoules, code := g.handle.GetTotalEnergyConsumption()
		if code == nvml.SUCCESS {
			r.EnergyJoules = Known(float64(millijoules) / 1000)
		}
		return code
	}, "nvmlDeviceGetTotalEnergyConsumption")
	r.TemperatureCelsius = a.number(1, func() (uint32, nvml.Return) {
		return g.handle.GetTemperature(nvml.TEMPERATURE_GPU)
	}, "nvmlDeviceGetTemperature")
	r.SMClockMHz = a.number(1, func() (uint32, nvml.Return) { return g.handle.GetClockInfo(nvml.CLOCK_SM) },
		"nvmlDeviceGetClockInfo")
	r.MemoryClockMHz = a.number(1, func() (uint32, nvml.Return) { return g.handle.GetClockInfo(nvml.CLOCK_MEM) },
		"nvmlDeviceGetClockInfo")
	a.ask(func() nvml.Return {
		reasons, code := g.handle.GetCurrentClocksThrottleReasons()
		if code == nvml.SUCCESS {
			r.Throttle = Known(Throttle(reasons))
		}
		return code
	}, "nvmlDeviceGetCurrentClocksThrottleReasons")
	a.processes(&r)
	return r, a.err
}

// asking queries values of a GPU and keeps the first failure. After a failure it queries nothing more.
type asking struct {
	g   *gpu
	err error
}

// ask calls a function of the library if it has one of these symbols.
func (a *asking) ask(get func() nvml.Return, symbols ...string) {
	if a.err != nil || !a.g.of.has(symbols...) {
		return
	}
	if code := get(); !absent[code] {
		a.err = failureOf(code, fmt.Sprintf("read GPU %d", a.g.index))
	}
}

// number queries a number; units is the number of NVML's units per unit here.
func (a *asking) number(units float64, get func() (uint32, nvml.Return), symbol string) (found Optional[float64]) {
	a.ask(func() nvml.Return {
		value, code := get()
		if code == nvml.SUCCESS {
			found = Known(float64(value) / units)
		}
		return code
	}, symbol)
	return found
}

// memory queries bytes of memory. The second version of the function does not count memory reserved by the driver as
// used.
func (a *asking) memory(take func(total, used, free uint64)) {
	if a.g.of.has("nvmlDeviceGetMemoryInfo_v2") {
		code := nvml.SUCCESS
		a.ask(func() nvml.Return {
			var m nvml.Memory_v2
			if m, code = a.g.handle.GetMemoryInfo_v2(); code == nvml.SUCCESS {
				take(m.Total, m.Used, m.Free)
			}
			return code
		}, "nvmlDeviceGetMemoryInfo_v2")
		if code == nvml.SUCCESS {
			return
		}
	}
	a.ask(func() nvml.Return {
		m, code := a.g.handle.GetMemoryInfo()
		if code == nvml.SUCCESS {
			take(m.Total, m.Used, m.Free)
		}
		return code
	}, "nvmlDeviceGetMemoryInfo")
}

// processes lists the computing processes. The binding slices by counts from the driver: if the counts contradict each
// other the processes are unknown.
func (a *asking) processes(r *Reading) {
	defer func() {
		if recover() != nil {
			r.Processes = Optional[[]Process]{}
		}
	}()
	const name = "nvmlDeviceGetComputeRunningProcesses"
	a.ask(func() nvml.Return {
		infos, code := a.g.handle.GetComputeRunningProcesses()
		if code == nvml.SUCCESS {
			r.Processes = Known(processesOf(infos))
		}
		return code
	}, name+"_v3", name+"_v2", name)
	if list, known := r.Processes.Get(); known && len(list) > 0 {
		a.utilization(list)
	}
}

func processesOf(infos []nvml.ProcessInfo) []Process {
	list := []Process{}
	for _, info := range infos {
		p := Process{PID: int(info.Pid)}
		if info.UsedGpuMemory != math.MaxUint64 { // NVML_VALUE_NOT_AVAILABLE
			p.MemoryMiB = Known(float64(info.UsedGpuMemory) / mebibyte)
		}
		list = append(list, p)
	}
	return list
}

// utilization adds the newest sample of each process since the last call.
func (a *asking) utilization(list []Process) {
	a.ask(func() nvml.Return {
		samples, code := a.g.handle.GetProcessUtilization(a.g.seen)
		if code != nvml.SUCCESS {
			return code
		}
		newest := map[int]nvml.ProcessUtilizationSample{}
		for _, s := range samples {
			if before, is := newest[int(s.Pid)]; !is || s.TimeStamp >= before.TimeStamp {
				newest[int(s.Pid)] = s
			}
		}
		for _, pid := range slices.Sorted(maps.Keys(newest)) {
			a.g.seen = max(a.g.seen, newest[pid].TimeStamp)
			for k := range list {
				if list[k].PID == pid && newest[pid].SmUtil <= 100 {
					list[k].UtilizationPercent = Known(float64(newest[pid].SmUtil))
				}
			}
		}
		return code
	}, "nvmlDeviceGetProcessUtilization")
}
