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

// ScoreOptions holds the options for the confidence intervals of scores. Zero values mean the defaults.
type ScoreOptions struct {
	Draws int     // number of bootstrap samples; zero means 1,000
	Level float64 // confidence level of an interval; zero means 0.95
	// Block is the number of consecutive rows that the bootstrap draws together. Neighbouring rows of a time series are
	// similar, and carry less information than independent rows. Zero means 1.
	Block int
	Seed  uint64 // seed of the bootstrap; zero is a valid seed
}

// EnsureDefaults replaces zero values with defaults.
func (o *ScoreOptions) EnsureDefaults() {
	o.Draws = cmp.Or(o.Draws, 1000)
	o.Level = cmp.Or(o.Level, 0.95)
	o.Block = cmp.Or(o.Block, 1)
}

// mostDraws limits the memory of an interval.
const mostDraws = 1 << 20

// Validate returns an error that lists every invalid option.
func (o ScoreOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Draws < 1 || o.Draws > mostDraws, "draws is %d; must be between 1 and %d", o.Draws, mostDraws)
	faults.When(!(o.Level > 0 && o.Level < 1), "level is %v; must be between 0 and 1", o.Level)
	faults.When(o.Block < 1, "block is %d; must be at least 1", o.Block)
	return errors.Join(faults...)
}

// Measured is a statistic with its confidence interval.
type Measured struct {
	Value     float64 // value of the statistic for the original rows
	Low, High float64 // ends of the confidence interval
}

// Scores measure the accuracy of predictions.
type Scores struct {
	Rows int      // number of predicted rows
	MAE  Measured // mean absolute error, in the target's unit
	// R2 is the fraction of the target's variance that the predictions explain: 1 means a perfect prediction, 0 means
	// no better than predicting the mean of the same rows, and negative values are worse. It is NaN if the target
	// does not vary.
	R2 Measured
}

// Score compares predicted values with true values, by row. Intervals come from a bootstrap (Efron 1979) with circular
// blocks (Politis, Romano 1992).
func Score(truth, predicted []float64, o ScoreOptions) (Scores, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return Scores{}, fmt.Errorf("score predictions: %w", err)
	}
	if len(truth) == 0 || len(truth) != len(predicted) {
		return Scores{}, fmt.Errorf("score predictions: got %d rows and %d predictions; expected at least one row, "+
			"and one prediction per row", len(truth), len(predicted))
	}
	for row := range truth {
		if !stat.Finite(truth[row]) || !stat.Finite(predicted[row]) {
			return Scores{}, fmt.Errorf("score predictions: row %d has true value %v and prediction %v; expected "+
				"finite numbers", row, truth[row], predicted[row])
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

// fault is the error of a row. Deviation is relative to the mean of all rows, so that squares of large targets do not
// lose precision.
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

// tally accumulates rows.
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
	// a separate random stream
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

// interval sets the ends to the quantiles of the drawn values.
func (m *Measured) interval(drawn []float64, level float64) {
	if len(drawn) == 0 {
		m.Low, m.High = math.NaN(), math.NaN()
		return
	}
	slices.Sort(drawn)
	m.Low, m.High = stat.Quantile(drawn, (1-level)/2), stat.Quantile(drawn, (1+level)/2)
}
