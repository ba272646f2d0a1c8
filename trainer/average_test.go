package trainer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/model/graph"
	"graft/model/transformer"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/clock"
)

// keptTol limits the change of logits by surgery in float32, relative to the largest.
const keptTol = 1e-5

// Surgery keeps the function of the average as it keeps the network's, in both modes. Both have the same architecture
// after a change and after its reversal.
func TestSurgeryKeepsTheAverage(t *testing.T) {
	n, err := model.Zoo("ConvSmall", model.ZooOptions{Classes: 4})
	require.NoError(t, err)
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		random := s.NewGenerator(torch.CPU, 1)
		require.NoError(t, n.Materialize(s, model.Placement{Random: random}))
		r := &replica{Options: Options{EMA: 0.9}, Network: n, scope: s}
		require.NoError(t, r.beginAverage())
		for _, e := range r.average.State() { // as after some steps
			if info, err := e.Tensor.Info(); err == nil && info.DType == torch.Float32 {
				s.NoGrad(func() { s.Copy(e.Tensor, s.Scale(s.Detach(e.Tensor), 0.8, 0.01)) })
			}
		}
		x := s.Zeros(torch.Float32, torch.CPU, append([]int{40}, n.Input...)...)
		s.Normal(x, 0, 1, random)
		var changes []*net2net.Change
		for _, text := range []string{"deepen:conv1", "widen:conv2:40"} {
			action, err := net2net.ParseAction(text)
			require.NoError(t, err)
			var before [2][]float64
			for k, training := range []bool{false, true} {
				before[k], err = net2net.Logits(r.average, x, training)
				require.NoError(t, err)
			}
			o := net2net.Options{Batch: x, Seed: 3}
			c, err := net2net.Apply(n, action, o)
			require.NoError(t, err)
			require.NoError(t, r.changeAverage(c, o))
			require.Equal(t, net2net.Fingerprint(n), net2net.Fingerprint(r.average))
			for k, training := range []bool{false, true} {
				after, err := net2net.Logits(r.average, x, training)
				require.NoError(t, err)
				for j, v := range before[k] {
					require.InDelta(t, v, after[j], keptTol*100, text)
				}
			}
			changes = append(changes, c)
		}
		for k := len(changes) - 1; k >= 0; k-- {
			_, err := net2net.Revert(n, changes[k])
			require.NoError(t, err)
			require.NoError(t, r.revertAverage(changes[k]))
		}
		require.Equal(t, net2net.Fingerprint(n), net2net.Fingerprint(r.average))
		return s.Err()
	}))
}

// The average of a tensor does not depend on the number of its names.
func TestTiedTensorsAreAveragedOnce(t *testing.T) {
	averages := map[bool][]float64{}
	for _, named := range []bool{false, true} {
		g, err := transformer.New(transformer.Config{Vocabulary: 11, Context: 8, Width: 8, Heads: 2, Depth: 1})
		require.NoError(t, err)
		if named { // the head has its own name for the embedding's weights
			tied := *g.Tensor("tok.weight")
			tied.Name, tied.Tied = "head.weight", "tok.weight"
			g.Modules = append(g.Modules, graph.Module{Path: "head", Class: "Linear"})
			g.Tensors = append(g.Tensors, tied)
			head := &g.Nodes[len(g.Nodes)-1]
			require.Equal(t, graph.Weight("tok.weight"), head.Arg("weight"))
			head.Set("weight", graph.Weight("head.weight"))
		}
		n, err := model.FromGraph(g)
		require.NoError(t, err)
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			require.NoError(t, n.Materialize(s, model.Placement{Random: s.NewGenerator(torch.CPU, 1)}))
			r := &replica{Options: Options{EMA: 0.5}, Network: n, scope: s}
			require.NoError(t, r.beginAverage())
			o, err := net2net.NewOptimizer(s, n, torch.OptimizerOptions{Rule: torch.Adam, LR: 0.1})
			require.NoError(t, err)
			p, err := n.Program(s, torch.ProgramOptions{})
			require.NoError(t, err)
			defer p.Close()
			tokens := torch.From(s, []int64{1, 2, 3, 4, 5, 6, 7, 8}, 1, 8)
			for step := range 3 {
				_, err = torch.Train(p, o.Optimizer, torch.Batches{Inputs: tokens, Labels: tokens, Size: 1,
					Average: r.averaging(step == 0)})
				require.NoError(t, err)
			}
			averages[named], err = torch.Values[float64](s.To(s.Detach(r.average.Trained()[0].Tensor), torch.Float64,
				torch.CPU))
			return err
		}))
	}
	require.Equal(t, averages[false], averages[true])
}

// A step in parts costs the sum of its parts. A profile without rates does not know the cost.
func TestPartsAreCharged(t *testing.T) {
	p := &clock.Profile{Costs: clock.Costs{Step: clock.Rates{CallSeconds: 0.001, ExampleSeconds: 0.0001},
		Batch: clock.Rates{CallSeconds: 1}}}
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	w := clock.Work{Kind: clock.Steps, Count: 1, Rows: 64, Network: n}
	require.Equal(t, 7400*time.Microsecond, p.Cost(w))
	w.Part = 24
	require.Equal(t, 9400*time.Microsecond, p.Cost(w), "24, 24 and 16 images")
	w.Part = 32
	require.Equal(t, 8400*time.Microsecond, p.Cost(w))
	require.NoError(t, p.Knows(w))
	require.Error(t, (&clock.Profile{}).Knows(w))
}

// With exchange_seconds, each device takes its share of the images, and a step in parts exchanges once.
func TestDevicesShareImages(t *testing.T) {
	p := &clock.Profile{Costs: clock.Costs{Step: clock.Rates{CallSeconds: 0.001, ExampleSeconds: 0.0001},
		Batch: clock.Rates{CallSeconds: 1}, ExchangeSeconds: 0.003}}
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	w := clock.Work{Kind: clock.Steps, Count: 1, Rows: 66, Network: n}
	require.Equal(t, 7600*time.Microsecond, p.Cost(w), "one device exchanges nothing")
	w.Devices = 4
	require.Equal(t, 5700*time.Microsecond, p.Cost(w), "17 images")
	w.Part = 33
	require.Equal(t, 6800*time.Microsecond, p.Cost(w), "9 and 9 images")
	w.Rows, w.Part = 1, 0
	require.Equal(t, 4100*time.Microsecond, p.Cost(w))
	require.Equal(t, 250*time.Millisecond,
		p.Cost(clock.Work{Kind: clock.Batches, Count: 1, Rows: 64, Network: n, Devices: 4}),
		"whole batches are shared")
	p.Costs.CommunicationShare = 0.1
	require.ErrorContains(t, p.Validate(), "communication_share and exchange_seconds")
}

// The micro-batch is the largest whose estimated activations fit.
func TestMicroBatchFollowsFromShapes(t *testing.T) {
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	o := Options{Batch: 64}
	bytes, err := o.activationBytes(n)
	require.NoError(t, err)
	size, err := clock.SizeOf(n)
	require.NoError(t, err)
	require.Greater(t, bytes, size.Bytes)
	require.Zero(t, o.microBatch(n, o.Batch, 1), "the batch")
	o.MicroBatch = 20
	require.Equal(t, 20, o.microBatch(n, o.Batch, 1))
	o.MaxMemoryMB = int(10*bytes>>20) + 1
	part := o.microBatch(n, o.Batch, 1)
	require.LessOrEqual(t, int64(part)*bytes, int64(o.MaxMemoryMB)<<20)
	require.Greater(t, int64(part+1)*bytes, int64(o.MaxMemoryMB)<<20)
	o.Precision = torch.Brain
	require.Less(t, o.microBatch(n, o.Batch, 1), part)
	o.MaxMemoryMB = 1 << 20
	require.Equal(t, 20, o.microBatch(n, o.Batch, 1))
	large := n.Sketch()
	large.Input = model.Shape{3, 512, 512}
	o = Options{Batch: 64, MaxMemoryMB: 1}
	require.ErrorContains(t, o.Fits(large), "raise max_memory_mb")
	require.Equal(t, 1, o.microBatch(large, o.Batch, 1))
	require.NoError(t, Options{Batch: 64}.Fits(large))
}

// A job that resumes without the best network forgets its score: otherwise no later network would be kept, or an old
// one would be the best of a job that does not look for it.
func TestTheBestIsForgottenWithItsNetwork(t *testing.T) {
	for _, keeps := range []bool{false, true} {
		e := evaluation{core: &core{replica: &replica{Options: Options{KeepBest: keeps}}}}
		e.Best = &Best{Validation: Score{Accuracy: 0.9}}
		require.NoError(t, (&SavedJob{sections: map[string][]byte{}}).kept(&e, model.Placement{}))
		require.Nil(t, e.Best)
	}
}

// Steps that the loss scaler skips do not change the weights, so the average starts after them.
func TestTheAverageStartsAtTheFirstChange(t *testing.T) {
	j := &Job{core: core{replica: &replica{}}}
	require.True(t, j.firstAverage())
	j.Steps, j.Scaler = 2, &torch.Scaler{Skipped: 2}
	require.True(t, j.firstAverage(), "both steps were skipped")
	j.Steps = 3
	require.False(t, j.firstAverage())
	j.Scaler = nil
	require.False(t, j.firstAverage())
}
