package tasks

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// UsageQuery is the command whose output [ReadUsage] reads.
const UsageQuery = "nvidia-smi --query-gpu=index,timestamp,name,utilization.gpu,utilization.memory,power.draw " +
	"--format=csv -l 1"

// usageHeader is its first line.
const usageHeader = "index, timestamp, name, utilization.gpu [%], utilization.memory [%], power.draw [W]"

// UsageRow is a GPU at a time. Values that the driver does not have are not numbers.
type UsageRow struct {
	Index       int
	Time        time.Time // as logged, without a zone
	Name        string
	Utilization float64 // share of time with a kernel, in percent
	Memory      float64 // share of time in which memory is read or written, in percent
	Power       float64 // in watts
}

// ReadUsage reads a log. A last row that is cut, as Ctrl-C leaves it, is left out, and cut says so.
func ReadUsage(from io.Reader) (rows []UsageRow, cut bool, err error) {
	scanner, line := bufio.NewScanner(from), 0
	for scanner.Scan() {
		line++
		if line == 1 {
			if scanner.Text() != usageHeader {
				return nil, false, fmt.Errorf("read a log of GPU usage: line 1 is %q, expected %q; write the log by %s",
					scanner.Text(), usageHeader, UsageQuery)
			}
			continue
		}
		if err != nil {
			return nil, false, err
		}
		var row UsageRow
		if row, err = usageRow(scanner.Text()); err != nil {
			err = fmt.Errorf("read a log of GPU usage: line %d: %w", line, err) // unless it is the last one
			continue
		}
		rows = append(rows, row)
	}
	return rows, err != nil, scanner.Err()
}

func usageRow(text string) (r UsageRow, err error) {
	fields := strings.Split(text, ", ")
	if len(fields) != strings.Count(usageHeader, ",")+1 {
		return r, fmt.Errorf("%d fields; expected 6", len(fields))
	}
	if r.Index, err = strconv.Atoi(fields[0]); err != nil {
		return r, err
	}
	if r.Time, err = time.Parse("2006/01/02 15:04:05.000", fields[1]); err != nil {
		return r, err
	}
	r.Name = fields[2]
	for k, to := range []*float64{&r.Utilization, &r.Memory, &r.Power} {
		if *to, err = usageValue(fields[3+k], []string{" %", " %", " W"}[k]); err != nil {
			return r, err
		}
	}
	return r, nil
}

func usageValue(text, unit string) (float64, error) {
	if strings.HasPrefix(text, "[") {
		return math.NaN(), nil
	}
	number, found := strings.CutSuffix(text, unit)
	if !found {
		return 0, fmt.Errorf("value %q; expected a number and%s", text, unit)
	}
	return strconv.ParseFloat(number, 64)
}

// UsageSummary sums up the rows of a GPU that have a power.
type UsageSummary struct {
	Samples             int
	Utilization, Memory float64 // means, in percent
	Peak, Power         float64 // largest and mean power, in watts
	Energy              float64 // by trapezoids, in joules
	Span                float64 // from the first to the last row, in seconds
}

// SummarizeUsage sums up the rows of one GPU; zeros if it has none.
func SummarizeUsage(rows []UsageRow, gpu int) (s UsageSummary) {
	var first, last, power float64
	for _, r := range rows {
		if r.Index != gpu || math.IsNaN(r.Power) {
			continue
		}
		now := seconds(r.Time)
		if s.Samples == 0 {
			first = now
		} else {
			s.Energy += float64(float64((now-last)*(power+r.Power)) / 2)
		}
		last, power = now, r.Power
		s.Samples++
		s.Utilization, s.Memory, s.Power = s.Utilization+r.Utilization, s.Memory+r.Memory, s.Power+r.Power
		s.Peak = max(s.Peak, r.Power)
	}
	s.Span = last - first
	for _, v := range []*float64{&s.Utilization, &s.Memory, &s.Power} {
		*v /= float64(max(1, s.Samples))
	}
	return s
}

// seconds converts a time to Python's timestamp, in seconds since 1970, whose size costs the last bits of spans.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
