package original

import (
	"fmt"
	"io"

	"graft/simulation/tables"
	"graft/torch/pickle"
)

// ReadTable reads data.pkl, a table of the original system. The file contains a dictionary. Each key is a sequence of
// action numbers, and each value holds the times left, the budget and an accuracy. The scenario defines which action
// each number stands for. If the scenario sets a budget or a number of decisions, the value must match the file; unset
// values are taken from the file. The records have the given seed, since all sequences were trained with the same seed.
func ReadTable(r io.Reader, s tables.Scenario, seed int64) (*tables.Table, error) {
	value, err := pickle.Read(r, pickle.Options{})
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", s.Name, err)
	}
	entries, err := pickle.As[*pickle.Dict](value)
	if err != nil {
		return nil, fmt.Errorf("read table %s: %w", s.Name, err)
	}
	if entries.Replaced > 0 {
		return nil, fmt.Errorf("read table %s: %d sequences are duplicates; copy the file again, "+
			"or simulate the sequences again", s.Name, entries.Replaced)
	}
	var records []tables.Record
	for key, value := range entries.All() {
		r, budget, err := legacyRecord(key, value, s.Actions)
		if err != nil {
			return nil, fmt.Errorf("read table %s: sequence %v: %w", s.Name, key, err)
		}
		r.Seeds = []int64{seed}
		if s.Budget == 0 {
			s.Budget = budget
		}
		if s.Decisions == 0 {
			s.Decisions = len(r.Sequence)
		}
		if budget != s.Budget {
			return nil, fmt.Errorf("read table %s: sequence %v: budget is %v s, expected %v s", s.Name, key,
				budget, s.Budget)
		}
		records = append(records, r)
	}
	return tables.New(s, records)
}

func legacyRecord(key, value any, actions []string) (r tables.Record, budget float64, err error) {
	numbers, err := pickle.As[pickle.Tuple](key)
	if err != nil {
		return r, 0, err
	}
	for _, item := range numbers {
		n, err := pickle.As[int64](item)
		if err != nil {
			return r, 0, err
		}
		if n < 0 || n >= int64(len(actions)) {
			return r, 0, fmt.Errorf("action is %d; must be below %d", n, len(actions))
		}
		r.Sequence = append(r.Sequence, actions[n])
	}
	fields, err := pickle.As[*pickle.Dict](value)
	if err != nil {
		return r, 0, err
	}
	times, err := pickle.Field[*pickle.List](fields, "timeleft")
	if err != nil {
		return r, 0, err
	}
	for _, item := range times.Items {
		left, err := number(item)
		if err != nil {
			return r, 0, err
		}
		r.Left = append(r.Left, left)
	}
	accuracy, err := numberField(fields, "acc")
	if err != nil {
		return r, 0, err
	}
	r.Accuracy = []float64{accuracy}
	budget, err = numberField(fields, "totaltime")
	return r, budget, err
}

func numberField(d *pickle.Dict, key string) (float64, error) {
	value, err := pickle.Field[any](d, key)
	if err != nil {
		return 0, err
	}
	f, err := number(value)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return f, nil
}

// number is a Python int or float.
func number(value any) (float64, error) {
	if n, ok := value.(int64); ok {
		return float64(n), nil
	}
	return pickle.As[float64](value)
}
