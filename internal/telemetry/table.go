package telemetry

import (
	"fmt"
	"strings"

	"graft/results"
)

// TableName is the default name of the table of readings in a run folder; the file is telemetry.csv.
const TableName = "telemetry"

// columns are the columns of a table of readings. Processes are a text: entries PID:MiB:percent separated by spaces,
// with unknown numbers empty.
var columns = []results.Column{
	{Name: "time", Unit: "s"}, {Name: "device", Kind: results.Int}, {Name: "uuid", Kind: results.String},
	{Name: "utilization", Unit: "%"}, {Name: "memory_utilization", Unit: "%"}, {Name: "memory_used", Unit: "MiB"},
	{Name: "memory_free", Unit: "MiB"}, {Name: "power", Unit: "W"}, {Name: "energy", Unit: "J"},
	{Name: "temperature", Unit: "C"}, {Name: "sm_clock", Unit: "MHz"}, {Name: "memory_clock", Unit: "MHz"},
	{Name: "throttle", Kind: results.String}, {Name: "processes", Kind: results.String},
}

// Table is a Sink that appends readings to a table in a run folder. Times are in seconds since 1970. Only OpenTable
// creates it; the zero value cannot be used.
type Table struct{ stream *results.Stream }

var _ Sink = (*Table)(nil)

// OpenTable opens the table NAME.csv of a run, and creates it if it does not exist. The run closes the table.
func OpenTable(run *results.Run, name string) (*Table, error) {
	stream, err := run.Stream(name, columns)
	if err != nil {
		return nil, fmt.Errorf("open the table of device readings: %w", err)
	}
	return &Table{stream}, nil
}

// Add appends a reading and writes it immediately.
func (t *Table) Add(d Device, r Reading) error {
	values := []any{r.At, r.Device, d.UUID}
	for _, n := range r.numbers() {
		values = append(values, n.Cell())
	}
	var throttle, processes any
	if reasons, known := r.Throttle.Get(); known {
		throttle = reasons.String()
	}
	if list, known := r.Processes.Get(); known {
		processes = processText(list)
	}
	return t.stream.Append(append(values, throttle, processes)...)
}

func processText(list []Process) string {
	texts := make([]string, len(list))
	for k, p := range list {
		texts[k] = fmt.Sprintf("%d:%s:%s", p.PID, numberText(p.MemoryMiB), numberText(p.UtilizationPercent))
	}
	return strings.Join(texts, " ")
}

func numberText(o Optional[float64]) string {
	if v, known := o.Get(); known {
		return fmt.Sprint(v)
	}
	return ""
}
