package bilstm_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original/bilstm"
	"graft/original/bilstm/policytest"
	"graft/original/vocab"
	"graft/torch/weights"
)

func network(t *testing.T, name string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	return n
}

// smallVocabulary returns a vocabulary of ConvNet2 before and after deepening.
func smallVocabulary(t *testing.T) *vocab.Vocabulary {
	v, err := vocab.Build([]*model.Network{network(t, "ConvNet2"), deepened(t, "ConvNet2", "0,1,2")},
		policytest.Small.Embedding, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	return v
}

func small(t *testing.T, o bilstm.Options) *bilstm.Policy {
	v := smallVocabulary(t)
	p, err := bilstm.New(policytest.Weights(v, policytest.Small, 7), v, o)
	require.NoError(t, err)
	return p
}

func decide(t *testing.T, p *bilstm.Policy, s decider.State) decider.Decision {
	t.Helper()
	decision, err := p.Decide(context.Background(), s)
	require.NoError(t, err)
	return decision
}

func TestTheTimeCodeIsPeriodic(t *testing.T) {
	code := bilstm.TimeCode(100, 400, 4)
	require.InDeltaSlice(t, []float64{5, 0, -5, 0}, code, 1e-14)
	require.InDeltaSlice(t, bilstm.TimeCode(400, 400, 8), bilstm.TimeCode(0, 400, 8), 1e-13,
		"the whole budget and none look alike")
}

// At temperatures above 1, the original's tempering caps the largest probability well below 1.
func TestTemperatures(t *testing.T) {
	sure := []float32{1, 0, 0, 0}
	for temperature, want := range map[float64][2]float64{10: {0.2692, 0.2436}, 1.0000001: {0.4754, 0.1749}, 1: {1, 0},
		0.5: {1, 0}, 0: {1, 0}} {
		got := bilstm.Temper(sure, temperature)
		require.InDelta(t, want[0], float64(got[0]), 1e-4, "at %v", temperature)
		require.InDelta(t, want[1], float64(got[3]), 1e-4, "at %v", temperature)
	}
}

func TestGreedyDecisions(t *testing.T) {
	p, n := small(t, bilstm.Options{}), network(t, "ConvNet2")
	thought, err := p.Forward(n, 90, 400)
	require.NoError(t, err)
	state := decider.State{Network: n, Left: 90 * time.Second, Budget: 400 * time.Second}
	d := decide(t, p, state)
	sum := 0.0
	for k, share := range d.Probabilities {
		require.Equal(t, float64(thought.Probabilities[k]), share)
		sum += share
	}
	require.InDelta(t, 1, sum, 1e-6)
	require.Equal(t, bilstm.Actions(n)[decider.Likeliest(d.Probabilities)], d.Action)
	state.Decisions = 5
	require.Equal(t, d, decide(t, p, state), "it depends on the network and the time alone")
	require.Equal(t, network(t, "ConvNet2").String(), n.String(), "the network stays")
}

// Drawn decisions are deterministic for a seed and a decision number. Their frequencies match the tempered
// probabilities.
func TestDrawnDecisions(t *testing.T) {
	p := small(t, bilstm.Options{Sample: true, Temperature: 10, Seed: 4})
	n, counts := network(t, "ConvNet2"), map[string]float64{}
	var d decider.Decision
	const draws = 2000
	for k := range draws {
		state := decider.State{Network: n, Left: time.Minute, Budget: time.Hour, Decisions: k}
		d = decide(t, p, state)
		counts[d.Action.String()]++
		if k < 10 {
			require.Equal(t, d, decide(t, p, state))
		}
	}
	for k, a := range bilstm.Actions(n) {
		require.InDelta(t, draws*d.Probabilities[k], counts[a.String()], 5*math.Sqrt(draws)/2, a.String())
		require.LessOrEqual(t, d.Probabilities[k], 0.2693, "which the temperature caps")
	}
}

// An action belongs to the same block after growth, with both kinds of surgery.
func TestActionsFollowTheirBlocks(t *testing.T) {
	n := network(t, "ConvNet2")
	require.Equal(t, []net2net.Action{{Kind: "deepen", Target: "conv1"}, {Kind: "deepen", Target: "conv2"},
		{Kind: "deepen", Target: "fc"}, {}}, bilstm.Actions(n))
	for _, compat := range []net2net.Compat{net2net.Off, net2net.Original} {
		grown := n.Sketch()
		for range 2 {
			_, err := net2net.Apply(grown, bilstm.Actions(grown)[1], net2net.Options{Compat: compat})
			require.NoError(t, err)
		}
		require.Equal(t, net2net.Action{Kind: "deepen", Target: "conv2.0.0"}, bilstm.Actions(grown)[1])
		require.NoError(t, small(t, bilstm.Options{}).FitsGrown(n, net2net.Options{Compat: compat}))
		require.NoError(t, small(t, bilstm.Options{}).FitsGrown(grown, net2net.Options{Compat: compat}))
	}
}

func TestThePrefixIsReadAsTokenZero(t *testing.T) {
	n := network(t, "ConvNet2")
	plain, err := small(t, bilstm.Options{Prefix: bilstm.Never}).Forward(n, 1, 2)
	require.NoError(t, err)
	before, err := small(t, bilstm.Options{Prefix: bilstm.Always}).Forward(n, 1, 2)
	require.NoError(t, err)
	require.Equal(t, append([]int{0}, plain.Tokens...), before.Tokens)
	require.NotEqual(t, plain.Probabilities, before.Probabilities)

	v := smallVocabulary(t)
	for rows, prefixed := range map[int]bool{len(v.Vectors): false, 12: false, 13: true, 18: false} {
		longer := *v
		for len(longer.Vectors) < rows {
			longer.Vectors = append(longer.Vectors, v.Vectors[0])
		}
		p, err := bilstm.New(policytest.Weights(&longer, policytest.Small, 7), v, bilstm.Options{})
		require.NoError(t, err)
		require.Equal(t, prefixed, p.Prefixed(), "with %d vectors in its file", rows)
	}
}

func TestNetworksThatDoNotFit(t *testing.T) {
	p := small(t, bilstm.Options{})
	for name, says := range map[string]string{
		"LargeConvNet": "the policy chooses among 4 actions, but LargeConvNet has 9 actions: " +
			"\"none\", and one action for each of the network's 8 marked blocks",
		"ConvNet3": "Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1)) at conv1.layers.0 of ConvNet3 has no token",
	} {
		n := network(t, name)
		_, err := p.Decide(context.Background(), decider.State{Network: n, Left: 1, Budget: 2})
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, p.FitsGrown(n, net2net.Options{}), says)
	}
	_, err := p.Decide(context.Background(), decider.State{Budget: 1})
	require.ErrorContains(t, err, "no network")
	empty := &model.Network{Input: model.Shape{3, 4, 4}, Root: &model.Container{}}
	_, err = p.Forward(empty, 1, 2)
	require.ErrorContains(t, err, "no layers for the policy to read")
	for _, times := range [][2]float64{{1, 0}, {1, -1}, {math.NaN(), 1}, {1, math.Inf(1)}, {1, math.NaN()},
		{math.Inf(1), 1}} {
		_, err := p.Forward(network(t, "ConvNet2"), times[0], times[1])
		require.ErrorContains(t, err, "expected finite numbers")
	}
}

func TestWeightsThatAreNoPolicy(t *testing.T) {
	v := smallVocabulary(t)
	put := func(name string, to weights.Tensor) func(*weights.Set) {
		return func(set *weights.Set) { policytest.Put(set, name, to) }
	}
	zeros := func(name string, shape ...int64) func(*weights.Set) {
		return put(name, policytest.Zeros(name, shape...))
	}
	infinite := policytest.Zeros("encoder.encoder.bias_hh_l0_reverse", 12)
	copy(infinite.Data, []byte{0, 0, 0x80, 0x7f})
	double := weights.Tensor{Name: "encoder.encoder.bias_ih_l0", DType: weights.Float64, Shape: []int64{1},
		Data: make([]byte, 8)}
	other := smallVocabulary(t)
	other.Vectors[2] = []float32{1, 2, 3, 4}
	want := func(change func(*bilstm.Shape)) bilstm.Options {
		s := policytest.Small
		change(&s)
		return bilstm.Options{Want: s}
	}
	for name, c := range map[string]struct {
		change func(*weights.Set)
		o      bilstm.Options
		says   string
	}{
		"all is well": {o: want(func(*bilstm.Shape) {})},
		"another network's": {put("decider.lstm.weight_ih_l0", policytest.Zeros("conv1.weight", 1)), bilstm.Options{},
			"tensor decider.lstm.weight_ih_l0 is missing"},
		"no vectors": {put("encoder.embedder.weight", policytest.Zeros("other", 1)), bilstm.Options{},
			"tensor encoder.embedder.weight is missing, or its rows do not have 4 values"},
		"other vectors": {put("encoder.embedder.weight", policytest.Vectors(other)), bilstm.Options{},
			"vector for token 2 differs"},
		"memory of another": {zeros("decider.lstm.weight_ih_l0", 8, 10), bilstm.Options{},
			"decider.lstm expects 10 inputs, but the previous layer has 6 outputs"},
		"second of another": {zeros("decider.linear2.weight", 5, 6), bilstm.Options{},
			"decider.linear2 expects 6 inputs, but the previous layer has 5 outputs"},
		"third of another": {zeros("decider.linear3.weight", 4, 6), bilstm.Options{},
			"decider.linear3 expects 6 inputs, but the previous layer has 5 outputs"},
		"no room for the time": {zeros("decider.linear1.weight", 5, 2), bilstm.Options{},
			"expected additional inputs for the time left"},
		"a bias too short": {zeros("decider.linear1.bias", 4), bilstm.Options{},
			"decider.linear1.bias has 4 values; expected 5, one for each row"},
		"another vocabulary": {func(set *weights.Set) {
			zeros("encoder.encoder.weight_ih_l0", 12, 5)(set)
			zeros("encoder.encoder.weight_ih_l0_reverse", 12, 5)(set)
		}, bilstm.Options{}, "expects vectors of 5 numbers, but the vocabulary  has 4"},
		"a row too few": {zeros("encoder.encoder.weight_ih_l0", 11, 4), bilstm.Options{},
			"bias_ih_l0 has 12 values; expected 11, one for each row"},
		"directions differ": {zeros("encoder.encoder.weight_ih_l0_reverse", 12, 5), bilstm.Options{},
			"expected equal sizes"},
		"a state too small": {zeros("encoder.encoder.weight_hh_l0", 12, 2), bilstm.Options{},
			"expected 4 rows per state value in both"},
		"another dimension": {zeros("encoder.encoder.weight_hh_l0", 36), bilstm.Options{},
			"weight_hh_l0 has type float32 and shape [36]; expected type float32 and 2 dimensions"},
		"empty": {zeros("encoder.encoder.bias_hh_l0", 0), bilstm.Options{},
			"bias_hh_l0 has type float32 and shape [0]"},
		"another type": {put(double.Name, double), bilstm.Options{},
			"bias_ih_l0 has type float64 and shape [1]"},
		"a number is infinite": {put(infinite.Name, infinite), bilstm.Options{}, "numbers that are not finite"},
		"configured otherwise": {o: want(func(s *bilstm.Shape) { s.Actions = 5 }),
			says: "has max_actions = 5, but the weights have 4"},
		"configured otherwise2": {o: want(func(s *bilstm.Shape) { s.Time = 4 }),
			says: "has time_encoding_size = 4, but the weights have 8"},
		"a prefix of its own": {o: bilstm.Options{Prefix: "some"},
			says: `prefix is "some"; must be always, never or empty`},
		"temperature": {o: bilstm.Options{Temperature: math.NaN()}, says: "temperature is NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			set := policytest.Weights(v, policytest.Small, 1)
			if c.change != nil {
				c.change(set)
			}
			_, err := bilstm.New(set, v, c.o)
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestPoliciesAreReadFromFilesAndFolders(t *testing.T) {
	v, folder := smallVocabulary(t), t.TempDir()
	path := filepath.Join(folder, bilstm.FileName)
	want := policytest.Weights(v, policytest.Small, 2)
	require.NoError(t, weights.Write(files.OS{}, path, want))
	for _, from := range []string{folder, path} {
		p, err := bilstm.Read(files.OS{}, from, v, bilstm.Options{})
		require.NoError(t, err)
		require.Equal(t, want.Tensors, p.Weights.Tensors)
		require.Equal(t, policytest.Small, p.Shape())
	}
}
