package report

import (
	"cmp"
	"fmt"
	"strings"

	"graft/internal/telemetry"
	"graft/report/document"
)

// GPUs returns a table of the constant properties of GPUs.
func GPUs(list []telemetry.State) *document.Table {
	t := (&document.Table{}).Numbers("", "", "GPU").Texts("name", "UUID").Numbers("", "%.0f", "MiB").Texts("MIG",
		"compute mode")
	for _, s := range list {
		mig := any(document.Missing())
		if on, known := s.MIG.Get(); known {
			mig = map[bool]string{false: "off", true: "on"}[on]
		}
		t.Add(s.Index, Word(s.Name), Word(s.UUID), Optional(s.MemoryMiB), mig, Word(s.ComputeMode))
	}
	return t
}

// Readings returns a table with the current reading of each GPU.
func Readings(list []telemetry.State) *document.Table {
	t := (&document.Table{}).Numbers("", "", "GPU").Numbers("", "%.0f", "busy %", "MiB in use").Numbers("", "%.1f",
		"W").Numbers("", "%.0f", "J", "°C", "SM MHz", "memory MHz").Texts("reduced clock", "processes")
	for _, s := range list {
		r := &s.Reading
		throttle, processes := any(document.Missing()), any(document.Missing())
		if reasons, known := r.Throttle.Get(); known {
			throttle = reasons.String()
		}
		if all, known := r.Processes.Get(); known {
			processes = processText(all)
		}
		t.Add(s.Index, Optional(r.UtilizationPercent), Optional(r.MemoryUsedMiB), Optional(r.PowerWatts),
			Optional(r.EnergyJoules), Optional(r.TemperatureCelsius), Optional(r.SMClockMHz),
			Optional(r.MemoryClockMHz), throttle, processes)
	}
	return t
}

func processText(all []telemetry.Process) string {
	var texts []string
	for _, p := range all {
		memory := "-"
		if v, known := p.MemoryMiB.Get(); known {
			memory = fmt.Sprintf("%.0f", v)
		}
		texts = append(texts, fmt.Sprintf("%d: %s MiB", p.PID, memory))
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// Optional returns a cell that shows a number, or a dash if the number is unknown.
func Optional(o telemetry.Optional[float64]) document.Cell {
	if v, known := o.Get(); known {
		return document.Value(v, "")
	}
	return document.Missing()
}

// Word returns a value for [document.Table.Add]: the text or, if the text is empty and thus unknown, a cell that shows
// a dash.
func Word(text string) any {
	if text == "" {
		return document.Missing()
	}
	return text
}
