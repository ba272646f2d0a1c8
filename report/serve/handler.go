package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/listen"
	"graft/internal/telemetry"
	"graft/report/document"
	"graft/report/page"
	"graft/report/runs"
)

// Handler is an HTTP handler that serves pages of runs.
type Handler struct {
	index   *index
	cache   *pageCache
	hosts   func(string) bool
	version string                   // version of graft, shown on pages
	gpus    func() []telemetry.State // GPUs of this machine
	began   int64                    // start time in ns, part of tags: another process may be another version
}

// Options configures a [Handler]. All fields except Version and GPUs are required.
type Options struct {
	Files   files.FS          // file system, which is only read
	Dir     string            // path of the folder with the runs
	Every   time.Duration     // minimum time between two scans of an active run
	Now     func() time.Time  // clock of the server
	Hosts   func(string) bool // reports whether requests may use a host name
	Version string            // version of graft, shown on pages
	// GPUs returns the GPUs of this machine, for the list of runs. Nil means that no GPUs are shown.
	GPUs func() []telemetry.State
}

// New creates a handler for the runs in a folder.
func New(o Options) *Handler {
	return &Handler{index: newIndex(o.Files, o.Dir, o.Every, o.Now), cache: newPageCache(maxCacheBytes, maxRenderings,
		o.Now), hosts: o.Hosts, version: o.Version, gpus: o.GPUs, began: o.Now().UnixNano()}
}

// Limits of the server, which bound its memory under any load.
const (
	MaxRequests     = 256              // maximum number of concurrent requests; further requests are refused
	MaxRequestBytes = 64 << 10         // maximum size of a request in bytes; it names the runs to compare
	RenderTimeout   = 90 * time.Second // maximum time to render and send a page
	maxCacheBytes   = 32 << 20         // bytes of cached pages
	maxRenderings   = 2                // concurrent renderings, each on all processors
	maxWaiting      = 64               // requests that wait for a rendering
	maxRuns         = 10_000           // indexed runs
	maxListed       = 1_000            // runs on the list, and as many runs inside them
	maxMembers      = 200              // runs inside a run on the list
	MaxCompared     = 200              // maximum number of runs in a comparison
	maxOthers       = 100              // folders without a run on the list
)

// Addresses of pages.
const (
	runAddress     = "/run/"
	compareAddress = "/compare"
	listAddress    = "/runs.json"
)

// AddressOf returns the URL path of a run's page.
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

// request is a request for a page.
type request struct {
	key    string   // identifies the page
	names  []string // names of runs
	all    bool     // the list of all runs
	render func(*snapshot, page.Live) (content, error)
}

// ServeHTTP responds with a page, or with an error page.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cross-Origin-Opener-Policy":   "same-origin", "Cache-Control": "private, no-cache"} {
		head.Set(name, value)
	}
	if refused := h.serve(w, r); refused != nil {
		h.refuse(w, r, refused)
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) *listen.Refusal {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return listen.Refuse(http.StatusMethodNotAllowed, "Use GET.", "The method %s is not allowed.", r.Method)
	}
	if host := listen.HostOf(r.Host); !h.hosts(host) {
		return listen.Refuse(http.StatusForbidden, "Use the address that graft serve printed.",
			"%q is not an address of this server.", host)
	}
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
		return listen.Refuse(http.StatusForbidden, "Open the page directly.", "The request comes from another site.")
	}
	want, refused := h.parse(r.URL)
	if refused != nil {
		return refused
	}
	v, err := h.index.snapshot(want.names, want.all)
	if err != nil {
		return refusalOfPage(err)
	}
	return h.answer(w, r, want, v)
}

// parse reads the request from an address.
func (h *Handler) parse(at *url.URL) (*request, *listen.Refusal) {
	name, isRun := strings.CutPrefix(at.Path, runAddress)
	switch {
	case at.Path == "/":
		return &request{key: "list", all: true, render: h.list}, nil
	case at.Path == listAddress:
		return &request{key: "json", all: true, render: h.json}, nil
	case isRun:
		if name == "" {
			name = "."
		}
		s := runs.Selection{Job: at.Query().Get("job"), Node: at.Query().Get("node")}
		return &request{key: fmt.Sprintf("run %s %q", name, s), names: []string{name}, render: h.selected(s)}, nil
	case at.Path != compareAddress:
		return nil, listen.Refuse(http.StatusNotFound, "Open the list of runs to find the page.",
			"Page %q not found.", at.Path)
	}
	names := at.Query()["run"]
	switch {
	case len(names) == 0:
		return nil, listen.Refuse(http.StatusBadRequest, "Select runs in the list, then press the button above it.",
			"No runs are selected for comparison.")
	case len(names) > MaxCompared:
		return nil, listen.Refuse(http.StatusBadRequest, "Select fewer runs, or compare them with graft report.",
			"%d runs are too many; a page compares at most %d.", len(names), MaxCompared)
	}
	names = runs.Unique(names)
	return &request{key: fmt.Sprintf("compare %q", names), names: names, render: h.runs}, nil
}

// answer sends a page, or Not Modified if the client has it.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, want *request, v *snapshot) *listen.Refusal {
	if len(v.states) == 0 && !want.all {
		return refusalOfPage(fmt.Errorf("%s: %w", strings.Join(v.missing, ", "), errMissing))
	}
	tag, known := h.tag(want, v), r.Header.Get("If-None-Match")
	w.Header().Set("ETag", `"`+tag+`"`)
	if known == `"`+tag+`"` {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	s, err := h.cache.get(r.Context(), want.key, tag, func() (content, error) {
		return want.render(v, page.Live{Tag: tag, Every: h.index.every, Rarely: h.index.scanEvery})
	})
	if err != nil {
		return refusalOfPage(err)
	}
	w.Header().Set("ETag", `"`+s.tag+`"`)
	if known == `"`+s.tag+`"` { // during the back-off
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	send(w, r, http.StatusOK, s)
	return nil
}

func send(w http.ResponseWriter, r *http.Request, status int, s *renderedPage) {
	text := s.text
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		text = s.gzipped
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Vary", "Accept-Encoding")
	w.Header().Set("Content-Type", s.kind)
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	w.Header().Set("Content-Security-Policy", s.policy+"; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may have disconnected
}

// acceptsGzip reports whether an Accept-Encoding header lists gzip without a weight.
func acceptsGzip(header string) bool {
	for word := range strings.SplitSeq(header, ",") {
		if strings.EqualFold(strings.TrimSpace(word), "gzip") {
			return true
		}
	}
	return false
}

// refusalOfPage maps an error to its HTTP status and remedy.
func refusalOfPage(err error) *listen.Refusal {
	switch {
	case errors.Is(err, errMissing), errors.Is(err, runs.ErrNoPart), runs.NotThere(err):
		return listen.Refuse(http.StatusNotFound, "Go back to the list of runs.", "%v", err)
	case errors.Is(err, errBusy):
		return listen.Refuse(http.StatusServiceUnavailable, "Retry later.", "%v", err)
	case failure.CodeOf(context.Background(), err) == failure.Usage:
		return listen.Refuse(http.StatusBadRequest, "Correct the address.", "%v", err)
	}
	return listen.Refuse(http.StatusInternalServerError, "Run graft report on the folder for details.", "%v", err)
}

// refuse sends a page with the error and its remedy.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, refused *listen.Refusal) {
	p := &page.Page{Title: http.StatusText(refused.Status), Version: h.version, Links: []page.Link{toList},
		Sections: []page.Section{{Title: "What is wrong", Parts: []page.Part{
			{Sentences: append(strings.Split(document.PrintableLines(refused.Wrong), "\n"), refused.Remedy)},
		}}}}
	s := &renderedPage{}
	if s.render(func() (content, error) { return p, nil }); s.err != nil {
		http.Error(w, refused.Wrong, refused.Status)
		return
	}
	send(w, r, refused.Status, s)
}
