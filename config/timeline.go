package config

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/trainer"
)

var timelineColumns = []string{"seconds", "change", "devices"}

// ReadTimeline reads device changes from a CSV table: a header with seconds, change and devices, then one line per
// event. The error wraps [Faults] if the content is invalid.
func ReadTimeline(fsys files.FS, path string) ([]trainer.Event, error) {
	data, err := decode.ReadAll(fsys, path, decode.LargestFile)
	if err != nil {
		return nil, fmt.Errorf("read timeline: %w", err)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // spreadsheets write it
	t := &timelineReader{file: path, doc: decode.NewDocument(path, data), csv: csv.NewReader(bytes.NewReader(data))}
	t.csv.FieldsPerRecord = -1
	if events := t.read(); len(t.faults) == 0 {
		return events, nil
	}
	return nil, fmt.Errorf("read timeline: %w", t.faults)
}

// timelineReader reads a table and collects its faults.
type timelineReader struct {
	file   string
	doc    *decode.Document
	csv    *csv.Reader
	row    []string
	faults Faults
}

func (t *timelineReader) read() []trainer.Event {
	var events []trainer.Event
	for first := true; ; first = false {
		row, err := t.csv.Read()
		if errors.Is(err, io.EOF) {
			if first {
				t.faults = append(t.faults, Fault{File: t.file,
					Text: "the file is empty; its first line must be " + strings.Join(timelineColumns, ",")})
			}
			return events
		}
		if err != nil {
			t.broken(err)
			return nil
		}
		switch t.row = row; {
		case first && !slices.Equal(row, timelineColumns):
			t.bad(0, "the first line must be %s", strings.Join(timelineColumns, ","))
		case !first:
			events = append(events, t.event(events))
		}
	}
}

func (t *timelineReader) broken(err error) {
	fault := Fault{File: t.file, Text: "invalid table: " + err.Error()}
	var found *csv.ParseError
	if errors.As(err, &found) {
		fault = t.doc.FaultAt(found.Line, found.Column, 1, "invalid table: "+found.Err.Error())
	}
	t.faults = append(t.faults, fault)
}

// bad reports a fault of a cell.
func (t *timelineReader) bad(column int, format string, args ...any) {
	line, at := t.csv.FieldPos(column)
	t.faults = append(t.faults, t.doc.FaultAt(line, at, max(1, len(t.row[column])), fmt.Sprintf(format, args...)))
}

func (t *timelineReader) event(before []trainer.Event) trainer.Event {
	if len(t.row) != len(timelineColumns) {
		t.bad(len(t.row)-1, "expected %d columns, got %d", len(timelineColumns), len(t.row))
		return trainer.Event{}
	}
	e := trainer.Event{Change: trainer.Change(t.row[1])}
	seconds, err := strconv.ParseFloat(t.row[0], 64)
	if err != nil || !(seconds >= 0) || seconds > math.MaxInt64/1e9 {
		t.bad(0, "seconds must be a non-negative number, got %q", t.row[0])
	} else if e.At = time.Duration(math.Round(seconds * 1e9)); len(before) > 0 && e.At < before[len(before)-1].At {
		t.bad(0, "this event is earlier than the previous one; sort the events by seconds")
	}
	if e.Change != trainer.Up && e.Change != trainer.Down {
		t.bad(1, "change must be up or down, got %q", t.row[1])
	}
	if e.Devices, err = strconv.Atoi(t.row[2]); t.row[2] != "" && (err != nil || e.Devices < 0) {
		t.bad(2, "devices must be a non-negative integer, got %q", t.row[2])
	}
	return e
}
