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

// NodeProfileOutcome is the content of outcome.json for a run that measures tasks alone and in pairs on one device.
type NodeProfileOutcome struct {
	Folder string `json:"folder"` // path of the run folder
	Device string `json:"device"` // name of the GPU, or of the slot of processors
	// reason why GPUs or measurements are missing; empty if nothing is missing
	Note    string              `json:"note"`
	Repeats int                 `json:"repeats"` // number of repeats of each measurement
	Tasks   []NodeProfileTask   `json:"tasks"`   // tasks measured alone, in the order of the file
	Pairs   []NodeProfilePair   `json:"pairs"`   // tasks measured together, including a task with itself
	Left    []NodeProfileFailed `json:"left"`    // failed measurements
}

// NodeSpread holds the mean, minimum and maximum of repeated measurements.
type NodeSpread struct {
	Mean float64 `json:"mean"` // mean of the repeats
	Low  float64 `json:"min"`  // minimum of the repeats
	High float64 `json:"max"`  // maximum of the repeats
}

// NewNodeSpread summarizes the values of one or more repeated measurements.
func NewNodeSpread(values []float64) NodeSpread {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return NodeSpread{sum / float64(len(values)), slices.Min(values), slices.Max(values)}
}

// NodeUse is the use of a device during a measurement, averaged over repeats.
type NodeUse struct {
	Utilization *float64 `json:"utilization_percent"` // mean utilization of the device; null means unknown
	Memory      *float64 `json:"peak_memory_mib"`     // maximum memory in use by all processes; null means unknown
	// mean power in watts; on a machine without GPUs, the power of all processors; null means unknown
	Watts *float64 `json:"watts"`
}

// NodeProfileTask is the measurement of a task that ran alone on the device.
type NodeProfileTask struct {
	Task    string     `json:"task"`    // kind or name of the task
	Runs    int        `json:"runs"`    // number of complete runs in all repeats
	Seconds NodeSpread `json:"seconds"` // duration of a run in seconds
	// Label rates how much the task slows down other tasks, by the mean speed of its partners: 0 means little (0.95
	// or more), 1 some (0.85 or more), 2 much. Null means that no pair was measured.
	Label   *int `json:"label"`
	NodeUse      // use of the device
}

// NodeProfilePair is the measurement of two tasks that ran together on the device. Speeds are relative to running
// alone.
type NodeProfilePair struct {
	First   string     `json:"first"`  // kind or name of the first task
	Second  string     `json:"second"` // kind or name of the second task; equal to the first for a task with itself
	Speed1  NodeSpread `json:"speed1"` // speed of the first task
	Speed2  NodeSpread `json:"speed2"` // speed of the second task
	Runs1   int        `json:"runs1"`  // number of counted runs of the first task in all repeats
	Runs2   int        `json:"runs2"`  // number of counted runs of the second task in all repeats
	NodeUse            // use of the device
}

// NodeProfileFailed describes a measurement that failed, with the reason.
type NodeProfileFailed struct {
	First  string `json:"first"`  // kind or name of the task
	Second string `json:"second"` // kind or name of the partner; empty means that the task ran alone
	Reason string `json:"reason"` // reason, as text
	// whether the device has too little memory for both tasks, which does not count as a failure
	Full bool `json:"full"`
}

// NodeProfileRow holds one measurement. For a task that ran alone, the second element of each array is empty.
type NodeProfileRow struct {
	Repeat int        // number of the repeat, from 1
	Tasks  [2]string  // kinds or names of the tasks
	Runs   [2]int     // number of complete counted runs of each task
	Times  [2]float64 // mean duration of each task's runs in seconds
	// speed of each task relative to running alone in the same repeat; 1 if it ran alone
	Speeds [2]float64
	Use    NodeUse // use of the device
}

// Alone reports whether a row has only one task.
func (r *NodeProfileRow) Alone() bool { return r.Tasks[1] == "" }

// Files of measured profiles in a run folder.
const (
	NodeAloneFile = "single_data.csv"   // labels of tasks, in the format of cluster.ReadProfiles
	NodePairsFile = "colocate_info.csv" // speeds of pairs, in the format of machine.profiles

	nodeProfileTable = "profile" // a row per measurement
)

var nodeProfileColumns = []results.Column{{Name: "repeat", Kind: results.Int}, {Name: "task1", Kind: results.String},
	{Name: "task2", Kind: results.String}, {Name: "runs1", Kind: results.Int}, {Name: "runs2", Kind: results.Int},
	{Name: "time1", Unit: "s"}, {Name: "time2", Unit: "s"}, {Name: "speed1"}, {Name: "speed2"},
	{Name: "utilization", Unit: "%"}, {Name: "peak_memory", Unit: "MiB"}, {Name: "power", Unit: "W"}}

// NodeProfileTable is the table profile.csv of a run, with one row per measurement. Create it with OpenNodeProfile; the
// zero value is not usable.
type NodeProfileTable struct{ stream *results.Stream }

// OpenNodeProfile opens the table of a run, and creates it if it is missing. The run closes the table.
func OpenNodeProfile(run *results.Run) (*NodeProfileTable, error) {
	stream, err := run.Stream(nodeProfileTable, nodeProfileColumns)
	return &NodeProfileTable{stream}, err
}

// Append writes a measurement as the last row of the table.
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

// ReadNodeProfile reads the measurements in a run folder. It returns no rows if the table is missing.
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

// NodeProfileKind describes the run folders that 'graft node profile' writes.
var NodeProfileKind = &Kind{Name: "node-profile", By: "graft node profile", Title: "profile of a machine's tasks",
	Titles: "profiles of a machine's tasks", matches: hasManifestAnd(ResolvedFile, nodeProfileTable+".csv"),
	read: readNodeProfile, list: nodeProfileOverview}

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
