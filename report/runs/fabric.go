package runs

import (
	"path/filepath"

	"graft/report/document"
)

// FabricOutcome is the outcome.json of episodes of training steps under several deciders.
type FabricOutcome struct {
	Folder  string        `json:"folder"`  // of the run
	Network string        `json:"network"` // its kind, at the first point
	Servers int           `json:"servers"` // of the cluster, at the first point
	Seeds   int           `json:"seeds"`   // episodes of each point
	Jobs    int           `json:"jobs"`    // of an episode
	Against string        `json:"against"` // the decider that differences are from
	Points  []FabricPoint `json:"points"`  // combinations of the values that vary
	Worth   *FabricWorths `json:"worth"`   // of quirks; null where degree.worth is false
}

// FabricPoint holds the results at a combination of values.
type FabricPoint struct {
	Name      string  `json:"name"`       // tells it from the others; empty for the only one
	Load      float64 `json:"load"`       // servers that jobs would keep busy if none was split, as a share of all
	Bandwidth float64 `json:"bandwidth"`  // of a server, bytes in a second
	Skewness  float64 `json:"skewness"`   // of limits that are skewed
	MaxDegree int     `json:"max_degree"` // largest degree
	Network   string  `json:"network"`    // kind and size
	Servers   int     `json:"servers"`    // of the cluster
	// share of the jobs that not even an empty cluster lets start, so that all deciders block them
	Hopeless float64      `json:"hopeless"`
	Cells    []FabricCell `json:"cells"`   // of each decider, the one that blocks fewest jobs first
	Blocked  Ranking      `json:"blocked"` // percent of the jobs
}

// FabricCell holds means of a decider over episodes.
type FabricCell struct {
	Decider string `json:"decider"` // its name
	Seeds   int    `json:"seeds"`   // that learned it; zero for one that learned nothing
	// of best-constant: the one that was chosen afterwards; zero for others
	Degree  int     `json:"degree"`
	Blocked float64 `json:"blocked"` // share of the jobs
	// mean time from arrival to completion, s; null where no job completed
	Completion *float64 `json:"completion"`
	Tail       *float64 `json:"p99"`     // its 99th percentile, s
	Speedup    *float64 `json:"speedup"` // mean of the time on one server over the time it took
	Held       float64  `json:"held"`    // share of the servers' time in which a job has them
	Busy       float64  `json:"busy"`    // share in which they compute
	// bytes of operations and transfers that jobs asked for and got, in a second
	Throughput float64        `json:"throughput"`
	Causes     map[string]int `json:"causes"`  // jobs blocked, by cause
	Degrees    []FabricDegree `json:"degrees"` // of the jobs that started
}

// FabricDegree counts the jobs of a model that started at a degree.
type FabricDegree struct {
	Model  string `json:"model"`  // its name
	Degree int    `json:"degree"` // parts of its step
	Jobs   int    `json:"jobs"`   // in all episodes
}

// FabricWorths say what quirks of the simulator of PAC-ML are worth.
type FabricWorths struct {
	Decider string        `json:"decider"` // under which they were kept
	Blocked float64       `json:"blocked"` // share of the jobs without quirks
	Quirks  []FabricWorth `json:"quirks"`  // each kept alone
}

// FabricWorth holds the effect of a quirk.
type FabricWorth struct {
	Quirk      string   `json:"quirk"`      // its name
	Blocked    float64  `json:"blocked"`    // share of the jobs with it
	Completion *float64 `json:"completion"` // mean time from arrival to completion with it, s
	Changed    int      `json:"changed"`    // jobs whose status, start or end differs
}

// FabricKind covers the runs of 'graft fabric run'.
var FabricKind = &Kind{Name: "fabric", Title: "simulation of training steps on a network",
	Titles: "simulations of training steps on a network", matches: hasManifestAnd(ResolvedFile, FabricStream+".csv"),
	read: readFabricRun}

// FabricStream is the table by which the run is recognised; FabricJobsFile has a row for each job of an
// episode.
const (
	FabricStream   = "fabric"
	FabricJobsFile = "jobs.csv"
)

// FabricEpisode is the folder of an episode under a decider; points and seeds count from 1.
func FabricEpisode(decider string, point, seed string) string {
	return filepath.Join(decider, "point-"+point, "seed-"+seed)
}

func readFabricRun(f *Folder, r *Run) error {
	o := &FabricOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	for _, p := range o.Points {
		prefix := ""
		if p.Name != "" {
			prefix = p.Name + ": "
		}
		for _, c := range p.Cells {
			r.Quantities = append(r.Quantities, seedless(prefix+c.Decider+"_blocked", document.UnitShare, Lower,
				c.Blocked))
		}
	}
	return nil
}

// FabricJobs reads the jobs of an episode that started, as times at which a model had a server.
func FabricJobs(r *Run, episode string) (all []NodeSpan, err error) {
	err = eachRow(r, filepath.Join(episode, NodeSpansFile), func(row *tableRow) {
		all = append(all, NodeSpan{Task: row.text("task"), Group: row.text("group"), GPU: row.place("server"),
			From: row.number("from_seconds"), To: row.number("to_seconds"), End: row.text("end")})
	})
	return all, err
}
