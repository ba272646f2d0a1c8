package work

import (
	"graft/cluster/node/telemetry"
	"graft/files"
)

// EnergyVariable is the environment variable that turns the measurement of energy off by the value
// off; any other leaves it on.
const EnergyVariable = "GRAFT_ENERGY"

// OpenTelemetry returns a function for Env.Telemetry that measures this machine: its GPUs by NVML,
// its processors by RAPL.
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
