package ramp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/internal/validate"
)

// Episode holds the inputs of an episode of PAC-ML's simulator. If an episode is read from a recording in JSON, the
// recorded results are ignored.
type Episode struct {
	Agent       string        `json:"agent"`
	AgentKwargs agentKwargs   `json:"agent_kwargs"`
	Seed        uint32        `json:"seed"`
	Config      episodeConfig `json:"config"`
	FileOrder   []string      `json:"file_order"`
	Columns     []string      `json:"arrivals_cols"`
	Arrivals    [][]any       `json:"arrivals"`
	Actions     []int         `json:"actions"` // recorded action of each decision; nil lets the agent decide
}

type agentKwargs struct {
	MaxParts *int `json:"max_partitions_per_op"`
}

type episodeConfig struct {
	Topology struct {
		Type   string         `json:"type"`
		Kwargs topologyKwargs `json:"kwargs"`
	} `json:"topology_config"` // network of the cluster
	Jobs     jobsConfig `json:"jobs_config"`             // pool of jobs
	Until    *float64   `json:"max_simulation_run_time"` // time limit in s; nil means until the last job ends
	MaxParts int        `json:"max_partitions_per_op"`   // largest degree of parallelism
	Quantum  float64    `json:"min_op_run_time_quantum"` // operation time per part, in ms
	Queue    *int       `json:"job_queue_capacity"`      // capacity in jobs; nil means 10
	Mask     *bool      `json:"apply_action_mask"`       // false blocks jobs with an unavailable degree; nil means true
}

type topologyKwargs struct {
	Groups    int     `json:"num_communication_groups"`
	Racks     int     `json:"num_racks_per_communication_group"`
	Servers   int     `json:"num_servers_per_rack"`
	Channels  int     `json:"num_channels"`
	Bandwidth float64 `json:"total_node_bandwidth"`
	Latency   float64 `json:"intra_gpu_propagation_latency"`
	IO        float64 `json:"worker_io_latency"`
}

type jobsConfig struct {
	Replication  int          `json:"replication_factor"`                           // jobs per graph in the pool
	Interarrival distribution `json:"job_interarrival_time_dist"`                   // in seconds
	Limit        distribution `json:"max_acceptable_job_completion_time_frac_dist"` // fraction of time on one server
	// mode of drawing jobs from the pool: replace, remove or remove_and_repeat
	Sampling string `json:"job_sampling_mode"`
	// shuffles the pool when it is filled
	Shuffle bool `json:"shuffle_files"`
	Steps   int  `json:"num_training_steps"` // number of training steps per job
	// largest degree of parallelism, used to scale observations
	Observed int `json:"max_partitions_per_op_in_observation"`
}

// distribution holds a distribution of the simulator; its kind determines the values that are set.
type distribution struct {
	Target   string  `json:"_target_"`
	Value    float64 `json:"val"`
	Min      float64 `json:"min_val"`
	Max      float64 `json:"max_val"`
	Decimals *int    `json:"decimals"`
	Skewness float64 `json:"skewness"`
	Masses   masses  `json:"probability_mass_function"`
}

// maxEpisode limits the file of an episode, in bytes.
const maxEpisode = 256 << 20

// ReadEpisode reads an episode.
func ReadEpisode(r io.Reader) (*Episode, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxEpisode+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxEpisode {
		return nil, fmt.Errorf("the episode is larger than %d MiB", maxEpisode>>20)
	}
	var e Episode
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("not a JSON episode: %w", err)
	}
	return &e, e.validate()
}

func (e *Episode) validate() error {
	var faults validate.Faults
	faults.Unless(e.Config.Topology.Type == "ramp", "topology_config.type is %q; only ramp is supported",
		e.Config.Topology.Type)
	faults.Unless(len(e.FileOrder) > 0, "file_order is empty; list the graphs in the order of the pool")
	faults.Unless(e.Arrivals == nil || len(e.Arrivals) > 0,
		"arrivals is empty; an episode must have at least one job; remove arrivals to draw jobs from the seed")
	faults.Unless(e.Arrivals != nil || e.Config.Until != nil || e.Config.Jobs.Sampling == "remove",
		"arrivals is missing; set max_simulation_run_time or job_sampling_mode remove, so that the episode ends")
	for _, name := range e.FileOrder {
		faults.Unless(!strings.ContainsAny(name, "/\\") && name != "..",
			"file_order contains %q: expected file names without folders", name)
	}
	for _, column := range []string{"model", "max_acceptable_jct_frac", "time_arrived"} {
		faults.Unless(len(e.Columns) == 0 || slices.Contains(e.Columns, column), "arrivals_cols has no %q", column)
	}
	faults.Unless(e.Arrivals != nil ||
		slices.Contains([]string{"replace", "remove", "remove_and_repeat"}, e.Config.Jobs.Sampling),
		"job_sampling_mode %q is unknown; expected replace, remove or remove_and_repeat",
		e.Config.Jobs.Sampling)
	faults.Unless(e.Config.Queue == nil || *e.Config.Queue > 0, "job_queue_capacity: expected at least 1")
	return errors.Join(faults...)
}

// column returns the index of a column of the arrivals.
func (e *Episode) column(name string) int {
	columns := e.Columns
	if len(columns) == 0 {
		columns = []string{"job_idx", "job_id", "model", "max_acceptable_jct_frac", "time_arrived"}
	}
	return slices.Index(columns, name)
}

// Study returns the simulation study of an episode, with all quirks of PAC-ML's published simulator. The profiles must
// be in the order of the field FileOrder.
func (e *Episode) Study(profiles []*graph.Profile) (*fabric.Study, error) {
	top := &e.Config.Topology.Kwargs
	quirks := Quirks()
	network := &fabric.Ramp{
		Groups: top.Groups, Racks: top.Racks, Servers: top.Servers, Channels: top.Channels,
		Bandwidth: top.Bandwidth, Latency: top.Latency, IO: top.IO, Quirks: quirks,
	}
	if err := network.Validate(); err != nil {
		return nil, fmt.Errorf("topology_config: %w", err)
	}
	s := &fabric.Study{Network: network, Options: fabric.Options{MaxParts: e.Config.MaxParts, Quantum: e.Config.Quantum,
		Quirks: quirks}}
	s.Options.EnsureDefaults()
	models := map[string]int{}
	for _, p := range profiles {
		models[p.Model] = len(s.Models)
		s.Models = append(s.Models, fabric.NewModel(p.Mirror(fabric.Mirror(quirks))))
	}
	if err := e.arrivals(s, models); err != nil {
		return nil, err
	}
	e.until(s)
	s.Prepare()
	return s, s.Validate()
}

// World starts an episode and returns its cluster and its agent. The profiles must be in the order of the field
// FileOrder.
func (e *Episode) World(profiles []*graph.Profile) (*fabric.World, fabric.Decider, error) {
	if e.Arrivals == nil {
		if err := e.Draw(profiles); err != nil {
			return nil, nil, err
		}
	}
	study, err := e.Study(profiles)
	if err != nil {
		return nil, nil, err
	}
	draws, err := e.Draws()
	if err != nil {
		return nil, nil, err
	}
	decider, err := e.Decider(draws)
	if err != nil {
		return nil, nil, err
	}
	w, err := fabric.NewWorld(study)
	if err == nil {
		w.Pick = draws.Pick(w)
	}
	return w, decider, err
}

// until determines the end of an episode, and whether jobs would arrive after the last.
func (e *Episode) until(s *fabric.Study) {
	if e.Config.Until == nil {
		return
	}
	s.Options.Until = *e.Config.Until
	pool := len(e.FileOrder) * max(e.Config.Jobs.Replication, 1)
	if e.Config.Jobs.Sampling == "remove" && len(s.Jobs) >= pool {
		return
	}
	s.Options.More = true
	if every := &e.Config.Jobs.Interarrival; every.kind() == "Fixed" {
		s.Options.Next = s.Jobs[len(s.Jobs)-1].Arrival + every.Value
	}
}

func (e *Episode) arrivals(s *fabric.Study, models map[string]int) error {
	model, limit, at := e.column("model"), e.column("max_acceptable_jct_frac"), e.column("time_arrived")
	for k, row := range e.Arrivals {
		if len(row) <= max(model, limit, at) {
			return fmt.Errorf("arrival %d has %d values; expected %d", k, len(row), max(model, limit, at)+1)
		}
		name, _ := row[model].(string)
		m, ok := models[name]
		if !ok {
			return fmt.Errorf("arrival %d has model %q, but file_order has no graph for it", k, name)
		}
		share, ok1 := row[limit].(float64)
		time, ok2 := row[at].(float64)
		if !ok1 || !ok2 || math.IsNaN(time) {
			return fmt.Errorf("arrival %d: limit and time must be numbers", k)
		}
		s.Jobs = append(s.Jobs, fabric.Job{Model: m, Limit: share, Steps: e.Config.Jobs.Steps, Arrival: time})
	}
	return nil
}

// Quirks returns all quirks of PAC-ML's published simulator.
func Quirks() cluster.Quirks { return cluster.QuirksOf(fabric.Quirks()) }

// Decider returns the agent of an episode. If actions are recorded, it returns a replay of the actions instead.
func (e *Episode) Decider(d *Draws) (fabric.Decider, error) {
	agent, err := e.agent(d)
	return masked{agent, e.Config.Mask != nil && !*e.Config.Mask}, err
}

func (e *Episode) agent(d *Draws) (fabric.Decider, error) {
	if e.Actions != nil {
		return fabric.Replay{Degrees: e.Actions}, nil
	}
	switch e.Agent {
	case "no_parallelism":
		return fabric.Never{}, nil
	case "min_parallelism":
		return fabric.Least{}, nil
	case "max_parallelism":
		return fabric.Most{}, nil
	case "acceptable_jct":
		return fabric.InTime{}, nil
	case "random":
		return chance{d}, nil
	case "sip_ml", "sip_ml_none":
		parts := math.MaxInt
		if e.AgentKwargs.MaxParts != nil {
			parts = *e.AgentKwargs.MaxParts
		}
		return fabric.Constant{Parts: parts}, nil
	}
	return nil, fmt.Errorf("agent %q is unknown; expected no_parallelism, min_parallelism, max_parallelism, random, "+
		"sip_ml or acceptable_jct", e.Agent)
}

// masked checks the degrees that an agent chooses: unavailable ones are errors, or block the job if the simulator
// applies no mask.
type masked struct {
	agent fabric.Decider
	block bool
}

// Degree returns the degree that the agent chooses; if the simulator applies no mask, an unavailable degree becomes 0,
// which blocks the job.
func (m masked) Degree(w *fabric.World) (int, error) {
	degree, err := m.agent.Degree(w)
	if err != nil || slices.Contains(w.Degrees(), degree) {
		return degree, err
	}
	if m.block {
		return 0, nil
	}
	return 0, fmt.Errorf("job %d: the agent chose degree %d; expected one of: %v", w.Waiting().ID, degree, w.Degrees())
}
