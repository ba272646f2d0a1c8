package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var fuzzed = Scenario{Name: "fuzzed", Network: "ConvNet2", Budget: 40, Decisions: 2,
	Actions: []string{"deepen:0", "none"}}

func fuzzedRecord() recordLine {
	return recordLine{Line: 2, Key: strings.Repeat("0a", 32),
		Record: Record{Sequence: []string{"none", "deepen:0"}, Left: []float64{30, 1e-9}, Accuracy: []float64{0.5, 1},
			Seeds: []int64{1, -7}, Step: []float64{0.25, 1e-3}, Before: []float64{0.125, 0.5}, Loss: []float64{2, 1.5},
			Fall: []float64{0, -0.25}, Gap: []float64{-0.5, 0.25}, After: []float64{0.5, 0.75}, LastStep: 0.5,
			Networks: []string{"a", "b", "c"}, Profile: "é <", Graft: "v1"}}
}

// Any file of records gives faults or valid records, which writing and reading do not change.
func FuzzSegment(f *testing.F) {
	head, err := FormatLine(headKind, headLine{Line: 1, File: "a-1.jsonl",
		scenarioFile: scenarioFile{tableFormat, fuzzed.Digest(), fuzzed}})
	require.NoError(f, err)
	record, err := FormatLine(recordKind, fuzzedRecord())
	require.NoError(f, err)
	end, err := FormatLine(endKind, endLine{Line: 3})
	require.NoError(f, err)
	f.Add(bytes.Join([][]byte{head, record, end}, nil))
	f.Add(append(head, record[:50]...))
	f.Add(bytes.ReplaceAll(bytes.Join([][]byte{head, record, end}, nil), []byte("\n"), []byte("x")))
	f.Add([]byte(`"record":{"line":2,"key":"","sequence":[],"left_s":[01],"accuracy":[-0.0e1],"seeds":[1.5]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkSegment(t, data)
		// The checksum would stop nearly everything, so each line gets a valid one.
		var sealed []byte
		for _, line := range bytes.Split(data, []byte("\n")) {
			if body, ok := bytes.CutPrefix(line, []byte(sumHead)); ok && len(body) > sumDigits+len(sumTail) {
				line = body[sumDigits+len(sumTail):]
			}
			sealed = fmt.Appendf(sealed, "%s%08x%s%s\n", sumHead, crc32.Checksum(line, castagnoli), sumTail, line)
		}
		checkSegment(t, sealed)
	})
}

// checkSegment reads a file of records, repairs it as a writer does, and reads it again.
func checkSegment(t *testing.T, data []byte) {
	before, torn := fuzzedSegment(t, data)
	if before == nil {
		return
	}
	require.LessOrEqual(t, before.keep, int64(len(data)))
	healed := bytes.Clone(data[:before.keep])
	if before.unended {
		healed = append(healed, '\n')
	}
	after, tornAgain := fuzzedSegment(t, healed)
	require.NotNil(t, after)
	require.Equal(t, before.records, after.records)
	require.False(t, tornAgain)
	require.True(t, torn || bytes.Equal(data, healed) || !bytes.HasSuffix(data, []byte("\n")), "only torn lines go")
}

// fuzzedSegment reads a file of records. It returns nil if the head is rejected.
func fuzzedSegment(t *testing.T, data []byte) (s *segment, torn bool) {
	s = &segment{name: "a-1.jsonl", parser: &parser{}, scenario: fuzzed, digest: fuzzed.Digest()}
	s.visit = func(e *Entry, f *Fault) bool {
		if f != nil {
			torn = torn || f.Kind == Torn
			require.NotEmpty(t, f.Text)
			require.NotEmpty(t, f.Remedy)
			require.Equal(t, "a-1.jsonl", f.File)
			return true
		}
		require.NoError(t, fuzzed.admits(e.Key, &e.Record))
		line, err := FormatLine(recordKind, recordLine{Line: 2, Key: e.Key, Record: e.Record})
		require.NoError(t, err)
		b, ok := LineBody(line[:len(line)-1])
		require.True(t, ok)
		again, err := (&parser{}).parseRecord(b)
		require.NoError(t, err)
		require.Equal(t, e.outcome(e.Accuracy, e.Seeds), again.outcome(again.Accuracy, again.Seeds))
		return true
	}
	if err := s.readFrom(bytes.NewReader(data), 0); err != nil {
		require.ErrorIs(t, err, errEnough, "which is a head that is rejected")
		return nil, false
	}
	return s, torn
}

// The fast parser reads the same record as a JSON parser.
func FuzzRecord(f *testing.F) {
	good, err := json.Marshal(fuzzedRecord())
	require.NoError(f, err)
	f.Add(recordKind + string(good) + "}")
	for _, number := range []string{"-0", "1e5", "1E+05", "01", "1.", ".5", "-", "1e999", "9223372036854775808", "0x1",
		"1_0", "Inf", "null"} {
		f.Add(`"record":{"line":` + number + `,"key":"a","sequence":["b","c"],"left_s":[` + number + `],"accuracy":[` +
			number + `,1],"seeds":[` + number + `],"graft":"v"}}`)
	}
	f.Add(`"record":{"line":1,"key":"a\u0041","sequence":[null],"left_s":null,"accuracy":[],"seeds":[],"profile":"é"}}`)
	f.Add(`"record":{"LINE":1,"more":[{}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p := parser{rest: []byte(text)}
		quick := p.record()
		if p.wrong || len(p.rest) > 0 {
			return
		}
		var slow struct{ Record recordLine }
		require.NoError(t, json.Unmarshal([]byte("{"+text), &slow), "%q", text)
		require.Equal(t, slow.Record, quick)
		got, err := (&parser{last: quick}).parseRecord([]byte(text))
		require.NoError(t, err)
		require.Equal(t, quick, got)
	})
}

// Any scenario file gives a fault or a scenario that writing and reading do not change.
func FuzzScenario(f *testing.F) {
	good, err := formatScenario(fuzzed)
	require.NoError(f, err)
	f.Add(good)
	plain, err := json.Marshal(fuzzed)
	require.NoError(f, err)
	f.Add(plain)
	f.Add([]byte(`{"name": "é", "budget_s": 1e308, "decisions": 100, "actions": ["a"]}`))
	f.Add([]byte(`{"format": 99999999999999999999}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		checkScenario(t, data)
		var s Scenario
		if json.Unmarshal(data, &s) == nil { // with the right digest
			checkScenario(t, fmt.Appendf(nil, `{"format": 1, "sha256": %q, "scenario": %s}`, s.Digest(), data))
		}
	})
}

func checkScenario(t *testing.T, data []byte) {
	s, err := parseScenario(data)
	if err != nil {
		var fault Fault
		require.True(t, errors.As(err, &fault))
		return
	}
	text, err := formatScenario(s)
	require.NoError(t, err)
	again, err := parseScenario(text)
	require.NoError(t, err)
	require.Equal(t, s, again)
	table, err := New(s, nil)
	require.NoError(t, err)
	require.Equal(t, len(s.Actions) > 0, table.Complete() != nil)
}
