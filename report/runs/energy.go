package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/results"
)

// EnergyFile is the name of the table with measured energy in a job's run folder. The table does not exist if nothing
// was measured.
const EnergyFile = energyTable + ".csv"

const energyTable = "energy"

// EnergySegment is the measured energy of a part of a job. Each row of the epochs table and each checkpoint ends a
// part.
type EnergySegment struct {
	// number of the epoch, from 0; a segment after the last completed epoch has the next epoch's number
	Epoch   int
	Seconds float64  // duration on the machine's clock in seconds
	Joules  *float64 // total energy of all measured devices in joules; nil means unknown
	// method, or the reason why the energy is unknown, as in telemetry.Energy.MethodText; several reasons are
	// separated by commas
	Method     string
	PeakMemory *float64 // maximum memory in use on a device in MiB; nil means unknown
}

var energyColumns = []results.Column{{Name: "epoch", Kind: results.Int}, {Name: "duration", Unit: "s"},
	{Name: "energy", Unit: "J"},
	{Name: "method", Kind: results.String}, {Name: "peak_memory", Unit: "MiB"}}

// EnergyTable is the table energy.csv of a run, with one row per segment. Create it with OpenEnergy; the zero value is
// not usable.
type EnergyTable struct{ stream *results.Stream }

// OpenEnergy opens the table of a run, and creates it if it is missing. The run closes the table.
func OpenEnergy(run *results.Run) (*EnergyTable, error) {
	stream, err := run.Stream(energyTable, energyColumns)
	if err != nil {
		return nil, err
	}
	return &EnergyTable{stream}, nil
}

// Append writes a segment as the last row of the table.
func (t *EnergyTable) Append(s EnergySegment) error {
	optional := func(v *float64) any {
		if v == nil {
			return nil
		}
		return *v
	}
	return t.stream.Append(s.Epoch, s.Seconds, optional(s.Joules), s.Method, optional(s.PeakMemory))
}

// Rows returns the number of segments.
func (t *EnergyTable) Rows() int { return t.stream.Rows() }

// Clear drops all rows, for a job that starts from the beginning.
func (t *EnergyTable) Clear() error { return t.stream.Truncate(0) }

// ReadEnergy reads the segments in a run folder. It returns no rows if the table is missing.
func ReadEnergy(fsys files.FS, folder string) ([]EnergySegment, error) {
	table, err := results.ReadStream(fsys, filepath.Join(folder, EnergyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	numbers, err := table.Numbers("epoch", "duration", "energy", "peak_memory")
	if err != nil {
		return nil, fmt.Errorf("read energies: %w", err)
	}
	methods, err := table.Strings("method")
	if err != nil {
		return nil, fmt.Errorf("read energies: %w", err)
	}
	list := make([]EnergySegment, table.Rows)
	for k := range list {
		list[k] = EnergySegment{Epoch: int(numbers["epoch"][k]), Seconds: numbers["duration"][k], Method: methods[k],
			Joules: finiteOrNil(numbers["energy"][k]), PeakMemory: finiteOrNil(numbers["peak_memory"][k])}
	}
	return list, nil
}

func finiteOrNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// MeasuredEnergy summarizes the measured energy of a job.
type MeasuredEnergy struct {
	// energy in joules from the start to the end of training, excluding work that was lost when a process was killed;
	// null means unknown
	Joules *float64 `json:"joules"`
	// measurement methods, separated by commas: counter, integrated, not attributable or unknown; the last two include
	// a reason
	Method  string  `json:"method"`
	Seconds float64 `json:"seconds"` // measured time on the machine's clock in seconds
	// maximum memory in use on a device, by all processes, in MiB; null means unknown
	PeakMemory *float64 `json:"peak_device_memory_mib"`
	// names of the measured GPUs, or of the processors' energy domains; empty means none
	Devices []string `json:"devices"`
}

// SumEnergy adds up segments. The sum is unknown if a segment is unknown, or if there are no segments.
func SumEnergy(list []EnergySegment) MeasuredEnergy {
	m, sum, known := MeasuredEnergy{Devices: []string{}}, 0.0, len(list) > 0
	var methods []string
	for _, s := range list {
		m.Seconds += s.Seconds
		if known = known && s.Joules != nil; known {
			sum += *s.Joules
		}
		if !slices.Contains(methods, s.Method) {
			methods = append(methods, s.Method)
		}
		if p := s.PeakMemory; p != nil && (m.PeakMemory == nil || *p > *m.PeakMemory) {
			m.PeakMemory = p
		}
	}
	if known {
		m.Joules = &sum
	}
	if m.Method = strings.Join(methods, ", "); len(list) == 0 {
		m.Method = string(telemetry.MethodUnknown)
	}
	return m
}

// EnergyOfEpochs adds up the segments of each epoch.
func EnergyOfEpochs(list []EnergySegment) map[int]MeasuredEnergy {
	parts := map[int][]EnergySegment{}
	for _, s := range list {
		parts[s.Epoch] = append(parts[s.Epoch], s)
	}
	sums := map[int]MeasuredEnergy{}
	for epoch, part := range parts {
		sums[epoch] = SumEnergy(part)
	}
	return sums
}
