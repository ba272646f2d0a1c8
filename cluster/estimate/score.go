package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"graft/internal/stat"
	"graft/internal/validate"
)

// ScoreOptions say how sure a score has to be. The zero value is usual.
type ScoreOptions struct {
	Draws int     // resamplings of the rows; zero means 1,000
	Level float64 // share of them that an interval holds; zero means 0.95
	// Block is the number of rows that are drawn together: neighbouring rows of a time series are
	// alike, and say less than as many that have nothing to do with each other. Zero means 1.
	Block int
	Seed  uint64 // of the draws; zero is a seed like any other
}

// EnsureDefaults fills in what zero stands for.
func (o *ScoreOptions) EnsureDefaults() {
	o.Draws = cmp.Or(o.Draws, 1000)
	o.Level = cmp.Or(o.Level, 0.95)
	o.Block = cmp.Or(o.Block, 1)
}

// mostDraws bounds the memory of an interval.
const mostDraws = 1 << 20

// Validate lists all that is wrong.
func (o ScoreOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Draws < 1 || o.Draws > mostDraws, "draws is %d; it lies between 1 and %d", o.Draws, mostDraws)
	faults.When(!(o.Level > 0 && o.Level < 1), "level is %v; it lies between 0 and 1", o.Level)
	faults.When(o.Block < 1, "block is %d; it is at least 1", o.Block)
	return errors.Join(faults...)
}

// Measured is a figure and the interval in which draws of the rows leave it.
type Measured struct {
	Value     float64 // of the rows as they are
	Low, High float64 // the ends of the interval
}

// Scores say how well rows were predicted.
type Scores struct {
	Rows int      // that were predicted
	MAE  Measured // mean of the absolute errors, in the target's unit
	// R2 is the share of the target's variance that is explained: 1 is all of it, 0 no
	// more than the mean of these very rows does, below zero less. It is NaN where the
	// target does not vary.
	R2 Measured
}

// Score compares what was predicted with what was so, by row, with intervals by the
// bootstrap (Efron 1979), whose blocks go around the end (Politis, Romano 1992).
func Score(truth, predicted []float64, o ScoreOptions) (Scores, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return Scores{}, fmt.Errorf("scoring: %w", err)
	}
	if len(truth) == 0 || len(truth) != len(predicted) {
		return Scores{}, fmt.Errorf("scoring: there are %d rows and %d predictions of them; give one for each, "+
			"and one row at least", len(truth), len(predicted))
	}
	for row := range truth {
		if !isFinite(truth[row]) || !isFinite(predicted[row]) {
			return Scores{}, fmt.Errorf("scoring row %d: truth %v, prediction %v; leave out rows that are not numbers",
				row, truth[row], predicted[row])
		}
	}
	rows := errorsOf(truth, predicted)
	var whole tally
	for _, r := range rows {
		whole.add(r)
	}
	s := Scores{Rows: len(truth), MAE: Measured{Value: whole.mae()}, R2: Measured{Value: whole.r2()}}
	s.draw(rows, o)
	return s, nil
}

// fault is the error of a row; deviation is from the mean of all rows, which keeps the
// squares of large targets apart.
type fault struct{ absolute, deviation float64 }

func errorsOf(truth, predicted []float64) []fault {
	mean := 0.0
	for _, y := range truth {
		mean += y / float64(len(truth))
	}
	rows := make([]fault, len(truth))
	for row, y := range truth {
		rows[row] = fault{math.Abs(y - predicted[row]), y - mean}
	}
	return rows
}

// tally adds rows up.
type tally struct{ n, absolute, squares, sum, spread float64 }

func (t *tally) add(r fault) {
	t.n++
	t.absolute += r.absolute
	t.squares += r.absolute * r.absolute
	t.sum += r.deviation
	t.spread += r.deviation * r.deviation
}

func (t *tally) mae() float64 { return t.absolute / t.n }

func (t *tally) r2() float64 {
	spread := t.spread - t.sum*t.sum/t.n
	if !(spread > 0) {
		return math.NaN()
	}
	return 1 - t.squares/spread
}

func (s *Scores) draw(rows []fault, o ScoreOptions) {
	// a stream for this alone
	b := stat.Bootstrap{Draws: o.Draws, Block: o.Block, Random: rand.New(rand.NewPCG(o.Seed, 0x73636f7265))}
	var mae, r2 []float64
	b.Each(len(rows), func(sample []int) {
		var t tally
		for _, k := range sample {
			t.add(rows[k])
		}
		mae = append(mae, t.mae())
		if v := t.r2(); !math.IsNaN(v) {
			r2 = append(r2, v)
		}
	})
	s.MAE.interval(mae, o.Level)
	s.R2.interval(r2, o.Level)
}

// interval holds the middle share of what was drawn.
func (m *Measured) interval(drawn []float64, level float64) {
	if len(drawn) == 0 {
		m.Low, m.High = math.NaN(), math.NaN()
		return
	}
	slices.Sort(drawn)
	m.Low, m.High = stat.Quantile(drawn, (1-level)/2), stat.Quantile(drawn, (1+level)/2)
}
