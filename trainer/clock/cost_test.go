package clock

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/net2net"
)

// BenchmarkCostOfAStep measures how long the virtual clock takes for the cost of a step. The profile has operators and
// a measured relative of the network.
//
//   - grown: a network for the first time, after surgery, with operators that other networks had before
//   - again: the same network again, with a profile
//   - recent: the same network again, with the clock of a job
func BenchmarkCostOfAStep(b *testing.B) {
	for _, name := range []string{"CIFARResNet20", "CharGPT"} {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(b, err)
		size, err := SizeOf(n)
		require.NoError(b, err)
		p := ofDevice()
		p.Measured = []Measurement{{Network: name, Class: n.Name(), Fingerprint: net2net.Fingerprint(n), Batch: 64,
			StepSeconds: 1, BatchSeconds: 1, Graph: n.Graph != nil, Size: size}}
		require.NoError(b, p.PredictMeasured(Networks([]Subject{{Name: name, Network: n}})))
		names := make([]string, 10000)
		for k := range names {
			names[k] = fmt.Sprint("Part", k)
		}
		b.Run(name+"/grown", func(b *testing.B) {
			for k := 0; b.Loop(); k++ {
				rename(n, names[k%len(names)])
				p.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n})
			}
		})
		b.Run(name+"/again", func(b *testing.B) {
			rename(n, "Again") // the original network was measured
			for b.Loop() {
				p.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n})
			}
		})
		b.Run(name+"/recent", func(b *testing.B) {
			v := &Virtual{Profile: p}
			for b.Loop() {
				v.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n})
			}
		})
	}
}

// A clock recomputes the cost if the network, the work or the profile changes.
func TestRecentCostsAreCostsOfTheProfile(t *testing.T) {
	n, err := model.Zoo("MLP", model.ZooOptions{})
	require.NoError(t, err)
	v := &Virtual{Profile: ofDevice()}
	same := func() {
		t.Helper()
		for _, w := range []Work{{Kind: Steps, Count: 2, Rows: 64}, {Kind: Batches, Count: 1, Rows: 64},
			{Kind: Steps, Count: 1, Rows: 32}, {Kind: Steps, Count: 1, Rows: 64, Part: 16}} {
			w.Network = n
			want := time.Duration(w.Count) * v.Profile.Cost(w)
			require.Equal(t, want, v.Cost(w))
			require.Equal(t, want, v.Cost(w), "the second time")
		}
	}
	same()
	actions, err := net2net.Proposals(n)
	require.NoError(t, err)
	before := v.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n})
	_, err = net2net.Apply(n, actions[0], net2net.Options{})
	require.NoError(t, err)
	require.NotEqual(t, before, v.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n}))
	same()
	v.Profile = &Profile{Name: "steady", Costs: Costs{Step: Rates{CallSeconds: 1}, Batch: Rates{CallSeconds: 1}}}
	same()
}

// rename changes the class of the network's first part: the architecture changes, but neither operators nor shapes.
func rename(n *model.Network, class string) {
	if n.Graph != nil {
		n.Graph.Modules[1].Class = class
		return
	}
	for _, child := range n.Root.Children {
		if c, ok := child.Module.(*model.Container); ok {
			c.Class = class
			return
		}
	}
}

// Costs that do not fit into a duration are refused, and computed ones are limited: an overflow would make them free.
func TestCostsDoNotOverflow(t *testing.T) {
	p, err := FindProfile("steady")
	require.NoError(t, err)
	n, err := model.Zoo("ConvNet2", model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10})
	require.NoError(t, err)
	p.Costs.DecisionSeconds = 1e12
	require.ErrorContains(t, p.Validate(), "decision_seconds is 1e+12; must be from 0 to 1e+07")
	p.Costs.DecisionSeconds = 0
	p.Costs.Step.OperationSeconds = mostSeconds
	require.NoError(t, p.Validate())
	require.Equal(t, mostSeconds, p.Cost(Work{Kind: Steps, Count: 1, Rows: 64, Network: n}).Seconds())
}
