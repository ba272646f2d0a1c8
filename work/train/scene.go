package train

import (
	"fmt"

	"graft/results/document"
	"graft/trainer"
	"graft/work"
	"graft/work/control"
)

// sceneOf is the progress of a job.
func sceneOf(m *control.Monitor) work.Scene {
	return work.Scene{
		Part: func() (int64, int64) {
			p := m.Read()
			return int64(p.Time), int64(p.Budget)
		},
		Right: func() string { return timeText(m.Read().Progress) },
		Facts: func(width int) string { return factsText(m.Read(), width) },
	}
}

// timeText says how much of the budget is left.
func timeText(p trainer.Progress) string {
	return fmt.Sprintf("%s of %s left", document.SpanText(p.Left), document.SpanText(p.Budget))
}

// factsText is progress on a line of at most width characters. The least important facts
// come last and are dropped first.
func factsText(s *control.Snapshot, width int) string {
	parts := []string{fmt.Sprintf("epoch %d", s.Epoch)}
	if s.Loss > 0 {
		parts = append(parts, fmt.Sprintf("loss %.3f", s.Loss))
	}
	if s.Evaluated {
		parts = append(parts, "validation "+document.AccuracyText(s.Validation.Accuracy))
	}
	parts = append(parts, document.Counted(s.Devices, "device"), fmt.Sprintf("%s with %s in %s", s.Network, document.Counted(s.Parameters, "parameter"), document.Counted(s.Layers, "layer")))
	if next := eventText(s.Next); next != "" {
		parts = append(parts, next)
	}
	return work.FitLine(parts, width)
}

// eventText describes an event of the timeline; empty where there is none.
func eventText(e trainer.Event) string {
	switch {
	case e.Change == trainer.Same:
		return ""
	case e.Devices > 0:
		return fmt.Sprintf("%s to %d at %s", e.Change, e.Devices, document.SpanText(e.At))
	}
	return fmt.Sprintf("%s at %s", e.Change, document.SpanText(e.At))
}
