package rigid

import (
	"fmt"

	"graft/cluster"
	"graft/cluster/study"
)

// PowerOptions configures the power of the GPUs, for the energy of each simulation.
type PowerOptions struct {
	// Power of a GPU with a job, in watts, at most 100,000. Default 0: the report has no energy.
	Busy float64 `config:"busy_watts"`
	// Power of a GPU without a job, in watts, at most busy_watts. Default 0.
	Idle float64 `config:"idle_watts"`
}

// mostWatts limits the power of a GPU.
const mostWatts = 100_000

func (o PowerOptions) validate() error {
	if o.Busy < 0 || o.Busy > mostWatts || o.Idle < 0 || o.Idle > o.Busy {
		return fmt.Errorf("power: busy_watts is %g and idle_watts is %g; expected 0 ≤ idle_watts ≤ busy_watts ≤ %d",
			o.Busy, o.Idle, mostWatts)
	}
	return nil
}

func (o PowerOptions) on() bool { return o.Busy > 0 }

// energyMetric is the metric of a cluster whose GPUs have a power.
var energyMetric = study.Metric{Name: "energy", Unit: "kWh", Title: "energy", About: "energy of the GPUs in service " +
	"until the last job ended, from the configured power", Better: study.Lower, Format: "%.1f", Main: true}

const joulesOfKWh = 3.6e6

// addEnergy adds the energy of a simulation.
func (o PowerOptions) addEnergy(v study.Values, out *cluster.Outcome) {
	if o.on() {
		v[energyMetric.Key()] = finite(out.Joules(cluster.Power{Busy: o.Busy, Idle: o.Idle}) / joulesOfKWh)
	}
}
