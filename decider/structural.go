package decider

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/encoder"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/vocab"
)

// Structural is a policy that reads any network: it scores each action that could be
// taken, from the layers that the action is about, the whole network, what the action
// adds and the time that is left, and leaving the network alone as well. It is made
// by NewStructural or ReadStructural. It may have several members, which learned each
// by itself; their probabilities are averaged.
type Structural struct {
	StructuralShape
	StructuralOptions
	Tokens, Rows Scale          // of what it learns from
	Learned      []net2net.Kind // that it has learned to judge; nil while it has learned nothing
	Members      []Member       // at least one
	// Notes say where the policy comes from, for people. Nil is nothing.
	Notes map[string]string
}

// Member is the values of one member's tensors.
type Member [][]float64

// StructuralOptions say how a policy decides. The zero value takes the likeliest
// action of those kinds that it has learned to judge.
type StructuralOptions struct {
	Kinds       []net2net.Kind  // of actions; nil means Learned, and deepen and widen while it has learned nothing
	Surgery     net2net.Options // how actions are going to be done
	Sample      bool            // draw actions with their probabilities; false takes the likeliest
	Seed        uint64          // of the drawing, which depends on it and on the number of the decision alone
	Temperature float64         // that logits are divided by; zero means 1
}

// Validate lists all that is wrong.
func (o StructuralOptions) Validate() error {
	if !(o.Temperature >= 0) || math.IsInf(o.Temperature, 0) {
		return fmt.Errorf("temperature is %v; it is at least 0, which means 1", o.Temperature)
	}
	return nil
}

// NewStructural draws a policy that has learned nothing, with one member.
func NewStructural(shape StructuralShape, seed uint64) (*Structural, error) {
	shape.EnsureDefaults()
	if err := shape.Validate(); err != nil {
		return nil, fmt.Errorf("make a policy: %w", err)
	}
	p := &Structural{StructuralShape: shape}
	p.Members = []Member{drawMember(p.slots(), seed)}
	return p, nil
}

func (p *Structural) tokenNames() []string { return vocab.Names() }

func (p *Structural) slots() []encoder.Slot {
	return p.StructuralShape.slots(len(p.tokenNames()), len(features))
}

// JoinStructural makes one policy of those that learned from the same tables with
// other seeds: the members of all. The rest is the first one's.
func JoinStructural(policies ...*Structural) (*Structural, error) {
	if len(policies) == 0 {
		return nil, fmt.Errorf("join policies: there is none")
	}
	joined := *policies[0]
	joined.Members = nil
	for k, p := range policies {
		if p.StructuralShape != joined.StructuralShape || !p.Tokens.same(joined.Tokens) || !p.Rows.same(joined.Rows) {
			return nil, fmt.Errorf("join policies: the one at %d has another shape or learned from other tables than the first", k)
		}
		joined.Members = append(joined.Members, p.Members...)
	}
	return &joined, nil
}

func (s Scale) same(other Scale) bool {
	return slices.Equal(s.Mean, other.Mean) && slices.Equal(s.Deviation, other.Deviation)
}

// Weigh gives the probabilities of each situation's choices.
func (p *Structural) Weigh(situations ...Situation) ([][]float64, error) {
	cases, err := p.Cases(situations)
	if err != nil {
		return nil, err
	}
	return p.WeighCases(cases)
}

// WeighCases is Weigh for situations that are in numbers already.
func (p *Structural) WeighCases(c *Cases) ([][]float64, error) {
	sums := make([][]float64, len(c.Starts)-1)
	for k := range sums {
		sums[k] = make([]float64, c.Starts[k+1]-c.Starts[k])
	}
	err := torch.With(func(s *torch.Scope) error {
		b, err := c.board(s)
		if err != nil {
			return err
		}
		for _, values := range p.Members {
			var logits []float64
			s.NoGrad(func() { logits, err = torch.Values[float64](p.member(s, values).logits(s, b)) })
			if s.Err() != nil || err != nil {
				return fmt.Errorf("weigh actions: %w", firstOf(s.Err(), err))
			}
			p.addShares(sums, logits, c.Starts)
		}
		return nil
	})
	return sums, err
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// addShares adds a member's part of the probabilities.
func (p *Structural) addShares(sums [][]float64, logits []float64, starts []int) {
	temperature := p.Temperature
	if temperature == 0 {
		temperature = 1
	}
	for k := range sums {
		for j, share := range Shares(logits[starts[k]:starts[k+1]], temperature) {
			sums[k][j] += share / float64(len(p.Members))
		}
	}
}

// Shares are the probabilities that logits stand for: softmax of them over the
// temperature, worked out in float64.
func Shares[F float32 | float64](logits []F, temperature float64) []F {
	most := float64(slices.Max(logits))
	powers, sum := make([]float64, len(logits)), 0.0
	for k, l := range logits {
		powers[k] = math.Exp((float64(l) - most) / temperature)
		sum += powers[k]
	}
	shares := make([]F, len(logits))
	for k, p := range powers {
		shares[k] = F(p / sum)
	}
	return shares
}

// kinds are those of the actions that are weighed.
func (p *Structural) kinds() []net2net.Kind {
	for _, kinds := range [][]net2net.Kind{p.Kinds, p.Learned} {
		if kinds != nil {
			return kinds
		}
	}
	return usualKinds
}

// Fits says why the policy could never adapt a network, which needs no weights; nil
// where it could.
func (p *Structural) Fits(n *model.Network) error {
	portrait, err := ProposedPortrait(n, p.kinds(), p.Surgery)
	if err != nil {
		return fmt.Errorf("the policy cannot read %s: %w", n.Name(), err)
	}
	if len(portrait.Choices) > 1 { // more than to leave it alone
		return nil
	}
	return fmt.Errorf("the policy weighs actions of the kinds %v, and none of them fits %s; take another policy or another network", p.kinds(), n.Name())
}

// Decide weighs all actions that fit the network, and takes the likeliest or draws
// one.
func (p *Structural) Decide(ctx context.Context, s State) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	portrait, err := ProposedPortrait(s.Network, p.kinds(), p.Surgery)
	if err != nil {
		return Decision{}, fmt.Errorf("decide with a policy: %w", err)
	}
	weighed, err := p.Weigh(Situation{portrait, s})
	if err != nil {
		return Decision{}, err
	}
	chosen := p.choose(weighed[0], s.Decisions)
	return Decision{Action: portrait.Choices[chosen].Action, Probabilities: weighed[0]}, nil
}

// choose takes the likeliest, the first of equal ones, or draws from a stream of the
// seed and the number of the decision.
func (p *Structural) choose(probabilities []float64, decision int) int {
	if !p.Sample {
		return Likeliest(probabilities)
	}
	return DrawShare(probabilities, rand.New(rand.NewPCG(p.Seed, uint64(decision))))
}

// DrawShare draws a place, each with its probability; these add up to one.
func DrawShare[F float32 | float64](probabilities []F, random *rand.Rand) int {
	draw := random.Float64()
	for k, share := range probabilities {
		if draw -= float64(share); draw < 0 {
			return k
		}
	}
	return len(probabilities) - 1 // the sum is one but for rounding
}
