package decider_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/model"
	"graft/net2net"
	"graft/torch"
)

func parsed(t *testing.T, texts ...string) (actions []net2net.Action) {
	for _, text := range texts {
		a, err := net2net.ParseAction(text)
		require.NoError(t, err)
		actions = append(actions, a)
	}
	return actions
}

func zooOf(t *testing.T, name string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	return n
}

// The action with the largest gain per cost is taken. The cost is the first measure that increases with every action.
func TestGradientTakesTheLargestGainPerCost(t *testing.T) {
	const small, large = "widen:conv1:17", "widen:conv1:32"
	byParameters := func(n *model.Network) time.Duration { return time.Duration(n.Parameters()) * time.Microsecond }
	equal := func(*model.Network) time.Duration { return time.Second }
	unknown := func(*model.Network) time.Duration { return 0 }
	none := errors.New("no gain")
	for name, c := range map[string]struct {
		gains   map[string]float64
		step    func(*model.Network) time.Duration
		actions []string
		want    string
		unit    decider.GainMeasure
		err     error
	}{
		"per second": {gains: map[string]float64{small: 2, large: 3}, step: byParameters, want: small,
			unit: decider.StepSeconds},
		"a large gain": {gains: map[string]float64{small: 2, large: 99}, step: byParameters, want: large,
			unit: decider.StepSeconds},
		"width takes no time": {gains: map[string]float64{small: 2, large: 3}, step: equal, want: small,
			unit: decider.Operations},
		"unknown times": {gains: map[string]float64{small: 2, large: 99}, step: unknown, want: large,
			unit: decider.Operations},
		"a tie": {gains: map[string]float64{small: 2, large: 32}, step: byParameters,
			actions: []string{large, small}, want: large, unit: decider.StepSeconds},
		"no gain is positive": {step: byParameters, want: "none", unit: decider.StepSeconds},
		"no number": {gains: map[string]float64{small: math.NaN(), large: 1}, want: large,
			unit: decider.Operations},
		"none is not rated": {gains: map[string]float64{"none": 9}, actions: []string{"none"}, want: "none"},
		"kernels are not rated": {gains: map[string]float64{"kernel:conv1:5": 9},
			actions: []string{"kernel:conv1:5"}, want: "none"},
		"nothing fits": {gains: map[string]float64{"widen:conv9:5": 9}, actions: []string{"widen:conv9:5"},
			want: "none"},
		"an error": {err: none},
		"no time":  {err: decider.ErrNoTime, want: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			s := decider.State{Network: zooOf(t, "ConvSmall"), StepOf: c.step,
				Gain: func(a net2net.Action) (float64, error) { return c.gains[a.String()], c.err }}
			if c.step != nil {
				s.Step = c.step(s.Network)
			}
			if c.actions == nil {
				c.actions = []string{small, large}
			}
			g := decider.Gradient{Random: decider.Random{Actions: parsed(t, c.actions...)}}
			d, err := g.Decide(t.Context(), s)
			if c.err == none {
				require.ErrorIs(t, err, none)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, d.Action.String())
			for _, gain := range d.Gains {
				require.Equal(t, c.unit, gain.Unit)
				require.Positive(t, gain.Cost)
			}
			require.Equal(t, c.unit == "", len(d.Gains) == 0)
			require.Equal(t, c.want, steepest(t, s, d.Gains).String(), "the same choice from a table")
		})
	}
	_, err := decider.Gradient{}.Decide(t.Context(), decider.State{Network: zooOf(t, "ConvSmall")})
	require.ErrorContains(t, err, "use a job in which graft trains the network")
}

// steepest returns the action that the stored gains of a decision select.
func steepest(t *testing.T, s decider.State, gains []decider.Gain) net2net.Action {
	actions, situation := []net2net.Action{{}}, decider.Situation{State: s, Gains: []float64{0}}
	for _, g := range gains {
		actions, situation.Gains = append(actions, g.Action), append(situation.Gains, g.Gain)
	}
	seen, err := decider.NewObservation(s.Network, actions, net2net.Options{})
	require.NoError(t, err)
	for k := range actions {
		after := s.Network.Sketch()
		_, err := net2net.Apply(after, actions[k], net2net.Options{})
		require.NoError(t, err)
		if s.StepOf != nil {
			situation.After = append(situation.After, s.StepOf(after))
		}
	}
	situation.Observation = seen
	return situation.Steepest()
}

// Gradient does not rate layers that GradMax cannot start, such as the sums of a residual network.
func TestGradientRatesWhatHasAGain(t *testing.T) {
	n := zooOf(t, "CIFARResNet20")
	all, err := decider.Proposals(n, []net2net.Kind{"widen"})
	require.NoError(t, err)
	rated, err := decider.Gradient{Random: decider.Random{Kinds: []net2net.Kind{"widen"}}}.Rated(n)
	require.NoError(t, err)
	require.NotEmpty(t, rated)
	require.Less(t, len(rated), len(all)-1, "without none")
}

// handNet is a perceptron with tanh units, and its batch. Its gains are computed by hand.
type handNet struct {
	weights [][][]float64 // by layer, output, input
	biases  [][]float64
	batch   [][]float64
	labels  []int64
}

// gains returns the squared Frobenius norms of the gradients of linear bypasses of the two hidden layers.
func (h handNet) gains() (first, second float64) {
	var bypass [2][][]float64
	add := func(k int, x, g []float64) {
		if bypass[k] == nil {
			bypass[k] = make([][]float64, len(x))
			for i := range x {
				bypass[k][i] = make([]float64, len(g))
			}
		}
		for i := range x {
			for j := range g {
				bypass[k][i][j] += x[i] * g[j] / float64(len(h.batch))
			}
		}
	}
	layer := func(k int, x []float64) (y []float64) {
		for o, row := range h.weights[k] {
			sum := h.biases[k][o]
			for i, w := range row {
				sum += w * x[i]
			}
			y = append(y, sum)
		}
		return y
	}
	tanh := func(x []float64) (y []float64) {
		for _, v := range x {
			y = append(y, math.Tanh(v))
		}
		return y
	}
	for n, x := range h.batch {
		one := tanh(layer(0, x))
		two := tanh(layer(1, one))
		logits := layer(2, two)
		sum := 0.0
		for _, v := range logits {
			sum += math.Exp(v)
		}
		last := make([]float64, len(logits))
		for k, v := range logits {
			last[k] = math.Exp(v) / sum
		}
		last[h.labels[n]]--
		middle := make([]float64, len(two)) // gradient before the second tanh
		for i := range two {
			for o := range last {
				middle[i] += h.weights[2][o][i] * last[o]
			}
			middle[i] *= 1 - two[i]*two[i]
		}
		add(0, x, middle)
		add(1, one, last)
	}
	square := func(m [][]float64) (sum float64) {
		for _, row := range m {
			for _, v := range row {
				sum += v * v
			}
		}
		return sum
	}
	return square(bypass[0]), square(bypass[1])
}

// The choice for a perceptron follows from gradients and costs that are computed by hand. Each action adds more units
// than the rank of the bypass, so that the sum of the squared singular values is a Frobenius norm.
func TestGradientEqualsAComputationByHand(t *testing.T) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		seen := map[string]bool{}
		for seed := range int64(6) {
			root := &model.Container{Class: "Hand"}
			for k, l := range []model.Layer{model.NewLinear(4, 3), model.Activate(torch.Tanh), model.NewLinear(3, 3),
				model.Activate(torch.Tanh), model.NewLinear(3, 5)} {
				root.Children = append(root.Children, model.Child{Name: string(rune('a' + k)),
					Module: &model.Leaf{Layer: l}})
			}
			n := &model.Network{Input: model.Shape{4}, Root: root}
			require.NoError(t, n.Check())
			random := s.NewGenerator(torch.CPU, seed)
			require.NoError(t, n.Materialize(s, model.Placement{DType: torch.Float64, Random: random}))
			const rows = 20
			x := s.Zeros(torch.Float64, torch.CPU, rows, 4)
			scale := []float64{2, 0.1}[seed%2] // the first layer's gain is small for small inputs
			s.Uniform(x, -scale, scale, random)
			h := handNet{}
			read := func(x *torch.Tensor) []float64 {
				v, err := torch.Values[float64](s.Detach(x))
				require.NoError(t, err)
				return v
			}
			rowsOf := func(v []float64, width int) (m [][]float64) {
				for ; len(v) > 0; v = v[width:] {
					m = append(m, v[:width])
				}
				return m
			}
			h.batch = rowsOf(read(x), 4)
			state := n.State()
			for k, inputs := range []int{4, 3, 3} {
				h.weights = append(h.weights, rowsOf(read(state[2*k].Tensor), inputs))
				h.biases = append(h.biases, read(state[2*k+1].Tensor))
			}
			for k := range rows {
				h.labels = append(h.labels, int64(k*k)%5)
			}
			o := net2net.Options{Batch: x, Loss: net2net.CrossEntropy(torch.From(s, h.labels, rows))}
			g := decider.Gradient{Random: decider.Random{Actions: parsed(t, "widen:a:6", "widen:c:9")}}
			d := decide(t, g, decider.State{Network: n,
				Gain: func(a net2net.Action) (float64, error) { return net2net.Gain(n, a, o) }})
			first, second := h.gains()
			// operations per unit: 2 for each incoming and outgoing weight and the bias
			costs := [2]float64{3 * 2 * (4 + 3 + 1), 6 * 2 * (3 + 5 + 1)}
			require.InEpsilonSlice(t, []float64{first, second}, []float64{d.Gains[0].Gain, d.Gains[1].Gain}, 1e-9)
			require.Equal(t, costs, [2]float64{d.Gains[0].Cost, d.Gains[1].Cost})
			want := "widen:a:6"
			if second/costs[1] > first/costs[0] {
				want = "widen:c:9"
			}
			require.Equal(t, want, d.Action.String())
			seen[want] = true
		}
		require.Len(t, seen, 2, "the seeds have both outcomes")
		return s.Err()
	}))
}
