package runs

import (
	"graft/report/document"
)

// NodeOutcome is the outcome.json of tasks of one machine that were simulated under several schedulers.
type NodeOutcome struct {
	Folder    string `json:"folder"`    // of the run
	GPUs      int    `json:"gpus"`      // of the machine
	Workloads int    `json:"workloads"` // sets of tasks
	Tasks     int    `json:"tasks"`     // in all of them
	// the quantity by which schedulers are listed: completion or energy-delay
	Objective   string     `json:"objective"`
	Cells       []NodeCell `json:"cells"`        // of each scheduler, the best first
	Turnaround  Ranking    `json:"turnaround"`   // mean time from arrival to completion, s
	EnergyDelay Ranking    `json:"energy_delay"` // energy of all GPUs times mean turnaround, kJ s
	// Exact is the least mean turnaround over all schedules that stop no task, s, over workloads; null where
	// one has more than ten tasks, tasks slow one another, or GPUs differ.
	Exact *float64 `json:"turnaround_exact"`

	Published *NodePublished `json:"published"` // in place of the cells, where machine.compat is tasks; null elsewhere
}

// NodePublished holds the results of schedulers in the packing environment of a published study, in which
// tasks that do not fit are lost.
type NodePublished struct {
	GPUs     int                 `json:"gpus"`     // of the machine
	Episodes int                 `json:"episodes"` // that all play
	Seed     uint64              `json:"seed"`     // of Python's generator, which draws them
	Cells    []NodePublishedCell `json:"cells"`    // of each scheduler
}

// NodePublishedCell holds means of a scheduler over episodes, and over seeds if it learned.
type NodePublishedCell struct {
	Scheduler string    `json:"scheduler"` // its published name
	Seeds     int       `json:"seeds"`     // that learned it; zero for one that learned nothing
	Reward    float64   `json:"reward"`    // sum of an episode
	Rewards   []float64 `json:"rewards"`   // of each seed
	Deviation float64   `json:"deviation"` // of the rewards of episodes
	Placed    float64   `json:"placed"`    // tasks that got a GPU
	Tasks     float64   `json:"tasks"`     // of an episode
	Makespan  float64   `json:"makespan"`  // in steps
}

// NodeCell holds means of a scheduler over workloads and seeds.
type NodeCell struct {
	Scheduler  string  `json:"scheduler"`      // its name
	Seeds      int     `json:"seeds"`          // that learned it; zero for one that learned nothing
	Completed  float64 `json:"completed"`      // share of the tasks
	Turnaround float64 `json:"turnaround"`     // mean time from arrival to completion, s
	Tail       float64 `json:"turnaround_p95"` // its 95th percentile, s
	Wait       float64 `json:"wait"`           // mean part of the turnaround on no GPU, s
	Slowdown   float64 `json:"slowdown"`       // mean turnaround over the time alone
	Makespan   float64 `json:"makespan"`       // end of the last task, s
	Busy       float64 `json:"busy"`           // share of the cores in use until then
	Joules     float64 `json:"joules"`         // of all GPUs until then
	Stops      float64 `json:"stops"`          // times that tasks were stopped and went on later
}

// NodeKind covers the runs of 'graft node simulate'.
var NodeKind = &Kind{Name: "node", Title: "simulation of a machine's tasks", Titles: "simulations of a machine's tasks",
	matches: hasManifestAnd(ResolvedFile, nodeTable), read: readNodeRun}

// Tables in the folder of each scheduler, and the stream by which the run is recognised.
const (
	NodeTasksFile = "tasks.csv" // a row for each task of each workload
	NodeSpansFile = "spans.csv" // a row for each time at which a task of the first workload ran on a GPU
	NodeStream    = "node"
	// NodeCurveStream is the table of PPO's learning as published.
	NodeCurveStream = "learning"
	nodeTable       = NodeStream + ".csv"
)

func readNodeRun(f *Folder, r *Run) error {
	o := &NodeOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	if o.Published != nil {
		for _, c := range o.Published.Cells {
			r.Quantities = append(r.Quantities, seedless(c.Scheduler+"_reward", "", Higher, c.Reward))
		}
	}
	for _, c := range o.Cells {
		r.Quantities = append(r.Quantities,
			seedless(c.Scheduler+"_turnaround", document.UnitSeconds, Lower, c.Turnaround),
			seedless(c.Scheduler+"_makespan", document.UnitSeconds, Lower, c.Makespan),
			seedless(c.Scheduler+"_joules", document.UnitJoules, Lower, c.Joules))
	}
	return nil
}
