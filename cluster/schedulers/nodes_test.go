package schedulers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/lucid"
	"graft/cluster/trace"
)

// A new node lets waiting jobs start, under every scheduler.
func TestNodesThatCome(t *testing.T) {
	for _, policy := range Kinds() {
		if policy.Name == "lucid" { // other tests cover its changes of nodes
			continue
		}
		t.Run(policy.Name, func(t *testing.T) {
			study := &cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 1}}, PerNode: 2,
				Estimates: []float64{5000, 5000}, Jobs: []trace.Job{{ID: "1", VC: "a", GPUs: 2, Duration: 5000},
					{ID: "2", VC: "a", GPUs: 2, Duration: 5000}}}
			policy.Prepare = func(_ context.Context, r *cluster.Run) error {
				r.Pools[0].Changes = []cluster.NodeChange{{At: 1000, Apply: func(p *cluster.Pool) { p.AddNode(1) }}}
				return nil
			}
			o := must(study.Run(context.Background(), policy, cluster.Options{}))
			second := max(o.Jobs[0].Start, o.Jobs[1].Start)
			if policy.Name == "fair" || policy.Name == "offers" { // these already gave the job a part of the first node
				require.Less(t, max(o.Jobs[0].End, o.Jobs[1].End), int64(9000))
				return
			}
			require.Greater(t, second, int64(1000))
			require.LessOrEqual(t, second, int64(1080))
		})
	}
}

// The node that Lucid adds has a unique name in pools of any size.
func TestTheTemporaryNodeHasANameOfItsOwn(t *testing.T) {
	for nodes, want := range map[int]int{1: 9999, 9999: 9999, 10_000: 10_000, 20_000: 20_000} {
		study := &cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: nodes}}, PerNode: 1,
			Jobs: []trace.Job{{ID: "1", VC: "a", GPUs: nodes, Duration: 5000},
				{ID: "2", VC: "a", GPUs: 1, Duration: 100}}}
		policy := must(Named("fifo"))
		policy.Prepare = func(_ context.Context, r *cluster.Run) error {
			r.Pools[0].Changes = lucid.Scale([]int64{1000, 2000}, []int{1, -1})
			return nil
		}
		o := must(study.Run(context.Background(), policy, cluster.Options{}))
		require.Equal(t, int64(1001), o.Jobs[1].Start, nodes)
		require.Equal(t, want, o.Jobs[1].Nodes[0].Node, nodes)
	}
}
