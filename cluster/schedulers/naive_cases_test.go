package schedulers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/cluster/schedtest"
	"graft/cluster/trace"
)

// casesAsked is the environment variable for the number of cases, and caseSeed the one for their seed.
const (
	casesAsked = "GRAFT_CASES"
	caseSeed   = "GRAFT_SEED"
	someCases  = 7000
)

// The event-driven simulator and the reference give equal results for random cases, in all fields of all jobs.
func TestNaive(t *testing.T) {
	cases, seed := fromEnvironment(t, casesAsked, someCases), uint64(fromEnvironment(t, caseSeed, 1))
	tally := newTally()
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 2) {
		wait.Go(func() {
			for k := range next {
				c, kind := drawn(seed, k)
				err := tally.try(kind, c)
				if err != nil && tally.first() {
					c, err = shrunk(kind, c, err)
					t.Errorf("case %d of seed %d under %s: %v\n%s", k, seed, kind, err, c)
				}
			}
		})
	}
	for k := 0; k < cases && !t.Failed(); k++ {
		next <- k
	}
	close(next)
	wait.Wait()
	t.Logf("measured: equal to ticking: %s", tally)
}

func fromEnvironment(t *testing.T, name string, otherwise int) int {
	text, set := os.LookupEnv(name)
	if !set {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// naiveKinds lists the schedulers of the reference.
var naiveKinds = []string{"fifo", "sjf", "srtf", "qssf", "tiresias", "lucid", "lucid", "edf"}

// allQuirks lists the quirks of all schedulers, in the order in which cases draw them.
var allQuirks = []string{"extra-second", "slow-partner", "free-profiling", "size-first", "four-models"}

// drawn returns case k and its scheduler. Most cases are short, because ticking is slow. Some are long, so that rules
// with thresholds of hours apply.
func drawn(seed uint64, k int) (*schedtest.Case, string) {
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	kind := naiveKinds[k%len(naiveKinds)]
	shape := schedtest.Shape{Quirks: allQuirks, Span: []int64{2, 5, 20, 60, 150, 400}[r.IntN(6)], Jobs: 12,
		Faulty: r.IntN(4) == 0}
	switch n := r.IntN(1000); {
	case n < 2:
		shape.Span, shape.Jobs = 20_000, 5
	case n < 10 || kind == "tiresias" && n < 60:
		shape.Span = 4000
	case kind == "lucid" && n < 200:
		shape.Jobs, shape.Span = 40, shape.Span+10
	case kind == "lucid" && n < 350:
		shape.Jobs, shape.Span, shape.Waves = 80, 200+2*shape.Span, true
	}
	// In this version of Tiresias, changes of nodes are not events.
	shape.Scales = kind != "tiresias" && r.IntN(6) == 0
	shape.Types, shape.Limits = k/len(naiveKinds)%4 == 3, kind == "edf"
	if shape.Types && kind == "lucid" { // the quirk reports a rate that no job has
		shape.Quirks = slices.DeleteFunc(slices.Clone(allQuirks), func(q string) bool { return q == "slow-partner" })
	}
	return schedtest.Draw(r, shape), kind
}

// tally counts the cases of each situation.
type tally struct {
	sync.Mutex
	counts map[string]int
	failed bool
}

func newTally() *tally { return &tally{counts: map[string]int{}} }

func (y *tally) try(kind string, c *schedtest.Case) error {
	seen, err := differs(kind, c)
	y.Lock()
	defer y.Unlock()
	y.counts[kind]++
	for _, what := range seen {
		y.counts[kind+" with "+what]++
	}
	return err
}

func (y *tally) first() bool {
	y.Lock()
	defer y.Unlock()
	first := !y.failed
	y.failed = true
	return first
}

func (y *tally) String() string {
	var list []string
	for what, count := range y.counts {
		list = append(list, fmt.Sprintf("%s %d", what, count))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// policyOf returns a policy with the node changes of a case.
func policyOf(kind string, c *schedtest.Case) cluster.Policy {
	policy := plainPolicyOf(kind, c)
	prepare := policy.Prepare
	policy.Prepare = func(ctx context.Context, r *cluster.Run) error {
		var err error
		if prepare != nil {
			err = prepare(ctx, r)
		}
		if len(c.Scalings) > 0 {
			r.Pools[0].Changes = changesOf(c.Scalings)
		}
		return err
	}
	return policy
}

// changesOf returns node changes as Lucid's profiler makes them.
func changesOf(scalings []schedtest.Scaling) []cluster.NodeChange {
	var at []int64
	var nodes []int
	for _, s := range scalings {
		at, nodes = append(at, s.At), append(nodes, s.Nodes)
	}
	return lucid.Scale(at, nodes)
}

func plainPolicyOf(kind string, c *schedtest.Case) cluster.Policy {
	if kind == "lucid" {
		return lucid.Policy(lucid.Options(c.Profiler))
	}
	p, err := Named(kind)
	if err != nil {
		panic(err)
	}
	return p
}

// differs simulates a case with both simulators. The error is the first difference, and seen lists the situations.
func differs(kind string, c *schedtest.Case) (seen []string, err error) {
	o := c.Options
	o.Series, o.Workers = true, 1
	got, err := c.Study.Run(context.Background(), policyOf(kind, c), o)
	want := ticked(kind, c)
	switch {
	case want.stuck && err != nil && strings.Contains(err.Error(), "no jobs are running and no more jobs will arrive"):
		return []string{"jobs that never find a place"}, nil
	case err != nil:
		return nil, err
	case want.stuck:
		return nil, fmt.Errorf("the reference never ends")
	}
	return want.seen(), want.against(got)
}

// shrunk removes jobs, virtual clusters and estimates from a case while the simulators still differ.
func shrunk(kind string, c *schedtest.Case, err error) (*schedtest.Case, error) {
	for again := true; again; {
		again = false
		for _, smaller := range smallerCases(c) {
			if _, e := differs(kind, smaller); e != nil {
				c, err, again = smaller, e, true
				break
			}
		}
	}
	return c, err
}

func smallerCases(c *schedtest.Case) (list []*schedtest.Case) {
	change := func(f func(c *schedtest.Case)) {
		smaller := *c
		smaller.Study.Jobs = slices.Clone(c.Study.Jobs)
		smaller.Study.Estimates = slices.Clone(c.Study.Estimates)
		f(&smaller)
		if before := c.String(); smaller.String() != before {
			list = append(list, &smaller)
		}
	}
	for k := range c.Study.Jobs {
		if len(c.Study.Jobs) > 1 {
			change(func(c *schedtest.Case) {
				c.Study.Jobs = slices.Delete(c.Study.Jobs, k, k+1)
				c.Study.Estimates = slices.Delete(c.Study.Estimates, k, k+1)
			})
		}
	}
	for k := range c.Scalings {
		change(func(c *schedtest.Case) { c.Scalings = slices.Delete(slices.Clone(c.Scalings), k, k+1) })
	}
	change(func(c *schedtest.Case) { c.Study.Forecast = nil })
	change(func(c *schedtest.Case) {
		c.Study.Profiles = &cluster.Profiles{Scores: c.Study.Profiles.Scores}
	})
	change(func(c *schedtest.Case) { c.Options.Quirks = nil })
	change(func(c *schedtest.Case) { c.Options.Placement = "" })
	for k := range c.Study.Jobs {
		change(func(c *schedtest.Case) { c.Study.Jobs[k].GPUs = 1 })
		change(func(c *schedtest.Case) { c.Study.Jobs[k].Duration /= 2 })
		change(func(c *schedtest.Case) { c.Study.Estimates[k] = 7 })
		training := c.Study.Jobs[k].Trains()
		change(func(c *schedtest.Case) {
			c.Study.Jobs[k].Training = &trace.Training{Model: training.Model, Memory: 1000}
		})
		change(func(c *schedtest.Case) {
			c.Study.Jobs[k].Training = &trace.Training{Model: "m1", Memory: training.Memory}
		})
	}
	return list
}

// Cases in which the simulators once differed stay equal. The first line of a file names the scheduler.
func TestNaiveFound(t *testing.T) {
	files := must(filepath.Glob(filepath.Join("testdata", "found", "*.txt")))
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text := must(os.ReadFile(path))
			c := must(schedtest.Parse(string(text)))
			kind, _, ok := strings.Cut(strings.TrimPrefix(string(text), "# "), ":")
			require.True(t, ok, "the first line names the scheduler")
			_, err := differs(kind, c)
			require.NoError(t, err)
		})
	}
}
