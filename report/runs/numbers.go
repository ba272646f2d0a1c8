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

// Numbers reads numeric columns of a table file in a subfolder of a run folder.
func Numbers(r *Run, folder, file string, columns ...string) (found map[string][]float64, err error) {
	return numbersOf(r, folder, file, columns, false)
}

// KnownNumbers reads numeric columns as [Numbers] does, and omits empty cells.
func KnownNumbers(r *Run, folder, file string, columns ...string) (found map[string][]float64, err error) {
	return numbersOf(r, folder, file, columns, true)
}

func numbersOf(r *Run, folder, file string, columns []string, known bool) (found map[string][]float64, err error) {
	path := filepath.Join(r.Path, folder, file)
	err = results.ReadTable(r.Files, path, func(in io.Reader) error {
		found, err = numbersByColumn(csv.NewReader(in), columns, known)
		return err
	})
	if err != nil {
		return nil, failure.AsDamage(fmt.Errorf("read %s: %w", path, err))
	}
	return found, nil
}

func numbersByColumn(rows *csv.Reader, columns []string, known bool) (map[string][]float64, error) {
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for _, name := range columns {
		if !slices.Contains(head, name) {
			return nil, fmt.Errorf("column %q not found in %.200q", name, head)
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
			if known && cells[k] == "" {
				continue
			}
			v, err := strconv.ParseFloat(cells[k], 64)
			if err != nil {
				line, _ := rows.FieldPos(k)
				return nil, fmt.Errorf("line %d: column %s: %.100q is not a number", line, name, cells[k])
			}
			found[name] = append(found[name], v)
		}
	}
}
