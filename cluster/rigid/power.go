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

// gpuTime is the metric of simulations in which the work of jobs is not always the same: nodes fail, jobs grow, or spot
// jobs are evicted.
var gpuTime = study.Metric{Name: "allocated", Unit: "GPU h", Title: "allocated", About: "GPU time allocated to jobs, " +
	"except on GPUs of Lucid's profiler", Better: study.Lower, Format: "%.1f", Main: true, Total: true}

// countsGPUTime reports whether the metrics of the simulations include the GPU hours.
func (s *simulations) countsGPUTime() bool {
	return s.workloads[0].failing != nil || s.adapting() || s.Cluster.Spot.Evict
}

// addGPUTime adds the GPU hours of a simulation and of its virtual clusters.
func addGPUTime(r *study.Result, out *cluster.Outcome) {
	of := map[string]study.Number{}
	for k := range out.Pools {
		p := &out.Pools[k]
		of[p.Name] = study.Number(p.UsedEver / secondsOfHour)
		r.Values[gpuTime.Key()] += of[p.Name]
	}
	for k := range r.Parts {
		if part := &r.Parts[k]; part.Group == poolGroup {
			part.Values[gpuTime.Key()] = of[part.Name]
		}
	}
}

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
