package estimate

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"graft/cluster/trace"
)

const (
	// UnknownSeconds is the duration estimate while no job has ended.
	UnknownSeconds = 3600
	// scoreBlocks is the number of runs of jobs for score intervals. A user's jobs are adjacent, and their errors are
	// similar.
	scoreBlocks = 100
)

// DurationEstimate is the estimated duration of a job at its submission.
type DurationEstimate struct {
	ID      string  // ID of the job
	Seconds float64 // estimated duration, at least the shortest duration in the training data
	Learned bool    // a model made the estimate; false means the mean of ended jobs
	Blind   bool    // neither a model nor an ended job exists, and the estimate is UnknownSeconds
}

// DurationWindow is a period in which the same model estimates the durations of all jobs.
type DurationWindow struct {
	Window        // period; its rows are positions of jobs in order of submission
	Scores Scores // accuracy of the estimates in the window; zero without a model
}

// Durations holds the estimated durations of a trace's jobs. Each estimate uses only jobs that ended before it was
// made.
type Durations struct {
	Estimates []DurationEstimate // estimates in order of submission
	Windows   []DurationWindow   // windows in order of time
	Scores    Scores             // accuracy for all jobs that a model estimated
	Usual     Scores             // accuracy for the same jobs if the mean of similar jobs is the estimate
	Model     *Model             // last model
}

// EstimateDurations estimates the durations of a trace's jobs in chronological order. At the start of each window it
// fits a model to the jobs that have ended, and estimates the durations of the jobs in the window. Before the first
// model, and in windows with too few jobs to learn from, the estimate is the mean duration of similar jobs.
func EstimateDurations(ctx context.Context, jobs []trace.Job, o DurationOptions) (*Durations, error) {
	o.EnsureDefaults()
	jobs = inOrderOfTime(jobs)
	table, err := DurationTable(jobs, o)
	if err != nil {
		return nil, err
	}
	w := walker{o: o, table: table, d: &Durations{Estimates: byHistory(jobs)}}
	times, known := make([]int64, len(jobs)), make([]int64, len(jobs))
	for row := range jobs {
		times[row], known[row] = jobs[row].Submit, endOf(&jobs[row])
	}
	first := o.First
	first = cmp.Or(first, times[0]+o.Every)
	windows, err := WalkForward(times, known, first, o.Every)
	if err != nil {
		return nil, fmt.Errorf("estimate durations: %w", err)
	}
	for _, window := range windows {
		if err := w.step(ctx, window); err != nil {
			return nil, fmt.Errorf("estimate durations from second %d: %w", window.From, err)
		}
	}
	if len(w.truth) > 0 {
		if w.d.Scores, err = w.score(w.truth, w.predicted); err == nil {
			w.d.Usual, err = w.score(w.truth, w.usual)
		}
	}
	return w.d, err
}

func inOrderOfTime(jobs []trace.Job) []trace.Job {
	sorted := slices.Clone(jobs)
	slices.SortStableFunc(sorted, func(a, b trace.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return sorted
}

// byHistory estimates each job by the mean of similar jobs that had ended.
func byHistory(jobs []trace.Job) []DurationEstimate {
	estimates := make([]DurationEstimate, len(jobs))
	replay(jobs, func(row int, h *history) {
		seconds := h.mean(&jobs[row])
		blind := math.IsNaN(seconds)
		if blind {
			seconds = UnknownSeconds
		}
		estimates[row] = DurationEstimate{ID: jobs[row].ID, Seconds: seconds, Blind: blind}
	})
	return estimates
}

type walker struct {
	o                DurationOptions
	table            *Table
	d                *Durations
	truth, predicted []float64 // of all windows with a model
	usual            []float64 // estimates from similar jobs
}

// step learns a model and estimates the jobs of its window.
func (w *walker) step(ctx context.Context, window Window) error {
	result := DurationWindow{Window: window}
	learned := w.table.Pick(window.Train)
	if len(window.Test) > 0 && enough(learned, w.o.Model) {
		m, err := Fit(ctx, learned.Without(learned.Idle()...), w.o.Model)
		if err != nil {
			return err
		}
		asked := w.table.Pick(window.Test)
		predicted, err := m.PredictTable(asked)
		if err != nil {
			return err
		}
		least := slices.Min(learned.Target())
		for k, row := range window.Test {
			predicted[k] = max(predicted[k], least)
			w.usual = append(w.usual, w.d.Estimates[row].Seconds)
			w.d.Estimates[row] = DurationEstimate{ID: w.d.Estimates[row].ID, Seconds: predicted[k], Learned: true}
		}
		if result.Scores, err = w.score(asked.Target(), predicted); err != nil {
			return err
		}
		w.d.Model = m
		w.truth, w.predicted = append(w.truth, asked.Target()...), append(w.predicted, predicted...)
	}
	w.d.Windows = append(w.d.Windows, result)
	if w.o.Tell != nil {
		w.o.Tell(result)
	}
	return nil
}

// enough reports whether a model can be learned: the rows suffice for two leaves, and their targets differ.
func enough(t *Table, o Options) bool {
	target := t.Target()
	return len(target) >= max(2*o.LeastRows, 2) && slices.Min(target) < slices.Max(target) &&
		len(t.Idle()) < len(t.Names())
}

func (w *walker) score(truth, predicted []float64) (Scores, error) {
	return Score(truth, predicted, ScoreOptions{Block: max(len(truth)/scoreBlocks, 1), Seed: w.o.Model.Seed})
}

// WriteEstimates writes the table that scheduler simulators read. The columns are job_id and priority, which is the
// estimate in whole seconds.
func WriteEstimates(w io.Writer, estimates []DurationEstimate) error {
	rows := [][]string{{"job_id", "priority"}}
	for _, e := range estimates {
		rows = append(rows, []string{e.ID, strconv.FormatFloat(math.Round(e.Seconds), 'f', 0, 64)})
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("write estimates: %w", err)
	}
	return nil
}
