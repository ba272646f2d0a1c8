package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/internal/files"
)

// generated returns all jobs of a generator.
func generated(tb testing.TB, o trace.GenerateOptions) ([]trace.Job, *trace.Generator) {
	g, err := trace.Generate(o)
	require.NoError(tb, err)
	var jobs []trace.Job
	for {
		var job trace.Job
		err := g.Read(&job)
		if errors.Is(err, io.EOF) {
			return jobs, g
		}
		require.NoError(tb, err)
		jobs = append(jobs, job)
	}
}

// shape holds the figures by which traces are compared.
type shape struct {
	single, most float64     // share of jobs with one GPU; largest number of GPUs
	durations    []float64   // seconds: the quantiles 10, 25, 50, 75, 90, 95 and 99%
	mean         float64     // seconds
	gpuSeconds   float64     // over all jobs
	night        float64     // share of jobs submitted from 4 to 8 o'clock
	work         float64     // share of jobs submitted from 9 to 24 o'clock
	weekend      float64     // share of jobs submitted on Saturdays and Sundays
	ties         float64     // share of jobs in the same second as the previous job
	users        int         // number of users
	topUser      float64     // share of jobs of the busiest user
	hours        [24]float64 // share of jobs by hour of the day
}

func shapeOf(jobs []trace.Job, start time.Time) (s shape) {
	n := float64(len(jobs))
	users := map[string]int{}
	var durations []int64
	for k, job := range jobs {
		at := start.Add(time.Duration(job.Submit) * time.Second)
		s.hours[at.Hour()] += 1 / n
		if day := at.Weekday(); day == time.Saturday || day == time.Sunday {
			s.weekend += 1 / n
		}
		if job.GPUs == 1 {
			s.single += 1 / n
		}
		if k > 0 && jobs[k-1].Submit == job.Submit {
			s.ties += 1 / n
		}
		s.most = max(s.most, float64(job.GPUs))
		s.gpuSeconds += float64(job.GPUs) * float64(job.Duration)
		s.mean += float64(job.Duration) / n
		users[job.User]++
		durations = append(durations, job.Duration)
	}
	slices.Sort(durations)
	for _, p := range []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99} {
		s.durations = append(s.durations, float64(durations[int(p*n)]))
	}
	for h, share := range s.hours {
		if h >= 4 && h < 8 {
			s.night += share
		}
		if h >= 9 {
			s.work += share
		}
	}
	for _, jobs := range users {
		s.topUser = max(s.topUser, float64(jobs)/n)
	}
	s.users = len(users)
	return s
}

// published returns the shape of the published month of Venus.
func published(t *testing.T) shape {
	all := must(trace.ReadAll(files.OS{}, referenceFile(t, "venus_sept_trace.csv"), trace.Options{}))
	return shapeOf(all.Jobs, time.Date(2020, 4, 1, 0, 0, 0, 0, time.UTC))
}

// Tolerances of a generated month against the published month. Chance moves the tail, in which a few jobs take most of
// the time.
const (
	quantileFactor = 1.3  // for quantiles of durations
	meanFactor     = 1.2  // for mean durations and GPU time
	shareFar       = 0.02 // for shares of jobs
)

func TestAMonthIsLikeThePublishedOne(t *testing.T) {
	want := published(t)
	for seed := range uint64(3) {
		jobs, g := generated(t, trace.GenerateOptions{Seed: seed})
		got := shapeOf(jobs, g.Start())
		t.Logf("measured: published %+v", want)
		t.Logf("measured: seed %d %+v", seed, got)
		require.Len(t, jobs, 23_859)
		require.InDelta(t, want.single, got.single, shareFar)
		require.Equal(t, want.most, got.most)
		for k := range want.durations {
			requireFactor(t, want.durations[k], got.durations[k], quantileFactor, fmt.Sprintf("quantile %d", k))
		}
		requireFactor(t, want.mean, got.mean, meanFactor, "mean duration")
		requireFactor(t, want.gpuSeconds, got.gpuSeconds, meanFactor, "GPU time")
		require.InDelta(t, want.night, got.night, shareFar)
		require.InDelta(t, want.work, got.work, shareFar)
		require.InDelta(t, want.weekend, got.weekend, 2*shareFar)
		require.InDelta(t, want.ties, got.ties, shareFar)
		require.InDelta(t, want.users, got.users, 10)
	}
}

func requireFactor(t *testing.T, want, got, factor float64, what string) {
	t.Helper()
	require.Less(t, math.Abs(math.Log(got/want)), math.Log(factor), "%s: %g where %g was published", what, got, want)
}

// Generated jobs fit for all options: they are sorted, within the days, and no larger than their virtual clusters.
func TestGeneratedJobsCanAllBeSimulated(t *testing.T) {
	for name, o := range map[string]trace.GenerateOptions{
		"a month":         {},
		"one node":        {Jobs: 500, Nodes: 1, Days: 1},
		"small nodes":     {Jobs: 500, Nodes: 5, GPUsPerNode: 2, VCs: 3},
		"one job":         {Jobs: 1},
		"constant rate":   {Jobs: 5000, Arrivals: trace.Poisson, Days: 3},
		"one user each":   {Jobs: 2000, VCs: 7, Users: 7, Load: 0.5},
		"many nodes":      {Jobs: 2000, Nodes: 500, VCs: 20},
		"an endless load": {Jobs: 100, Load: 100},
	} {
		t.Run(name, func(t *testing.T) {
			jobs, g := generated(t, o)
			o.EnsureDefaults()
			require.Len(t, jobs, o.Jobs)
			require.Len(t, g.VCs(), o.VCs)
			require.Equal(t, o.Nodes, trace.Nodes(g.VCs()))
			found := must(trace.Check(jobs, trace.CheckOptions{VCs: g.VCs(), GPUsPerNode: o.GPUsPerNode}))
			for _, f := range found {
				require.Equal(t, trace.OddGPUs, f.Kind, "%+v", f)
			}
			require.Less(t, jobs[len(jobs)-1].Submit, int64(o.Days)*86400)
		})
	}
}

func TestLoadIsAsAskedFor(t *testing.T) {
	for _, load := range []float64{0.3, 0.6, 1.5} {
		jobs, _ := generated(t, trace.GenerateOptions{Load: load, Jobs: 60_000, Seed: 3})
		got := shapeOf(jobs, time.Unix(0, 0)).gpuSeconds / (135 * 8 * 26 * 86400)
		t.Logf("measured: load %.3f where %.3f was asked for", got, load)
		requireFactor(t, load, got, 1.15, "load")
	}
}

func TestPoissonArrivalsHaveOneRate(t *testing.T) {
	jobs, g := generated(t, trace.GenerateOptions{Arrivals: trace.Poisson, Jobs: 48_000, Days: 20})
	s := shapeOf(jobs, g.Start())
	for hour, share := range s.hours {
		require.InDelta(t, 1.0/24, share, 0.005, "hour %d", hour)
	}
	// Gaps are exponential: a share of 1/e is longer than the mean.
	long := 0
	for k := range jobs[1:] {
		if float64(jobs[k+1].Submit-jobs[k].Submit) > 20*86400/48_000.0 {
			long++
		}
	}
	require.InDelta(t, math.Exp(-1), float64(long)/48_000, 0.02)
}

// Jobs with the same user and name have similar durations, so a scheduler can learn them.
func TestDurationsCanBeLearned(t *testing.T) {
	jobs, _ := generated(t, trace.GenerateOptions{})
	shortest, longest, count := map[string]int64{}, map[string]int64{}, map[string]int{}
	for _, job := range jobs {
		key := job.User + " " + job.Name
		if count[key] == 0 {
			shortest[key] = job.Duration
		}
		shortest[key], longest[key] = min(shortest[key], job.Duration), max(longest[key], job.Duration)
		count[key]++
	}
	again := 0
	for key, n := range count {
		again += n - 1
		require.LessOrEqual(t, float64(longest[key]), 1.65*float64(shortest[key])+2, key)
	}
	t.Logf("measured: %.2f of the jobs have the name of one before", float64(again)/float64(len(jobs)))
	require.Greater(t, float64(again), 0.5*float64(len(jobs)))
}

func TestEqualSeedsGiveEqualBytes(t *testing.T) {
	text := func(seed uint64) string {
		var out bytes.Buffer
		g := must(trace.Generate(trace.GenerateOptions{Seed: seed, Jobs: 2000}))
		w := must(trace.NewWriter(&out, trace.WriterOptions{Start: g.Start()}))
		var job trace.Job
		for g.Read(&job) == nil {
			require.NoError(t, w.Write(&job))
		}
		return out.String()
	}
	require.Equal(t, text(1), text(1))
	require.NotEqual(t, text(1), text(2))
}

func TestGenerateOptionsAreCheckedTogether(t *testing.T) {
	_, err := trace.Generate(trace.GenerateOptions{Jobs: -1, Days: 1 << 40, Nodes: 2, VCs: 3, Users: 1,
		Load: math.NaN(), Arrivals: 5, GPUsPerNode: -8, Start: time.Unix(1, 0)})
	for _, part := range []string{"generate a trace", "the number of jobs is -1; expected 1",
		"days is 1099511627776; expected 1", "GPUs per node is -8",
		"3 virtual clusters, but only 2 nodes", "1 users for 3", "load is NaN", "unknown arrival process 5",
		"expected midnight"} {
		require.ErrorContains(t, err, part)
	}
}

// BenchmarkGenerate generates a million jobs on 500 nodes.
func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		g := must(trace.Generate(trace.GenerateOptions{Jobs: 1_000_000, Nodes: 500}))
		var job trace.Job
		for g.Read(&job) == nil {
			continue
		}
	}
}
