package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"graft/cluster/trace"
	"graft/internal/files"
)

func (r *Row) config(suffix string) Config {
	return Config{r.Text("model" + suffix), r.Text("dataset" + suffix), r.Whole("batchsize" + suffix),
		r.Whole("amp"+suffix) == 1}
}

// ReadProfiles reads two files, given by their paths. The first file holds measurements of single models (columns
// model, dataset, batchsize, amp, label). The second file holds measurements of pairs of models, in the format of
// ReadPairs.
func ReadProfiles(fsys files.FS, alone, pairs string) (*Profiles, error) {
	p := &Profiles{Scores: map[Config]int{}}
	err := ReadRows(fsys, alone, func(r *Row) error {
		p.Scores[r.config("")] = r.Whole("label")
		return nil
	})
	var other error
	p.Pairs, other = ReadPairs(fsys, pairs)
	return p, errors.Join(err, other)
}

// mostRate is the largest speed of a job that shares a device, relative to the same job alone. Measured speeds exceed 1
// only by noise.
const mostRate = 10

// ReadPairs reads measurements of pairs of models. The columns are model, dataset, batchsize, amp and speed, each with
// the suffix 1 for the first model and 2 for the second. It returns an error if a pair has two different measurements,
// in either order of the models.
func ReadPairs(fsys files.FS, path string) (map[[2]Config][2]float64, error) {
	found, lines := map[[2]Config][2]float64{}, map[[2]Config]int{}
	return found, ReadRows(fsys, path, func(r *Row) error {
		a, b := r.Number("speed1"), r.Number("speed2")
		pair, rates := [2]Config{r.config("1"), r.config("2")}, [2]float64{a, b}
		if r.fault != nil {
			return nil
		}
		if !(a > 0 && a <= mostRate && b > 0 && b <= mostRate) {
			return fmt.Errorf("read %s:%d: the rates of the two jobs are %v and %v; expected numbers above 0 and at "+
				"most %d", r.path, r.line, a, b, mostRate)
		}
		if other := [2]Config{pair[1], pair[0]}; lines[pair] == 0 && lines[other] > 0 {
			pair, rates = other, [2]float64{b, a}
		}
		if first := lines[pair]; first > 0 && found[pair] != rates {
			return fmt.Errorf("read %s:%d: the rates of %s and %s differ from line %d; remove one of the two lines",
				r.path, r.line, pair[0], pair[1], first)
		}
		found[pair], lines[pair] = rates, cmp.Or(lines[pair], r.line)
		return nil
	})
}

// forecastDates is the layout of dates in a forecast, without time zone.
const forecastDates = "2006-01-02 15:04:05"

// ReadForecast reads expected submissions from the columns time, pred_gpu_job and pred_gpu_num. The argument begin is
// the time of the first row, in seconds.
func ReadForecast(fsys files.FS, path string, begin int64) (*Forecast, error) {
	f := &Forecast{}
	return f, ReadRows(fsys, path, func(r *Row) error {
		at, err := time.Parse(forecastDates, r.Text("time"))
		if err != nil && r.fault == nil {
			return fmt.Errorf("read %s:%d: column \"time\" is %q; expected a date like %s", path, r.line,
				r.Text("time"), forecastDates)
		}
		if len(f.At) == 0 {
			f.First = at
		}
		second := begin + int64(at.Sub(f.First)/time.Second)
		if k := len(f.At); k > 0 && second <= f.At[k-1] {
			return fmt.Errorf("read %s:%d: the time is not later than in the previous line; sort the lines by time",
				path, r.line)
		}
		f.At = append(f.At, second)
		f.Jobs, f.GPUs = append(f.Jobs, r.Number("pred_gpu_job")), append(f.GPUs, r.Number("pred_gpu_num"))
		return nil
	})
}

// anEstimate replaces negative estimates, which a model may give.
const anEstimate = 1000 // seconds

// ReadEstimates reads expected durations in seconds, in the order of the jobs, from the columns job_id and priority.
// It returns an error if a job has no estimate, or two different ones.
func ReadEstimates(fsys files.FS, path string, jobs []trace.Job) ([]float64, error) {
	known := make(map[string]float64, len(jobs))
	err := ReadRows(fsys, path, func(r *Row) error {
		x := r.Number("priority")
		if x < 0 {
			x = anEstimate
		}
		id := r.Text("job_id")
		if before, twice := known[id]; twice && before != x && r.fault == nil {
			return fmt.Errorf("read %s:%d: job %s has the estimates %g and %g; remove one of its lines", path, r.line,
				id, before, x)
		}
		known[id] = x
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
		return nil, fmt.Errorf("read %s: %d of %d jobs have no estimate, for example job %s; add estimates, "+
			"or name another file", path, missing, len(jobs), example)
	}
	return list, nil
}
