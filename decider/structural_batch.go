package decider

import (
	"errors"
	"fmt"
	"slices"

	"graft/encoder"
	"graft/torch"
	"graft/vocab"
)

// Batch holds situations that are converted to a structural policy's inputs. Each network is stored once. A batch can
// hold any number of situations, with any number of choices each.
type Batch struct {
	// Starts holds, for each situation, the index of its first choice among the choices of all situations. The last
	// entry is the total number of choices.
	Starts []int

	drawings []encoder.Drawing
	rows     []float64 // features of the choices
	targets  [][2]int  // the drawing and the pick of each choice
}

// Indexes of the first picks in every drawing.
const (
	wholePick = iota // all tokens
	emptyPick        // no token, for no action
	firstPick
)

// Batch converts situations to the policy's inputs.
func (p *Structural) Batch(situations []Situation) (*Batch, error) {
	if len(situations) == 0 {
		return nil, errors.New("decide: got no situations; expected at least one")
	}
	c := &Batch{Starts: []int{0}}
	known := map[*Observation]int{}
	for _, s := range situations {
		if s.Observation == nil || len(s.Choices) == 0 {
			return nil, errors.New("decide: a situation has no choices; expected at least one")
		}
		at, ok := known[s.Observation]
		if !ok {
			at = len(c.drawings)
			known[s.Observation] = at
			c.drawings = append(c.drawings, s.drawing(p.Tokens, p.graphs()))
		}
		rows := s.Features()
		p.Rows.Apply(rows)
		for k, row := range rows {
			c.rows = append(c.rows, row...)
			pick := emptyPick
			if len(s.Choices[k].Tokens) > 0 {
				pick = firstPick + k
			}
			c.targets = append(c.targets, [2]int{at, pick})
		}
		c.Starts = append(c.Starts, len(c.targets))
	}
	return c, nil
}

func (p *Observation) drawing(scale Scale, graphs bool) encoder.Drawing {
	d := encoder.Drawing{Before: p.Structure.Before, Picks: [][]int{nil, nil}}
	for k, t := range p.Structure.Tokens {
		d.Values = append(d.Values, t.Values(graphs))
		d.Picks[wholePick] = append(d.Picks[wholePick], k)
	}
	scale.Apply(d.Values)
	for _, c := range p.Choices {
		d.Picks = append(d.Picks, c.Tokens)
	}
	return d
}

// MeasureScales computes the mean and the standard deviation of each input over the given training situations. The
// first scale is for the values of tokens, and the second scale is for the rows of features. The first scale includes
// token kinds of operator graphs only if a situation has a token of such a kind.
func MeasureScales(situations []Situation) (tokens, rows Scale, err error) {
	var allTokens, allRows [][]float64
	graphs := slices.ContainsFunc(situations,
		func(s Situation) bool { return slices.ContainsFunc(s.Structure.Tokens, vocab.Token.OfGraphs) })
	seen := map[*Observation]bool{}
	for _, s := range situations {
		allRows = append(allRows, s.Features()...)
		if seen[s.Observation] {
			continue
		}
		seen[s.Observation] = true
		for _, t := range s.Structure.Tokens {
			allTokens = append(allTokens, t.Values(graphs))
		}
	}
	if len(allTokens) == 0 || len(allRows) == 0 {
		return Scale{}, Scale{}, errors.New("compute input scales: got no training data; expected at least one " +
			"situation")
	}
	tokens = newScale(allTokens)
	tokens.Low, tokens.High = nil, nil // the policy standardizes tokens, and its range is stated for rows
	return tokens, newScale(allRows), nil
}

type tensors struct {
	drawings       *encoder.Drawings
	rows           *torch.Tensor
	targets, whole *torch.Tensor // rows of the encodings per choice
	count          int
}

func (c *Batch) tensors(s *torch.Scope) (*tensors, error) {
	b := &tensors{count: len(c.targets)}
	var err error
	if b.drawings, err = encoder.NewDrawings(s, c.drawings); err != nil {
		return nil, err
	}
	b.rows = torch.From(s, c.rows, b.count, len(c.rows)/b.count)
	targets, whole := make([]int64, b.count), make([]int64, b.count)
	for k, t := range c.targets {
		targets[k] = int64(t[0]*b.drawings.Picks + t[1])
		whole[k] = int64(t[0]*b.drawings.Picks + wholePick)
	}
	b.targets, b.whole = torch.From(s, targets, b.count), torch.From(s, whole, b.count)
	if s.Err() != nil {
		return nil, fmt.Errorf("decide: %w", s.Err())
	}
	return b, nil
}
