package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/report/page/pagetest"
	"graft/results"
)

// manyRuns writes runs of every kind: some are running, some were stopped, and one failed.
func manyRuns(t testing.TB) string {
	all := writeAll(t)
	now := time.Now()
	progressed(t, all["open"], 21.5, 60, "s", now)
	progressed(t, all["cluster-open"], 3, 12, "cells", now, 120, 90.5, 101)
	progressed(t, all["node-open"], 7, 9, "cells", now, 30, 28, 44, 31, 30, 25, 22)
	progressed(t, all["policies-open"], 30, 40, "steps", now)
	progressed(t, all["elastic-learning-open"], 5, 20, "steps", now)
	trial := filepath.Join(all["comparison-open"], "trials", "never", "seed-1")
	writeJob(t, trial, writtenJob{seed: 1, epochs: 4, accuracy: 0.5, open: true})
	progressed(t, trial, 45, 60, "s", now)
	text, err := json.Marshal(results.Progress{Done: 3, Of: 9, Unit: "tables", Failed: "no memory"})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(all["evaluation-open"], results.ProgressFile), text, 0o600))
	past := now.Add(-time.Hour)
	entries, err := filepath.Glob(filepath.Join(all["policy-open"], "*"))
	require.NoError(t, err)
	for _, path := range entries {
		require.NoError(t, os.Chtimes(path, past, past))
	}
	return filepath.Dir(all["job"])
}

// visible is a script that returns the names of the listed runs.
const visible = `[...document.querySelectorAll("tbody tr")].filter(tr => tr.dataset.key && !tr.hidden)` +
	`.map(tr => tr.dataset.key).join(" ")`

// Filters, nested runs and the order of columns work by pointer and by keys. A link, a reload and an update keep the
// filtered view.
func TestListFiltersInABrowser(t *testing.T) {
	dir := manyRuns(t)
	b := browse(t, dir)
	open := func(query string) {
		require.NoError(t, b.Open(b.url+"/"+query, pagetest.Look{Width: 1400}))
		b.until(`!document.querySelector(".live").hidden && !document.querySelector(".filter").hidden`)
	}
	open("?kind=sweep")
	require.Equal(t, "comparison-open comparison", b.text(visible))
	require.Equal(t, "sweep", b.text(`document.querySelector("[data-by=kind]").value`))
	require.Contains(t, b.text(`document.querySelector(".shown").textContent`), "2 of ")

	require.NoError(t, b.Eval(`document.querySelector("tr[data-key=comparison-open] .fold").focus()`, nil))
	require.NoError(t, b.Press("Enter"))
	require.Equal(t, "true", b.text(`document.activeElement.getAttribute("aria-expanded")`))
	const opened = "comparison-open comparison-open/trials/as-configured/seed-1 " +
		"comparison-open/trials/as-configured/seed-2 comparison-open/trials/as-configured/seed-3 " +
		"comparison-open/trials/as-configured/seed-4 comparison-open/trials/never/seed-1 comparison"
	require.Equal(t, opened, b.text(visible))
	progressed(t, filepath.Join(dir, "cluster-open"), 6, 12, "cells", time.Now(), 120, 90.5, 101, 80)
	b.until(`document.querySelector("tr[data-key=cluster-open]").textContent.includes("50 % of 12 cells")`)
	require.Equal(t, opened, b.text(visible), "an update keeps what is shown")
	require.Equal(t, "true", b.text(`document.activeElement.matches(".fold")`))

	require.NoError(t, b.Click(".clear"))
	require.Equal(t, "/", b.text(`location.pathname + location.search`))
	require.NoError(t, b.Eval(`(() => { const by = document.querySelector("[data-by=state]"); by.value = "failed"; `+
		`by.dispatchEvent(new Event("input", {bubbles: true})); })()`, nil))
	require.Equal(t, "evaluation-open", b.text(visible))
	require.Equal(t, "?state=failed", b.text(`location.search`))
	open("?state=stopped")
	require.Contains(t, b.text(visible), "policy-open")

	open("?q=never")
	require.Contains(t, b.text(visible), "comparison comparison/trials/never/seed-1", "the run around a match is there")
	require.NotContains(t, b.text(visible), "as-configured")

	open("?kind=node&sort=progress&order=descending")
	require.Equal(t, "node node-open", b.text(visible))
	require.Equal(t, "descending", b.text(`document.querySelector("[data-name=progress]").getAttribute("aria-sort")`))
	require.NoError(t, b.Click(`[data-name=run] button`))
	require.Equal(t, "?kind=node&sort=run&order=ascending", b.text(`location.search`))
	require.NoError(t, b.Click(`[data-name=run] button`))
	require.NoError(t, b.Eval(`window.before = true; location.reload()`, nil))
	b.until(`!window.before && document.querySelector("[data-name=run]")?.getAttribute("aria-sort") === "descending"`)
	require.Equal(t, "node-open node", b.text(visible))
	require.Equal(t, "0", b.text(`document.querySelectorAll("[data-name=trend] button").length`))
	open("?sort=run&order=ascending&state=done")
	require.Regexp(t, "^adaptive cluster comparison comparison-open .* job left-out node node-profile pipeline ",
		b.text(visible))
	open("?kind=nothing&q=%3Cscript%3E")
	require.Equal(t, "", b.text(visible))
	require.Equal(t, "nothing", b.text(`document.querySelector("[data-by=kind]").value`))
	b.fits(1400)
}

// The list fits phones and wide windows, light and dark. GRAFT_PICTURES names a folder for pictures of it.
func TestListFits(t *testing.T) {
	b := browse(t, manyRuns(t))
	for name, look := range map[string]pagetest.Look{"phone": {Width: 360}, "phone-dark": {Width: 360, Dark: true},
		"wide": {Width: 1400}, "wide-dark": {Width: 1400, Dark: true}, "plain": {Width: 1400, Plain: true}} {
		require.NoError(t, b.Open(b.url+"/", look))
		if !look.Plain {
			b.until(`!document.querySelector(".live").hidden`)
			require.NoError(t, b.Eval(`document.querySelector("tr[data-key=comparison-open] .fold").click()`, nil))
			b.fits(look.Width)
		}
		if folder := os.Getenv("GRAFT_PICTURES"); folder != "" {
			picture, err := b.PNG(look.Width, 1300)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(folder, "list-"+name+".png"), picture, 0o600))
		}
	}
}
