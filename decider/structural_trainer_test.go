package decider_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/net2net"
	"graft/torch"
	"graft/torch/weights"
)

// situations returns situations on two networks.
func situations(t testing.TB) (all []decider.Situation) {
	for _, name := range []string{"ConvSmall", "CIFARResNet20"} {
		observation, err := decider.ProposedObservation(zoo(t, name), nil, net2net.Options{})
		require.NoError(t, err)
		for k := range 3 {
			s := decider.State{Left: time.Duration(k+1) * 10 * time.Second, Budget: time.Minute, Step: time.Millisecond,
				Decisions: k}
			all = append(all, decider.Situation{Observation: observation, State: s})
		}
	}
	return all
}

// scored returns half the sum of the squared logits, and the member after a step. The gradient by the logits equals the
// logits.
func scored(t *testing.T, p *decider.Structural, c *decider.Batch,
	o torch.OptimizerOptions) (value float64, moved decider.Member) {
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		u, err := decider.NewMemberTrainer(s, p, c, o)
		require.NoError(t, err)
		logits, err := u.Logits()
		require.NoError(t, err)
		for _, l := range logits {
			value += l * l / 2
		}
		require.NoError(t, u.Step(logits))
		moved, err = u.Values()
		return err
	}))
	return value, moved
}

// A step follows the gradient through the whole policy. It equals finite differences for every tensor.
func TestMemberFollowsTheGradient(t *testing.T) {
	p := fresh(t, 4)
	all := situations(t)
	var err error
	p.Tokens, p.Rows, err = decider.MeasureScales(all)
	require.NoError(t, err)
	cases, err := p.Batch(all)
	require.NoError(t, err)
	plain := torch.OptimizerOptions{Rule: torch.SGD, LR: 1}
	_, moved := scored(t, p, cases, plain)
	const h = 1e-5
	for k, values := range p.Members[0] {
		largest := 0
		for j := range values {
			if math.Abs(moved[k][j]-values[j]) > math.Abs(moved[k][largest]-values[largest]) {
				largest = j
			}
		}
		gradient, was := moved[k][largest]-values[largest], values[largest]
		values[largest] = was + h
		up, _ := scored(t, p, cases, plain)
		values[largest] = was - h
		down, _ := scored(t, p, cases, plain)
		values[largest] = was
		require.NotZero(t, gradient, "tensor %d", k)
		require.InEpsilon(t, (up-down)/(2*h), gradient, 1e-6, "tensor %d", k)
	}
}

// Restored training takes bit-identical steps.
func TestTrainingGoesOn(t *testing.T) {
	p, adam := fresh(t, 4), torch.OptimizerOptions{Rule: torch.AdamW, LR: 0.01, WeightDecay: 0.1, Fused: true}
	cases, err := p.Batch(situations(t))
	require.NoError(t, err)
	steps := func(u *decider.MemberTrainer, n int) {
		for range n {
			logits, err := u.Logits()
			require.NoError(t, err)
			for k := range logits {
				logits[k] = -logits[k]
			}
			require.NoError(t, u.Step(logits))
		}
	}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		one, err := decider.NewMemberTrainer(s, p, cases, adam)
		require.NoError(t, err)
		steps(one, 3)
		set := &weights.Set{}
		require.NoError(t, one.Save(set))
		steps(one, 4)
		want, err := one.Values()
		require.NoError(t, err)

		other, err := decider.NewMemberTrainer(s, p, cases, adam)
		require.NoError(t, err)
		require.NoError(t, other.Restore(set))
		steps(other, 4)
		got, err := other.Values()
		require.NoError(t, err)
		require.Equal(t, want, got)

		require.ErrorContains(t, other.Step(nil), "one gradient per logit")
		require.ErrorContains(t, other.Restore(&weights.Set{}), "is missing")
		return nil
	}))
}
