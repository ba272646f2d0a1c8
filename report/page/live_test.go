package page_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/page"
	"graft/report/page/pagetest"
)

// changing serves a page that tests change.
type changing struct {
	mutex sync.Mutex
	text  string
	tag   string
	asked int
}

// ServeHTTP sends the page, unless the client's copy is current.
func (c *changing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.asked++
	switch {
	case c.tag == "":
		w.WriteHeader(http.StatusNotFound)
	case r.Header.Get("If-None-Match") == `"`+c.tag+`"`:
		w.WriteHeader(http.StatusNotModified)
	default:
		_, _ = w.Write([]byte(c.text)) // a closed browser needs no answer
	}
}

func (c *changing) show(t *testing.T, p *page.Page) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.text, c.tag = rendered(t, p), p.Live.Tag
}

// follows opens a page that a server can change.
func follows(t *testing.T, p *page.Page, look pagetest.Look) (*changing, *httptest.Server, *pagetest.Browser) {
	c := &changing{}
	c.show(t, p)
	server := httptest.NewServer(c)
	t.Cleanup(server.Close) // runs after the browser closes, because an open browser keeps sending requests
	b, _ := opened(t, &page.Page{})
	require.NoError(t, b.Open(server.URL, look))
	return c, server, b
}

// A live page replaces changed parts in place. Sorting, scrolling, open and selected elements, and the focus stay.
func TestLivePageKeepsWhatReadersDid(t *testing.T) {
	c, _, b := follows(t, served("1", "b", "x"), pagetest.Look{Width: 360})
	names := func() []string {
		return read[[]string](t, b, `[...document.querySelectorAll("form tbody th")].map(th => th.textContent)`)
	}
	for _, act := range []string{
		`document.querySelector("form thead th button").click()`,
		`document.querySelector("details.folded").open = true`, `document.querySelector("input[value=b]").click()`,
		`document.querySelector("form thead th button").focus()`, `document.querySelector(".scroll").scrollLeft = 20`,
		`window.scrollTo(0, 1000)`,
	} {
		require.NoError(t, b.Eval(act, nil))
	}
	at := read[float64](t, b, `(window.seen = document.elementFromPoint(100, 450)).getBoundingClientRect().top`)
	later := served("2", "b", "y", "x", "a")
	later.Title = "It went on"
	later.Sections[0].Parts[3].Timeline.Events = append(later.Sections[0].Parts[3].Timeline.Events,
		page.Event{At: 8, Name: "late"})
	c.show(t, later)
	require.NoError(t, b.Until(`document.title === "It went on"`))
	require.Equal(t, []string{"a", "b", "x", "y"}, names(), "sorted as it was")
	require.Equal(t, "ascending", read[string](t, b, `document.activeElement.closest("th").getAttribute("aria-sort")`),
		"the focus is where it was")
	require.True(t, read[bool](t, b, `document.querySelector("details.folded").open`))
	require.Equal(t, []string{"b"},
		read[[]string](t, b, `[...document.querySelectorAll("input:checked")].map(i => i.value)`))
	require.Equal(t, 20.0, read[float64](t, b, `document.querySelector(".scroll").scrollLeft`))
	require.InDelta(t, at, read[float64](t, b, `window.seen.getBoundingClientRect().top`), 1,
		"what is being read stays where it is")
	require.Equal(t, []string{"It went on", "4 runs"},
		read[[]string](t, b, `[document.querySelector("h1").textContent, `+
			`[...document.querySelectorAll("body > nav a")].at(-1).textContent]`))
	require.Equal(t, "4 runs", read[string](t, b, `[...document.querySelectorAll("h2")].at(-1).textContent`))
	require.NoError(t, b.Press("Enter")) // replaced parts still work
	require.Equal(t, []string{"y", "x", "b", "a"}, names())
	require.NoError(t, b.Eval(`document.querySelector(".mark:last-of-type").focus()`, nil))
	require.Equal(t, "8 s: late", read[string](t, b, `document.querySelector(".detail").textContent`))
	require.NoError(t, b.Press("ArrowLeft"))
	require.Equal(t, "2 s: end", read[string](t, b, `document.querySelector(".detail").textContent`))

	c.show(t, served("3", "c", "b"))
	require.NoError(t, b.Until(`document.title !== "It went on"`))
	require.Equal(t, []string{"c", "b"}, names(), "sorted downwards, and those that went are gone")
	require.Equal(t, "2 s: end", read[string](t, b, `document.querySelector(".detail").textContent`),
		"the event that has the focus keeps it")
	require.NoError(t, b.Hover(".mark.up"))
	require.Equal(t, "0.5 s: up, 2 devices", read[string](t, b, `document.querySelector(".detail").textContent`))
	require.Empty(t, b.Complaints())
}

// A focused link keeps the focus, even if its row moves.
func TestLivePageKeepsTheFocusOfRowsThatMove(t *testing.T) {
	c, _, b := follows(t, served("1", "a", "b", "c"), pagetest.Look{Width: 1400, Still: true})
	require.NoError(t, b.Eval(`document.querySelector("a[href='/run/a']").focus()`, nil))
	c.show(t, served("2", "c", "b", "d", "a"))
	require.NoError(t, b.Until(`document.querySelectorAll("form tbody tr").length === 4`))
	require.Equal(t, "/run/a", read[string](t, b, `document.activeElement.getAttribute("href")`))
	require.Equal(t, "none", read[string](t, b, `getComputedStyle(document.querySelector(".live")).animationName`),
		"nothing moves for who does not want it")
	require.Regexp(t, `^Updated \d\d:\d\d:\d\d\.$`,
		read[string](t, b, `document.querySelector("[role=status]").textContent`))
}

// A live page says that its server has stopped and that it is back, and lets readers stop the updates.
func TestLivePageSaysHowItStands(t *testing.T) {
	c, server, b := follows(t, served("1", "a"), pagetest.Look{Width: 360})
	state := func(says string) {
		require.NoError(t, b.Until(`document.querySelector(".live .state").textContent.includes("`+says+`")`), says)
	}
	state("Live, as of")
	address := server.Listener.Addr().String()
	server.Close()
	state("The server does not respond. This page shows the state at")
	require.Contains(t, read[string](t, b, `document.querySelector("[role=status]").textContent`),
		"The server does not respond")
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	again := &http.Server{Handler: c}
	t.Cleanup(func() { require.NoError(t, again.Close()) })
	go func() { _ = again.Serve(l) }() // until it is closed
	state("The server is back.")
	c.mutex.Lock()
	c.tag = ""
	c.mutex.Unlock()
	state("The page no longer exists.")
	c.show(t, served("1", "a"))
	state("The server is back.")

	require.NoError(t, b.Click(".live button"))
	state("Paused")
	c.show(t, served("2", "a", "b"))
	before := func() int {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		return c.asked
	}()
	require.NoError(t, b.Eval(`new Promise(done => setTimeout(done, 300))`, nil))
	c.mutex.Lock()
	require.LessOrEqual(t, c.asked, before+1, "it may have been about to ask")
	c.mutex.Unlock()
	require.NoError(t, b.Click(".live button"))
	state("Updated")
	require.Equal(t, 2, read[int](t, b, `document.querySelectorAll("form tbody tr").length`))
}

// Without its script a served page is readable, and its form works.
func TestLivePageWithoutItsScript(t *testing.T) {
	_, server, b := follows(t, served("1", "a", "b", "c"), pagetest.Look{Width: 360, Plain: true})
	require.False(t, read[bool](t, b, `document.querySelector(".live").checkVisibility()`))
	require.Equal(t, 2, read[int](t, b, `document.querySelectorAll("input").length`), "one row cannot be chosen")
	require.LessOrEqual(t, read[int](t, b, `document.documentElement.scrollWidth`), 360)
	require.NoError(t, b.Click("input[value=c]"))
	require.NoError(t, b.Click("p.pick button"))
	require.NoError(t, b.Until(`location.href === "`+server.URL+`/compare?run=c"`))
}
