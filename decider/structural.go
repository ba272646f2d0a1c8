package decider

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"graft/encoder"
	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/vocab"
)

// Structural is a policy for any network. It scores each candidate action, including "none", from the layers that the
// action changes, the whole network, the size that the action adds, and the remaining time. A structural policy is an
// ensemble of networks or a forest of regression trees. The members of an ensemble learn independently, and their
// probabilities are averaged. The regression trees of a forest predict the advantage of a choice over the others.
// Create it with NewStructural or ReadStructural.
type Structural struct {
	StructuralShape
	StructuralOptions
	Tokens, Rows Scale          // scales of tokens and rows in the training data
	Learned      []net2net.Kind // kinds of actions in the training data; nil before training
	// operation and layer kind of each action in the training data, such as "deepen convolution"; see
	// Observation.Target; nil means unknown
	Targets []string
	Members []Member // members of the ensemble, at least one; empty for a forest
	Forest  []RegressionTree
	// tables of the training data; nil means unknown, as in files of earlier versions
	Tables []LearnedTable
	// Notes describe the origin of the policy for display. Nil means none.
	Notes map[string]string
}

// LearnedTable identifies a table of a policy's training data.
type LearnedTable struct {
	Name   string   `json:"name"`   // name of the table
	Runs   string   `json:"sha256"` // digest of the runs, as in tables.Table.RunsDigest
	Sample []string `json:"sample"` // hashes of a part of the runs, as in tables.RunHashes.Sample
}

// Member holds the tensors of one member of an ensemble.
type Member [][]float64

// StructuralOptions determines how a structural policy decides. The zero value takes the most likely action among the
// kinds of actions in the training data.
type StructuralOptions struct {
	// actions to choose from; actions that do not fit are skipped; empty means all actions of Kinds, and the action
	// "none"
	Actions []net2net.Action
	// Kinds are the kinds of actions to choose from. If Kinds is nil, a trained policy chooses among the actions in its
	// training data, and an untrained policy chooses between deepen and widen.
	Kinds   []net2net.Kind
	Surgery net2net.Options // surgery options for the actions
	Sample  bool            // draws actions; false takes the most likely action
	// Fallback decides if the inputs lie outside of the range in the training data. Nil means the policy.
	Fallback Decider
	// seed for drawing actions; a draw depends only on the seed and the number of earlier decisions
	Seed        uint64
	Temperature float64 // divisor of the logits; zero means 1
}

// Validate returns an error that lists every invalid option.
func (o StructuralOptions) Validate() error {
	if !(o.Temperature >= 0) || math.IsInf(o.Temperature, 0) {
		return fmt.Errorf("temperature is %v; must be at least 0 (0 means 1)", o.Temperature)
	}
	return nil
}

// NewStructural creates a policy with one member and random weights. The policy standardizes the values of tokens by
// the scale tokens, and the rows of features by the scale rows; a zero scale leaves the values unchanged.
func NewStructural(shape StructuralShape, tokens, rows Scale, seed uint64) (*Structural, error) {
	shape.EnsureDefaults()
	if err := shape.Validate(); err != nil {
		return nil, fmt.Errorf("create a policy: %w", err)
	}
	p := &Structural{StructuralShape: shape, Tokens: tokens, Rows: rows}
	p.Members = []Member{drawMember(p.slots(), seed)}
	return p, nil
}

func (p *Structural) slots() []encoder.Slot {
	return p.StructuralShape.slots(len(p.tokenNames()), len(features))
}

// graphs reports whether the policy distinguishes the kinds of layers that only graphs have, because it learned from
// graphs.
func (p *Structural) graphs() bool { return len(p.Tokens.Mean) > len(vocab.Names(false)) }

func (p *Structural) tokenNames() []string { return vocab.Names(p.graphs()) }

// JoinStructural creates an ensemble of policies that learned from the same tables with different seeds. Everything
// except the members comes from the first policy.
func JoinStructural(policies ...*Structural) (*Structural, error) {
	if len(policies) == 0 {
		return nil, fmt.Errorf("join policies: got no policies; expected at least one")
	}
	joined := *policies[0]
	joined.Members, joined.Forest = nil, nil
	for k, p := range policies {
		if p.StructuralShape != joined.StructuralShape || (len(p.Forest) > 0) != (len(policies[0].Forest) > 0) ||
			!p.Tokens.same(joined.Tokens) || !p.Rows.same(joined.Rows) {
			return nil, fmt.Errorf("join policies: policy %d differs from the first policy in its shape or its "+
				"training tables; join policies of the same study", k)
		}
		joined.Members = append(joined.Members, p.Members...)
		joined.Forest = append(joined.Forest, p.Forest...)
	}
	return &joined, nil
}

// Split returns the members of an ensemble, each as a policy. For a forest, it returns the forest itself.
func (p *Structural) Split() (all []*Structural) {
	if len(p.Members) == 0 {
		return []*Structural{p}
	}
	for _, m := range p.Members {
		one := *p
		one.Members = []Member{m}
		all = append(all, &one)
	}
	return all
}

func (s Scale) same(other Scale) bool {
	return slices.Equal(s.Mean, other.Mean) && slices.Equal(s.Deviation, other.Deviation)
}

// Probabilities returns, for each situation, the probability of each choice.
func (p *Structural) Probabilities(situations ...Situation) ([][]float64, error) {
	if len(p.Forest) > 0 {
		var all [][]float64
		for _, s := range situations {
			all = append(all, Softmax(p.forestScores(s), cmp.Or(p.Temperature, 1)))
		}
		return all, nil
	}
	cases, err := p.Batch(situations)
	if err != nil {
		return nil, err
	}
	return p.BatchProbabilities(cases)
}

// BatchProbabilities returns the probabilities of the choices in a batch of situations.
func (p *Structural) BatchProbabilities(c *Batch) ([][]float64, error) {
	sums := make([][]float64, len(c.Starts)-1)
	for k := range sums {
		sums[k] = make([]float64, c.Starts[k+1]-c.Starts[k])
	}
	err := torch.With(func(s *torch.Scope) error {
		b, err := c.tensors(s)
		if err != nil {
			return err
		}
		for _, values := range p.Members {
			var logits []float64
			s.NoGrad(func() { logits, err = torch.Values[float64](p.member(s, values).logits(s, b)) })
			if s.Err() != nil || err != nil {
				return fmt.Errorf("score actions: %w", cmp.Or(s.Err(), err))
			}
			for k := range sums {
				for j, share := range Softmax(logits[c.Starts[k]:c.Starts[k+1]], cmp.Or(p.Temperature, 1)) {
					sums[k][j] += share / float64(len(p.Members))
				}
			}
		}
		return nil
	})
	return sums, err
}

// Softmax returns the softmax of logits divided by a temperature, computed in float64.
func Softmax[F float32 | float64](logits []F, temperature float64) []F {
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

func (p *Structural) kinds() []net2net.Kind {
	switch {
	case p.Kinds != nil:
		return p.Kinds
	case p.Learned != nil:
		return p.Learned
	}
	return usualKinds
}

// observe returns the choices of the policy.
func (p *Structural) observe(n *model.Network) (*Observation, error) {
	if len(p.Actions) > 0 {
		actions := slices.Clone(p.Actions)
		if !slices.Contains(actions, net2net.Action{}) {
			actions = append(actions, net2net.Action{})
		}
		return observe(n, actions, p.Surgery, true)
	}
	seen, err := ProposedObservation(n, p.kinds(), p.Surgery)
	if err == nil && p.Kinds == nil && p.Targets != nil {
		seen.Choices = slices.DeleteFunc(seen.Choices, func(c Choice) bool {
			return c.Action.Kind != net2net.None && !slices.Contains(p.Targets, seen.Target(c))
		})
	}
	return seen, err
}

// Fits returns an error if the policy cannot read a network, or if none of its actions except "none" fits the network.
// The network needs no weights.
func (p *Structural) Fits(n *model.Network) error {
	if err := p.judges(); err != nil {
		return err
	}
	seen, err := p.observe(n)
	if err != nil {
		return fmt.Errorf("the policy cannot read network %s: %w", n.Name(), err)
	}
	if len(seen.Choices) > 1 { // more than the action none
		return nil
	}
	return fmt.Errorf("the policy chooses from %s, but none of these actions fits network %s; list actions or kinds "+
		"that fit, or use another policy or network", p.weighs(), n.Name())
}

// Unlearned returns the given action kinds that are missing from the policy's training data. For an untrained policy,
// the list is empty.
func (p *Structural) Unlearned(kinds []net2net.Kind) []net2net.Kind {
	if p.Learned == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(kinds),
		func(k net2net.Kind) bool { return k == net2net.None || slices.Contains(p.Learned, k) })
}

// judges returns an error if the policy would choose among actions that it has not learned to judge.
func (p *Structural) judges() error {
	asked := slices.Clone(p.Kinds)
	for _, a := range p.Actions {
		asked = append(asked, a.Kind)
	}
	if strange := p.Unlearned(asked); len(strange) > 0 {
		return fmt.Errorf("the policy was trained on the action kinds %v, but the configuration offers %s; remove %s, "+
			"or use a policy that was trained on tables with this kind", p.Learned, strange[0], strange[0])
	}
	return nil
}

// weighs returns the names of the actions that the policy chooses from.
func (p *Structural) weighs() string {
	switch {
	case len(p.Actions) > 0:
		return fmt.Sprintf("the actions %v", p.Actions)
	case p.Kinds == nil && p.Targets != nil:
		return "the actions that it was trained on: " + strings.Join(p.Targets, ", ")
	}
	return fmt.Sprintf("actions of the kinds %v", p.kinds())
}

// Decide scores all actions that fit the network, and takes the most likely action or samples one.
func (p *Structural) Decide(ctx context.Context, s State) (Decision, error) {
	if err := ctx.Err(); err != nil {
		return Decision{}, err
	}
	seen, err := p.observe(s.Network)
	if err != nil {
		return Decision{}, fmt.Errorf("decide with a policy: %w", err)
	}
	situation := seen.situate(s)
	if names := p.Outside(situation); len(names) > 0 && p.Fallback != nil {
		d, err := p.Fallback.Decide(ctx, s)
		d.Why = "the policy was not trained on such values of " + strings.Join(names, ", ") + "; the fallback decided"
		return d, err
	}
	gains, err := p.rate(ctx, &situation)
	if err != nil {
		return Decision{}, err
	}
	weighed, err := p.Probabilities(situation)
	if err != nil {
		return Decision{}, err
	}
	chosen := Likeliest(weighed[0])
	if p.Sample { // from a stream of the seed and the number of the decision
		chosen = SampleIndex(weighed[0], rand.New(rand.NewPCG(p.Seed, uint64(s.Decisions))))
	}
	return Decision{Action: seen.Choices[chosen].Action, Probabilities: weighed[0], Gains: gains}, nil
}

// SampleIndex samples an index with the given probabilities. The sum of the probabilities must be 1.
func SampleIndex[F float32 | float64](probabilities []F, random *rand.Rand) int {
	draw := random.Float64()
	for k, share := range probabilities {
		if draw -= float64(share); draw < 0 {
			return k
		}
	}
	return len(probabilities) - 1 // rounding: the sum may be below one
}
