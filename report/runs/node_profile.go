package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/internal/files"
	"graft/report/document"
	"graft/results"
)

// NodeProfileOutcome is the outcome.json of tasks that were measured alone and in pairs on one device.
type NodeProfileOutcome struct {
	Folder  string              `json:"folder"`  // of the run
	Device  string              `json:"device"`  // name of the GPU, or slot of processors
	Note    string              `json:"note"`    // the reason why GPUs or measurements are missing; empty if none is
	Repeats int                 `json:"repeats"` // of each measurement
	Tasks   []NodeProfileTask   `json:"tasks"`   // that were measured alone, in the order of the file
	Pairs   []NodeProfilePair   `json:"pairs"`   // that were measured together, a task with itself too
	Left    []NodeProfileFailed `json:"left"`    // what was not measured; empty if all was
}

// NodeSpread is a mean over repeats with its extremes.
type NodeSpread struct {
	Mean float64 `json:"mean"` // over repeats
	Low  float64 `json:"min"`  // of the repeats
	High float64 `json:"max"`  // of the repeats
}

// NewNodeSpread summarises the values of repeats, which are not empty.
func NewNodeSpread(values []float64) NodeSpread {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return NodeSpread{sum / float64(len(values)), slices.Min(values), slices.Max(values)}
}

// NodeUse is the use of a device during a measurement. Means are over repeats.
type NodeUse struct {
	Utilization *float64 `json:"utilization_percent"` // mean of the device; null is unknown
	Memory      *float64 `json:"peak_memory_mib"`     // most in use by all processes; null is unknown
	// mean power, of all processors on a device without GPUs; null is unknown
	Watts *float64 `json:"watts"`
}

// NodeProfileTask is a task alone on the device.
type NodeProfileTask struct {
	Task    string     `json:"task"`    // its kind, or its name
	Runs    int        `json:"runs"`    // whole runs, in all repeats
	Seconds NodeSpread `json:"seconds"` // of a run
	// Label rates how much the task slows others, by the mean speed that it leaves to its partners: 0 hardly
	// (0.95 or more), 1 some (0.85 or more), 2 much. Null is a task without measured pairs.
	Label   *int `json:"label"`
	NodeUse      // of the device
}

// NodeProfilePair is a pair of tasks at the same time on the device. Speeds are relative to those alone.
type NodeProfilePair struct {
	First   string     `json:"first"`  // its kind, or its name
	Second  string     `json:"second"` // its kind, or its name; that of the first for a task with itself
	Speed1  NodeSpread `json:"speed1"` // of the first
	Speed2  NodeSpread `json:"speed2"` // of the second
	Runs1   int        `json:"runs1"`  // of the first that count, in all repeats
	Runs2   int        `json:"runs2"`  // of the second that count, in all repeats
	NodeUse            // of the device
}

// NodeProfileFailed is a measurement that is missing.
type NodeProfileFailed struct {
	First  string `json:"first"`  // its kind, or its name
	Second string `json:"second"` // partner; empty is alone
	Reason string `json:"reason"` // in words
	// the device has too little memory for both, so that they never run together; no failure
	Full bool `json:"full"`
}

// NodeProfileRow holds a measurement. For a task alone the second side is empty.
type NodeProfileRow struct {
	Repeat int        // from 1
	Tasks  [2]string  // kinds, or names
	Runs   [2]int     // whole runs that count
	Times  [2]float64 // mean time of these, s
	Speeds [2]float64 // relative to that alone in the same repeat; 1 alone
	Use    NodeUse    // of the device
}

// Alone reports whether a row is of one task.
func (r *NodeProfileRow) Alone() bool { return r.Tasks[1] == "" }

// Files of a profile in its run folder.
const (
	NodeAloneFile = "single_data.csv"   // labels of tasks, as cluster.ReadProfiles reads them
	NodePairsFile = "colocate_info.csv" // speeds of pairs, as machine.profiles takes them

	nodeProfileTable = "profile" // a row for each measurement
)

var nodeProfileColumns = []results.Column{{Name: "repeat", Kind: results.Int}, {Name: "task1", Kind: results.String},
	{Name: "task2", Kind: results.String}, {Name: "runs1", Kind: results.Int}, {Name: "runs2", Kind: results.Int},
	{Name: "time1", Unit: "s"}, {Name: "time2", Unit: "s"}, {Name: "speed1"}, {Name: "speed2"},
	{Name: "utilization", Unit: "%"}, {Name: "peak_memory", Unit: "MiB"}, {Name: "power", Unit: "W"}}

// NodeProfileTable is the table profile.csv of a run, whose rows are measurements. It is made by
// OpenNodeProfile and has no useful zero value.
type NodeProfileTable struct{ stream *results.Stream }

// OpenNodeProfile opens the table of a run, and makes it where absent. The run closes it.
func OpenNodeProfile(run *results.Run) (*NodeProfileTable, error) {
	stream, err := run.Stream(nodeProfileTable, nodeProfileColumns)
	return &NodeProfileTable{stream}, err
}

// Append adds a measurement.
func (t *NodeProfileTable) Append(r NodeProfileRow) error {
	second := []any{nil, nil, nil}
	if !r.Alone() {
		second = []any{r.Runs[1], r.Times[1], r.Speeds[1]}
	}
	cell := func(v *float64) any {
		if v == nil {
			return nil
		}
		return *v
	}
	return t.stream.Append(r.Repeat, r.Tasks[0], r.Tasks[1], r.Runs[0], second[0], r.Times[0], second[1], r.Speeds[0],
		second[2], cell(r.Use.Utilization), cell(r.Use.Memory), cell(r.Use.Watts))
}

// ReadNodeProfile reads the measurements in a run folder; a folder without the table has none.
func ReadNodeProfile(fsys files.FS, folder string) ([]NodeProfileRow, error) {
	table, err := results.ReadStream(fsys, filepath.Join(folder, nodeProfileTable+".csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n, err := table.Numbers("repeat", "runs1", "runs2", "time1", "time2", "speed1", "speed2", "utilization",
		"peak_memory", "power")
	first, firstErr := table.Strings("task1")
	second, secondErr := table.Strings("task2")
	if err := errors.Join(err, firstErr, secondErr); err != nil {
		return nil, fmt.Errorf("read measurements: %w", err)
	}
	list := make([]NodeProfileRow, table.Rows)
	for k := range list {
		r := NodeProfileRow{Repeat: int(n["repeat"][k]), Tasks: [2]string{first[k], second[k]},
			Runs: [2]int{int(n["runs1"][k])}, Times: [2]float64{n["time1"][k]}, Speeds: [2]float64{n["speed1"][k]},
			Use: NodeUse{finiteOrNil(n["utilization"][k]), finiteOrNil(n["peak_memory"][k]),
				finiteOrNil(n["power"][k])}}
		if !r.Alone() {
			r.Runs[1], r.Times[1], r.Speeds[1] = int(n["runs2"][k]), n["time2"][k], n["speed2"][k]
		}
		list[k] = r
	}
	return list, nil
}

// NodeProfileKind covers the runs of 'graft node profile'.
var NodeProfileKind = &Kind{Name: "node-profile", By: "graft node profile", Title: "profile of a machine's tasks",
	Titles: "profiles of a machine's tasks", matches: hasManifestAnd(ResolvedFile, nodeProfileTable+".csv"),
	read: readNodeProfile}

func readNodeProfile(f *Folder, r *Run) error {
	o := &NodeProfileOutcome{}
	if err := f.readOwn(r, o); err != nil {
		return err
	}
	r.Seeded = false
	for _, t := range o.Tasks {
		r.Quantities = append(r.Quantities, seedless(t.Task+"_time", document.UnitSeconds, Lower, t.Seconds.Mean))
	}
	for _, p := range o.Pairs {
		r.Quantities = append(r.Quantities, seedless(p.First+"_beside_"+p.Second, "", Higher, p.Speed1.Mean))
		if p.Second != p.First {
			r.Quantities = append(r.Quantities, seedless(p.Second+"_beside_"+p.First, "", Higher, p.Speed2.Mean))
		}
	}
	return nil
}
