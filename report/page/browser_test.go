package page_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/report/page"
	"graft/report/page/pagetest"
)

// opened starts a browser, and returns it and the address of a page in a file.
func opened(t *testing.T, p *page.Page) (*pagetest.Browser, string) {
	t.Helper()
	chromium := pagetest.Need(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(path, []byte(rendered(t, p)), 0o600))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute) // cancelled after the browser is closed
	t.Cleanup(cancel)
	b, err := pagetest.Start(ctx, chromium)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b, "file://" + path
}

// read returns the value of a script in the page.
func read[T any](t *testing.T, b *pagetest.Browser, script string) T {
	t.Helper()
	var v T
	require.NoError(t, b.Eval(script, &v))
	return v
}

// In a browser a page sorts tables, describes its events, requests nothing, logs nothing, and is never wider than its
// window.
func TestPageInABrowser(t *testing.T) {
	b, address := opened(t, sample())
	for _, look := range []pagetest.Look{{Width: 360}, {Width: 360, Dark: true}, {Width: 1400},
		{Width: 1400, Dark: true}} {
		require.NoError(t, b.Open(address, look))
		t.Run("sorts", func(t *testing.T) { sorts(t, b) })
		t.Run("tells events", func(t *testing.T) { tells(t, b) })
		require.LessOrEqual(t, read[int](t, b, `document.documentElement.scrollWidth`), look.Width)
		require.Equal(t, map[bool]string{false: "rgb(255, 255, 255)", true: "rgb(17, 20, 24)"}[look.Dark],
			read[string](t, b, `getComputedStyle(document.body).backgroundColor`))
		require.Equal(t, []string{address}, b.Asked(), "a page asks for nothing but itself")
		require.Empty(t, b.Complaints())
	}
	require.NoError(t, b.Eval(`fetch("data:,x").then(() => "came", () => "kept")`, nil))
	require.NotEmpty(t, b.Complaints(), "a page cannot ask for anything, and what it complains of is heard")
	pdf, err := b.PDF()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(pdf), "%PDF"))
}

// Without its script a page is readable and shows no controls.
func TestPageWithoutItsScript(t *testing.T) {
	b, address := opened(t, sample())
	require.NoError(t, b.Open(address, pagetest.Look{Width: 360, Plain: true}))
	require.Equal(t, 0, read[int](t, b, `document.querySelectorAll("button").length`))
	require.Equal(t, "0.5 s: up, 2 devices", read[string](t, b, `document.querySelector(".mark.up title").textContent`))
	require.False(t, read[bool](t, b, `document.querySelector(".detail").checkVisibility()`))
	require.Equal(t, 15, read[int](t, b,
		`[...document.querySelectorAll("tbody tr")].filter(r => r.checkVisibility()).length`))
	require.LessOrEqual(t, read[int](t, b, `document.documentElement.scrollWidth`), 360)
}

// A printed page is light, and has its whole configuration and no controls.
func TestPageOnPaper(t *testing.T) {
	b, address := opened(t, sample())
	require.NoError(t, b.Open(address, pagetest.Look{Width: 700, Dark: true, Print: true}))
	require.Equal(t, "rgb(255, 255, 255)", read[string](t, b, `getComputedStyle(document.body).backgroundColor`))
	require.Equal(t, "none", read[string](t, b,
		`getComputedStyle(document.querySelector("thead button"), "::after").content`))
	require.False(t, read[bool](t, b, `document.querySelector("nav").checkVisibility()`))
	require.True(t, read[bool](t, b, `document.querySelector(".folded pre").checkVisibility()`))
	require.LessOrEqual(t, read[int](t, b, `document.documentElement.scrollWidth`), 700)
}

// firstCells is a script that returns the first cell of each row of the first table.
const firstCells = `[...document.querySelector("table").tBodies[0].rows].map(r => r.cells[0].textContent)`

// sorts clicks table headers and checks the order: numbers sort numerically within their unit, and cells without a
// number come last.
func sorts(t *testing.T, b *pagetest.Browser) {
	asWritten := []string{"accuracy", "regret", "best", "steps", "worst"}
	order := func() []string { return read[[]string](t, b, firstCells) }
	state := func(column string) string {
		return read[string](t, b, `document.querySelector("thead th:nth-child(`+column+`)").getAttribute("aria-sort")`)
	}
	require.Equal(t, asWritten, order())
	require.NoError(t, b.Click("thead th:nth-child(2) button"))
	require.Equal(t, []string{"worst", "accuracy", "best", "regret", "steps"}, order())
	require.Equal(t, "ascending", state("2"))
	require.NoError(t, b.Press("Enter"))
	require.Equal(t, []string{"best", "accuracy", "worst", "regret", "steps"}, order())
	require.Equal(t, "descending", state("2"))
	require.NoError(t, b.Click("thead th:nth-child(1) button"))
	require.Equal(t, []string{"accuracy", "best", "regret", "steps", "worst"}, order())
	require.Equal(t, []string{"ascending", "none"}, []string{state("1"), state("2")})
	require.NoError(t, b.Press("Enter"))
	require.NoError(t, b.Press("Enter"))
	require.Equal(t, asWritten, order())
	require.Equal(t, "none", state("1"))
}

// tells visits events by pointer and by keyboard, and checks their descriptions.
func tells(t *testing.T, b *pagetest.Browser) {
	shown := func() string { return read[string](t, b, `document.querySelector(".detail").textContent`) }
	rest := shown()
	require.Contains(t, rest, "Tab")
	require.NoError(t, b.Hover(".mark.up"))
	require.Equal(t, "0.5 s: up, 2 devices", shown())
	require.NoError(t, b.Hover("h1"))
	require.Equal(t, rest, shown())
	require.NoError(t, b.Eval(`document.querySelector(".mark").focus()`, nil))
	require.Equal(t, "0 s: start", shown())
	require.NoError(t, b.Press("Tab"))
	require.Equal(t, "0.5 s: up, 2 devices", shown())
	require.NoError(t, b.Press("ArrowRight"))
	require.Equal(t, "0.51 s: decision widen:conv1", shown())
	require.NoError(t, b.Press("ArrowLeft"))
	require.NoError(t, b.Press("Escape"))
	require.Equal(t, rest, shown())
}

// axe-core finds no violation. GRAFT_AXE is the path of axe.min.js.
func TestPageIsAccessible(t *testing.T) {
	path := os.Getenv("GRAFT_AXE")
	if path == "" {
		t.Skip("left out: axe-core on pages: name its axe.min.js in GRAFT_AXE")
	}
	axe, err := os.ReadFile(path)
	require.NoError(t, err)
	b, address := opened(t, sample())
	for _, look := range []pagetest.Look{{Width: 360}, {Width: 1400, Dark: true}} {
		require.NoError(t, b.Open(address, look))
		require.NoError(t, b.Eval(string(axe), nil))
		found := read[json.RawMessage](t, b,
			`axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html)]))`)
		require.JSONEq(t, "[]", string(found))
		require.Greater(t, read[int](t, b, `axe.run().then(r => r.passes.length)`), 20)
	}
}
