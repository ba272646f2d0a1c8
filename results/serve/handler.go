package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"graft/files"
	"graft/results/document"
	"graft/results/listen"
	"graft/results/page"
	"graft/results/runs"
)

// Handler is where pages of runs are asked for.
type Handler struct {
	index   *index
	cache   *pageCache
	hosts   func(string) bool
	version string // of graft, shown on pages
	began   int64  // when: pages of another time may be of another graft
}

// Options say what is served, and to whom. All fields are needed.
type Options struct {
	Files   files.FS          // file system; only read
	Dir     string            // folder with the runs
	Every   time.Duration     // least time between two looks at a run that is written to
	Now     func() time.Time  // clock
	Hosts   func(string) bool // reports whether requests may use this host name
	Version string            // of graft, shown on pages
}

func New(o Options) *Handler {
	return &Handler{index: newIndex(o.Files, o.Dir, o.Every, o.Now), cache: newPageCache(mostKept, mostRenderings, o.Now), hosts: o.Hosts, version: o.Version, began: o.Now().UnixNano()}
}

// Addresses of pages.
const (
	runAddress     = "/run/"
	compareAddress = "/compare"
)

// AddressOf is where the page of a run is.
func AddressOf(name string) string {
	if name == "." {
		return runAddress
	}
	parts := strings.Split(name, "/")
	for k := range parts {
		parts[k] = url.PathEscape(parts[k])
	}
	return runAddress + strings.Join(parts, "/")
}

// wanted is a page that is asked for.
type wanted struct {
	key    string   // what it shows
	names  []string // of runs
	all    bool     // it is the list of all
	render func(*snapshot, page.Live) (*page.Page, error)
}

// ServeHTTP answers with a page, or says why not.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "private, no-cache"} {
		head.Set(name, value)
	}
	if refused := h.serve(w, r); refused != nil {
		h.refuse(w, r, refused)
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) *listen.Refusal {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return listen.Refuse(http.StatusMethodNotAllowed, "Use GET.", "%s is not for pages.", r.Method)
	}
	if host := listen.HostOf(r.Host); !h.hosts(host) {
		return listen.Refuse(http.StatusForbidden, "Call them by the address that graft serve has printed.", "The pages are not at %q.", host)
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return listen.Refuse(http.StatusForbidden, "Open the page itself.", "Another site asks for it.")
	}
	want, refused := h.want(r.URL)
	if refused != nil {
		return refused
	}
	v, err := h.index.look(want.names, want.all)
	if err != nil {
		return refusalOfPage(err)
	}
	return h.answer(w, r, want, v)
}

// want is what an address asks for.
func (h *Handler) want(at *url.URL) (*wanted, *listen.Refusal) {
	name, isRun := strings.CutPrefix(at.Path, runAddress)
	switch {
	case at.Path == "/":
		return &wanted{key: "list", all: true, render: h.list}, nil
	case isRun:
		if name == "" {
			name = "."
		}
		return &wanted{key: "run " + name, names: []string{name}, render: h.runs}, nil
	case at.Path != compareAddress:
		return nil, listen.Refuse(http.StatusNotFound, "Begin at the list of runs.", "There is no page %q.", at.Path)
	}
	names := at.Query()["run"]
	switch {
	case len(names) == 0:
		return nil, listen.Refuse(http.StatusBadRequest, "Choose runs on the list, then press the button above it.", "There are no runs to compare.")
	case len(names) > MostCompared:
		return nil, listen.Refuse(http.StatusBadRequest, "Choose fewer, or compare them with graft report.", "%d runs are more than the %d that are compared on a page.", len(names), MostCompared)
	}
	names = unique(names)
	return &wanted{key: fmt.Sprintf("compare %q", names), names: names, render: h.runs}, nil
}

// unique are names without those that come again.
func unique(names []string) []string {
	var list []string
	seen := map[string]bool{}
	for _, name := range names {
		if !seen[name] {
			seen[name], list = true, append(list, name)
		}
	}
	return list
}

// answer sends a page, unless it is known to whoever asks.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, want *wanted, v *snapshot) *listen.Refusal {
	if len(v.states) == 0 && !want.all {
		return refusalOfPage(fmt.Errorf("%s: %w", strings.Join(v.missing, ", "), errGone))
	}
	tag, known := h.tag(want, v), r.Header.Get("If-None-Match")
	w.Header().Set("ETag", `"`+tag+`"`)
	if known == `"`+tag+`"` {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	s, err := h.cache.get(r.Context(), want.key, tag, func() (*page.Page, error) {
		return want.render(v, page.Live{Tag: tag, Every: h.index.every, Rarely: h.index.scanEvery})
	})
	if err != nil {
		return refusalOfPage(err)
	}
	w.Header().Set("ETag", `"`+s.tag+`"`)
	if known == `"`+s.tag+`"` { // it stands for a while yet
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	send(w, r, http.StatusOK, s)
	return nil
}

func send(w http.ResponseWriter, r *http.Request, status int, s *rendered) {
	text := s.text
	if takesPacked(r.Header.Get("Accept-Encoding")) {
		text = s.packed
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	w.Header().Set("Content-Security-Policy", s.policy+"; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever asked may have left
}

// takesPacked says of a header whether gzip is fine; a weight, which only who minds it
// sends, is a no.
func takesPacked(header string) bool {
	for word := range strings.SplitSeq(header, ",") {
		if strings.EqualFold(strings.TrimSpace(word), "gzip") {
			return true
		}
	}
	return false
}

// refusalOfPage says why there is no page.
func refusalOfPage(err error) *listen.Refusal {
	switch {
	case errors.Is(err, errGone), runs.NotThere(err):
		return listen.Refuse(http.StatusNotFound, "Go back to the list of runs.", "%v", err)
	case errors.Is(err, errBusy):
		return listen.Refuse(http.StatusServiceUnavailable, "Ask again in a while.", "%v", err)
	}
	return listen.Refuse(http.StatusInternalServerError, "See what graft report says of it.", "%v", err)
}

// refuse says why there is no page on a page.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, refused *listen.Refusal) {
	p := &page.Page{Title: http.StatusText(refused.Status), Version: h.version, Links: []page.Link{toList},
		Sections: []page.Section{{Title: "What is wrong", Parts: []page.Part{{Sentences: append(strings.Split(document.PrintableLines(refused.Wrong), "\n"), refused.Remedy)}}}}}
	s := &rendered{}
	if s.render(func() (*page.Page, error) { return p, nil }); s.err != nil {
		http.Error(w, refused.Wrong, refused.Status)
		return
	}
	send(w, r, refused.Status, s)
}
