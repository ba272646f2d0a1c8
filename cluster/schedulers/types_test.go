package schedulers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/schedtest"
	"graft/cluster/trace"
)

// untyped returns a case without types of nodes and jobs.
func untyped(c *schedtest.Case) *schedtest.Case {
	other := copied(c)
	other.Study.Types = nil
	for k := range other.Study.Jobs {
		other.Study.Jobs[k].GPUType, other.Study.Jobs[k].NeedsType = "", false
	}
	return other
}

// Types change nothing if all are equally fast and have equal nodes, no job requires one and each job fits on a node. A
// single type changes nothing either, even for larger jobs.
func TestEqualTypesChangeNothing(t *testing.T) {
	changed(t, kindNames(), 60, schedtest.Shape{Span: 600, Jobs: 30, Types: true, Parts: true},
		func(t *testing.T, r *rand.Rand, kind string, c, _ *schedtest.Case) {
			single := r.IntN(2) == 0
			for k := range c.Study.Types {
				c.Study.Types[k].Speed, c.Study.Types[k].Speeds, c.Study.Types[k].GPUs = 1.5, nil, 0
				if single && k > 0 {
					for vc, nodes := range c.Study.Types[k].Nodes {
						c.Study.Types[0].Nodes[vc] += nodes
					}
				}
			}
			if single {
				c.Study.Types = c.Study.Types[:1]
			} else {
				c.Options.Placement = "consolidate" // other rules spread small jobs over several nodes
			}
			for k := range c.Study.Jobs {
				j := &c.Study.Jobs[k]
				if j.NeedsType = false; !single {
					j.GPUs = min(j.GPUs, c.Study.PerNode)
				}
			}
			require.Equal(t, schedtest.Table(ran(t, kind, untyped(c))), schedtest.Table(ran(t, kind, c)), "%s", c)
		})
}

// If all jobs require a type, a cluster acts as one cluster per type under schedulers that admit jobs by free devices.
func TestTypesAreSeparateClusters(t *testing.T) {
	compared := 0
	for k := range uint64(300) {
		kind := []string{"srtf", "tiresias"}[k%2]
		r := rand.New(rand.NewPCG(k, 7))
		c := schedtest.Draw(r, schedtest.Shape{Span: []int64{300, 4000}[r.IntN(2)], Jobs: 30})
		c.Study.VCs, c.Options.Placement = []trace.VC{{Name: "a", Nodes: 6}}, "consolidate"
		parts := map[string]*schedtest.Case{}
		for at, name := range []string{"t0", "t1"} {
			c.Study.Types = append(c.Study.Types, cluster.NodeType{Name: name, Nodes: map[string]int{"a": 2 + 2*at}})
			part := copied(c)
			part.Study.VCs = []trace.VC{{Name: "a", Nodes: 2 + 2*at}}
			part.Study.Types, part.Study.Jobs, part.Study.Estimates = nil, nil, nil
			parts[name] = part
		}
		for at := range c.Study.Jobs {
			j := &c.Study.Jobs[at]
			j.VC, j.GPUType, j.NeedsType = "a", fmt.Sprint("t", r.IntN(2)), true
			j.Duration = max(1, j.Duration) // a job that ends in the second of its start is a further event
			part := parts[j.GPUType]
			part.Study.Jobs = append(part.Study.Jobs, *j)
			part.Study.Estimates = append(part.Study.Estimates, c.Study.Estimates[at])
		}
		whole := ran(t, kind, c)
		ends := map[string][2]int64{}
		for _, j := range whole.Jobs {
			ends[j.Trace.ID] = [2]int64{j.Start, j.End}
			require.Equal(t, j.Trace.GPUType, whole.TypeOf(j))
		}
		for name, part := range parts {
			if len(part.Study.Jobs) == 0 {
				continue
			}
			for _, j := range ran(t, kind, part).Jobs {
				require.Equal(t, ends[j.Trace.ID], [2]int64{j.Start, j.End}, "type %s, job %s\n%s", name, j.Trace.ID, c)
				compared++
			}
		}
	}
	require.Greater(t, compared, 1000)
}

// Speeds of types scale the times of jobs. The traced duration applies to the traced type.
func TestSpeedsOfTypes(t *testing.T) {
	c, err := schedtest.Parse(`each 2
vc a 2
type slow speed 1 a 1
type fast speed 2 a 1
speed fast bert 4
job j1 vc a at 0 for 100 on 2
job j2 vc a at 0 for 100 on 2 needs slow
job j3 vc a at 500 for 100 on 2 type fast
job j4 vc a at 600 for 100 on 1 needs slow|FAST
job j5 vc a at 700 for 100 on 2 model bert
job j6 vc a at 700 for 100 on 2 type fast model bert
job j7 vc a at 800 for 100 on 1 needs k80
job j8 vc a at 900 for 100 on 4
`)
	require.NoError(t, err)
	policy, err := Named("fifo")
	require.NoError(t, err)
	o, err := c.Study.Run(context.Background(), policy, c.Options)
	require.NoError(t, err)
	var got []string
	for _, j := range o.Jobs {
		got = append(got, fmt.Sprint(j.Trace.ID, " ", o.TypeOf(j), " ", j.End-j.Start))
	}
	require.Equal(t, []string{"j1 fast 50", "j2 slow 100", "j3 fast 100", "j4 fast 50", "j5 fast 25", "j6 slow 400"},
		got)
	require.Equal(t, []cluster.Refusal{
		{ID: "j7", Why: "requires GPU type k80, which its virtual cluster does not have"},
		{ID: "j8", Why: "more devices requested than its virtual cluster has of one type"}}, o.Refused)
}

// An overtaking job does not delay the first job on its type, and uses other types freely.
func TestBackfillReservesTypes(t *testing.T) {
	c, err := schedtest.Parse(`each 4
vc a 2
type x speed 1 a 1
type y speed 1 a 1
job runs vc a at 0 for 100 on 3 needs x
job first vc a at 1 for 100 on 4 needs x
job long vc a at 2 for 500 on 1 needs x
job short vc a at 2 for 50 on 1 needs x
job other vc a at 2 for 500 on 4
`)
	require.NoError(t, err)
	o := ran(t, "backfill", c)
	starts := map[string]int64{}
	for _, j := range o.Jobs {
		starts[j.Trace.ID] = j.Start
	}
	require.Equal(t, map[string]int64{"runs": 0, "first": 100, "long": 200, "short": 2, "other": 2}, starts)
}
