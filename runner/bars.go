package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"graft/runner/app"
)

// bars draw the progress of a command on a terminal, below the lines of the log. They poll it from a separate
// goroutine, so that a blocked terminal blocks no work.
type bars struct {
	screen   *screen
	progress *mpb.Progress
	bar      *mpb.Bar
}

// refresh is the redraw interval of the bars.
const refresh = 200 * time.Millisecond

// drawable reports whether bars can be drawn on a screen: a terminal with a size, without --quiet.
func drawable(s *screen) bool {
	file, ok := s.w.(*os.File)
	if !ok || s.quiet || os.Getenv("TERM") == "dumb" {
		return false
	}
	width, height, err := cwriter.GetSize(int(file.Fd()))
	return err == nil && width > 0 && height > 2
}

// drawBars starts drawing.
func drawBars(s *screen, what app.Progress) *bars {
	d := &bars{screen: s, progress: mpb.New(mpb.WithOutput(s.w), mpb.WithRefreshRate(refresh))}
	right := decor.Any(func(decor.Statistics) string { return " " + what.Text() })
	d.bar = d.progress.MustAdd(1, partFiller(what.Done), mpb.BarFillerTrim(), mpb.AppendDecorators(right),
		mpb.BarExtender(factsFiller(what.Details), false))
	s.mu.Lock()
	s.over = d.progress
	s.mu.Unlock()
	return d
}

// close erases the bars. Log lines wait until it is done.
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

// partFiller draws the completed part.
func partFiller(part func() (done, all int64)) mpb.BarFiller {
	style := mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]")
	if os.Getenv("NO_COLOR") == "" {
		style = style.FillerMeta(coloured).TipMeta(coloured)
	}
	inner := style.Build()
	return mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
		done, all := part()
		stat.Total, stat.Current, stat.Completed = max(1, all), done, false
		return inner.Fill(w, stat)
	})
}

func coloured(text string) string { return "\x1b[36m" + text + "\x1b[0m" }

// factsFiller writes the line below the bar.
func factsFiller(facts func(width int) string) mpb.BarFiller {
	return mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
		_, err := fmt.Fprintln(w, facts(stat.AvailableWidth))
		return err
	})
}
