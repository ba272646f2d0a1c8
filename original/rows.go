package original

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"graft/internal/files"
	"graft/results"
)

func readRows(fsys files.FS, path string) (rows []Row, torn bool, err error) {
	err = results.ReadTable(fsys, path, func(r io.Reader) (err error) {
		torn, err = results.EachLine(r, func(n int, line []byte) error {
			row, err := parseRow(lineText(line))
			if err != nil {
				return fmt.Errorf("%s:%d: %w", path, n, err)
			}
			rows = append(rows, row)
			return nil
		})
		return err
	})
	return rows, torn, err
}

// lineText returns a line without its line break.
func lineText(line []byte) string {
	return string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
}

// parseRow parses "index,seconds,value". A list may contain commas.
func parseRow(line string) (row Row, err error) {
	parts := strings.SplitN(line, ",", 3)
	if len(parts) != 3 {
		return row, fmt.Errorf("expected an index, a time in seconds and a value, got %.100q", line)
	}
	if row.Index, err = strconv.ParseInt(parts[0], 10, 64); err != nil {
		return row, fmt.Errorf("the index %.100q is not an integer", parts[0])
	}
	if row.Seconds, err = parsePythonFloat(parts[1]); err != nil {
		return row, fmt.Errorf("seconds: %w", err)
	}
	row.Value, err = parseValue(parts[2])
	return row, err
}

// parseValue parses None, a number, or a list of numbers.
func parseValue(text string) (Value, error) {
	if text == "None" {
		return Value{None: true}, nil
	}
	inside, isList := strings.CutPrefix(text, "[")
	if !isList {
		f, err := parsePythonFloat(text)
		if err != nil {
			return Value{}, err
		}
		return Value{Single: true, Numbers: []float64{f}}, nil
	}
	inside, closed := strings.CutSuffix(inside, "]")
	if !closed {
		return Value{}, fmt.Errorf("the list %.100q has no closing bracket", text)
	}
	if strings.TrimSpace(inside) == "" {
		return Value{}, nil
	}
	var v Value
	for part := range strings.SplitSeq(inside, ",") {
		f, err := parsePythonFloat(strings.TrimSpace(part))
		if err != nil {
			return Value{}, err
		}
		v.Numbers = append(v.Numbers, f)
	}
	return v, nil
}

// parsePythonFloat parses a number in the format of Python's repr.
func parsePythonFloat(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpP_") {
		return 0, fmt.Errorf("%.100q is not a number", text)
	}
	return f, nil
}

// LogLine is an entry of a log file.
type LogLine struct {
	// time of the entry, read as UTC since it has no zone; zero for text before the first entry
	Time  time.Time
	Level string // level such as "INFO"; empty for text before the first entry
	Text  string // text of the entry with its further lines, such as a traceback
}

// logTime is the time format of the original's logger.
const logTime = "2006-01-02 15:04:05,000"

// readLog reads a log. It keeps a last line without a line break.
func readLog(fsys files.FS, path string) ([]LogLine, error) {
	data, err := files.ReadAll(fsys, path, largestText)
	if err != nil {
		return nil, err
	}
	return parseLog(data), nil
}

func parseLog(data []byte) []LogLine {
	var lines []LogLine
	for line := range bytes.Lines(data) {
		text := lineText(line)
		entry, begins := parseLogLine(text)
		switch {
		case begins:
			lines = append(lines, entry)
		case len(lines) == 0:
			lines = append(lines, LogLine{Text: text})
		default:
			last := &lines[len(lines)-1]
			last.Text += "\n" + text
		}
	}
	return lines
}

// parseLogLine parses "TIME | [LEVEL] : TEXT"; any other line continues the previous entry.
func parseLogLine(text string) (LogLine, bool) {
	stamp, rest, ok := strings.Cut(text, " | [")
	level, message, ok2 := strings.Cut(rest, "] : ")
	if !ok || !ok2 {
		return LogLine{}, false
	}
	at, err := time.Parse(logTime, stamp)
	if err != nil {
		return LogLine{}, false
	}
	return LogLine{Time: at, Level: level, Text: message}, true
}
