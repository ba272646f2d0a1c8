package tables_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/simulation/tables"
)

// sealed returns a line with a valid checksum, as the format's description defines it.
func sealed(body string) string {
	return fmt.Sprintf("{\"sum\":\"%08x\",%s\n", crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)), body)
}

// altered returns a line with a part of its body replaced and a valid checksum.
func altered(line, from, to string) string {
	_, body, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ",")
	return sealed(strings.Replace(body, from, to, 1))
}

// flipped returns a text with a bit of one byte inverted.
func flipped(text string, at int, bit byte) string {
	b := []byte(text)
	b[at] ^= bit
	return string(b)
}

// damage is a change to a table, given the lines of a-1.jsonl, and the faults that a check finds.
type damage struct {
	do     func(t *testing.T, dir string, lines []string)
	says   []string // words about each fault, in order: place, kind and more
	counts int      // records left of eight
}

// inA returns a damage to a-1.jsonl.
func inA(change func(lines []string) []string) func(t *testing.T, dir string, lines []string) {
	return func(t *testing.T, dir string, lines []string) {
		overwrite(t, dir, "a-1.jsonl", strings.Join(change(lines), ""))
	}
}

var damages = map[string]damage{
	"a flipped bit in a record": {inA(func(l []string) []string { l[2] = flipped(l[2], 90, 1); return l }),
		[]string{"a-1.jsonl:3: damaged: checksum mismatch; the result is not used"}, 7},
	"a flipped bit in a checksum, to a capital": {inA(func(l []string) []string {
		for k := range l[1:5] {
			if at := strings.IndexAny(l[k+1][8:16], "abcdef"); at >= 0 {
				l[k+1] = flipped(l[k+1], 8+at, 0x20)
				break
			}
		}
		return l
	}), []string{"damaged: checksum mismatch"}, 7},
	"an end of a line that became another byte": {inA(func(l []string) []string {
		l[2] = flipped(l[2], len(l[2])-1, 4)
		return l
	}),
		[]string{"a-1.jsonl:3: damaged: the line is complete, but its line ending is damaged"}, 8},
	"an end of a line that is gone": {inA(func(l []string) []string {
		l[2] = strings.TrimSuffix(l[2], "\n")
		return l
	}),
		[]string{"a-1.jsonl:3: damaged: the line is complete, but its line ending is damaged"}, 8},
	"a byte that became an end of a line": {inA(func(l []string) []string {
		l[2] = l[2][:50] + "\n" + l[2][51:]
		return l
	}),
		[]string{"a-1.jsonl:3: damaged", "a-1.jsonl:4: damaged"}, 7},
	"a torn tail": {inA(func(l []string) []string { return append(l[:4], l[4][:70]) }),
		[]string{"a-1.jsonl:5: torn: the file ends after the first 70 bytes of a line; " +
			"no committed result is lost"}, 7},
	"a last line without its end": {inA(func(l []string) []string {
		return append(l[:4], strings.TrimSuffix(l[4], "\n"))
	}),
		[]string{"a-1.jsonl:5: torn: the line is complete, but has no line ending"}, 8},
	"zeros after a power failure": {inA(func(l []string) []string {
		return append(l[:4], strings.Repeat("\x00", 700))
	}),
		[]string{"a-1.jsonl:5: damaged"}, 7},
	"a missing record": {inA(func(l []string) []string { return append(l[:2], l[3:]...) }),
		[]string{"a-1.jsonl:3: missing: gap before line number 4: 1 line is missing; " +
			"restore the file from a copy"}, 7},
	"the last record is missing, and the writer's end is there": {inA(func(l []string) []string {
		return append(l[:3], l[5])
	}),
		[]string{"a-1.jsonl:4: missing: gap before line number 6: 2 lines are missing"}, 6},
	"a doubled record": {inA(func(l []string) []string { return append(l[:3], append([]string{l[2]}, l[3:]...)...) }),
		[]string{"a-1.jsonl:4: doubled: duplicate line 3; the record counts once"}, 8},
	"a missing head": {inA(func(l []string) []string { return l[1:] }),
		[]string{"a-1.jsonl:1: missing: gap before line number 2: 1 line is missing"}, 8},
	"a damaged head": {inA(func(l []string) []string { l[0] = flipped(l[0], 30, 1); return l }),
		[]string{"a-1.jsonl:1: damaged: checksum mismatch"}, 8},
	"an empty line": {inA(func(l []string) []string { return append(l[:2], append([]string{"\n"}, l[2:]...)...) }),
		[]string{"a-1.jsonl:3: damaged: the line is empty"}, 8},
	"an empty file": {inA(func(l []string) []string { return nil }),
		[]string{"a-1.jsonl:1: missing: the file is empty"}, 4},
	"a file of something else": {inA(func(l []string) []string {
		return []string{"hello\n", strings.Repeat("x", 3<<20) + "\n", "{}\n"}
	}),
		[]string{"a-1.jsonl:1: damaged", "a-1.jsonl:2: damaged", "a-1.jsonl:3: damaged"}, 4},
	"a line that is none of a table": {inA(func(l []string) []string { l[2] = sealed(`"note":{"line":3}}`); return l }),
		[]string{`a-1.jsonl:3: damaged: the checksum is valid, but the line is not a table line: "\"note\":`}, 7},
	"a record that is none": {inA(func(l []string) []string { l[2] = sealed(`"record":{"line":"3"}}`); return l }),
		[]string{"a-1.jsonl:3: damaged: the checksum is valid, but the line is not a record: json"}, 7},
	"a record of a sequence that is not in the scenario": {inA(func(l []string) []string {
		l[2] = altered(l[2], `"none"`, `"widen:a"`)
		return l
	}),
		[]string{"a-1.jsonl:3: stranger: sequence (deepen:0, widen:a): unknown action widen:a; " +
			"expected one of: deepen:0, " +
			"none; the record is not used"}, 7},
	"a record of another length": {inA(func(l []string) []string {
		l[2] = altered(l[2], `["deepen:0",`, `[`)
		return l
	}),
		[]string{"a-1.jsonl:3: stranger: sequence (none): got 1 actions, expected 2, one per decision"}, 7},
	"an accuracy above one": {inA(func(l []string) []string {
		l[2] = altered(l[2], `"accuracy":[0`, `"accuracy":[1`)
		return l
	}),
		[]string{"a-1.jsonl:3: stranger: sequence (deepen:0, none): accuracy is 1.5703125"}, 7},
	"a key that is none": {inA(func(l []string) []string { l[2] = altered(l[2], `"key":"`, `"key":"x`); return l }),
		[]string{"a-1.jsonl:3: stranger: sequence (deepen:0, none): key \"x"}, 7},
	"a network that other records do not know": {inA(func(l []string) []string {
		l[2] = altered(l[2], `"after-deepen:0"`, `"odd"`)
		return l
	}),
		[]string{"a-1.jsonl:3: disagree: sequence (deepen:0, none): after action 1, the network is odd, but " +
			"only 1 of 4 records with the same first actions have this network"}, 7},
	"seeds whose times are not the same": {inA(func(l []string) []string {
		l[2] = altered(l[2], `20.25`, `20.5`)
		return l
	}),
		[]string{"b-1.jsonl:4: disagree: sequence (deepen:0, none): the times, " +
			"networks or profile differ from a-1.jsonl:3, which has the same sequence with other seeds; " +
			"all these records are ignored"}, 6},
	"seeds whose last steps are not the same": {inA(func(l []string) []string {
		l[2] = altered(l[2], `"last_step_s":0.5`, `"last_step_s":0.75`)
		return l
	}),
		[]string{"b-1.jsonl:4: disagree: sequence (deepen:0, none): the times, " +
			"networks or profile differ from a-1.jsonl:3, which has the same sequence with other seeds; " +
			"all these records are ignored"}, 6},
	"a record that is in two files, with two outcomes": {func(t *testing.T, dir string, lines []string) {
		other := altered(altered(lines[1], `"accuracy":[0.5078125]`, `"accuracy":[0.75]`), `"line":2`, `"line":7`)
		overwrite(t, dir, "b-1.jsonl", read(t, dir, "b-1.jsonl")+other)
	}, []string{"b-1.jsonl:7: disagree: sequence (deepen:0, deepen:0): " +
		"a-1.jsonl:2 has the same key, but a different outcome; all these records are ignored"}, 7},
	"a run under two keys": {func(t *testing.T, dir string, lines []string) {
		other := altered(altered(lines[1], `"key":"`+entry(0, 1).Key, `"key":"`+strings.Repeat("0", 64)), `"line":2`,
			`"line":7`)
		overwrite(t, dir, "b-1.jsonl", read(t, dir, "b-1.jsonl")+other)
	}, []string{"b-1.jsonl:7: doubled: sequence (deepen:0, deepen:0), seed 1: " +
		"a-1.jsonl:2 has the same outcome under another key; the record counts once"}, 8},
	"a file that is gone": {func(t *testing.T, dir string, _ []string) {
		require.NoError(t, os.Remove(filepath.Join(dir, "a-1.jsonl")))
	},
		[]string{"a-1.jsonl: missing: the lock a-1.lock exists, but not the file that it locks"}, 4},
	"a file that was copied": {func(t *testing.T, dir string, _ []string) {
		overwrite(t, dir, "c-1.jsonl", read(t, dir, "a-1.jsonl"))
	},
		[]string{"c-1.jsonl:1: foreign: the file was written as a-1.jsonl, and then copied or renamed; restore the " +
			"file name"},
		8},
	"a file that was renamed": {func(t *testing.T, dir string, _ []string) {
		for _, suffix := range []string{".jsonl", ".lock"} {
			require.NoError(t, os.Rename(filepath.Join(dir, "a-1"+suffix), filepath.Join(dir, "c-1"+suffix)))
		}
	}, []string{"c-1.jsonl:1: foreign: the file was written as a-1.jsonl"}, 8},
	"a foreign file": {func(t *testing.T, dir string, _ []string) { overwrite(t, dir, "notes.txt", "") },
		[]string{"notes.txt: foreign: unexpected file; move it elsewhere"}, 8},
	"a foreign folder": {func(t *testing.T, dir string, _ []string) {
		require.NoError(t, os.Mkdir(filepath.Join(dir, "c-1.jsonl"), 0o700))
	}, []string{"c-1.jsonl: foreign: unexpected folder"}, 8},
	"leftovers of a kill, which are none of it": {func(t *testing.T, dir string, _ []string) {
		overwrite(t, dir, ".a-1.jsonl.0.tmp", "half")
		overwrite(t, dir, ".nfs000000000123", "")
	}, nil, 8},
	"no scenario": {func(t *testing.T, dir string, _ []string) {
		require.NoError(t, os.Remove(filepath.Join(dir, "scenario.json")))
	},
		[]string{"scenario.json: missing: the file is missing; the record files contain the scenario; " +
			"write a repaired table with 'graft table convert "}, 8},
	"a scenario that was cut": {func(t *testing.T, dir string, _ []string) { overwrite(t, dir, "scenario.json", "{") },
		[]string{"scenario.json: damaged: invalid JSON"}, 8},
	"a scenario that was changed by hand": {func(t *testing.T, dir string, _ []string) {
		overwrite(t, dir, "scenario.json", strings.Replace(read(t, dir, "scenario.json"), `"budget_s": 40`,
			`"budget_s": 50`, 1))
	}, []string{"scenario.json: damaged: the scenario does not match its digest"}, 8},
	"a scenario with more": {func(t *testing.T, dir string, _ []string) {
		overwrite(t, dir, "scenario.json", strings.Replace(read(t, dir, "scenario.json"), `"format": 1,`,
			`"format": 1, "more": 2,`, 1))
	}, []string{`scenario.json: damaged: the JSON is not a scenario: json: unknown field "more"`}, 8},
	"something after the scenario": {func(t *testing.T, dir string, _ []string) {
		overwrite(t, dir, "scenario.json", read(t, dir, "scenario.json")+"{}")
	}, []string{"scenario.json: damaged: extra data after the scenario"}, 8},
	"another scenario under the records": {func(t *testing.T, dir string, _ []string) { otherScenario(t, dir) },
		[]string{"a-1.jsonl:1: changed: the records belong to another scenario, small with digest",
			"b-1.jsonl:1: changed"}, 0},
	"a scenario from the future": {func(t *testing.T, dir string, _ []string) {
		overwrite(t, dir, "scenario.json", `{"format": 2, "anything": {}}`)
	}, []string{"scenario.json: future: format is 2, but this version of graft reads formats up to 1; " +
		"use the version of graft that wrote it"},
		-1},
	"records from the future": {inA(func(l []string) []string {
		l[0] = altered(l[0], `"format":1`, `"format":2`)
		return l
	}),
		[]string{"a-1.jsonl:1: future: format is 2"}, 4},
	"a head without a scenario": {inA(func(l []string) []string {
		l[0] = sealed(`"head":{"line":1,"format":1}}`)
		return l
	}),
		[]string{"a-1.jsonl:1: damaged: the scenario does not match its digest"}, 4},
	"no scenario, and heads that disagree": {func(t *testing.T, dir string, _ []string) {
		mine := read(t, dir, "a-1.jsonl")
		otherScenario(t, dir)
		require.NoError(t, os.Remove(filepath.Join(dir, "a-1.jsonl")))
		write(t, dir, "c")
		overwrite(t, dir, "a-1.jsonl", mine)
		require.NoError(t, os.Remove(filepath.Join(dir, "scenario.json")))
	}, []string{"scenario.json: missing: the file is missing; restore the file from a copy"}, -1},
}

// otherScenario replaces the scenario by a sound one that does not match the records.
func otherScenario(t *testing.T, dir string) {
	other := small
	other.Budget = 50
	elsewhere := filepath.Join(t.TempDir(), "other")
	require.NoError(t, tables.Create(unsynced{}, elsewhere, other, tables.CreateOptions{}))
	overwrite(t, dir, "scenario.json", read(t, elsewhere, "scenario.json"))
	if _, err := os.Stat(filepath.Join(dir, "b-1.jsonl")); err == nil && strings.Contains(t.Name(), "disagree") {
		require.NoError(t, os.Remove(filepath.Join(dir, "b-1.jsonl")))
		require.NoError(t, os.Remove(filepath.Join(dir, "b-1.lock")))
	}
}

func TestCheckNamesEveryFault(t *testing.T) {
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			dir := newTable(t)
			d.do(t, dir, strings.SplitAfter(read(t, dir, "a-1.jsonl"), "\n"))
			report := check(t, dir)
			require.Len(t, report.Faults, len(d.says), "%v", report.Faults)
			for k, f := range report.Faults {
				require.Contains(t, f.Error(), d.says[k])
				require.NotEmpty(t, f.Remedy)
			}
			if d.counts < 0 {
				require.Nil(t, report.Table)
				return
			}
			require.Equal(t, d.counts, report.Records)
			require.Len(t, report.Entries, d.counts)
			requireOriginals(t, report.Table)
			table, err := tables.Read(files.OS{}, dir)
			require.Equal(t, report.Table, table)
			var list tables.Faults
			require.Equal(t, len(d.says) > 0, errors.As(err, &list))
		})
	}
}

// requireOriginals checks that a table holds only records that were written.
func requireOriginals(t *testing.T, table *tables.Table) {
	t.Helper()
	for _, r := range table.Records {
		before, loss, after := 0.0, 0.0, 0.0
		for k, seed := range r.Seeds {
			a, b := 0, 0
			if r.Sequence[0] == "none" {
				a = 1
			}
			if r.Sequence[1] == "none" {
				b = 1
			}
			want := entry(2*a+b, seed).Record
			before += want.Before[0] / float64(len(r.Seeds))
			loss += want.Loss[1] / float64(len(r.Seeds))
			after += want.After[1] / float64(len(r.Seeds))
			want.Seeds, want.Accuracy, want.Before, want.Loss, want.After = r.Seeds, r.Accuracy, r.Before,
				r.Loss, r.After
			require.Equal(t, want, r)
			require.Equal(t, entry(2*a+b, seed).Accuracy[0], r.Accuracy[k])
		}
		require.InDeltaSlice(t, []float64{before, loss, after}, []float64{r.Before[0], r.Loss[1], r.After[1]}, 1e-12,
			"the means over the seeds")
	}
}

// A writer keeps damaged lines and removes torn ones. The records that it adds are sound in both cases.
func TestWritersGoOnWithDamagedFiles(t *testing.T) {
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			dir := newTable(t)
			d.do(t, dir, strings.SplitAfter(read(t, dir, "a-1.jsonl"), "\n"))
			before := check(t, dir)
			w, err := tables.Open(unsynced{}, dir, tables.WriterOptions{Name: "a"})
			if err != nil {
				require.True(t, errors.Is(err, tables.ErrUnsound) || errors.Is(err, tables.ErrNoTable), "%v", err)
				require.Equal(t, before, check(t, dir), "and nothing has changed")
				return
			}
			late := entry(3, 5)
			require.NoError(t, w.Append(late.Key, late.Record))
			require.NoError(t, w.Close())
			after := check(t, dir)
			require.Equal(t, before.Records+1, after.Records)
			for _, f := range after.Faults {
				require.NotEqual(t, tables.Torn, f.Kind)
			}
			require.LessOrEqual(t, len(after.Faults), len(before.Faults), "%v", after.Faults)
		})
	}
}

// If any byte of a table changes, Check names a fault or the content is the same.
func TestEveryByteIsWatched(t *testing.T) {
	dir := newTable(t)
	want := check(t, dir)
	require.NoError(t, want.Err())
	random := rand.New(rand.NewPCG(1, 2))
	flips := 0
	for _, name := range []string{"scenario.json", "a-1.jsonl", "b-1.jsonl"} {
		text := []byte(read(t, dir, name))
		for at := range text {
			change := byte(1) << random.IntN(8)
			if at%2 == 1 {
				change = byte(1 + random.IntN(255))
			}
			text[at] ^= change
			overwrite(t, dir, name, string(text))
			text[at] ^= change
			flips++
			report := check(t, dir)
			if report.Table != nil {
				requireOriginals(t, report.Table)
			}
			if len(report.Faults) == 0 {
				require.Equal(t, want, report, "%s: byte %d", name, at)
			}
		}
		overwrite(t, dir, name, string(text))
	}
	t.Logf("measured: %d changes of a byte, each named or without effect", flips)
}
