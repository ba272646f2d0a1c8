package operators

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/trainer/costs/kineto"
)

// law is a device with known times.
type law struct {
	launch    float64 // seconds per operator and direction
	operation float64 // seconds per operation of a product or a convolution
	byte      float64 // seconds per byte
	update    float64 // seconds per byte of a parameter
	cuda      bool    // whether the work runs in kernels
}

// cpuLaw has round rates of a slow processor.
var cpuLaw = law{launch: 20e-6, operation: 1e-10, byte: 1e-10, update: 5e-10}

// seconds returns the time of the work of a call in a direction, without the launch.
func (l *law) seconds(c *Call, back int) float64 {
	factor := float64(1 + back)
	switch {
	case c.Name == Updating:
		return l.update * c.Bytes
	case c.Name == "linear" || c.Name == "conv2d":
		return factor * (l.operation*c.Operations + l.byte*c.Bytes)
	}
	return factor * l.byte * c.Bytes
}

// tracer writes a trace in which the operators of a network take the times of a law.
type tracer struct {
	law
	events []string
	now    float64 // microseconds
	number int     // of the next kernel
	device float64 // time until which the device is busy, in microseconds
	thread int     // number of the thread that runs operators
	lists  bool    // whether the optimizer updates all parameters in one operator
}

func shapesList(text string) string {
	var list []string
	for word := range strings.FieldsSeq(text) {
		list = append(list, "["+strings.ReplaceAll(word, "x", ",")+"]")
	}
	return "[" + strings.Join(append(list, "[]"), ", ") + "]"
}

func (w *tracer) add(format string, args ...any) {
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

// run adds an operator, with the kernel that does its work.
func (w *tracer) run(name, shapes string, sequence int, work float64) {
	start, length := w.now, 1e6*w.launch
	if w.cuda {
		w.number++
		w.add(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": %d, "ts": %.3f, `+
			`"dur": 1, "args": {"correlation": %d}}`, w.thread, start+1, w.number)
		w.device = max(w.device, start+3)
		w.add(`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %.3f, "dur": %.3f, `+
			`"args": {"correlation": %d}}`, w.device, 1e6*work, w.number)
		w.device += 1e6 * work
	} else {
		length += 1e6 * work
	}
	w.add(`{"ph": "X", "cat": "cpu_op", "name": %q, "pid": 1, "tid": %d, "ts": %.3f, "dur": %.3f, `+
		`"args": {"Sequence number": %d, "Input Dims": %s}}`, name, w.thread, start, length, sequence,
		shapesList(shapes))
	w.now += length
}

// note adds a range around the events that do adds.
func (w *tracer) note(name string, do func()) {
	start := w.now
	do()
	w.add(`{"ph": "X", "cat": "user_annotation", "name": %q, "pid": 1, "tid": 1, "ts": %.3f, "dur": %.3f}`, name, start,
		w.now-start)
}

// loss and wait are the times of the synthetic loss, and before the step, in microseconds.
const loss, wait = 70, 30

// step adds a training step.
func (w *tracer) step(calls []Call) {
	first := len(w.events) + 1
	w.now += wait
	for k := range calls {
		if c := &calls[k]; c.Name != Updating {
			w.run("aten::"+c.key().name, c.Shapes, first+k, w.seconds(c, 0))
		}
	}
	w.add(`{"ph": "X", "cat": "cpu_op", "name": "aten::cross_entropy_loss", "pid": 1, "tid": 1, "ts": %.3f, `+
		`"dur": %d, "args": {"Sequence number": %d, "Input Dims": [[4,10],[4]]}}`, w.now, loss, first+len(calls))
	w.now += loss
	if w.cuda { // PyTorch runs the backward pass of each device in a thread
		w.thread = 2
	}
	for k := len(calls) - 1; k >= 0; k-- {
		if c := &calls[k]; c.Name != Updating {
			w.run(backward+": Node", "", first+k, w.seconds(c, 1))
		}
	}
	w.thread = 0
	w.note(optimizing+"#SGD.step", func() {
		if w.lists {
			w.foreach(calls)
			return
		}
		for k := range calls {
			if c := &calls[k]; c.Name == Updating {
				w.run("aten::add_", c.Shapes, 0, w.seconds(c, 0))
			}
		}
	})
}

// foreach adds one operator on all parameters. It takes the sum of their times.
func (w *tracer) foreach(calls []Call) {
	shapes, work := "", 0.0
	for k := range calls {
		if c := &calls[k]; c.Name == Updating {
			shapes += " " + c.Shapes
			work += w.seconds(c, 0)
		}
	}
	w.run("aten::_foreach_add_", shapes, 0, work)
}

// trace returns the trace.
func (w *tracer) trace(t *testing.T) *kineto.Trace {
	t.Helper()
	trace, err := kineto.Parse([]byte(w.text()))
	require.NoError(t, err)
	return trace
}

func (w *tracer) text() string { return `{"traceEvents": [` + strings.Join(w.events, ",\n") + "]}" }

// stepSeconds returns the time of a step by the law: on CUDA, the slower of host and device.
func (l *law) stepSeconds(calls []Call) float64 {
	host, device := 1e-6*(loss+wait), 0.0
	for k := range calls {
		c := &calls[k]
		for back := range 2 {
			if back == 1 && c.Name == Updating {
				continue
			}
			host += l.launch
			if l.cuda {
				device += l.seconds(c, back)
			} else {
				host += l.seconds(c, back)
			}
		}
	}
	return max(host, device)
}

func zoo(t testing.TB, name string, input ...int) *model.Network {
	t.Helper()
	n, err := model.Zoo(name, model.ZooOptions{Input: input})
	require.NoError(t, err)
	return n
}

func callsOf(t *testing.T, n *model.Network, rows int) []Call {
	t.Helper()
	calls, err := Calls(n, rows)
	require.NoError(t, err)
	return calls
}
