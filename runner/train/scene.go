package train

import (
	"fmt"

	"graft/internal/telemetry"
	"graft/internal/words"
	"graft/report/document"
	"graft/runner/app"
	"graft/runner/control"
	"graft/trainer"
)

// sceneOf returns the progress of a job with its GPUs.
func sceneOf(m *control.Monitor, gpus func() []telemetry.State) app.Progress {
	return app.Progress{
		Done: func() (int64, int64) {
			p := m.Read()
			return int64(p.Time), int64(p.Budget)
		},
		Text:    func() string { return timeText(m.Read().Progress) },
		Details: func(width int) string { return factsText(m.Read(), gpus(), width) },
	}
}

// timeText describes the remaining budget.
func timeText(p trainer.Progress) string {
	return fmt.Sprintf("%s of %s left", document.RoughDurationText(p.Left), document.RoughDurationText(p.Budget))
}

// factsText formats progress on a line of at most width characters. The least important facts come last and are dropped
// first.
func factsText(s *control.Snapshot, gpus []telemetry.State, width int) string {
	parts := []string{fmt.Sprintf("epoch %d", s.Epoch)}
	if s.Loss > 0 {
		parts = append(parts, fmt.Sprintf("loss %.3f", s.Loss))
	}
	if s.Evaluated {
		parts = append(parts, "validation "+document.AccuracyText(s.Validation.Accuracy))
	}
	if s.Efficiency > 0 {
		parts = append(parts, fmt.Sprintf("batch %d at %.0f images/s, efficiency %.2f", s.Batch, s.Throughput,
			s.Efficiency))
	}
	parts = append(parts, gpuTexts(gpus)...)
	parts = append(parts, words.Plural(s.Devices, "device"), fmt.Sprintf("%s with %s in %s", s.Network,
		words.Plural(s.Parameters, "parameter"), words.Plural(s.Layers, "layer")))
	if next := eventText(s.Next); next != "" {
		parts = append(parts, next)
	}
	return app.FitLine(parts, width)
}

// gpuTexts describes the utilization of GPUs.
func gpuTexts(gpus []telemetry.State) (texts []string) {
	for _, g := range gpus {
		text := fmt.Sprintf("GPU %d", g.Index)
		if v, known := g.Reading.UtilizationPercent.Get(); known {
			text += fmt.Sprintf(" %.0f%% busy", v)
		}
		if v, known := g.Reading.MemoryUsedMiB.Get(); known {
			text += fmt.Sprintf(" %.1f GiB", v/1024)
		}
		if v, known := g.Reading.PowerWatts.Get(); known {
			text += fmt.Sprintf(" %.0f W", v)
		}
		texts = append(texts, text)
	}
	return texts
}

// eventText describes an event of the timeline; empty if there is none.
func eventText(e trainer.Event) string {
	switch {
	case e.Change == trainer.Same:
		return ""
	case e.Devices > 0:
		return fmt.Sprintf("%s to %d at %s", e.Change, e.Devices, document.RoughDurationText(e.At))
	}
	return fmt.Sprintf("%s at %s", e.Change, document.RoughDurationText(e.At))
}
