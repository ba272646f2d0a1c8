package node

import (
	"errors"
	"fmt"
	"strings"

	"graft/internal/validate"
)

// Study holds tasks and their machine.
type Study struct {
	Tasks   []Spec
	Speed   Speed // speed model; nil means Shares{}
	Options Options
}

// EnsureDefaults replaces zero values with defaults. It copies the task list, so the caller's tasks do not change.
func (s *Study) EnsureDefaults() {
	s.Options.EnsureDefaults()
	s.Tasks = append([]Spec(nil), s.Tasks...)
	for k := range s.Tasks {
		s.Tasks[k].EnsureDefaults(k)
	}
	if s.Speed == nil {
		s.Speed = Shares{}
	}
}

// mostFaults is the number of faulty tasks after which listing stops.
const mostFaults = 20

// Validate returns an error if the study is invalid. The error lists the invalid tasks, up to a maximum number. Call
// Validate after EnsureDefaults.
func (s *Study) Validate() error {
	if err := s.Options.Validate(); err != nil {
		return err
	}
	if len(s.Tasks) == 0 || len(s.Tasks) > maxTasks {
		return fmt.Errorf("the workload has %d tasks; expected 1 to %d", len(s.Tasks), maxTasks)
	}
	var faults validate.Faults
	names := make(map[string]bool, len(s.Tasks))
	for k := range s.Tasks {
		if err := s.fault(&s.Tasks[k], names); err != nil {
			if faults = append(faults, err); len(faults) == mostFaults {
				return errors.Join(append(faults, errors.New("too many invalid tasks; the remaining tasks were not "+
					"checked"))...)
			}
		}
	}
	if len(faults) == 0 {
		faults = append(faults, cycleFault(s.Tasks))
	}
	return errors.Join(faults...)
}

func (s *Study) fault(t *Spec, names map[string]bool) error {
	if names[t.Name] {
		return fmt.Errorf("task %s: duplicate name; rename it", t.Name)
	}
	names[t.Name] = true
	if err := t.Validate(); err != nil {
		return err
	}
	for _, before := range t.After {
		if before < 0 || before >= len(s.Tasks) {
			return fmt.Errorf("task %s depends on unknown task %d; expected 0 to %d", t.Name, before, len(s.Tasks)-1)
		}
	}
	largest := 0.0
	for _, d := range s.Options.Devices {
		largest = max(largest, d.Memory)
	}
	if t.Memory > largest {
		return fmt.Errorf("task %s needs %g MiB of GPU memory and can never run: the largest GPU has %g MiB; lower "+
			"the memory of the task, or use larger GPUs", t.Name, t.Memory, largest)
	}
	return nil
}

func cycleFault(specs []Spec) error {
	places := cycle(specs)
	if places == nil {
		return nil
	}
	var names []string
	for _, k := range append(places, places[0]) {
		names = append(names, specs[k].Name)
	}
	return fmt.Errorf("dependency cycle: %s; remove one of these dependencies from the key \"after\"",
		strings.Join(names, " after "))
}
