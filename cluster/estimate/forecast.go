package estimate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Forecast holds the actual and the predicted submissions in one time step.
type Forecast struct {
	Tick                 // tick with the actual values
	ExpectedJobs float64 // predicted number of submitted jobs, not negative
	ExpectedGPUs float64 // predicted number of requested GPUs, not negative
	Learned      bool    // a model predicted the values; false means the mean of the ticks known before
}

// Throughput holds forecasts of submission rates, the models behind the forecasts, and the accuracy of the forecasts.
type Throughput struct {
	Forecasts            []Forecast // forecasts in order of time
	Jobs, GPUs           *Model     // last models of the two series; nil if there were too few ticks to learn from
	JobScores, GPUScores Scores     // accuracy of the forecasts by models
	Models               int        // number of times that both models were learned
}

// ForecastThroughput forecasts the ticks at and after the time "from". Each forecast comes from a model that learned
// only from earlier ticks. The intervals of the scores come from a bootstrap over whole days.
func ForecastThroughput(ctx context.Context, ticks []Tick, from time.Time, o ThroughputOptions) (*Throughput, error) {
	f, err := newForecaster(ticks, o)
	if err != nil {
		return nil, err
	}
	start := f.at(from)
	if start < 2 || start == len(ticks) {
		return nil, fmt.Errorf("forecast from %s: the series has %d ticks before this time and %d later ticks; "+
			"expected at least 2 earlier ticks and 1 later tick", from.Format(timeLayout), start, len(ticks)-start)
	}
	f.t.Forecasts = f.t.Forecasts[start:]
	for k, at := 0, start; at < len(ticks); k++ {
		to := len(ticks)
		if f.o.Every > 0 {
			to = f.at(from.Add(time.Duration(k+1) * f.o.Every))
		}
		if err := f.learn(ctx, at, to); err != nil {
			return nil, err
		}
		at = to
	}
	return f.t, f.score()
}

// WalkThroughput forecasts every tick from the ticks known before it. It divides the ticks into windows of length
// o.Every and trains a new model at the start of each window. In the first window, and in windows with too few earlier
// ticks to learn from, the forecast is the mean of the last known hour.
func WalkThroughput(ctx context.Context, ticks []Tick, o ThroughputOptions) (*Throughput, error) {
	o.Every = cmp.Or(o.Every, week7*time.Second)
	f, err := newForecaster(ticks, o)
	if err != nil {
		return nil, err
	}
	first := ticks[0].Time
	for k := 1; ; k++ {
		at, to := f.at(first.Add(time.Duration(k)*f.o.Every)), f.at(first.Add(time.Duration(k+1)*f.o.Every))
		if at == len(ticks) {
			return f.t, f.score()
		}
		if !f.enough(at) {
			continue
		}
		if err := f.learn(ctx, at, to); err != nil {
			return nil, err
		}
	}
}

type forecaster struct {
	o     ThroughputOptions
	ticks []Tick
	table *Table
	t     *Throughput // its forecasts end with the last tick
}

// newForecaster initialises the forecast of each tick with the mean of its last known hour.
func newForecaster(ticks []Tick, o ThroughputOptions) (*forecaster, error) {
	o.EnsureDefaults()
	table, err := ThroughputTable(ticks, o)
	if err != nil {
		return nil, err
	}
	f := &forecaster{o: o, ticks: ticks, table: table, t: &Throughput{Forecasts: make([]Forecast, len(ticks))}}
	for k, tick := range ticks {
		known := ticks[max(0, k-lead+1-smooth):max(0, k-lead+1)]
		f.t.Forecasts[k] = Forecast{Tick: tick, ExpectedJobs: meanTick(known, jobsOf),
			ExpectedGPUs: meanTick(known, gpusOf)}
	}
	return f, nil
}

// meanTick returns the mean; zero without ticks.
func meanTick(ticks []Tick, of func(Tick) float64) float64 {
	sum := 0.0
	for _, t := range ticks {
		sum += of(t) / float64(len(ticks))
	}
	return sum
}

// at returns the first tick at or after a time.
func (f *forecaster) at(date time.Time) int {
	at, _ := slices.BinarySearchFunc(f.ticks, date, func(t Tick, date time.Time) int { return t.Time.Compare(date) })
	return at
}

// throughputSeries are the series to forecast.
var throughputSeries = []struct {
	name     string
	of       func(Tick) float64
	model    func(*Throughput) **Model
	scores   func(*Throughput) *Scores
	expected func(*Forecast) *float64
}{
	{"jobs", jobsOf, func(t *Throughput) **Model { return &t.Jobs }, func(t *Throughput) *Scores {
		return &t.JobScores
	}, func(f *Forecast) *float64 { return &f.ExpectedJobs }},
	{"GPUs", gpusOf, func(t *Throughput) **Model { return &t.GPUs },
		func(t *Throughput) *Scores { return &t.GPUScores }, func(f *Forecast) *float64 { return &f.ExpectedGPUs }},
}

// before returns the features of a series from the ticks before index at.
func (f *forecaster) before(at int, of func(Tick) float64) *Table {
	learned := f.table.Pick(upTo(at))
	learned.SetTarget(byTick(f.ticks[:at], of))
	return learned
}

func byTick(ticks []Tick, of func(Tick) float64) []float64 {
	values := mapped(ticks, of)
	return values
}

// enough reports whether the ticks before index at suffice to learn both series.
func (f *forecaster) enough(at int) bool {
	return enough(f.before(at, jobsOf), f.o.Model) && enough(f.before(at, gpusOf), f.o.Model)
}

// learn trains models of both series on the ticks before index from, and forecasts the later ticks before index to.
func (f *forecaster) learn(ctx context.Context, from, to int) error {
	asked := f.table.Pick(upTo(to)[from:])
	forecasts := f.t.Forecasts[len(f.t.Forecasts)-len(f.ticks)+from:]
	for _, s := range throughputSeries {
		learned := f.before(from, s.of)
		m, err := Fit(ctx, learned.Without(learned.Idle()...), f.o.Model)
		if err != nil {
			return fmt.Errorf("forecast %s from %s: %w", s.name, f.ticks[from].Time.Format(timeLayout), err)
		}
		predicted, err := m.PredictTable(asked)
		if err != nil {
			return fmt.Errorf("forecast %s from %s: %w", s.name, f.ticks[from].Time.Format(timeLayout), err)
		}
		for k, v := range predicted {
			*s.expected(&forecasts[k]), forecasts[k].Learned = max(v, 0), true
		}
		*s.model(f.t) = m
	}
	f.t.Models++
	return nil
}

// score compares the models' forecasts with the actual values.
func (f *forecaster) score() error {
	for _, s := range throughputSeries {
		var truth, predicted []float64
		for k := range f.t.Forecasts {
			if c := &f.t.Forecasts[k]; c.Learned {
				truth, predicted = append(truth, s.of(c.Tick)), append(predicted, *s.expected(c))
			}
		}
		if len(truth) == 0 {
			return nil
		}
		scores, err := Score(truth, predicted, ScoreOptions{Block: max(int(24*time.Hour/f.o.Step), 1),
			Seed: f.o.Model.Seed})
		if err != nil {
			return fmt.Errorf("forecast %s: %w", s.name, err)
		}
		*s.scores(f.t) = scores
	}
	return nil
}
