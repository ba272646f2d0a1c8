package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/listen"
	"graft/report/page/pagetest"
	"graft/report/serve"
	"graft/results"
	"graft/trainer"
)

// browsing is a browser that shows pages of a served folder.
type browsing struct {
	*pagetest.Browser
	t   *testing.T
	url string
}

func browse(t *testing.T, dir string) *browsing {
	chromium := pagetest.Need(t)
	server := httptest.NewServer(serve.New(serve.Options{Files: files.Beneath(dir), Dir: dir,
		Every: 50 * time.Millisecond, Now: time.Now, Hosts: listen.IsLoopback, Version: thisVersion()}))
	t.Cleanup(server.Close) // runs after the browser closes, because an open browser keeps sending requests
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	b, err := pagetest.Start(ctx, chromium)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return &browsing{b, t, server.URL}
}

func (b *browsing) text(script string) string {
	b.t.Helper()
	var v any
	require.NoError(b.t, b.Eval(script, &v))
	return fmt.Sprint(v)
}

func (b *browsing) until(condition string) {
	b.t.Helper()
	require.NoError(b.t, b.Until(condition))
}

// fits checks that a page is no wider than its window, sent no request elsewhere, and logged nothing.
func (b *browsing) fits(width int) {
	b.t.Helper()
	var wide int
	require.NoError(b.t, b.Eval(`document.documentElement.scrollWidth`, &wide))
	require.LessOrEqual(b.t, wide, width, b.text(`location.href`))
	for _, address := range b.Asked() {
		require.True(b.t, strings.HasPrefix(address, b.url+"/"), address)
	}
	require.Empty(b.t, b.Complaints())
}

// writing is a job that advances when a test tells it to.
type writing struct {
	t     *testing.T
	run   *results.Run
	book  *trainer.Folder
	epoch int
}

func writes(t *testing.T, dir string) *writing {
	run, err := results.Create(files.OS{}, dir, results.CreateOptions{Resolved: "[run]\nseed = 7\n"},
		results.Manifest{Created: when, Seed: 7, Device: "cpu", Network: "ConvSmall"})
	require.NoError(t, err)
	book, err := trainer.OpenFolder(run, false)
	require.NoError(t, err)
	w := &writing{t: t, run: run, book: book}
	require.NoError(t, book.Note(trainer.Note{Event: "start", Devices: 1, Parameters: 10, Before: 10}))
	w.goOn(3)
	return w
}

func (w *writing) goOn(epochs int) {
	for range epochs {
		accuracy := 0.5 + float64(w.epoch)/100
		require.NoError(w.t, w.book.Epoch(trainer.Row{Epoch: w.epoch, Time: time.Duration(w.epoch+1) * time.Second,
			Steps: int64(w.epoch+1) * 10, Loss: 1, Accuracy: accuracy,
			Validation: trainer.Score{Loss: 1, Accuracy: accuracy}, Rate: 0.01, Parameters: 10, Devices: 1}))
		w.epoch++
	}
}

func (w *writing) end() {
	require.NoError(w.t, w.run.WriteOutcome(&trainer.Outcome{Epochs: w.epoch, Budget: time.Minute,
		Validation: trainer.Score{Loss: 1, Accuracy: 0.75}, Digest: "x"}))
	require.NoError(w.t, w.run.Close())
}

// A user goes from the list to a running job, whose page updates in place, back to the list, and to a comparison, by
// pointer and by keys.
func TestServeInABrowser(t *testing.T) {
	dir := t.TempDir()
	writeJob(t, filepath.Join(dir, "ended"), writtenJob{seed: 1, epochs: 6, accuracy: 0.75})
	w := writes(t, filepath.Join(dir, "open"))
	b := browse(t, dir)
	require.NoError(t, b.Open(b.url+"/", pagetest.Look{Width: 1400}))
	require.NoError(t, b.Click(`a[href="/run/open"]`))
	b.until(`location.pathname === "/run/open" && document.querySelector(".live ` +
		`.state")?.textContent.startsWith("Live")`)

	last := `[...document.querySelectorAll("table")].at(-1)`
	require.NoError(t, b.Eval(last+`.querySelector("button").focus()`, nil))
	require.NoError(t, b.Press("Enter"))
	require.NoError(t, b.Press("Enter"))
	require.NoError(t, b.Eval(`(window.button = document.activeElement).scrollIntoView(); `+
		`document.querySelector("details").open = true`, nil))
	require.Equal(t, "2", b.text(last+`.tBodies[0].rows[0].cells[0].textContent`), "the last epoch first")
	require.NoError(t, w.book.Note(trainer.Note{Time: 3 * time.Second, Event: "up", Devices: 2, Parameters: 10,
		Before: 10}))
	w.goOn(2)
	b.until(last + `.tBodies[0].rows.length === 5`)
	require.Equal(t, "4", b.text(last+`.tBodies[0].rows[0].cells[0].textContent`), "it is sorted as it was")
	require.Equal(t, "true", b.text(`document.activeElement === window.button && window.button.isConnected`),
		"the focus is where it was")
	require.Equal(t, "true", b.text(`document.querySelector("details").open`))
	require.Equal(t, "true", b.text(`document.querySelector(".live .state").textContent.startsWith("Updated")`))
	require.Equal(t, "5 epochs", b.text(last+`.closest("section").querySelector("h2").textContent`))
	require.NoError(t, b.Hover(".mark.up"))
	require.Contains(t, b.text(`document.querySelector(".detail").textContent`), "3 s: up, 2 devices")
	b.fits(1400)

	require.NoError(t, b.Click(`header a[href="/"]`))
	b.until(`location.pathname === "/" && document.readyState === "complete"`)
	require.Equal(t, "running", b.text(`document.querySelector("tbody td:nth-child(4)").textContent`))
	require.NoError(t, b.Eval(`document.querySelector("input[value=open]").focus()`, nil))
	require.NoError(t, b.Press("Space"))
	w.end()
	b.until(`[...document.querySelectorAll("tbody tr")].every(tr => tr.cells[3].textContent === "done")`)
	require.Equal(t, "open true", b.text(`document.activeElement.value + " " + document.activeElement.checked`),
		"who chooses is not disturbed")
	require.NoError(t, b.Click(`input[value=ended]`))
	require.NoError(t, b.Click(`p.pick button`))
	b.until(`location.pathname === "/compare" && document.readyState === "complete"`)
	require.Equal(t, "Comparison of 2 jobs", b.text(`document.querySelector("h2").textContent`))
	b.fits(1400)
}

// Pages fit phones and wide windows, light and dark, also after a reload. If GRAFT_AXE is the path of axe.min.js,
// axe-core finds no violation.
func TestServedPagesFit(t *testing.T) {
	all := writeAll(t)
	dir := filepath.Dir(all["job"])
	badFolders(t, filepath.Join(dir, "bad"))
	b := browse(t, dir)
	axe, err := os.ReadFile(os.Getenv("GRAFT_AXE"))
	require.True(t, err == nil || os.Getenv("GRAFT_AXE") == "", err)
	for _, address := range []string{"/", "/run/job", "/compare?run=job&run=open&run=simulation"} {
		for _, look := range []pagetest.Look{{Width: 360}, {Width: 360, Dark: true}, {Width: 1400, Dark: true},
			{Width: 1400}} {
			require.NoError(t, b.Open(b.url+address, look))
			b.until(`!document.querySelector(".live").hidden`)
			b.fits(look.Width)
			if len(axe) == 0 {
				continue
			}
			require.NoError(t, b.Eval(string(axe), nil))
			var found json.RawMessage
			require.NoError(t, b.Eval(`axe.run().then(r => r.violations.map(v => [v.id, `+
				`v.nodes.map(n => n.html)]))`, &found))
			require.JSONEq(t, "[]", string(found), address)
			var passes int
			require.NoError(t, b.Eval(`axe.run().then(r => r.passes.length)`, &passes))
			require.Greater(t, passes, 20)
		}
	}
}
