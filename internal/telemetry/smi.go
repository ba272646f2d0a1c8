package telemetry

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits on a file written by nvidia-smi.
const (
	longestSMILine = 1 << 16 // bytes
	mostSMIRows    = 1 << 20 // twelve days of one GPU at a row a second
)

// smiTime is the format of timestamps, in the machine's local time.
const smiTime = "2006/01/02 15:04:05.000"

// SMILog holds the readings from a file that nvidia-smi wrote.
type SMILog struct {
	Devices  []Device  // GPUs in the file, sorted by index
	Readings []Reading // readings in the file's order; their field At is in seconds since 1970
	// whether ReadSMI left out the last row because it is incomplete, which happens when nvidia-smi is interrupted
	Cut bool
}

// Of returns the readings of a device.
func (l *SMILog) Of(device int) []Reading {
	return slices.DeleteFunc(slices.Clone(l.Readings), func(r Reading) bool { return r.Device != device })
}

// ReadSMI reads the output of nvidia-smi --query-gpu=… --format=csv, with or without units. Columns are found by name,
// in any order; timestamp and index are required, and unknown columns are skipped. A nil location means that timestamps
// are in UTC. A damaged row causes an error that names its line; only a damaged last row is ignored. Impossible values,
// and rows of a device that are not in order of time, also cause an error in the last row.
func ReadSMI(r io.Reader, location *time.Location) (*SMILog, error) {
	if location == nil {
		location = time.UTC
	}
	s := &smiReader{location: location, log: &SMILog{}, devices: map[int]*Device{},
		latest: map[int]float64{}}
	lines := bufio.NewReaderSize(r, longestSMILine)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) { // of the file, or a line longer than the buffer
			return nil, fmt.Errorf("read nvidia-smi: line %d: %w", s.lines+1, err)
		}
		if len(line) > 0 {
			if bad := s.line(string(line)); bad != nil {
				return nil, fmt.Errorf("read nvidia-smi: %w", bad)
			}
		}
		if errors.Is(err, io.EOF) {
			return s.end()
		}
	}
}

// smiReader reads one line after another.
type smiReader struct {
	location *time.Location
	log      *SMILog
	devices  map[int]*Device
	places   []func(row *smiRow, text string) error // parsers of the columns; nil skips one
	lines    int
	fault    error           // fault of the previous line, unless it is the last
	latest   map[int]float64 // time of the last row by device
}

// impossible is the error for a value that nvidia-smi cannot have written.
type impossible string

func (e impossible) Error() string { return string(e) }

// smiRow is the current row.
type smiRow struct {
	Reading
	Device Device
	in     *time.Location
}

// line reads a line with its line break. It returns a fault with the next line, if there is one.
func (s *smiReader) line(text string) error {
	if s.fault != nil {
		return s.fault
	}
	s.lines++
	whole, ended := strings.CutSuffix(text, "\n")
	whole = strings.TrimSpace(whole)
	if s.places == nil {
		return s.head(whole)
	}
	if whole == "" {
		return nil
	}
	if len(s.log.Readings) == mostSMIRows {
		return fmt.Errorf("line %d: more than %d rows; split the file", s.lines, mostSMIRows)
	}
	s.fault = s.row(whole)
	if ended && errors.As(s.fault, new(impossible)) {
		return s.fault
	}
	if s.fault == nil && !ended {
		s.fault = fmt.Errorf("line %d: the row is incomplete", s.lines)
		s.log.Readings = s.log.Readings[:len(s.log.Readings)-1]
	}
	return nil
}

func (s *smiReader) end() (*SMILog, error) {
	if s.places == nil {
		return nil, errors.New("read nvidia-smi: the header line is missing; run nvidia-smi without noheader")
	}
	s.log.Cut = s.fault != nil
	for _, d := range s.devices {
		s.log.Devices = append(s.log.Devices, *d)
	}
	slices.SortFunc(s.log.Devices, func(a, b Device) int { return a.Index - b.Index })
	return s.log, nil
}

// head finds the columns.
func (s *smiReader) head(line string) error {
	seen := map[string]bool{}
	for name := range strings.SplitSeq(line, ",") {
		name, _, _ = strings.Cut(strings.TrimSpace(name), " [")
		if seen[name] && smiColumns[name] != nil {
			return fmt.Errorf("line 1: duplicate column %.100q", name)
		}
		seen[name] = true
		s.places = append(s.places, smiColumns[name])
	}
	for _, needed := range []string{"timestamp", "index"} {
		if !seen[needed] {
			return fmt.Errorf("line 1: column %q is missing in %.200q; add it to the nvidia-smi query",
				needed, line)
		}
	}
	return nil
}

// row reads a row.
func (s *smiReader) row(line string) error {
	cells := strings.Split(line, ",")
	if len(cells) != len(s.places) {
		return fmt.Errorf("line %d: expected %d values, got %d", s.lines, len(s.places), len(cells))
	}
	row := smiRow{in: s.location, Device: Device{}}
	for k, set := range s.places {
		if set == nil {
			continue
		}
		if err := set(&row, strings.TrimSpace(cells[k])); err != nil {
			return fmt.Errorf("line %d: %w", s.lines, err)
		}
	}
	row.Reading.Device = row.Device.Index
	if at, seen := s.latest[row.Device.Index]; seen && row.At < at {
		return fmt.Errorf("line %d: %w", s.lines, impossible(fmt.Sprintf("the timestamp is earlier than in the "+
			"previous row of GPU %d; sort the rows by time", row.Device.Index)))
	}
	s.latest[row.Device.Index] = row.At
	if s.devices[row.Device.Index] == nil {
		s.devices[row.Device.Index] = &row.Device
	}
	s.log.Readings = append(s.log.Readings, row.Reading)
	return nil
}

// smiColumns parses the columns by their names without units. Names are as in nvidia-smi --help-query-gpu; some columns
// have two.
var smiColumns = map[string]func(row *smiRow, text string) error{
	"timestamp": func(row *smiRow, text string) error {
		at, err := time.ParseInLocation(smiTime, text, row.in)
		row.At = float64(at.UnixMicro()) / 1e6
		return err
	},
	"index": func(row *smiRow, text string) (err error) {
		if row.Device.Index, err = strconv.Atoi(text); err == nil &&
			(row.Device.Index < 0 || row.Device.Index >= mostGPUs) {
			err = fmt.Errorf("index is %d; expected 0 to %d", row.Device.Index, mostGPUs-1)
		}
		return err
	},
	"name":               func(row *smiRow, text string) error { row.Device.Name = text; return nil },
	"uuid":               func(row *smiRow, text string) error { row.Device.UUID = text; return nil },
	"memory.total":       smiNumber("MiB", func(row *smiRow) *Optional[float64] { return &row.Device.MemoryMiB }),
	"utilization.gpu":    smiNumber("%", func(row *smiRow) *Optional[float64] { return &row.UtilizationPercent }),
	"utilization.memory": smiNumber("%", func(row *smiRow) *Optional[float64] { return &row.MemoryUtilizationPercent }),
	"memory.used":        smiNumber("MiB", func(row *smiRow) *Optional[float64] { return &row.MemoryUsedMiB }),
	"memory.free":        smiNumber("MiB", func(row *smiRow) *Optional[float64] { return &row.MemoryFreeMiB }),
	"power.draw":         smiNumber("W", func(row *smiRow) *Optional[float64] { return &row.PowerWatts }),
	"temperature.gpu":    smiNumber("", func(row *smiRow) *Optional[float64] { return &row.TemperatureCelsius }),
	"clocks.sm":          smiNumber("MHz", func(row *smiRow) *Optional[float64] { return &row.SMClockMHz }),
	"clocks.current.sm":  smiNumber("MHz", func(row *smiRow) *Optional[float64] { return &row.SMClockMHz }),
	"clocks.mem":         smiNumber("MHz", func(row *smiRow) *Optional[float64] { return &row.MemoryClockMHz }),
	"clocks.current.memory": smiNumber("MHz", func(row *smiRow) *Optional[float64] {
		return &row.MemoryClockMHz
	}),
	"clocks_throttle_reasons.active": smiThrottle,
	"clocks_event_reasons.active":    smiThrottle,
}

// smiNumber parses a number with or without its unit.
func smiNumber(unit string, field func(row *smiRow) *Optional[float64]) func(row *smiRow, text string) error {
	return func(row *smiRow, text string) error {
		if smiUnknown(text) {
			return nil
		}
		number := strings.TrimSpace(strings.TrimSuffix(text, unit))
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("expected a number, with or without unit %q, got %.100q", unit, text)
		}
		if value < 0 && unit != "" || value > 100 && unit == "%" {
			return impossible(fmt.Sprintf("got %.100q; expected %s; remove the row", text,
				map[bool]string{true: "0 to 100 %", false: "at least 0 " + unit}[unit == "%"]))
		}
		*field(row) = Number(value)
		return nil
	}
}

func smiThrottle(row *smiRow, text string) error {
	if smiUnknown(text) {
		return nil
	}
	bits, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return fmt.Errorf("expected a bit mask such as 0x4, got %.100q", text)
	}
	row.Throttle = Known(Throttle(bits))
	return nil
}

// smiUnknown reports whether a cell means a missing value, such as [N/A] and [Not Supported].
func smiUnknown(text string) bool {
	return strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") || text == "N/A" || text == "ERR!" || text == ""
}
