package fabric

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"

	"graft/cluster"
	"graft/cluster/fabric"
	"graft/config"
	"graft/internal/files"
	"graft/internal/parallel"
	"graft/internal/stat"
	"graft/report/runs"
	"graft/results"
	"graft/runner/app"
)

// Run simulates the episodes of a configuration under its deciders, into the run folder. A run that was stopped
// or killed begins anew when it is resumed, and ends in the same bytes; one that had ended is read.
func Run(ctx context.Context, env *app.Env, c *config.Fabric, path string,
	o app.FolderOptions) (*runs.FabricOutcome, error) {
	folder := app.Folder("", c.Run.Folder, path)
	outcome, err := app.Simulate(ctx, env, folder, c, o, runs.FabricStream, columns,
		func(run *results.Run, stream *results.Stream) (*runs.FabricOutcome, error) {
			return runInto(ctx, &episodes{env: env, config: c, run: run}, stream)
		})
	if err != nil {
		return nil, err
	}
	outcome.Folder = folder
	return outcome, nil
}

// columns define the table of a run. Times are in seconds.
var columns = []results.Column{{Name: "decider", Kind: results.String}, {Name: "degree", Kind: results.Int},
	{Name: "point", Kind: results.Int}, {Name: "seed", Kind: results.Int}, {Name: "policy", Kind: results.Int},
	{Name: "blocked"}, {Name: "completion_mean"}, {Name: "completion_p99"}, {Name: "speedup_mean"}, {Name: "held"},
	{Name: "busy"}, {Name: "throughput"}}

// runInto simulates into a run folder.
func runInto(ctx context.Context, s *episodes, stream *results.Stream) (_ *runs.FabricOutcome, err error) {
	c := s.config
	o := &runs.FabricOutcome{Network: c.Fabric.Network, Seeds: c.Demand.TestCount, Jobs: c.Demand.Jobs,
		Against: c.Against(), Points: []runs.FabricPoint{}}
	for k, p := range c.Points() {
		base, err := c.Cluster(p, c.Quirks())
		if err != nil {
			return nil, err
		}
		if k == 0 {
			o.Servers = base.Network.Size()
		}
		entrants, err := s.point(ctx, base, k, p)
		if err != nil {
			return nil, err
		}
		for _, e := range entrants {
			if err := e.append(stream, k); err != nil {
				return nil, err
			}
		}
		point := summed(base, p, entrants, c.Against())
		if point.Hopeless, err = s.hopeless(ctx, base, p); err != nil {
			return nil, err
		}
		o.Points = append(o.Points, point)
	}
	if c.Degree.Worth {
		o.Worth, err = s.worth(ctx)
	}
	return o, err
}

// episodes holds the episodes of a run.
type episodes struct {
	env    *app.Env
	config *config.Fabric
	run    *results.Run
}

// entrant is a decider with what became of its episodes.
type entrant struct {
	name    string
	kinds   []fabric.Kind  // of a learned decider what each seed learned
	learned int            // number of seeds that learned; zero for others
	degree  int            // that best-constant chose
	plans   []*fabric.Plan // of the exact search, by episode; nil for others
	plays   [][]*played    // by episode and kind
}

// point plays the episodes of a point under all deciders, and writes their tables.
func (s *episodes) point(ctx context.Context, base *fabric.Study, at int,
	p config.FabricPoint) (all []*entrant, err error) {
	for _, d := range s.config.Deciders() {
		e, err := s.entrant(ctx, base, at, p, d)
		if err == nil {
			err = s.play(ctx, base, p, e, func(seed int, w *fabric.World) error { return s.write(d.Name, at, seed, w) })
		}
		if err != nil {
			return nil, fmt.Errorf("decider %s: %w", d.Name, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// entrant is a decider before its episodes are played.
func (s *episodes) entrant(ctx context.Context, base *fabric.Study, at int, p config.FabricPoint,
	d config.FabricDecider) (*entrant, error) {
	switch d.Name {
	case config.BestConstant:
		return s.best(ctx, base, p)
	case config.Exact:
		return &entrant{name: d.Name, kinds: d.Kinds(), plans: s.config.Plans(at)}, nil
	}
	e := &entrant{name: d.Name, kinds: d.Kinds()}
	if d.Learned() {
		e.learned = len(e.kinds)
	}
	return e, nil
}

// best is the constant degree that blocks fewest jobs over all seeds; of equal ones the smallest.
func (s *episodes) best(ctx context.Context, base *fabric.Study, p config.FabricPoint) (best *entrant, err error) {
	for _, degree := range base.Offered() {
		e := &entrant{name: config.BestConstant, kinds: []fabric.Kind{fabric.ConstantKind(degree)}, degree: degree}
		if err := s.play(ctx, base, p, e, nil); err != nil {
			return nil, err
		}
		if best == nil || e.mean(blocked) < best.mean(blocked) {
			best = e
		}
	}
	return best, nil
}

// play plays the episodes of a decider, in parallel. See, where there is one, sees each of its first kind at
// its end.
func (s *episodes) play(ctx context.Context, base *fabric.Study, p config.FabricPoint, e *entrant,
	see func(seed int, w *fabric.World) error) error {
	e.plays = make([][]*played, s.config.Demand.TestCount)
	for k := range e.plays {
		e.plays[k] = make([]*played, len(e.kinds))
	}
	return parallel.Pool{Workers: s.config.Degree.Workers}.Each(ctx, len(e.plays)*len(e.kinds), func(at int) error {
		seed, kind := at/len(e.kinds), at%len(e.kinds)
		study, err := s.config.Episode(base, p, seed)
		if err != nil {
			return err
		}
		w, err := fabric.NewWorld(study)
		if err == nil {
			err = fabric.Play(ctx, w, e.decider(seed, kind, s.config.Draws(seed)))
		}
		if err == nil && see != nil && kind == 0 {
			err = see(seed, w)
		}
		e.plays[seed][kind] = figures(w)
		return err
	}).First()
}

// decider is the one of an episode.
func (e *entrant) decider(seed, kind int, random *rand.Rand) fabric.Decider {
	if e.plans != nil {
		return fabric.Replay{Degrees: e.plans[seed].Degrees}
	}
	return e.kinds[kind].New(random)
}

// hopeless is the share of the jobs of a point that every decider blocks.
func (s *episodes) hopeless(ctx context.Context, base *fabric.Study, p config.FabricPoint) (float64, error) {
	sum := 0
	for seed := range s.config.Demand.TestCount {
		study, err := s.config.Episode(base, p, seed)
		if err != nil {
			return 0, err
		}
		n, err := study.Hopeless(ctx)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return float64(sum) / float64(s.config.Demand.TestCount*s.config.Demand.Jobs), nil
}

// write writes the tables of an episode.
func (s *episodes) write(decider string, point, seed int, w *fabric.World) error {
	folder := s.run.Path(runs.FabricEpisode(decider, strconv.Itoa(point+1), strconv.Itoa(seed+1)))
	if err := s.env.Files.MkdirAll(folder); err != nil {
		return err
	}
	err := files.WriteAtomic(s.env.Files, filepath.Join(folder, runs.FabricJobsFile),
		func(out io.Writer) error { return writeJobs(out, w) })
	if err != nil || point+seed > 0 {
		return err
	}
	return files.WriteAtomic(s.env.Files, filepath.Join(folder, runs.NodeSpansFile),
		func(out io.Writer) error { return writeSpans(out, w) })
}

// writeSpans writes the times at which jobs had servers.
func writeSpans(out io.Writer, w *fabric.World) error {
	if _, err := fmt.Fprintln(out, "task,group,server,from_seconds,to_seconds,end"); err != nil {
		return err
	}
	for k := range w.Jobs {
		j := &w.Jobs[k]
		if j.Run == nil {
			continue
		}
		ended, how := j.Ended, "completed"
		if math.IsNaN(ended) {
			ended, how = w.Now, "stopped"
		}
		for _, server := range j.Run.Placed.Servers {
			if _, err := fmt.Fprintf(out, "job %d,%s,%d,%s,%s,%s\n", j.ID, w.Study().Models[j.Model].Name, server,
				number(j.Started), number(ended), how); err != nil {
				return err
			}
		}
	}
	return nil
}

// worth plays the first decider with each quirk alone, at the first point.
func (s *episodes) worth(ctx context.Context) (*runs.FabricWorths, error) {
	decider, p := s.config.Deciders()[0], s.config.Points()[0]
	with := func(q cluster.Quirks) (*entrant, error) {
		base, err := s.config.Cluster(p, q)
		if err != nil {
			return nil, err
		}
		e, err := s.entrant(ctx, base, 0, p, decider)
		if err != nil {
			return nil, err
		}
		return e, s.play(ctx, base, p, e, nil)
	}
	none, err := with(nil)
	if err != nil {
		return nil, err
	}
	all := &runs.FabricWorths{Decider: decider.Name, Blocked: none.mean(blocked), Quirks: []runs.FabricWorth{}}
	for _, q := range fabric.Quirks() {
		e, err := with(cluster.QuirksOf([]cluster.Quirk{q}))
		if err != nil {
			return nil, fmt.Errorf("quirk %s: %w", q.Name, err)
		}
		one := runs.FabricWorth{Quirk: q.Name, Blocked: e.mean(blocked), Completion: whole(e.mean(completion))}
		for k, row := range e.plays {
			for n, end := range row[0].ends {
				if end != none.plays[k][0].ends[n] {
					one.Changed++
				}
			}
		}
		all.Quirks = append(all.Quirks, one)
	}
	return all, nil
}

// append appends the episodes of a decider to the table.
func (e *entrant) append(stream *results.Stream, point int) error {
	for seed, row := range e.plays {
		for policy, f := range row {
			if err := stream.Append(e.name, e.degree, point+1, seed+1, policy+1, f.blocked, f.completion, f.tail,
				f.speedup, f.held, f.busy, f.throughput); err != nil {
				return err
			}
		}
	}
	return nil
}

// mean is the mean of a figure over the episodes that have it; NaN where none has.
func (e *entrant) mean(of func(*played) float64) float64 {
	var list []float64
	for _, f := range slices.Concat(e.plays...) {
		if v := of(f); !math.IsNaN(v) {
			list = append(list, v)
		}
	}
	if len(list) == 0 {
		return math.NaN()
	}
	return stat.Mean(list)
}

// summed compares the deciders of a point.
func summed(base *fabric.Study, p config.FabricPoint, entrants []*entrant, against string) runs.FabricPoint {
	o := runs.FabricPoint{Name: p.Name(), Load: p.Load, Bandwidth: p.Bandwidth, Skewness: p.Skewness,
		MaxDegree: p.MaxDegree, Network: p.Network, Servers: base.Network.Size(),
		Blocked: runs.Ranking{Against: against, Bounds: []float64{}}}
	for _, e := range entrants {
		var rows [][]float64
		for _, row := range e.plays {
			var list []float64
			for _, f := range row {
				list = append(list, 100*f.blocked)
			}
			rows = append(rows, list)
		}
		o.Blocked.Standings = append(o.Blocked.Standings, runs.NewElasticStanding(e.name, e.learned, rows, nil))
		o.Cells = append(o.Cells, e.cell(base))
	}
	o.Blocked.Rank()
	slices.SortStableFunc(o.Cells, func(a, b runs.FabricCell) int { return cmp.Compare(a.Blocked, b.Blocked) })
	return o
}

func (e *entrant) cell(base *fabric.Study) runs.FabricCell {
	c := runs.FabricCell{Decider: e.name, Seeds: e.learned, Degree: e.degree, Blocked: e.mean(blocked),
		Completion: whole(e.mean(completion)), Tail: whole(e.mean(func(f *played) float64 { return f.tail })),
		Speedup: whole(e.mean(func(f *played) float64 { return f.speedup })),
		Held:    e.mean(func(f *played) float64 { return f.held }), Busy: e.mean(func(f *played) float64 {
			return f.busy
		}), Throughput: e.mean(func(f *played) float64 { return f.throughput }), Causes: map[string]int{},
		Degrees: []runs.FabricDegree{}}
	counts := map[[2]int]int{}
	for _, f := range slices.Concat(e.plays...) {
		for cause, n := range f.causes {
			c.Causes[cause.String()] += n
		}
		for at, n := range f.degrees {
			counts[at] += n
		}
	}
	for at, n := range counts {
		c.Degrees = append(c.Degrees, runs.FabricDegree{Model: base.Models[at[0]].Name, Degree: at[1], Jobs: n})
	}
	slices.SortFunc(c.Degrees, func(a, b runs.FabricDegree) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Degree, b.Degree))
	})
	return c
}

// whole is a number; nil for NaN.
func whole(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
