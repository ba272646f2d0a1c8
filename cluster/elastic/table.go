package elastic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Table is a [Speed] model of interpolated measurements, independent of placement. It maps the name of a model to its
// speeds. Dividing a speed by EpochSize gives the number of epochs per second. The speeds are indexed by the number of
// servers minus one and the number of workers minus one. A cluster without servers uses the speeds for equal numbers of
// servers and workers.
type Table map[string][][]float64

// maxTableBytes is the maximum size of a table file.
const maxTableBytes = 64 << 20

// defaultMost is the default number of servers, and of workers, up to which measurements are tabulated.
const defaultMost = 50

// ReadTable reads the speeds of all models from a JSON object. The object has a member "table", or a member "measured"
// with a list of [Measurement] per model. Measurements are interpolated for up to 50 servers and 50 workers; the member
// "most" changes this maximum. Other members of the object are ignored.
func ReadTable(r io.Reader) (Table, error) {
	var file struct {
		Table    Table                    `json:"table"`
		Measured map[string][]Measurement `json:"measured"`
		Most     int                      `json:"most"`
	}
	if err := decode(r, maxTableBytes, &file); err != nil {
		return nil, fmt.Errorf("read a speed table: %w", err)
	}
	if file.Most < 0 || file.Most > maxEstimated {
		return nil, fmt.Errorf("read a speed table: member \"most\" is %d; expected 1 to %d", file.Most, maxEstimated)
	}
	if len(file.Table) == 0 && len(file.Measured) > 0 {
		var err error
		if file.Table, err = FitTable(file.Measured, cmp.Or(file.Most, defaultMost), false); err != nil {
			return nil, fmt.Errorf("read a speed table: %w", err)
		}
	}
	if len(file.Table) == 0 {
		return nil, fmt.Errorf("read a speed table: the file has no models; " +
			"expected a member \"table\" with speeds by model, or \"measured\" with measurements by model")
	}
	return file.Table, file.Table.validate()
}

// maxEstimated is the maximum number of servers and of workers in tabulated measurements.
const maxEstimated = 1 << 10

// decode reads a JSON value of limited size.
func decode(r io.Reader, most int64, into any) error {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return err
	}
	if int64(len(data)) > most {
		return fmt.Errorf("the file is larger than the limit of %d bytes; split it", most)
	}
	return json.Unmarshal(data, into)
}

func (t Table) validate() error {
	for name, rows := range t {
		for p, row := range rows {
			if len(row) != len(rows[0]) {
				return fmt.Errorf("speed table of %s: row %d has %d speeds; expected %d, as in the first row", name,
					p+1, len(row), len(rows[0]))
			}
			for w, speed := range row {
				if math.IsNaN(speed) || math.IsInf(speed, 0) {
					return fmt.Errorf("speed table of %s: the speed of %d servers and %d workers is %g; expected a "+
						"finite number", name, p+1, w+1, speed)
				}
			}
		}
	}
	return nil
}

// Epochs implements [Speed].
func (t Table) Epochs(d Deployment, seconds float64) float64 {
	return t.epochs(d.Model, len(d.Workers), len(d.Servers), seconds)
}

func (t Table) epochs(model *JobType, workers, servers int, seconds float64) float64 {
	if servers == 0 {
		servers = workers
	}
	return t[model.Name][servers-1][workers-1] * seconds / model.EpochSize
}

// Limit implements [Speed].
func (t Table) Limit(model *JobType, workers, servers int, seconds float64) float64 {
	return max(0, t.epochs(model, workers, servers, seconds))
}

// Check implements [Speed].
func (t Table) Check(model *JobType, most int) error {
	rows := t[model.Name]
	if rows == nil {
		return fmt.Errorf("the speed table has no speeds for model %s; add them", model.Name)
	}
	if len(rows) < most || len(rows[0]) < most {
		return fmt.Errorf("the speed table of %s does not cover %d servers and workers; extend it, or lower the "+
			"maximum number of workers and servers (elastic.max_workers, or MAX_NUM_WORKERS in a trace)", model.Name,
			most)
	}
	return nil
}
