package control

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/internal/listen"
	"graft/internal/telemetry"
	"graft/report/document"
	"graft/trainer"
)

// answerWithin limits the wait for the job's response to a change.
const answerWithin = 10 * time.Second

// handler answers requests. It reads snapshots and queues changes, and never blocks the job.
type handler struct {
	monitor  *Monitor
	live     *trainer.Live
	gpus     func() []telemetry.State // GPUs of the job, with their last readings
	version  string                   // version of graft
	folder   string
	host     string
	token    [sha256.Size]byte // digest of the token
	hosts    func(string) bool
	log      *zap.Logger
	patience time.Duration
}

// routes maps paths to handlers; each has one method.
var routes = map[string]struct {
	method string
	handle func(*handler, http.ResponseWriter, *http.Request) *listen.Refusal
}{
	"/status":     {http.MethodGet, (*handler).status},
	"/metrics":    {http.MethodGet, (*handler).metrics},
	"/allocation": {http.MethodPost, (*handler).allocation},
}

// ServeHTTP answers a request. After a 401 or 403 response it closes the connection.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if refused := h.serve(w, r); refused != nil {
		if refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden {
			w.Header().Set("Connection", "close") // frees the connection for other clients
		}
		writeAnswer(w, refused.Status, refused)
	}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) *listen.Refusal {
	if host := listen.HostOf(r.Host); !h.hosts(host) {
		return listen.Refuse(http.StatusForbidden, "use the address in the run folder's listen file",
			"%q is not an address of this job", host)
	}
	if !h.authorised(r.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="graft"`)
		return listen.Refuse(http.StatusUnauthorized,
			"send the header Authorization: Bearer TOKEN; a generated token is in the run folder's token file",
			"the token is missing or wrong")
	}
	if c := listen.ClientOf(r.Context()); c != nil && c.Trust() > mostKnown {
		w.Header().Set("Connection", "close")
	}
	route, found := routes[r.URL.Path]
	if !found {
		return listen.Refuse(http.StatusNotFound, "use /status, /metrics or /allocation", "unknown path %q", r.URL.Path)
	}
	if r.Method != route.method && !(r.Method == http.MethodHead && route.method == http.MethodGet) {
		w.Header().Set("Allow", map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"}[route.method])
		return listen.Refuse(http.StatusMethodNotAllowed, "use "+route.method, "method %s is not allowed for %s",
			r.Method,
			r.URL.Path)
	}
	return route.handle(h, w, r)
}

// authorised reports whether a header has the token. It compares in constant time.
func (h *handler) authorised(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], h.token[:]) == 1 && strings.EqualFold(scheme, "bearer")
}

func writeAnswer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = document.PrintJSON(w, v) // the client may have disconnected
}

// ChangeStatus describes a change that was requested from the job. It is the response to the request.
type ChangeStatus struct {
	ID      int      `json:"id"` // number of the request, counted by the job
	Change  string   `json:"change"`
	Devices int      `json:"devices,omitempty"`      // number of devices after the change; absent if it stays
	Pending bool     `json:"pending"`                // the job has not made the change yet
	At      *float64 `json:"time_seconds,omitempty"` // used part of the budget when the job made the change
}

func newChangeReport(r *trainer.Request) ChangeStatus {
	return ChangeStatus{ID: r.ID, Change: string(r.Change), Devices: r.Devices, Pending: true}
}

// allocation requests a change from the job, and responds once it is done and saved.
func (h *handler) allocation(w http.ResponseWriter, r *http.Request) *listen.Refusal {
	body, refused := readBody(w, r)
	if refused != nil {
		return refused
	}
	change, devices, refused := parseChange(body)
	if refused != nil {
		return refused
	}
	request, err := h.live.Post(change, devices)
	if err != nil {
		return refusalOf(err)
	}
	report := newChangeReport(request)
	h.log.Info("received a request to change devices", zap.Int("id", report.ID), zap.String("change", report.Change),
		zap.Int("devices", report.Devices))
	ctx, cancel := context.WithTimeout(r.Context(), h.patience)
	defer cancel()
	select {
	case <-request.Done():
		at, err := request.Outcome()
		if err != nil {
			return refusalOf(err)
		}
		seconds := at.Seconds()
		report.Change, report.Pending, report.At = string(request.Made()), false, &seconds
		writeAnswer(w, http.StatusOK, report)
	case <-ctx.Done(): // the change stays pending, also if the client has disconnected
		writeAnswer(w, http.StatusAccepted, report)
	}
	return nil
}

// refusalOf describes why the job refused a change.
func refusalOf(err error) *listen.Refusal {
	switch {
	case errors.Is(err, trainer.ErrOver):
		return listen.Refuse(http.StatusConflict, "start another job", "%v", err)
	case errors.Is(err, trainer.ErrConflict):
		return listen.Refuse(http.StatusConflict,
			"see the keys \"devices\" and \"pending\" in the response to GET /status", "%v", err)
	case errors.Is(err, trainer.ErrBusy):
		return listen.Refuse(http.StatusTooManyRequests, "wait until /status lists no pending changes",
			"%v", err)
	case errors.Is(err, trainer.ErrStopped):
		return listen.Refuse(http.StatusServiceUnavailable, "resume the job and retry", "%v", err)
	}
	return listen.Refuse(http.StatusServiceUnavailable, "see the job's log, resume the job and retry", "%v", err)
}

// readBody reads a JSON body.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *listen.Refusal) {
	given := r.Header.Get("Content-Type")
	kind, parameters, err := mime.ParseMediaType(given)
	if charset := parameters["charset"]; err != nil || kind != "application/json" ||
		charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, listen.Refuse(http.StatusUnsupportedMediaType, "send the header Content-Type: application/json",
			"unsupported content type %q; expected application/json in UTF-8", given)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, listen.Refuse(http.StatusUnsupportedMediaType, "send the body uncompressed",
			"unsupported content encoding %q; expected an uncompressed body", coding)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, listen.Refuse(http.StatusRequestEntityTooLarge, changeRemedy, "the body is larger than %d bytes",
			mostBody)
	}
	if err != nil {
		return nil, listen.Refuse(http.StatusBadRequest, changeRemedy, "the body could not be read completely: %v", err)
	}
	return body, nil
}
