package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"graft/trainer"
)

// bars draw where a job stands on a terminal, beneath the lines of the log. They read
// the board by themselves, so that a terminal that stands still stops no job.
type bars struct {
	screen   *screen
	progress *mpb.Progress
	bar      *mpb.Bar
}

// refresh is how often they are drawn anew.
const refresh = 200 * time.Millisecond

// drawable says whether there is a terminal that can be drawn on, and a person who
// wants it.
func drawable(s *screen) bool {
	file, ok := s.w.(*os.File)
	if !ok || s.quiet || os.Getenv("TERM") == "dumb" {
		return false
	}
	width, height, err := cwriter.GetSize(int(file.Fd()))
	return err == nil && width > 0 && height > 2
}

// drawBars begins to draw.
func drawBars(s *screen, b *board) *bars {
	d := &bars{screen: s, progress: mpb.New(mpb.WithOutput(s.w), mpb.WithRefreshRate(refresh))}
	right := decor.Any(func(decor.Statistics) string { return " " + timeText(b.read().Progress) })
	d.bar = d.progress.MustAdd(1, budgetFiller(b), mpb.BarFillerTrim(), mpb.AppendDecorators(right), mpb.BarExtender(factsFiller(b), false))
	s.mu.Lock()
	s.over = d.progress
	s.mu.Unlock()
	return d
}

// close takes away what was drawn. Lines wait for it, as none would lie above it.
func (d *bars) close() {
	if d == nil {
		return
	}
	d.screen.mu.Lock()
	defer d.screen.mu.Unlock()
	d.bar.Abort(true)
	d.progress.Wait()
	d.screen.over = nil
}

// budgetFiller draws how much of the budget has passed.
func budgetFiller(b *board) mpb.BarFiller {
	style := mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]")
	if os.Getenv("NO_COLOR") == "" {
		style = style.FillerMeta(coloured).TipMeta(coloured)
	}
	inner := style.Build()
	return mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
		p := b.read()
		stat.Total, stat.Current, stat.Completed = max(1, int64(p.Budget)), int64(p.Time), false
		return inner.Fill(w, stat)
	})
}

func coloured(text string) string { return "\x1b[36m" + text + "\x1b[0m" }

// factsFiller writes the line below the bar.
func factsFiller(b *board) mpb.BarFiller {
	return mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
		_, err := fmt.Fprintln(w, factsText(b.read(), stat.AvailableWidth))
		return err
	})
}

// timeText is how much of the budget is left.
func timeText(p trainer.Progress) string {
	return fmt.Sprintf("%s of %s left", spanText(p.Left), spanText(p.Budget))
}

// factsText is where a job stands on a line of a width, with the least important
// left out where it is narrow.
func factsText(m *moment, width int) string {
	parts := []string{fmt.Sprintf("epoch %d", m.Epoch)}
	if m.Loss > 0 {
		parts = append(parts, fmt.Sprintf("loss %.3f", m.Loss))
	}
	if m.Evaluated {
		parts = append(parts, "validation "+accuracyText(m.Validation.Accuracy))
	}
	parts = append(parts, counted(m.Devices, "device"), fmt.Sprintf("%s with %s in %s", m.network, counted(m.Parameters, "parameter"), counted(m.Layers, "layer")))
	if next := eventText(m.Next); next != "" {
		parts = append(parts, next)
	}
	line := ""
	for k, part := range parts {
		if k > 0 {
			part = "  " + part
		}
		if utf8.RuneCountInString(line+part) > width {
			break
		}
		line += part
	}
	return strings.TrimSpace(line)
}

// counted is a number of things.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
