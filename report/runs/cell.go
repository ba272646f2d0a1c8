package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/live"
	"graft/cluster/study"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/results"
)

// CellKind describes the folders of single simulations, such as one scheduler with one seed, in the run folder of a
// cluster simulation. They have no manifest of their own.
var CellKind = &Kind{Name: "simulated-scheduler", By: "graft cluster run", Title: "simulated scheduler",
	Titles:  "simulated schedulers",
	matches: func(f *Folder) bool { return f.cluster() != "" }, read: readCell,
	list: overview{trend: overStream(study.JobsTable+".csv", "arrival", "jct", "")}}

// maxCellDepth is the maximum number of folders from a run folder to a simulation: point, workload and scheduler.
const maxCellDepth = 3

// cluster returns the run folder of the cluster simulation that contains the folder of a single simulation; empty if
// the folder is something else.
func (f *Folder) cluster() string {
	if !f.Has(study.JobsTable+".csv") || f.Has(ManifestFile) {
		return ""
	}
	folder := f.Path
	for range maxCellDepth {
		folder = filepath.Join(folder, "..")
		if m, err := results.ReadManifest(f.Files, folder); err == nil {
			if !slices.ContainsFunc(StudyKinds(), func(k *Kind) bool { return k.Name == m.Kind }) {
				return ""
			}
			return folder
		}
	}
	return ""
}

// readCell reads only the manifest of the cluster simulation, because a simulation may have thousands of cells.
func readCell(f *Folder, r *Run) error {
	outer, err := ReadFolder(f.Files, f.cluster())
	if err != nil {
		return err
	}
	if r.Manifest, err = outer.readManifest(); err != nil {
		return err
	}
	r.Ended = outer.Has(OutcomeFile)
	r.Outcome = Absolute(r.Path) // not compared with other runs
	return nil
}

// Outer returns the run folder of the cluster simulation that contains a single simulation; empty for other runs.
func (r *Run) Outer() string {
	if r.Kind != CellKind {
		return ""
	}
	return r.folder.cluster()
}

// Selection selects a part of a single simulation for a report. The zero value selects the whole simulation.
type Selection struct {
	Job string // ID of a job
	// number of a node, as in the table of outages, or its name in failures.nodes; VC/NODE if several virtual clusters
	// have the number
	Node string
}

// Select selects a job or a node of a single simulation for the report of the run.
func (r *Run) Select(s Selection) error {
	if s == (Selection{}) {
		return nil
	}
	if r.Kind != CellKind {
		return failure.Usagef("option \"job\" and option \"node\" require the folder of a simulated scheduler in a " +
			"run of 'graft cluster run', such as RUN/fifo")
	}
	if s.Job != "" && s.Node != "" {
		return failure.Usagef("option \"job\" and option \"node\" exclude each other; omit one of them")
	}
	var err error
	switch {
	case s.Job != "":
		_, err = r.JobRow(s.Job)
	case s.Node != "":
		_, err = r.OutagesOf(s.Node)
	}
	r.Selected = s
	return err
}

// Cell is a single simulation of a cluster.
type Cell struct {
	Study *study.Outcome     // outcome of the cluster simulation that contains it; nil before its end
	Run   *Run               // that cluster simulation
	Of    *study.CellOutcome // result of this simulation; nil before the end
}

// Cell reads the result of a single simulation.
func (r *Run) Cell() (*Cell, error) {
	return keep(&r.folder.kept, "cell", func() (*Cell, error) {
		path := r.Outer()
		if path == "" {
			return nil, fmt.Errorf("%s is not in the run folder of a cluster simulation", r.Path)
		}
		outer, err := Open(r.Files, path)
		if err != nil {
			return nil, err
		}
		return r.cellOf(outer)
	})
}

// cellOf returns the result of a single simulation in the outcome of its cluster run.
func (r *Run) cellOf(outer *Run) (c *Cell, err error) {
	c = &Cell{Run: outer}
	if c.Study, err = OutcomeOf[study.Outcome](outer); err != nil || c.Study == nil {
		return c, err
	}
	name, err := filepath.Rel(Absolute(outer.Path), Absolute(r.Path))
	if err != nil {
		return nil, err
	}
	k := slices.IndexFunc(c.Study.Cells, func(o study.CellOutcome) bool { return filepath.Clean(o.Folder) == name })
	if k >= 0 {
		c.Of = &c.Study.Cells[k]
	}
	return c, nil
}

// AddCellResults adds their settings and quantities to the single simulations among runs. Reading a run leaves them
// out, because they are in the outcome of the cluster run, which AddCellResults reads once. It skips simulations of
// cluster runs that have not ended. Errors become faults of the runs.
func AddCellResults(list []*Run) {
	outer := map[string]*Run{}
	for _, r := range list {
		if r.Kind != CellKind || r.Begun || len(r.Quantities) > 0 {
			continue
		}
		path := r.Outer()
		if outer[path] == nil {
			of, err := Open(r.Files, path)
			if err != nil {
				r.Faults = errors.Join(r.Faults, err)
				continue
			}
			outer[path] = of
		}
		if err := r.addCellResults(outer[path]); err != nil {
			r.Faults = errors.Join(r.Faults, err)
		}
	}
}

func (r *Run) addCellResults(outer *Run) error {
	c, err := r.cellOf(outer)
	if err != nil || c.Of == nil {
		return err
	}
	r.Settings = append(slices.Clone(outer.Settings), config.Setting{Key: "(scheduler)", Text: c.Of.Scheduler},
		config.Setting{Key: "(setting)", Text: c.Of.Point}, config.Setting{Key: "(workload)", Text: c.Of.Workload})
	slices.SortFunc(r.Settings, func(a, b config.Setting) int { return strings.Compare(a.Key, b.Key) })
	seeds := []int64{int64(c.Of.Seed)}
	r.Manifest.Seed, r.Seeded = c.Of.Seed, c.draws()
	if !r.Seeded {
		seeds = nil
	}
	for k := range c.Study.Metrics {
		m := &c.Study.Metrics[k]
		if v, has := c.Of.Values[m.Key()]; has && m.Main && v.Known() {
			r.Quantities = append(r.Quantities, Quantity{Name: m.Name, Unit: m.Unit, Better: directionOf(m.Better),
				Seeds: seeds, Values: []float64{float64(v)}, Detail: true})
		}
	}
	return nil
}

// draws reports whether the scheduler was simulated with several seeds.
func (c *Cell) draws() bool {
	return slices.ContainsFunc(c.Study.Cells, func(o study.CellOutcome) bool {
		return o.Scheduler == c.Of.Scheduler && o.Seed != c.Of.Seed
	})
}

// Field is a named text of a table's row.
type Field struct {
	Name string `json:"name"` // name of the column, without its unit
	Unit string `json:"unit"` // unit of a number; share means a fraction between 0 and 1, empty means a count or a text
	Text string `json:"text"` // content of the cell
}

// JobRow is a row of the table of jobs.
type JobRow struct {
	Job    string  `json:"job"`    // ID of the job
	Fields []Field `json:"fields"` // other columns in the order of the table
}

// Number returns a column as a number; false if it is missing or not a number.
func (j *JobRow) Number(name string) (float64, bool) {
	for _, f := range j.Fields {
		if f.Name == name {
			v, err := strconv.ParseFloat(f.Text, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// fields returns the columns of a row in order, without the job's name.
func (r *tableRow) fields() []Field {
	list := make([]Field, len(r.cells))
	for column, k := range r.at {
		name, unit, _ := strings.Cut(column, " [")
		list[k] = Field{name, strings.TrimSuffix(unit, "]"), strings.Clone(r.cells[k])}
	}
	return slices.DeleteFunc(list, func(f Field) bool { return f.Name == study.JobColumn })
}

// LongestJobs returns the jobs of a simulation with the longest completion times, at most the given number, and the
// number of all jobs. Jobs without a completion time come first.
func (r *Run) LongestJobs(most int) (list []JobRow, all int, err error) {
	longer := func(a, b JobRow) int { return cmp.Compare(b.completion(), a.completion()) }
	err = eachRow(r, study.JobsTable+".csv", func(row *tableRow) {
		all++
		list = append(list, JobRow{strings.Clone(row.text(study.JobColumn)), row.fields()})
		if len(list) >= 2*most {
			slices.SortStableFunc(list, longer)
			list = list[:most]
		}
	})
	slices.SortStableFunc(list, longer)
	return list[:min(most, len(list))], all, err
}

// completion returns the completion time of a job in the unit of its table; the largest number without one.
func (j *JobRow) completion() float64 {
	if v, has := j.Number("jct"); has {
		return v
	}
	return noCompletion
}

const noCompletion = 1e300

// mostGuessed is the maximum number of IDs among which a similar one is looked for.
const mostGuessed = 10_000

// JobRow returns the row of a job. Without this job, the error names similar IDs.
func (r *Run) JobRow(id string) (*JobRow, error) {
	var found *JobRow
	var ids []string
	err := eachRow(r, study.JobsTable+".csv", func(row *tableRow) {
		one := row.text(study.JobColumn)
		if found == nil && one == id {
			found = &JobRow{id, row.fields()}
		}
		if len(ids) < mostGuessed {
			ids = append(ids, strings.Clone(one))
		}
	})
	if err == nil && found == nil {
		err = failure.With(failure.Usage, fmt.Errorf("option \"job\": job %q %w in %s%s; column %s of the table "+
			"lists the jobs%s", id, ErrNoPart, r.folder.At(study.JobsTable+".csv"), words.Guess(id, ids),
			study.JobColumn, r.whyNoJob()))
	}
	return found, err
}

// whyNoJob explains why a simulation of a trace may lack a job; empty if the reason is unknown.
func (r *Run) whyNoJob() string {
	c, err := r.Cell()
	if err != nil || c.Run.Kind == nil || c.Run.Kind.Name != "rigid" {
		return ""
	}
	text := ". If the table does not have it, " + study.NotScheduled
	if c.Study != nil && len(c.Study.Left) > 0 {
		text += ". Jobs that cannot run: " + study.LeftOutText(c.Study.Left)
	}
	return text
}

// placeOf returns a node as VC/NODE if it is given by its name, and otherwise unchanged.
func (r *Run) placeOf(node string) string {
	c, err := r.Cell()
	if err != nil || c.Study == nil {
		return node
	}
	names, _ := c.Study.Facts[study.NodeNames].(map[string]any)
	if place, is := names[node].(string); is {
		return place
	}
	return node
}

// Outage is a period in which a node did not work.
type Outage struct {
	VC    string   `json:"vc"`       // virtual cluster of the node
	Node  string   `json:"node"`     // number of the node in its virtual cluster
	From  float64  `json:"from_s"`   // beginning in seconds of the trace's time
	To    *float64 `json:"to_s"`     // end in seconds of the trace's time; null if the node stays out
	Kind  string   `json:"kind"`     // failure or drain
	Class string   `json:"class"`    // class of the fault; empty means unknown
	Jobs  int      `json:"jobs_hit"` // number of jobs that were on the node
}

// outagesTable is the name of the table of outages.
const outagesTable = "outages.csv"

// Outages lists the outages of a simulation's nodes; nil if no node can fail.
func (r *Run) Outages() (list []Outage, err error) {
	if !r.folder.Has(outagesTable) {
		return nil, nil
	}
	err = eachRow(r, outagesTable, func(row *tableRow) {
		o := Outage{VC: strings.Clone(row.text("vc")), Node: strings.Clone(row.text("node")),
			From: row.number("from [s]"), Kind: strings.Clone(row.text("kind")),
			Class: strings.Clone(row.text("class")), Jobs: row.place("jobs")}
		if row.text("to [s]") != "" {
			to := row.number("to [s]")
			o.To = &to
		}
		list = append(list, o)
	})
	return list, err
}

// DevicesOf returns the devices of a live job over time; nil for other jobs.
func (r *Run) DevicesOf(job string) (*live.Timeline, error) {
	if !r.folder.Has(live.Table + ".csv") {
		return nil, nil
	}
	list, err := live.ReadTable(files.ReadOnly{FS: r.Files}, r.Path)
	if err != nil {
		return nil, failure.AsDamage(err)
	}
	for _, n := range list {
		if n.Job == job {
			return &n.Timeline, nil
		}
	}
	return nil, nil
}

// ErrNoPart reports that a simulation has no such job, or no outage of such a node.
var ErrNoPart = errors.New("not found")

// OutagesOf lists the outages of a node.
func (r *Run) OutagesOf(node string) ([]Outage, error) {
	all, err := r.Outages()
	if err != nil {
		return nil, err
	}
	of := func(place string) []Outage {
		return slices.DeleteFunc(slices.Clone(all), func(o Outage) bool {
			return o.Node != place && o.VC+"/"+o.Node != place
		})
	}
	list, place := of(node), node
	if len(list) == 0 {
		place = r.placeOf(node)
		list = of(place)
	}
	if len(list) == 0 {
		if place != node {
			node += " (" + place + ")"
		}
		return nil, failure.With(failure.Usage, fmt.Errorf("option \"node\": outage of node %q %w in %s; column node "+
			"of the table lists the nodes with outages", node, ErrNoPart, r.folder.At(outagesTable)))
	}
	if vc := list[0].VC; slices.ContainsFunc(list, func(o Outage) bool { return o.VC != vc }) {
		return nil, failure.Usagef("option \"node\": several virtual clusters of %s have a node %q; write VC/NODE, "+
			"such as %s/%s", r.Path, node, vc, node)
	}
	return list, nil
}

// FinishedCell is a finished simulation of a cluster run that has not ended.
type FinishedCell struct {
	Folder string       `json:"folder"` // path of the simulation's folder in the run folder
	Values study.Values `json:"values"` // values by key of the metric, which ends in its unit
}

// largestOpenCell limits the size of a result that is read before the end of the run, in bytes.
const largestOpenCell = 64 << 20

// FinishedCells lists the finished simulations of a cluster run that has not ended, sorted by folder. It leaves out
// results that are too large.
func (r *Run) FinishedCells() (list []FinishedCell, err error) {
	return finishedIn(r.folder, ".", maxCellDepth)
}

func finishedIn(f *Folder, at string, depth int) (list []FinishedCell, err error) {
	for _, entry := range f.Entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || depth == 0 {
			continue
		}
		below, err := ReadFolder(f.Files, f.At(entry.Name()))
		if NotThere(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		path := filepath.Join(at, entry.Name())
		if below.Has(study.CellFile) {
			one, err := below.finished(path)
			if err != nil {
				return nil, err
			}
			list = append(list, one...)
			continue
		}
		inner, err := finishedIn(below, path, depth-1)
		if err != nil {
			return nil, err
		}
		list = append(list, inner...)
	}
	return list, nil
}

// finished returns the result in the folder of a simulation. It returns nil for an ablation, which has no table of
// jobs, for a large result, and for a result that the end of the run has just removed.
func (f *Folder) finished(path string) ([]FinishedCell, error) {
	at := f.At(study.CellFile)
	info, err := f.Files.Stat(at)
	if !f.Has(study.JobsTable+".csv") || NotThere(err) || err == nil && info.Size() > largestOpenCell {
		return nil, nil
	}
	one := FinishedCell{}
	text, err := files.ReadAll(f.Files, at, largestOpenCell)
	if err == nil {
		err = json.Unmarshal(text, &one)
	}
	if NotThere(err) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.AsDamage(fmt.Errorf("read %s: %w", at, err))
	}
	return []FinishedCell{{path, one.Values}}, nil
}
