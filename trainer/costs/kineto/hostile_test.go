package kineto

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// traceOf returns the text of a trace with these events.
func traceOf(events ...string) string {
	return `{"schemaVersion": 1, "traceEvents": [` + strings.Join(events, ",\n") + `], "traceName": "t"}`
}

// op returns an operator of a thread; the times are in microseconds.
func op(name string, thread int, start, length string, args string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "cpu_op", "name": %q, "pid": 1, "tid": %d, "ts": %s, "dur": %s, `+
		`"args": {%s}}`,
		name, thread, start, length, args)
}

const shaped = `"Input Dims": [[2, 3], []]`

// device returns an event of a category with arguments.
func device(category, start, length, args string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": %q, "name": "n", "pid": 0, "tid": 7, "ts": %s, "dur": %s, "args": {%s}}`,
		category, start, length, args)
}

// runtime returns a call of the CUDA runtime by thread 7.
func runtime(name, start, length, args string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "cuda_runtime", "name": %q, "pid": 1, "tid": 7, "ts": %s, "dur": %s, `+
		`"args": {%s}}`, name, start, length, args)
}

func flow(phase string, id, at string) string {
	return fmt.Sprintf(`{"ph": %q, "cat": "fwdbwd", "name": "fwdbwd", "id": %s, "pid": 1, "tid": 1, "ts": %s}`, phase,
		id, at)
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

var mm = op("aten::mm", 1, "1.5", "10.000", shaped)

// Each damaged or foreign trace causes an error that states the place and a remedy.
func TestDamagedTracesAreErrors(t *testing.T) {
	nested := strings.Repeat("[", 20000)
	deep := make([]string, mostNested+1)
	for k := range deep {
		deep[k] = op("aten::mm", 1, fmt.Sprint(k), fmt.Sprint(1e6-2*k), shaped)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                {"", "byte 0, after 0 events: the file is cut short; copy or export"},
		"not JSON":               {"\x00\x01trace", "byte 1, after 0 events: not JSON"},
		"a list, as other tools": {"[" + mm + "]", "byte 0: expected an object with the key traceEvents; export"},
		"a number":               {"17", "byte 0: expected an object"},
		"an object without events": {`{"schemaVersion": 1}`,
			"no key traceEvents; export the trace with torch.profiler"},
		"events that are no list": {`{"traceEvents": 7}`, "byte 17: traceEvents is not a list; export"},
		"two lists of events":     {`{"traceEvents": [` + mm + `], "traceEvents": []}`, "traceEvents occurs twice"},
		"cut in a list":           {traceOf(mm, mm)[:200], "after 1 events: the file is cut short"},
		"cut after the events": {traceOf(mm)[:strings.Index(traceOf(mm), "]}}],")+4],
			"after 1 events: the file is cut short"},
		"text after the object": {traceOf(mm) + "{}", "the object is followed by more text"},
		"damaged gzip": {gzipped(traceOf(mm))[:40],
			"the compressed file is damaged: unexpected EOF; export"},
		"gzip of nothing":         {gzipped(""), "the file is cut short"},
		"an event that is a text": {traceOf(`"x"`), "event 0 at byte"},
		"a name that is a number": {traceOf(mm, `{"ph": "X", "name": 7}`), "event 1 at byte"},
		"a long name": {traceOf(op(strings.Repeat("x", mostName+1), 1, "1", "1", shaped)),
			"event 0 at byte 37: the name has 16385 bytes"},
		"NaN": {traceOf(op("aten::mm", 1, "NaN", "1", shaped)),
			"after 0 events: not JSON: invalid character 'N'"},
		"no start": {traceOf(mm, `{"ph": "X", "cat": "cpu_op", "name": "a", "dur": 1}`),
			"event 1 at byte 169: ts: missing; export"},
		"a start that is a text": {traceOf(op("aten::mm", 1, `"soon"`, "1", shaped)),
			`ts: "soon": expected a number of microseconds`},
		"a negative duration": {traceOf(op("aten::mm", 1, "1", "-3.5", shaped)),
			"event 0 at byte 37: dur is -3.5; expected 0 or more; export"},
		"a huge duration": {traceOf(op("aten::mm", 1, "1", "1e300", shaped)),
			"dur: 1e300 microseconds are out of range"},
		"a huge start": {traceOf(op("aten::mm", 1, "9000000000000000", "1", shaped)), "out of range"},
		"a long operator": {traceOf(op("aten::mm", 1, "1", "2000000000", shaped)),
			"the event lasts 33m20s; the maximum is 18m"},
		"a number with an endless exponent": {traceOf(op("aten::mm", 1, "1e999999999", "1", shaped)),
			"ts: 1e999999999: expected a number of microseconds"},
		"a number with many digits": {traceOf(op("aten::mm", 1, "1."+strings.Repeat("3", 1000), "1", shaped)),
			"expected a number of microseconds with at most 40 digits"},
		"other categories": {traceOf(`{"ph": "X", "cat": "devtools.timeline", "name": "Layout", "ts": 1, "dur": 1}`),
			"none of 1 events is an operator (category cpu_op); export"},
		"only kernels": {traceOf(device("kernel", "1", "2", "")),
			"the trace has 1 kernels and no operators; record ProfilerActivity.CPU, too"},
		"no shapes": {traceOf(op("aten::mm", 1, "1", "1", "")), "record the trace with record_shapes=True"},
		"overlapping operators": {traceOf(mm, op("aten::add", 1, "5", "30", shaped)),
			"event 1, aten::add, begins inside event 0, aten::mm, of the same thread and ends after it; export"},
		"deep nesting of JSON":      {traceOf(op("aten::mm", 1, "1", "1", `"x": `+nested)), "exceeded max depth"},
		"deep nesting of operators": {traceOf(deep...), "event 4096, aten::mm, is inside 4096 other operators"},
		"an id twice": {traceOf(op("aten::mm", 1, "1", "1", shaped+`, "External id": 4`),
			op("aten::mm", 1, "3", "1", shaped+`, "External id": 4`)), "External id 4 is already used by event 0"},
		"an id that is a fraction": {traceOf(op("aten::mm", 1, "1", "1", shaped+`, "External id": 4.5`)),
			"External id is 4.5; expected a whole number"},
		"arguments that are a list": {traceOf(mm,
			`{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1, "args": []}`),
			"event 1 at byte 169: args:"},
		"shapes that are a text": {traceOf(op("aten::mm", 1, "1", "1", `"Input Dims": "2x3"`)),
			`"Input Dims" is not a list`},
		"shapes in deep lists": {traceOf(op("aten::mm", 1, "1", "1", `"Input Dims": [[[[[[[[1]]]]]]]]`)),
			"is not a shape"},
		"a negative size": {traceOf(op("aten::mm", 1, "1", "1", `"Input Dims": [[-2]]`)),
			"the size -2 is out of range"},
		"a huge size": {traceOf(op("aten::mm", 1, "1", "1", `"Input Dims": [[99999999999999]]`)),
			"out of range"},
		"many dimensions": {traceOf(op("aten::mm", 1, "1", "1", `"Input Dims": [[`+strings.Repeat("1,", 70)+`1]]`)),
			"more than 64 dimensions"},
		"a flow that ends before it begins": {traceOf(mm, flow("s", "3", "9"), flow("f", "3", "4")),
			"flow 3 from a forward to a backward operator ends 5µs before it begins"},
		"a flow with two beginnings": {traceOf(mm, flow("s", "3", "9"), flow("s", "3", "10")),
			`event 2 at byte 255: flow 3 has two events of phase "s"`},
		"a flow without a number": {traceOf(mm, flow("s", `"x"`, "9")), `id is "x"; expected a whole number`},
		"two launches with a correlation": {traceOf(mm, device("cuda_runtime", "2", "1", `"correlation": 5`),
			device("cuda_runtime", "4", "1", `"correlation": 5`)),
			"event 2 at byte 285: correlation 5 occurs in two runtime calls"},
		"a kernel before its launch": {traceOf(mm, device("cuda_runtime", "5", "1", `"correlation": 5`),
			device("kernel", "2", "1", `"correlation": 5`)),
			"event 2, n, begins 3µs before its launch (correlation 5)"},
	} {
		_, err := Parse([]byte(c.text))
		if assert.Error(t, err, name) {
			assert.Contains(t, err.Error(), c.want, name)
		}
	}
}

// A trace may be compressed, hold events that are not read, and name ids as texts.
func TestSoundTracesAreRead(t *testing.T) {
	inner := op("aten::t", 1, "2.0005", "3", shaped+`, "External id": "8", "Sequence number": 12`)
	mark := `{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 99}`
	text := traceOf(mark, inner, mm,
		`{"ph": "M", "name": "process_name", "ts": 1, "pid": 1, "args": {"name": "python"}}`,
		flow("f", "4", "5"))
	for _, data := range []string{text, gzipped(text)} {
		trace, err := Parse([]byte(data))
		require.NoError(t, err)
		require.Len(t, trace.Operators, 2)
		outer, inner := trace.Operators[0], trace.Operators[1]
		assert.Equal(t, Operator{Span: Span{"aten::mm", outer.Thread, 1500, 10 * time.Microsecond, 2},
			Shapes: [][]int{{2, 3}},
			Parent: -1, Own: 7 * time.Microsecond}, outer)
		assert.Equal(t, 0, inner.Parent)
		assert.Equal(t, time.Duration(2001), inner.Start, "rounded to nanoseconds")
		assert.Equal(t, int64(12), inner.Sequence)
		assert.Equal(t, "ProfilerStep#1", trace.Notes[0].Name)
		assert.Empty(t, trace.Flows, "a flow without a beginning")
		assert.Equal(t, 5, trace.Events)
	}
}

// Kernels belong to the innermost operator around their launch, or to the operator that they name.
func TestKernelsBelongToOperators(t *testing.T) {
	trace, err := Parse([]byte(traceOf(op("aten::linear", 7, "1", "20", shaped), op("aten::addmm", 7, "2", "10",
		shaped+`, "External id": 3`),
		runtime("cudaLaunchKernel", "4", "3", `"correlation": 90`),
		runtime("cudaLaunchKernel", "14", "3", `"correlation": 91`),
		runtime("cudaDeviceSynchronize", "30", "5", ``),
		device("kernel", "6", "4.5", `"correlation": 90`), device("gpu_memset", "15", "1", `"correlation": 91`),
		device("kernel", "40", "2", `"External id": 3`), device("kernel", "50", "1", `"correlation": 77`))))
	require.NoError(t, err)
	assert.Equal(t, time.Microsecond, trace.Operators[0].Device)
	assert.Equal(t, 6500*time.Nanosecond, trace.Operators[1].Device)
	var owners []int
	for _, k := range trace.Kernels {
		owners = append(owners, k.Operator)
	}
	assert.Equal(t, []int{1, 0, 1, -1}, owners)
	require.Len(t, trace.Syncs, 1)
	assert.Equal(t, 5*time.Microsecond, trace.Syncs[0].Length)
}

func TestReadNamesTheFile(t *testing.T) {
	_, err := Read(files.OS{}, "none.json")
	assert.ErrorContains(t, err, "read trace: open none.json")
}

// Any bytes give a trace whose operators nest, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(traceOf(mm, op("aten::t", 1, "2", "3", shaped), flow("s", "3", "2"), flow("f", "3", "4"))))
	f.Add([]byte(traceOf(mm, device("cuda_runtime", "2", "1", `"correlation": 5`), device("kernel", "3", "1",
		`"correlation": 5`))))
	f.Add([]byte(gzipped(traceOf(mm))))
	f.Add([]byte(traceOf(op("aten::mm", 1, "1.25e3", "1e-3", `"Input Dims": [[[2, 3], [4]], []]`))))
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := Parse(data)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NotEmpty(t, trace.Operators)
		var outermost, own time.Duration
		for k := range trace.Operators {
			o := &trace.Operators[k]
			require.GreaterOrEqual(t, o.Length, time.Duration(0))
			require.Less(t, o.Parent, k)
			if own += o.Own; o.Parent < 0 {
				outermost += o.Length
			} else {
				parent := &trace.Operators[o.Parent]
				require.True(t, parent.Thread == o.Thread && parent.Start <= o.Start &&
					o.End() <= parent.End()+rounding)
			}
		}
		require.Equal(t, outermost, own)
		for _, k := range trace.Kernels {
			require.True(t, k.Operator >= -1 && k.Operator < len(trace.Operators))
		}
	})
}
