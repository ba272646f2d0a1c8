package fabric

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/fabric"
	"graft/cluster/fabric/graph"
	"graft/cluster/fabric/networks"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/words"
	"graft/report/figure"
	"graft/runner/app"
)

// StepOptions configures the simulation of a training step at several degrees of parallelism.
type StepOptions struct {
	Graph   networks.ReadOptions  // options for a neural network that is named instead of a graph
	Network fabric.NetworkOptions // network between the servers
	Options fabric.Options        // options for the job
	// degrees to simulate; empty means 1, 2, 4, 8 and 16, limited by the number of servers and by the batch
	Degrees []int
	// path of a trace in the Trace Event Format; empty means no trace. The trace shows the last of the degrees at which
	// the step fits on the cluster.
	Trace    string
	Figure   string // path of a figure of the traced degree; empty means no figure
	Force    bool   // replaces existing files; false refuses them
	Critical int    // degree whose critical path is listed; zero means the degree of the trace

	most int // largest degree, for strategy data; zero means that the batch is unknown
}

// StepReport holds the times of a training step at several degrees of parallelism, on an empty cluster.
type StepReport struct {
	Model    string     `json:"model"`    // name of the network
	Strategy string     `json:"strategy"` // parallelism of the step
	Servers  int        `json:"servers"`  // number of servers of the cluster
	Degrees  []StepCell `json:"degrees"`  // results for the degrees, in the given order
	Critical []StepLeg  `json:"critical"` // critical path of the examined step, in order
	Kinds    []StepPart `json:"kinds"`    // parts of the critical path by kind, longest first
	Degree   int        `json:"degree"`   // degree of the examined step; zero if the job fits at none of the degrees
	File     string     `json:"file"`     // path of the trace; empty means none
	Figure   string     `json:"figure"`   // path of the figure; empty means none
}

// StepCell holds the result of a training step at one degree of parallelism.
type StepCell struct {
	Degree     int     `json:"degree"`       // number of parts of the step
	Reason     string  `json:"reason"`       // reason why the step cannot run; empty if it can
	Time       float64 `json:"time"`         // duration of the step in seconds
	Speedup    float64 `json:"speedup"`      // total time of all operations on one server divided by the duration
	Efficiency float64 `json:"efficiency"`   // speedup divided by the number of servers
	Compute    float64 `json:"compute"`      // fraction of the time in which at least one server computes
	Transfer   float64 `json:"transfer"`     // fraction of the time in which at least one transfer runs
	Busy       float64 `json:"busy"`         // fraction of the time in which a server computes, averaged over servers
	Servers    int     `json:"servers"`      // number of servers
	Memory     float64 `json:"memory_bytes"` // memory of the server with the highest use
	Flow       float64 `json:"flow_bytes"`   // traffic between servers
}

// StepLeg is a part of the critical path.
type StepLeg struct {
	What   string  `json:"what"`   // kind of the part: an operation, a transfer or a wait
	Name   string  `json:"name"`   // name of the operation and its part; for a transfer, both ends
	Where  string  `json:"where"`  // name of the server; for a transfer, both servers
	From   float64 `json:"from"`   // start in seconds
	Length float64 `json:"length"` // duration in seconds
}

// StepPart holds the total duration of all parts of the critical path that have the same kind.
type StepPart struct {
	What   string  `json:"what"`   // kind of the operations with their direction, or transfer, or wait
	Legs   int     `json:"legs"`   // number of summed parts
	Length float64 `json:"length"` // total duration in seconds
	Share  float64 `json:"share"`  // fraction of the step's time
}

// Step simulates a training step at several degrees.
func Step(env *app.Env, name string, o StepOptions) (*StepReport, error) {
	p, batch, err := readGraph(env.Files, name, o.Graph)
	if err != nil {
		return nil, err
	}
	s, err := o.study(p)
	if err == nil {
		err = o.checkShares(s, batch)
	}
	if err != nil {
		return nil, failure.With(failure.Usage, err)
	}
	format := figure.SVG
	if o.Figure != "" {
		if format, err = formatOf(o.Figure); err != nil {
			return nil, failure.With(failure.Usage, err)
		}
	}
	if err = o.mayWrite(env.Files, name); err != nil {
		return nil, err
	}
	r := &StepReport{Model: p.Model, Strategy: string(s.Options.Strategy), Servers: s.Network.Size(),
		Degrees: []StepCell{}, Critical: []StepLeg{}, Kinds: []StepPart{}}
	var last *fabric.Timeline
	for _, degree := range o.degrees(s) {
		cell, line, err := simulate(s, degree)
		if err != nil {
			return nil, fmt.Errorf("simulate %s at degree %d: %w", p.Model, degree, err)
		}
		r.Degrees = append(r.Degrees, cell)
		if line != nil && (o.Critical == 0 || o.Critical == degree) {
			last, r.Degree = line, degree
		}
	}
	if last == nil {
		return r, failure.With(failure.Failed, fmt.Errorf("simulate %s: the job cannot run at any of "+
			"the requested degrees: %s; request a lower degree, or set option \"shape\" to a larger cluster", p.Model,
			reasons(r.Degrees)))
	}
	names := namesOf(p, s, last)
	r.critical(last, names)
	if o.Trace != "" {
		r.File, err = o.Trace, files.WriteAtomic(env.Files, o.Trace, names.trace)
	}
	if o.Figure != "" && err == nil {
		r.Figure = o.Figure
		err = files.WriteAtomic(env.Files, o.Figure, func(w io.Writer) error { return names.draw(w, format) })
	}
	return r, err
}

// mayWrite returns an error if a file cannot be written, if it would replace the graph or, without Force, any file.
func (o *StepOptions) mayWrite(fsys files.FS, name string) error {
	if o.Trace != "" && filepath.Clean(o.Trace) == filepath.Clean(o.Figure) {
		return failure.Usagef("options trace and figure name the same file, %s: choose another file for one of them",
			o.Trace)
	}
	for _, path := range []string{o.Trace, o.Figure} {
		if path == "" {
			continue
		}
		err := app.MayConvert(fsys, name, path, true)
		if err = cmp.Or(err, app.MayWriteFile(fsys, path, o.Force)); err != nil {
			return err
		}
	}
	return nil
}

// reasons joins the reasons of the degrees that cannot run, each once.
func reasons(cells []StepCell) string {
	var list []string
	for _, c := range cells {
		if c.Reason != "" && !slices.Contains(list, c.Reason) {
			list = append(list, c.Reason)
		}
	}
	return strings.Join(list, "; ")
}

// study makes the study of one job.
func (o *StepOptions) study(p *graph.Profile) (*fabric.Study, error) {
	o.Network.EnsureDefaults()
	network, err := o.Network.Make(o.Options.Quirks)
	if err != nil {
		return nil, err
	}
	s := &fabric.Study{Network: network,
		Models: []fabric.Model{fabric.NewModel(p.Mirror(fabric.Mirror(o.Options.Quirks)))}, Options: o.Options}
	s.Jobs = []fabric.Job{{Limit: 1, Steps: 1}}
	if s.Options.MaxParts == 0 && len(o.Degrees) > 0 {
		s.Options.MaxParts = max(slices.Max(o.Degrees), 1)
	}
	s.Options.EnsureDefaults()
	for _, degree := range append(slices.Clone(o.Degrees), cmp.Or(o.Critical, 1)) {
		if degree < 1 || degree > s.Options.MaxParts || degree > 1 && degree%2 == 1 {
			return nil, fmt.Errorf("degree %d: a job runs on one server or on an even number of servers, at most "+
				"%d", degree, s.Options.MaxParts/2*2)
		}
	}
	if o.Critical != 0 && len(o.Degrees) > 0 && !slices.Contains(o.Degrees, o.Critical) {
		return nil, fmt.Errorf("option \"critical\" is %d; expected one of the degrees %v", o.Critical, o.Degrees)
	}
	s.Prepare()
	return s, s.Validate()
}

// checkShares returns an error if a server's share of the batch is less than one example. A batch of zero is unknown.
func (o *StepOptions) checkShares(s *fabric.Study, batch int) error {
	if batch == 0 || s.Options.Strategy != fabric.Data || s.Options.Quirks.Keeps(fabric.HeldSizes) {
		return nil
	}
	o.most = batch
	for _, degree := range append(slices.Clone(o.Degrees), o.Critical) {
		if degree > batch {
			return fmt.Errorf("degree %d: the servers share a batch of %d examples; request a lower degree, or set "+
				"option \"batch\" to a larger batch", degree, batch)
		}
	}
	return nil
}

// degrees returns the degrees to simulate.
func (o *StepOptions) degrees(s *fabric.Study) []int {
	if len(o.Degrees) > 0 {
		return o.Degrees
	}
	most := min(s.Network.Size(), cmp.Or(o.most, s.Network.Size()))
	list := slices.DeleteFunc([]int{1, 2, 4, 8, 16}, func(n int) bool { return n > most })
	if o.Critical > 0 && !slices.Contains(list, o.Critical) {
		list = append(list, o.Critical)
	}
	return list
}

// simulate simulates the step at a degree; the timeline is nil if there are not enough servers.
func simulate(s *fabric.Study, degree int) (cell StepCell, line *fabric.Timeline, err error) {
	cell.Degree = degree
	if degree > s.Network.Size() {
		cell.Reason = fmt.Sprintf("the cluster has only %s", words.Plural(s.Network.Size(), "server"))
		return cell, nil, nil
	}
	site := fabric.Site{Network: s.Network, Memory: s.Options.Memory, Free: func(int) bool { return true },
		Forward: s.Options.Quirks.Keeps(fabric.ForwardMemory)}
	placed, err := fabric.Place(&site, s.Parted(0, degree))
	if errors.Is(err, fabric.ErrNoPlace) {
		cell.Reason = err.Error()
		return cell, nil, nil
	}
	if err != nil {
		return cell, nil, err
	}
	if line, err = s.Timing().Timeline(placed); err != nil {
		return cell, nil, err
	}
	step := line.Step
	cell.Time, cell.Servers, cell.Flow = step.Time, len(placed.Servers), placed.Flow
	cell.Speedup = s.Sequential(&s.Jobs[0]) / step.Time
	cell.Efficiency = cell.Speedup / float64(cell.Servers)
	cell.Compute, cell.Transfer, cell.Busy = step.Compute/step.Time, step.Transfer/step.Time,
		step.Busy(cell.Servers, step.Time)
	held := map[int]float64{}
	for k, server := range placed.Server {
		held[server] += placed.Parted.Graph.Ops[k].Memory
	}
	cell.Memory = slices.Max(slices.Collect(maps.Values(held)))
	return cell, line, nil
}

// critical lists the critical path of a step, and sums it.
func (r *StepReport) critical(line *fabric.Timeline, names *names) {
	sums := map[string]*StepPart{}
	for _, s := range line.Critical() {
		leg := names.leg(s)
		r.Critical = append(r.Critical, leg)
		what := leg.What
		if s.Op >= 0 {
			what += names.direction(s.Op)
		}
		if sums[what] == nil {
			sums[what] = &StepPart{What: what}
		}
		sums[what].Legs++
		sums[what].Length += leg.Length
		sums[what].Share += leg.Length / line.Step.Time
	}
	for _, part := range sums {
		r.Kinds = append(r.Kinds, *part)
	}
	slices.SortFunc(r.Kinds, func(a, b StepPart) int {
		return cmp.Or(cmp.Compare(b.Length, a.Length), cmp.Compare(a.What, b.What))
	})
}
