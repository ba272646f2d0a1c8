package estimate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Forecast is a tick with what was expected of it.
type Forecast struct {
	Tick                 // what came
	ExpectedJobs float64 // never below zero
	ExpectedGPUs float64 // never below zero
	Learned      bool    // by models; false means the mean of the steps that were known before
}

// Throughput is forecasts of submissions, the models they are of, and how good they are.
type Throughput struct {
	Forecasts            []Forecast // in order of time
	Jobs, GPUs           *Model     // of the two series, the last ones; nil where there was too little to learn from
	JobScores, GPUScores Scores     // of the forecasts that models made
	Models               int        // how often both were learned
}

// ForecastThroughput learns from the ticks before a time and forecasts those from it on.
// Intervals of scores draw whole days.
func ForecastThroughput(ctx context.Context, ticks []Tick, from time.Time, o ThroughputOptions) (*Throughput, error) {
	f, err := newForecaster(ticks, o)
	if err != nil {
		return nil, err
	}
	start := f.at(from)
	if start < 2 || start == len(ticks) {
		return nil, fmt.Errorf("forecasting from %s: there are %d ticks before it and %d from it on; "+
			"give a time within them", from.Format(timeLayout), start, len(ticks)-start)
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

// WalkThroughput forecasts all ticks: each from what was known before it. Models are
// learned anew as often as Every says, for the first time after as long. Ticks before that,
// and those of a window with too little to learn from, are expected to be as the hour was
// that was known last.
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

// newForecaster expects of each tick what the hour was that is known of it.
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

// meanTick is zero where there is none.
func meanTick(ticks []Tick, of func(Tick) float64) float64 {
	sum := 0.0
	for _, t := range ticks {
		sum += of(t) / float64(len(ticks))
	}
	return sum
}

// at is the first tick that is not before a time.
func (f *forecaster) at(date time.Time) int {
	at, _ := slices.BinarySearchFunc(f.ticks, date, func(t Tick, date time.Time) int { return t.Time.Compare(date) })
	return at
}

// throughputSeries are the series that are forecast.
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

// before returns the features of a series from the ticks before one.
func (f *forecaster) before(at int, of func(Tick) float64) *Table {
	learned := f.table.Pick(upTo(at))
	learned.SetTarget(byTick(f.ticks[:at], of))
	return learned
}

func byTick(ticks []Tick, of func(Tick) float64) []float64 {
	values := mapped(ticks, of)
	return values
}

// enough says whether both series can be learned from the ticks before one.
func (f *forecaster) enough(at int) bool {
	return enough(f.before(at, jobsOf), f.o.Model) && enough(f.before(at, gpusOf), f.o.Model)
}

// learn learns both series from the ticks before one, and forecasts those up to another.
func (f *forecaster) learn(ctx context.Context, from, to int) error {
	asked := f.table.Pick(upTo(to)[from:])
	forecasts := f.t.Forecasts[len(f.t.Forecasts)-len(f.ticks)+from:]
	for _, s := range throughputSeries {
		learned := f.before(from, s.of)
		m, err := Fit(ctx, learned.Without(learned.Idle()...), f.o.Model)
		if err != nil {
			return fmt.Errorf("forecasting %s from %s: %w", s.name, f.ticks[from].Time.Format(timeLayout), err)
		}
		predicted, err := m.PredictTable(asked)
		if err != nil {
			return fmt.Errorf("forecasting %s from %s: %w", s.name, f.ticks[from].Time.Format(timeLayout), err)
		}
		for k, v := range predicted {
			*s.expected(&forecasts[k]), forecasts[k].Learned = max(v, 0), true
		}
		*s.model(f.t) = m
	}
	f.t.Models++
	return nil
}

// score compares what models forecast with what came.
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
			return fmt.Errorf("forecasting %s: %w", s.name, err)
		}
		*s.scores(f.t) = scores
	}
	return nil
}
