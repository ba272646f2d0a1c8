package app

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"graft/internal/files"
	"graft/internal/telemetry"
)

// EnergyVariable is the environment variable whose value "off" disables energy measurement.
const EnergyVariable = "GRAFT_ENERGY"

// OpenTelemetry returns a function for Env.Telemetry that measures this machine: its GPUs by NVML, its processors by
// RAPL.
func OpenTelemetry(fsys files.FS) func(gpus bool) (telemetry.Source, error) {
	return func(gpus bool) (telemetry.Source, error) {
		if gpus {
			n, err := telemetry.OpenNVML("")
			if err != nil {
				return nil, err
			}
			return n, nil
		}
		r, err := telemetry.OpenRAPL(files.ReadOnly{FS: fsys}, "")
		if err != nil {
			return nil, err
		}
		return r, nil
	}
}

// DeviceMemory returns the used and the total memory of a CUDA device in bytes, as reported by NVML. The used memory
// includes the memory of other processes.
func DeviceMemory(env *Env, device string) (used, whole int64, err error) {
	if env.Telemetry == nil {
		return 0, 0, fmt.Errorf("read the memory of %s: measurements are disabled; unset %s", device, EnergyVariable)
	}
	source, err := env.Telemetry(true)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	gpus := source.Devices()
	order, err := telemetry.CUDAOrder(gpus, env.Variable("CUDA_VISIBLE_DEVICES"), env.Variable("CUDA_DEVICE_ORDER"))
	if err != nil {
		return 0, 0, err
	}
	_, number, _ := strings.Cut(device, ":")
	k, _ := strconv.Atoi(number) // cuda without a number is the first
	if k < 0 || k >= len(order) {
		return 0, 0, fmt.Errorf("read the memory of %s: NVML lists only %d devices", device, len(order))
	}
	r, err := source.Read(gpus[order[k]].Index)
	if err != nil {
		return 0, 0, err
	}
	inUse, known := r.MemoryUsedMiB.Get()
	all, sized := gpus[order[k]].MemoryMiB.Get()
	if !known || !sized {
		return 0, 0, fmt.Errorf("read the memory of %s: NVML does not report the memory", device)
	}
	return int64(inUse) << 20, int64(all) << 20, nil
}
