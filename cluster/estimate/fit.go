package estimate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/parallel"
	"graft/internal/validate"
)

// plan holds the rows and bins that all bags learn from.
type plan struct {
	stop     <-chan struct{} // closed when the context ends
	o        Options
	features []feature
	bins     [][]uint16  // by feature and row
	weights  [][]float64 // rows by feature and bin
	target   []float64   // transformed for learning, by row
	pairs    []pair
}

// bag is a sample of the rows, with its learned scores.
type bag struct {
	rows     []int // validation rows last
	train    int
	base     float64
	residual []float64
	mains    [][]float64 // scores by feature and bin
	pairs    [][]float64 // scores by pair and cell
}

// Fit trains a model on a table. Equal tables, options and seeds give byte-identical models, regardless of the number
// of workers. If the validation rows are drawn at random, the order of the rows does not change the model. Fit checks
// whether ctx has ended after each tree of each term.
func Fit(ctx context.Context, t *Table, o Options) (*Model, error) {
	o.EnsureDefaults()
	if err := errors.Join(o.Validate(), checkTable(t, o)); err != nil {
		return nil, fmt.Errorf("fit an estimate model: %w", err)
	}
	p := newPlan(t, o)
	p.stop = ctx.Done()
	bags := p.divide()
	p.stage(bags, p.learnMains)
	p.choosePairs(p.learners(bags))
	p.stage(bags, p.learnPairs)
	if err := ctx.Err(); err != nil { // the learned model is incomplete
		return nil, fmt.Errorf("fit an estimate model: %w", err)
	}
	return p.model(p.learners(bags)), nil
}

// checkTable lists the faults of a table that prevent learning.
func checkTable(t *Table, o Options) error {
	if t.fault != nil {
		return t.fault
	}
	var faults validate.Faults
	faults.When(len(t.columns) == 0, "the table has no columns; add features")
	faults = append(faults, checkTarget(t, o.Target))
	for k := range t.columns {
		if c := &t.columns[k]; t.Rows() > 0 && c.isMissing() {
			faults = append(faults, fmt.Errorf("column %s has no values; remove it", c.name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Monotone)) {
		if k := t.find(name); k < 0 || t.columns[k].isText() {
			faults = append(faults, fmt.Errorf("monotone contains %s, which is not a numeric column; the columns "+
				"are %q", name, t.Names()))
		}
	}
	return errors.Join(faults...)
}

func checkTarget(t *Table, target string) error {
	switch {
	case t.target == nil:
		return errors.New("the table has no target values; set the target column")
	case len(t.target) < 2:
		return fmt.Errorf("the table has %d rows; expected at least 2", len(t.target))
	case slices.Min(t.target) == slices.Max(t.target):
		return fmt.Errorf("the target is %v in all rows; expected at least two different values", t.target[0])
	case target != TargetPlain && slices.Min(t.target) < 0:
		return fmt.Errorf("the smallest target is %v, but the logarithm requires targets of at least 0; set "+
			"option target to \"%s\"",
			slices.Min(t.target), TargetPlain)
	case math.IsInf(math.Pow(slices.Max(t.target)-slices.Min(t.target), 2)*float64(len(t.target)), 0):
		return errors.New("the range of the target is too large; use a larger unit")
	}
	return nil
}

// newPlan cuts the table into bins and sorts its rows for learning.
func newPlan(t *Table, o Options) *plan {
	p := &plan{o: o, target: slices.Clone(t.target)}
	if o.Target != TargetPlain {
		for row, y := range p.target {
			p.target[row] = math.Log1p(y)
		}
	}
	for k := range t.columns {
		c := &t.columns[k]
		f := newFeature(c, o)
		bins := f.column(c)
		weights := make([]float64, f.bins())
		for _, bin := range bins {
			weights[bin]++
		}
		p.features, p.bins, p.weights = append(p.features, f), append(p.bins, bins), append(p.weights, weights)
	}
	if o.Validation == ValidateRandom {
		p.sortRows()
	}
	return p
}

// sortRows sorts rows by a hash of their contents, so that the order depends only on the contents and is unrelated to
// their meaning.
func (p *plan) sortRows() {
	hashes := make([]uint64, len(p.target))
	order := make([]int, len(p.target))
	for row := range hashes {
		h := mix(math.Float64bits(p.target[row]))
		for _, bins := range p.bins {
			h = mix(h ^ uint64(bins[row]))
		}
		hashes[row], order[row] = h, row
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	p.target = pick(p.target, order)
	for k := range p.bins {
		p.bins[k] = pick(p.bins[k], order)
	}
}

// mix scrambles bits (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// divide draws the rows of each bag. With validation on the last rows, an additional first bag determines the number of
// rounds, and the other bags learn from all their rows.
func (p *plan) divide() []*bag {
	n := len(p.target)
	held := min(max(int(float64(n)*p.o.ValidationShare), 1), n-1)
	var bags []*bag
	if p.o.Validation == ValidateLast {
		bags = append(bags, p.newBag(upTo(n), n-held))
	}
	for k := range p.o.Bags {
		random := rand.New(rand.NewPCG(p.o.Seed, uint64(k)))
		rows := p.shuffle(random)
		if p.o.Validation == ValidateLast {
			bags = append(bags, p.newBag(rows[:n-held], n-held))
		} else {
			bags = append(bags, p.newBag(rows, n-held))
		}
	}
	return bags
}

// blocks is the number of runs of rows in a table for drawing in blocks.
const blocks = 100

// shuffle draws an order of all rows. A bag learns from the first ones.
func (p *plan) shuffle(random *rand.Rand) []int {
	n := len(p.target)
	if p.o.Validation != ValidateBlocks {
		return random.Perm(n)
	}
	rows := make([]int, 0, n)
	for _, block := range random.Perm(blocks) {
		for row := block * n / blocks; row < (block+1)*n/blocks; row++ {
			rows = append(rows, row)
		}
	}
	return rows
}

func upTo(n int) []int {
	rows := make([]int, n)
	for k := range rows {
		rows[k] = k
	}
	return rows
}

// newBag starts with the mean of the bag's training rows as its prediction.
func (p *plan) newBag(rows []int, train int) *bag {
	b := &bag{rows: rows, train: train, residual: pick(p.target, rows)}
	for _, y := range b.residual[:train] {
		b.base += y / float64(train)
	}
	for row := range b.residual {
		b.residual[row] -= b.base
	}
	return b
}

// learners returns the bags whose models are averaged.
func (p *plan) learners(bags []*bag) []*bag {
	if p.o.Validation == ValidateLast {
		return bags[1:]
	}
	return bags
}

// stage lets all bags learn, several at once. The function learn returns its number of rounds.
func (p *plan) stage(bags []*bag, learn func(b *bag, rounds int) int) {
	rounds := p.o.Rounds
	if p.o.Validation == ValidateLast {
		rounds = learn(bags[0], rounds)
	}
	rest := p.learners(bags)
	parallel.Do(len(rest), p.o.Workers, func(k int) { learn(rest[k], rounds) })
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

func (p *plan) learnMains(b *bag, rounds int) int {
	cells := make([][]uint16, len(p.features))
	sizes := make([]int, len(p.features))
	for k := range p.features {
		cells[k], sizes[k] = pick(p.bins[k], b.rows), p.features[k].bins()
	}
	g := &grower{leaves: p.o.Leaves, least: float64(p.o.LeastRows)}
	boost := newBooster(cells, sizes, b.residual, b.train, p.o.LearningRate)
	boost.stop = p.stop
	boost.grow = func(term int, sums, counts, update []float64) {
		g.grow(sums, counts, update, p.features[term].text)
	}
	boost.bend = func(term int, scores, counts []float64) {
		if way := p.o.Monotone[p.features[term].name]; way != 0 {
			isotonic(scores[1:], counts[1:], way)
		}
	}
	kept := boost.run(rounds, p.o.Patience)
	b.mains = boost.scores
	return kept
}

func (p *plan) learnPairs(b *bag, rounds int) int {
	cells := make([][]uint16, len(p.pairs))
	sizes := make([]int, len(p.pairs))
	for k := range p.pairs {
		cells[k], sizes[k] = pick(p.pairs[k].cells, b.rows), p.pairs[k].size()
	}
	g := &pairGrower{least: float64(p.o.LeastRows)}
	boost := newBooster(cells, sizes, b.residual, b.train, p.o.LearningRate)
	boost.stop = p.stop
	boost.grow = func(term int, sums, counts, update []float64) {
		g.load(sums, counts, p.pairs[term].groups[0].n, p.pairs[term].groups[1].n)
		g.grow(update)
	}
	kept := boost.run(rounds, p.o.Patience)
	b.pairs = boost.scores
	return kept
}
