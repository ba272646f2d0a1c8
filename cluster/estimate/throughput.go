package estimate

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"graft/internal/stat"
	"graft/internal/validate"
)

// timeLayout is the layout of times in tables of ticks, without time zone.
const timeLayout = "2006-01-02 15:04:05"

// lead is the number of steps from the last known step to the predicted one. A scheduler that looks five steps ahead is
// in the step five before the predicted one, and has only complete steps before its own.
const lead = 6

// lags are steps back from the predicted one: the last known step, three hours and a day for steps of ten minutes.
var lags = []int{lead, 18, 144}

// smooth is the window in steps of means, medians and deviations.
const smooth = 6

// Tick holds the submissions in one time step.
type Tick struct {
	Time time.Time // start of the time step
	Jobs float64   // number of submitted jobs
	GPUs float64   // number of GPUs that these jobs request
}

// ThroughputOptions holds the options for forecasting submissions.
type ThroughputOptions struct {
	Step time.Duration // length of a time step; zero means 10 minutes
	// Original computes the first smoothed value as the mean of three ticks, 5, 6 and 7 steps before the forecast, as
	// the published program does. The tick 5 steps before is still incomplete when the forecast is made. If Original is
	// false, the mean is over the ticks 6, 7 and 8 steps before the forecast.
	Original bool
	// interval at which a new model is trained; zero means a single model in ForecastThroughput, and a week in
	// WalkThroughput
	Every time.Duration
	// Model holds the training options of the models. Zero fields have the defaults of Options, with two exceptions: an
	// empty Validation means ValidateLast, and nil Alone excludes the month, the week and the day of the year from
	// pairs, since the training data may not contain their later values, such as December.
	Model Options
}

// EnsureDefaults replaces zero values with defaults.
func (o *ThroughputOptions) EnsureDefaults() {
	o.Step = cmp.Or(o.Step, 10*time.Minute)
	o.Model.Validation = cmp.Or(o.Model.Validation, ValidateLast)
	if o.Model.Alone == nil {
		o.Model.Alone = []string{"month", "week", "day_of_year"}
	}
	o.Model.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (o ThroughputOptions) Validate() error {
	var faults validate.Faults
	faults.When(o.Step < time.Second, "step is %v; must be at least 1s", o.Step)
	faults.When(o.Every < 0 || o.Every > 0 && o.Every < o.Step, "every is %v; must be 0 or at least the step of %v",
		o.Every, o.Step)
	return errors.Join(append(faults, o.Model.Validate())...)
}

// ThroughputTable returns a table with the features of each tick: its date, and the lags, smoothed lags, means, medians
// and standard deviations of the numbers of submitted jobs and of requested GPUs. All features are known six steps
// before the tick. The table has no target.
func ThroughputTable(ticks []Tick, o ThroughputOptions) (*Table, error) {
	o.EnsureDefaults()
	if err := errors.Join(o.Validate(), checkTicks(ticks, o.Step)); err != nil {
		return nil, fmt.Errorf("read submissions: %w", err)
	}
	t := new(Table)
	addDates(t, ticks)
	for _, series := range []struct {
		name string
		of   func(Tick) float64
	}{{"jobs", jobsOf}, {"gpus", gpusOf}} {
		addLags(t, series.name, mapped(ticks, series.of), o.Original)
	}
	return t, t.Err()
}

func jobsOf(t Tick) float64 { return t.Jobs }
func gpusOf(t Tick) float64 { return t.GPUs }

// checkTicks checks that every step has a tick, since lags count ticks.
func checkTicks(ticks []Tick, step time.Duration) error {
	if len(ticks) == 0 {
		return errors.New("the series has no ticks; expected at least one")
	}
	for k, tick := range ticks {
		if !stat.Finite(tick.Jobs) || !stat.Finite(tick.GPUs) {
			return fmt.Errorf("tick %d has %v jobs and %v GPUs; expected finite numbers", k, tick.Jobs, tick.GPUs)
		}
		if k > 0 && tick.Time.Sub(ticks[k-1].Time) != step {
			return fmt.Errorf("tick %d is at %s and the previous tick at %s; expected a step of %v; fill gaps with "+
				"zeros",
				k, tick.Time.Format(timeLayout), ticks[k-1].Time.Format(timeLayout), step)
		}
	}
	return nil
}

// addDates adds the calendar features of each tick.
func addDates(t *Table, ticks []Tick) {
	for _, f := range []struct {
		name string
		of   func(time.Time) int
	}{
		{"month", func(at time.Time) int { return int(at.Month()) }},
		{"day", time.Time.Day},
		{"hour", time.Time.Hour},
		{"minute", time.Time.Minute},
		{"weekday", weekday},
		{"day_of_year", time.Time.YearDay},
		{"week", week},
	} {
		t.AddNumbers(f.name, mapped(ticks, func(tick Tick) float64 { return float64(f.of(tick.Time)) }))
	}
}

// weekday returns the day of the week; Monday is 0.
func weekday(at time.Time) int { return (int(at.Weekday()) + 6) % 7 }

// week returns the week number of ISO 8601.
func week(at time.Time) int {
	_, w := at.ISOWeek()
	return w
}

// addLags adds the known features of a series.
func addLags(t *Table, name string, values []float64, original bool) {
	for _, lag := range lags {
		at := lag
		if lag == lead && !original {
			at = lead + 1 // its neighbours are known
		}
		t.AddNumbers(fmt.Sprintf("%s_lag_%d", name, lag),
			byRow(values, func(k int) float64 { return back(values, k, lag) }))
		t.AddNumbers(fmt.Sprintf("%s_soft_%d", name, at), byRow(values, func(k int) float64 {
			return 0.5*back(values, k, at) + 0.25*(back(values, k, at+1)+back(values, k, at-1))
		}))
	}
	for _, f := range []struct {
		name string
		of   func([]float64) float64
	}{{"mean", stat.Mean}, {"median", stat.Median}, {"deviation", stat.Deviation}} {
		t.AddNumbers(fmt.Sprintf("%s_%s_%d", name, f.name, smooth), byRow(values, func(k int) float64 {
			end := k - lead + 1
			if end < smooth {
				return math.NaN()
			}
			return f.of(values[end-smooth : end])
		}))
	}
}

func byRow(values []float64, of func(k int) float64) []float64 {
	made := make([]float64, len(values))
	for k := range made {
		made[k] = of(k)
	}
	return made
}

// back returns the value a number of rows before; missing if none exists.
func back(values []float64, k, lag int) float64 {
	if k < lag {
		return math.NaN()
	}
	return values[k-lag]
}

// tickColumns are the required columns of a table of ticks; it may have others.
var tickColumns = []string{"time", "submit_gpu_job", "submit_gpu_num"}

// ReadTicks reads a table with the columns time, submit_gpu_job and submit_gpu_num. Times have the form 2020-04-01
// 00:10:00, without a time zone.
func ReadTicks(r io.Reader) ([]Tick, error) {
	reader := csv.NewReader(r)
	head, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("read ticks: header: %w", err)
	}
	at := make([]int, len(tickColumns))
	for k, name := range tickColumns {
		if at[k] = slices.Index(head, name); at[k] < 0 {
			return nil, fmt.Errorf("read ticks: column %s is missing; the header has %q", name, head)
		}
	}
	var ticks []Tick
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return ticks, nil
		}
		if err == nil {
			var tick Tick
			if tick, err = parseTick(pick(row, at)); err == nil {
				ticks = append(ticks, tick)
				continue
			}
		}
		return nil, fmt.Errorf("read ticks: row %d: %w", len(ticks)+1, err)
	}
}

func parseTick(cells []string) (Tick, error) {
	at, err1 := time.Parse(timeLayout, cells[0])
	jobs, err2 := strconv.ParseFloat(cells[1], 64)
	gpus, err3 := strconv.ParseFloat(cells[2], 64)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return Tick{}, err
	}
	if !stat.Finite(jobs) || !stat.Finite(gpus) {
		return Tick{}, fmt.Errorf("%s is %q and %s is %q; expected finite numbers", tickColumns[1], cells[1],
			tickColumns[2], cells[2])
	}
	return Tick{at, jobs, gpus}, nil
}

// WriteForecasts writes the table that scheduler simulators read, with the columns time, submit_gpu_job,
// submit_gpu_num, pred_gpu_job, pred_gpu_num.
func WriteForecasts(w io.Writer, forecasts []Forecast) error {
	table := csv.NewWriter(w)
	rows := [][]string{append(slices.Clone(tickColumns), "pred_gpu_job", "pred_gpu_num")}
	for _, f := range forecasts {
		rows = append(rows, []string{f.Time.Format(timeLayout), plain(f.Jobs), plain(f.GPUs),
			strconv.FormatFloat(f.ExpectedJobs, 'f', 3, 64), strconv.FormatFloat(f.ExpectedGPUs, 'f', 3, 64)})
	}
	if err := table.WriteAll(rows); err != nil {
		return fmt.Errorf("write forecasts: %w", err)
	}
	return nil
}

// plain formats a number with the fewest digits and without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
