package cluster

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"graft/cluster/trace"
	"graft/files"
)

// rows reads a table with a header and calls each for every row. Errors name file, line and
// column.
func rows(fsys files.FS, path string, each func(r *row) error) error {
	f, err := fsys.Open(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	c := csv.NewReader(f)
	c.ReuseRecord = true
	header, err := c.Read()
	if err != nil {
		return fmt.Errorf("read %s: expected a header with the names of the columns: %w", path, err)
	}
	r := &row{path: path, at: map[string]int{}}
	for k, name := range header {
		r.at[name] = k
	}
	for {
		r.cells, err = c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		r.line, _ = c.FieldPos(0)
		if err := each(r); err != nil {
			return err
		}
		if r.fault != nil {
			return r.fault
		}
	}
}

// row is a row of a table. It keeps its first fault.
type row struct {
	path  string
	line  int
	at    map[string]int
	cells []string
	fault error
}

func (r *row) text(column string) string {
	k, ok := r.at[column]
	if !ok {
		if r.fault == nil {
			r.fault = fmt.Errorf("read %s: column %q is missing; add it to the header", r.path, column)
		}
		return ""
	}
	return r.cells[k]
}

func (r *row) number(column string) float64 {
	text := r.text(column)
	x, err := strconv.ParseFloat(text, 64)
	if r.fault == nil && (err != nil || math.IsNaN(x) || math.IsInf(x, 0)) {
		r.fault = fmt.Errorf("read %s:%d: column %q is %q; expected a number", r.path, r.line, column, text)
	}
	return x
}

func (r *row) whole(column string) int {
	text := r.text(column)
	x, err := strconv.Atoi(text)
	if err != nil && r.fault == nil {
		r.fault = fmt.Errorf("read %s:%d: column %q is %q; expected a whole number", r.path, r.line, column, text)
	}
	return x
}

func (r *row) config(suffix string) Config {
	return Config{r.text("model" + suffix), r.text("dataset" + suffix), r.whole("batchsize" + suffix), r.whole("amp"+suffix) == 1}
}

// ReadProfiles reads measurements of models alone (columns model, dataset, batchsize,
// amp, label) and in pairs, as ReadPairs does.
func ReadProfiles(fsys files.FS, alone, pairs string) (*Profiles, error) {
	p := &Profiles{Scores: map[Config]int{}}
	err := rows(fsys, alone, func(r *row) error {
		p.Scores[r.config("")] = r.whole("label")
		return nil
	})
	var other error
	p.Pairs, other = ReadPairs(fsys, pairs)
	return p, errors.Join(err, other)
}

// ReadPairs reads measurements of models in pairs: the columns model, dataset, batchsize and amp with a 1
// and a 2 behind, and speed1, speed2.
func ReadPairs(fsys files.FS, path string) (map[[2]Config][2]float64, error) {
	found := map[[2]Config][2]float64{}
	return found, rows(fsys, path, func(r *row) error {
		a, b := r.number("speed1"), r.number("speed2")
		if r.fault == nil && (a <= 0 || b <= 0) {
			return fmt.Errorf("read %s:%d: rates of %v and %v; expected positive rates", r.path, r.line, a, b)
		}
		found[[2]Config{r.config("1"), r.config("2")}] = [2]float64{a, b}
		return nil
	})
}

// forecastDates is the layout of dates in a forecast; they have no time zone.
const forecastDates = "2006-01-02 15:04:05"

// ReadForecast reads expected submissions from the columns time, pred_gpu_job and pred_gpu_num. The
// first row is at second begin.
func ReadForecast(fsys files.FS, path string, begin int64) (*Forecast, error) {
	f := &Forecast{}
	return f, rows(fsys, path, func(r *row) error {
		at, err := time.Parse(forecastDates, r.text("time"))
		if err != nil && r.fault == nil {
			return fmt.Errorf("read %s:%d: column \"time\" is %q; expected a date like %s", path, r.line, r.text("time"), forecastDates)
		}
		if len(f.At) == 0 {
			f.First = at
		}
		second := begin + int64(at.Sub(f.First)/time.Second)
		if k := len(f.At); k > 0 && second <= f.At[k-1] {
			return fmt.Errorf("read %s:%d: the time is not later than in the line before; put lines in order", path, r.line)
		}
		f.At = append(f.At, second)
		f.Jobs, f.GPUs = append(f.Jobs, r.number("pred_gpu_job")), append(f.GPUs, r.number("pred_gpu_num"))
		return nil
	})
}

// anEstimate replaces estimates below zero, which a model may give.
const anEstimate = 1000 // seconds

// ReadEstimates reads expected durations (columns job_id and priority, in seconds) in the order of
// the jobs. Each job must have one.
func ReadEstimates(fsys files.FS, path string, jobs []trace.Job) ([]float64, error) {
	known := make(map[string]float64, len(jobs))
	err := rows(fsys, path, func(r *row) error {
		x := r.number("priority")
		if x < 0 {
			x = anEstimate
		}
		known[r.text("job_id")] = x
		return nil
	})
	if err != nil {
		return nil, err
	}
	list, missing := make([]float64, len(jobs)), 0
	example := ""
	for k := range jobs {
		x, ok := known[jobs[k].ID]
		if !ok {
			if missing++; missing == 1 {
				example = jobs[k].ID
			}
		}
		list[k] = x
	}
	if missing > 0 {
		return nil, fmt.Errorf("read %s: %d of %d jobs have no estimate, job %s for one; estimate all, or name another file", path, missing, len(jobs), example)
	}
	return list, nil
}
