package ramp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
)

// StudyGraphs lists the PipeDream profile files that PAC-ML's authors used in their experiments, in the order of the
// job pool.
var StudyGraphs = []string{"alexnet.txt", "gnmt.txt", "resnet18.txt", "squeezenet1_0.txt", "vgg16.txt"}

// Limits lists the letters that name the time limit distributions in the experiments of PAC-ML's authors.
var Limits = []string{"A", "B", "C", "D"}

// printed are the blocking rates and bytes of demand per second that the authors print (notebook
// jobs_completed_blocked_characteristics_and_performance_bars of github.com/cwfparsonson/ddls, means of three seeds),
// by limits and agent.
var printed = map[string]map[string][2]float64{
	"A": {"max_parallelism": {0.2624, 2.325e7}, "acceptable_jct": {0.3087, 2.204e7}, "random": {0.5172, 1.537e7},
		"pac_ml": {0.2209, 2.470e7}},
	"B": {"max_parallelism": {0.2631, 2.351e7}, "acceptable_jct": {0.3956, 1.923e7}, "random": {0.6011, 1.282e7},
		"pac_ml": {0.2641, 2.343e7}},
	"C": {"max_parallelism": {0.2674, 2.356e7}, "acceptable_jct": {0.3074, 2.211e7}, "random": {0.5055, 1.568e7},
		"pac_ml": {0.1247, 2.779e7}},
	"D": {"max_parallelism": {0.2631, 2.351e7}, "acceptable_jct": {0.1419, 2.733e7}, "random": {0.4652, 1.723e7},
		"pac_ml": {0.1037, 2.840e7}},
}

// PolicyName is the name that PAC-ML's authors give their learned policy.
const PolicyName = "pac_ml"

// Printed returns the blocking rate and the throughput that PAC-ML's authors published for an agent, with one of the
// letters in Limits. The throughput is in bytes of demand per second. If no results are published for the agent, ok is
// false.
func Printed(limits, agent string) (blocked, throughput float64, ok bool) {
	p, ok := printed[limits][agent]
	return p[0], p[1], ok
}

// StudyAgent is an agent in PAC-ML's experiments: a published agent, or an agent that always chooses the same degree of
// parallelism.
type StudyAgent struct {
	Name  string
	Parts int // degree of an agent with a constant degree; zero for other agents
}

// StudyAgents returns the published agents, and an agent for each constant degree that the published cluster allows.
func StudyAgents() []StudyAgent {
	all := []StudyAgent{{Name: "max_parallelism"}, {Name: "acceptable_jct"}, {Name: "min_parallelism"},
		{Name: "random"}}
	for _, n := range []int{1, 2, 4, 6, 8, 16} {
		all = append(all, StudyAgent{fmt.Sprintf("constant %d", n), n})
	}
	return all
}

// StudyEpisode returns an episode of PAC-ML's experiments, which lasts 1e6 s on 32 servers, with a new job every 1,000
// s. The argument limits is one of the letters in [Limits].
func StudyEpisode(limits string, seed uint32, agent StudyAgent) (*Episode, error) {
	e := &Episode{Seed: seed, Agent: agent.Name, FileOrder: StudyGraphs}
	if agent.Parts > 0 {
		e.Agent, e.AgentKwargs.MaxParts = "sip_ml", &agent.Parts
	}
	c := &e.Config
	c.Topology.Type = "ramp"
	c.Topology.Kwargs = topologyKwargs{Groups: 4, Racks: 4, Servers: 2, Channels: 1, Bandwidth: 1.6e12, Latency: 50e-9,
		IO: 100e-9}
	c.Jobs = jobsConfig{Replication: 201, Interarrival: distribution{Target: "Fixed", Value: 1000},
		Sampling: "remove_and_repeat", Shuffle: true, Steps: 50}
	until := 1e6
	c.Until, c.MaxParts, c.Quantum = &until, 16, 0.01
	switch k := slices.Index(Limits, limits); k {
	case -1:
		return nil, fmt.Errorf("unknown limits %q; expected one of: %v", limits, Limits)
	case 0:
		c.Jobs.Limit = distribution{Target: "Uniform", Min: 0.1, Max: 1}
	default:
		c.Jobs.Limit = distribution{Target: "CustomSkewNorm", Min: 0.1, Max: 1, Skewness: []float64{5, 0, -5}[k-1]}
	}
	return e, nil
}

// mostDrawn limits the drawn jobs.
const mostDrawn = 1_000_000

// Draw generates all jobs of an episode. In the published simulator, a random agent draws its actions between the jobs,
// from the same random stream. Here, a random agent draws its actions after all jobs have been generated, so its
// results differ.
func (e *Episode) Draw(profiles []*graph.Profile) error {
	d, err := e.draws()
	if err != nil {
		return err
	}
	return e.take(d, profiles)
}

// take takes jobs from draws until the end of the episode.
func (e *Episode) take(d *Draws, profiles []*graph.Profile) error {
	until := math.Inf(1)
	if e.Config.Until != nil {
		until = *e.Config.Until
	}
	for k := 0; ; k++ {
		if d.until(k); k >= len(d.arrived) || d.arrived[k].at > until {
			return nil
		}
		if k == mostDrawn {
			return fmt.Errorf("more than %d jobs arrive before max_simulation_run_time; "+
				"increase job_interarrival_time_dist", mostDrawn)
		}
		one := d.arrived[k]
		e.Arrivals = append(e.Arrivals, []any{float64(k), float64(one.id), profiles[one.entry%len(profiles)].Model,
			d.limits[one.entry], one.at})
	}
}

// Result holds the results of an episode that are compared with the published results.
type Result struct {
	Blocked    float64     // share of the arrived jobs that were blocked
	Throughput float64     // throughput of demand, in bytes per second
	Degrees    map[int]int // number of completed jobs, by degree
}

// PlayBy simulates an episode. A decider chooses the degree of each job, which is the number of parts into which the
// job's operations are split. A nil decider means the agent of the episode.
func PlayBy(ctx context.Context, e *Episode, decider fabric.Decider, profiles []*graph.Profile) (Result, error) {
	w, own, err := e.World(profiles)
	if err != nil {
		return Result{}, err
	}
	if decider == nil {
		decider = own
	}
	if err := fabric.Play(ctx, w, decider); err != nil {
		return Result{}, err
	}
	s := Statistics(w)
	r := Result{s["blocking_rate"].(float64), s["mean_demand_total_throughput"].(float64), map[int]int{}}
	for k := range w.Jobs {
		if j := &w.Jobs[k]; j.Status == fabric.Completed {
			r.Degrees[j.Run.Parted.Degree]++
		}
	}
	return r, nil
}
