// Package prometheus writes metrics in the text format of Prometheus.
package prometheus

import (
	"fmt"
	"strconv"
	"strings"
)

// ContentType is the content type of the text format in HTTP responses.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Text collects metrics in the text format of Prometheus, version 0.0.4. The zero value is empty.
type Text struct {
	strings.Builder
	name string // name of the current family
}

// Family starts a metric whose kind is gauge or counter. The following calls of Sample add its values.
func (t *Text) Family(name, kind, help string) {
	t.name = name
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, helpEscapes.Replace(help), name, kind)
}

// Sample writes a value of the metric that Family started. Labels alternate between name and value.
func (t *Text) Sample(value float64, labels ...string) {
	t.WriteString(t.name)
	for k := 0; k+1 < len(labels); k += 2 {
		fmt.Fprintf(t, `%c%s="%s"`, "{,"[min(k, 1)], labels[k],
			labelEscapes.Replace(strings.ToValidUTF8(labels[k+1], "\uFFFD")))
	}
	if len(labels) > 1 {
		t.WriteByte('}')
	}
	t.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// Gauge writes a metric with one value. If the value is nil, it writes nothing.
func (t *Text) Gauge(name, help string, value *float64) {
	if value != nil {
		t.Family(name, "gauge", help)
		t.Sample(*value)
	}
}

// Counter writes a metric with one value that never decreases.
func (t *Text) Counter(name, help string, value float64) {
	t.Family(name, "counter", help)
	t.Sample(value)
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)
