package curves

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
)

func drawPopulation(r *rand.Rand, o Options) *Population {
	o.Curves = "drawn"
	o.EnsureDefaults()
	var list []*Curve
	for k := range 5 {
		c := drawCurve(r)
		c.Name = fmt.Sprint(k)
		list = append(list, c)
	}
	return NewPopulation(o, list)
}

// results runs a case under a policy. It returns the outcome and the result of each network.
func results(t *testing.T, c *schedtest.Case, policy cluster.Policy, p *Population, share float64) (*cluster.Outcome,
	[]Result) {
	study := c.Study
	if p != nil {
		study.Learner = p.Learner(share, 1)
	}
	o, err := study.Run(t.Context(), policy, c.Options)
	require.NoError(t, err)
	var list []Result
	for _, pool := range o.Pools {
		for _, j := range pool.Jobs {
			if p != nil {
				list = append(list, pool.Learner.(*Learner).Result(j))
			}
		}
	}
	return o, list
}

// Jobs that cannot grow, or that end by their budgets, keep their schedules, also with time limits and types of GPUs.
// Only scheduler offers uses offers. A job that does not grow reaches the final accuracy of its curve under every
// scheduler, or less at its limit.
func TestGrowthKeepsSchedules(t *testing.T) {
	grown, timedOut := 0, 0
	for _, policy := range schedulers.Kinds() {
		for k := range 20 {
			r := rand.New(rand.NewPCG(13, uint64(k)))
			c := schedtest.Draw(r, schedtest.Shape{Span: 3000, Jobs: 24, Parts: k%3 == 1, Limits: k%4 == 1,
				Types: k%5 == 2})
			c.Study.Limits = k%4 == 1
			if policy.Name == "lucid" && len(c.Study.VCs) == 1 && c.Study.VCs[0].Nodes == 1 {
				continue // lucid needs a node for its profiler
			}
			plain, _ := results(t, c, policy, nil, 0)
			want := schedtest.Table(plain)
			for _, ends := range []string{ByBudget, ByAccuracy} {
				o, list := results(t, c, policy, drawPopulation(r, Options{Ends: ends}), 0)
				require.Equal(t, want, schedtest.Table(o), "%s, ends %s, case %d", policy.Name, ends, k)
				at := 0
				for _, pool := range o.Pools {
					for _, j := range pool.Jobs {
						if r := list[at]; j.TimedOut() {
							timedOut++
							require.LessOrEqual(t, r.Accuracy, r.Never+1e-9)
						} else {
							require.InDelta(t, r.Never, r.Accuracy, 1e-9)
						}
						at++
					}
				}
			}
			if policy.Name == "offers" {
				continue
			}
			o, list := results(t, c, policy, drawPopulation(r, Options{Ends: ByBudget, Knowledge: OwnKnowledge}), 1)
			require.Equal(t, want, schedtest.Table(o), "%s, case %d", policy.Name, k)
			for _, r := range list {
				grown += r.Network.Total()
			}
		}
	}
	require.Greater(t, grown, 200, "the cases hardly grow")
	require.Greater(t, timedOut, 50, "the cases hardly reach limits")
}

// With its own curve, growth never makes a lone job worse: the job ends no later, with no lower accuracy.
func TestGrowthWithKnowledge(t *testing.T) {
	better := 0
	for k := range 300 {
		r := rand.New(rand.NewPCG(17, uint64(k)))
		study := &cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 1}},
			Jobs: []trace.Job{{ID: "1", VC: "a", GPUs: 1 + r.IntN(8), Duration: 1 + r.Int64N(10_000)}}}
		c := &schedtest.Case{Study: *study}
		fifo, err := schedulers.Named("fifo")
		require.NoError(t, err)
		for _, ends := range []string{ByBudget, ByAccuracy} {
			p := drawPopulation(r, Options{Ends: ends, Knowledge: OwnKnowledge})
			never, _ := results(t, c, fifo, p, 0)
			o, list := results(t, c, fifo, p, 1)
			require.LessOrEqual(t, o.Jobs[0].End, never.Jobs[0].End+1, "rounded to whole seconds")
			require.False(t, list[0].Missed)
			require.GreaterOrEqual(t, list[0].Accuracy, list[0].Never-1e-9)
			if o.Jobs[0].End < never.Jobs[0].End || list[0].Accuracy > list[0].Never+1e-3 {
				better++
			}
		}
	}
	require.Greater(t, better, 100)
}

// An interrupted job learns as much from its work as an uninterrupted job, and repeated work teaches nothing.
func TestInterruptedJobsLearnFromTheirWork(t *testing.T) {
	for k := range 500 {
		r := rand.New(rand.NewPCG(19, uint64(k)))
		p := drawPopulation(r, Options{Ends: ByBudget})
		job := &cluster.Job{Trace: &trace.Job{ID: "1", GPUs: 1}}
		learner := p.Learner(0, 1)([]*cluster.Job{job}).(*Learner)
		s := &learner.states[0]
		s.budget, s.work = 1000, 1000
		left := 1000.0
		for left > 0 {
			got, err := learner.Given(job, left)
			require.NoError(t, err)
			require.Equal(t, left, got, "the work is kept")
			left -= 300 * r.Float64()
			if r.IntN(3) == 0 {
				left = min(left+40, s.work+40) // the job repeats 40 s of work, even if it has done less
			}
		}
		learner.Ended(job, 0)
		require.InDelta(t, 1000, s.done, 1e-6)
		require.InDelta(t, s.never(), s.error, 1e-9)
	}
}

// Goodput grows with the devices by diminishing amounts, and without a noise scale only up to the request.
func TestOffers(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	grows := 0
	for range 300 {
		p := drawPopulation(r, Options{Ends: []string{ByBudget, ByAccuracy}[r.IntN(2)], Knowledge: OwnKnowledge,
			NoiseScale: float64(r.IntN(2) * 4)})
		job := &cluster.Job{Trace: &trace.Job{ID: "1", GPUs: 1 + r.IntN(8)}}
		learner := p.Learner(1, 1)([]*cluster.Job{job}).(*Learner)
		s := &learner.states[0]
		s.budget, s.work, s.plan = 1000, 1000, plan{}
		before := *s
		last, gain := cluster.Offer{}, 1e9
		for n := 1; n <= 2*job.Trace.GPUs; n++ {
			o := learner.Offer(job, n, 600)
			require.Equal(t, before, *s, "an offer changes nothing")
			require.GreaterOrEqual(t, o.Goodput, last.Goodput-1e-12)
			require.LessOrEqual(t, o.Goodput-last.Goodput, gain+1e-9)
			if n > job.Trace.GPUs && p.NoiseScale == 0 {
				require.Equal(t, last.Goodput, o.Goodput, "more devices than requested are useless")
			}
			if gain = o.Goodput - last.Goodput; o.Action != "" {
				grows++
			}
			last = o
		}
	}
	require.Greater(t, grows, 100)
}

// Jobs grow only by the kinds that the tables of their curves measure. Unmeasured kinds do not change the typical
// effect.
func TestGrowthIsMeasured(t *testing.T) {
	grown := 0
	for k := range 200 {
		r := rand.New(rand.NewPCG(31, uint64(k)))
		lacks := Kind(r.IntN(2))
		c := drawCurve(r)
		c.Rate, c.Floor, c.Step, c.Loss = c.Rate.without(lacks), c.Floor.without(lacks), c.Step.without(lacks),
			c.Loss.without(lacks)
		require.False(t, c.Measured(lacks))
		require.True(t, c.Measured(1-lacks))
		p := drawPopulation(r, Options{Ends: ByBudget})
		other := p.typical.Rate
		p = NewPopulation(p.Options, append(p.curves, c))
		require.Equal(t, other.of(lacks), p.typical.Rate.of(lacks))
		p.curves = []*Curve{c}
		job := &cluster.Job{Trace: &trace.Job{ID: "1", GPUs: 1}}
		learner := p.Learner(1, 1)([]*cluster.Job{job}).(*Learner)
		s := &learner.states[0]
		s.budget, s.work = 1000, 1000
		for _, left := range []float64{1000, 800, 600, 400} {
			_, err := learner.Given(job, left)
			require.NoError(t, err)
		}
		require.Zero(t, s.network[lacks])
		grown += s.network.Total()
	}
	require.Greater(t, grown, 20)
}

// An offer values growth by the work that remains to be learned. Work that a job repeats after a failure changes
// nothing.
func TestOffersIgnoreRepeatedWork(t *testing.T) {
	compared := 0
	for k := range 200 {
		r := rand.New(rand.NewPCG(37, uint64(k)))
		p := drawPopulation(r, Options{Ends: ByBudget, Knowledge: OwnKnowledge})
		job := &cluster.Job{Trace: &trace.Job{ID: "1", GPUs: 4}}
		learner := p.Learner(1, 1)([]*cluster.Job{job}).(*Learner)
		s := &learner.states[0]
		s.budget, s.work = 1000, 1000
		plain := learner.Offer(job, 4, 1000)
		s.work, s.debt = 1300, 300
		require.Equal(t, plain, learner.Offer(job, 4, 1300))
		if plain.Action != "" {
			compared++
		}
	}
	require.Greater(t, compared, 50)
}

// A job that reached its time limit is worse only if it is less accurate than without growth at the limit.
func TestWorseAtTheLimit(t *testing.T) {
	better := 0
	for k := range 200 {
		r := rand.New(rand.NewPCG(41, uint64(k)))
		fifo, err := schedulers.Named("fifo")
		require.NoError(t, err)
		c := &schedtest.Case{Study: cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 1}}, Limits: true,
			Jobs: []trace.Job{{ID: "1", VC: "a", GPUs: 1, Duration: 10_000, Limit: 5000}}}}
		p := drawPopulation(r, Options{Ends: ByBudget, Knowledge: OwnKnowledge})
		_, plain := results(t, c, fifo, p, 0)
		o, list := results(t, c, fifo, p, 1)
		require.True(t, o.Jobs[0].TimedOut())
		grew := list[0].Network.Total() > 0
		require.Equal(t, grew && list[0].Accuracy < plain[0].Accuracy-1e-9, list[0].Worse)
		if grew && !list[0].Worse && list[0].Accuracy < list[0].Never {
			better++
		}
	}
	require.Greater(t, better, 10, "better than without growth, and less accurate than after all work")
}

func selecting(s trace.Selection) Options { return Options{Selection: s} }

// Only jobs that the options select can grow.
func TestSelectedJobsGrow(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		want []bool
	}{
		"all":    {Options{}, []bool{true, true, true}},
		"states": {selecting(trace.Selection{States: []string{"COMPLETED", "TIMEOUT"}}), []bool{true, true, false}},
		"hours":  {selecting(trace.Selection{MinHours: 1}), []bool{false, true, true}},
		"GPUs":   {selecting(trace.Selection{MinGPUs: 2}), []bool{true, false, true}},
	} {
		p := drawPopulation(rand.New(rand.NewPCG(1, 1)), c.o)
		jobs := []*cluster.Job{
			{Trace: &trace.Job{ID: "1", GPUs: 2, Duration: 3599, State: trace.Completed}},
			{Trace: &trace.Job{ID: "2", GPUs: 1, Duration: 3600, State: trace.TimedOut}},
			{Trace: &trace.Job{ID: "3", GPUs: 2, Duration: 9000, State: trace.Failed}}}
		learner := p.Learner(1, 1)(jobs).(*Learner)
		for k, s := range learner.states {
			require.Equal(t, c.want[k], s.grows, "%s, job %d", name, k+1)
		}
	}
}

func (t Terms) of(k Kind) float64 { return [kinds]float64{t.Deepen, t.Widen}[k] }

func (t Terms) without(k Kind) Terms {
	if k == Deepen {
		t.Deepen = 0
	} else {
		t.Widen = 0
	}
	return t
}

func TestOptions(t *testing.T) {
	var none Options
	none.EnsureDefaults()
	require.NoError(t, none.Validate())
	none.Ends = ByAccuracy
	require.ErrorContains(t, none.Validate(), "curves is missing")
	for says, o := range map[string]Options{
		"shares[1] is 0.5":      selecting(trace.Selection{Shares: []float64{0.5, 0.5}}),
		"shares[0] is 2":        selecting(trace.Selection{Shares: []float64{2}}),
		"states[0] is \"DONE\"": selecting(trace.Selection{States: []string{"DONE"}}),
		"states[1] is \"Pass\"": selecting(trace.Selection{States: []string{"COMPLETED", "Pass"}}),
		"min_hours is -1":       selecting(trace.Selection{MinHours: -1}),
		"min_gpus is -1":        selecting(trace.Selection{MinGPUs: -1}),
		"ends is \"x\"":         {Ends: "x"},
		"knowledge is \"x\"":    {Knowledge: "x"},
		"most_work is 0.5":      {MostWork: 0.5},
		"noise_scale is -1":     {NoiseScale: -1},
	} {
		o.Curves = "curves.json"
		o.EnsureDefaults()
		require.ErrorContains(t, o.Validate(), says)
	}
}

// Spot jobs, which have their own scheduler, learn as other jobs do. Evicted ones learn as much from their work.
func TestSpotJobsLearn(t *testing.T) {
	grown := 0
	for k := range 50 {
		r := rand.New(rand.NewPCG(29, uint64(k)))
		study := cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 1}}, Spot: &cluster.Spot{}, Jobs: []trace.Job{
			{ID: "spot", VC: "a", GPUs: 8, Duration: 5000, Spot: true},
			{ID: "2", VC: "a", Submit: 900, GPUs: 4, Duration: 800}}}
		fifo, err := schedulers.Named("fifo")
		require.NoError(t, err)
		c := &schedtest.Case{Study: study}
		p := drawPopulation(r, Options{Ends: ByBudget, Knowledge: OwnKnowledge})
		o, list := results(t, c, fifo, p, 0)
		require.Positive(t, o.Jobs[0].Lost().Evictions)
		require.InDelta(t, list[0].Never, list[0].Accuracy, 1e-9)
		_, list = results(t, c, fifo, p, 1)
		grown += list[0].Network.Total()
	}
	require.Greater(t, grown, 20)
}
