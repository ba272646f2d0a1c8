package runs

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"graft/internal/failure"
	"graft/results"
)

// ElasticNumbers reads columns of numbers of a scheduler's table in a run of elastic jobs.
func ElasticNumbers(r *Run, scheduler, file string, columns ...string) (found map[string][]float64, err error) {
	path := filepath.Join(r.Path, scheduler, file)
	err = results.ReadTable(r.Files, path, func(in io.Reader) error {
		found, err = numbersByColumn(csv.NewReader(in), columns)
		return err
	})
	if err != nil {
		return nil, failure.AsDamage(fmt.Errorf("read %s: %w", path, err))
	}
	return found, nil
}

func numbersByColumn(rows *csv.Reader, columns []string) (map[string][]float64, error) {
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("the line that names the columns: %w", err)
	}
	for _, name := range columns {
		if !slices.Contains(head, name) {
			return nil, fmt.Errorf("there is no column %q among %.200q", name, head)
		}
	}
	found := map[string][]float64{}
	for {
		cells, err := rows.Read()
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		for _, name := range columns {
			k := slices.Index(head, name)
			v, err := strconv.ParseFloat(cells[k], 64)
			if err != nil {
				line, _ := rows.FieldPos(k)
				return nil, fmt.Errorf("line %d: column %s: %.100q is no number", line, name, cells[k])
			}
			found[name] = append(found[name], v)
		}
	}
}
