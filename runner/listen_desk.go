package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/results/document"
	"graft/results/listen"
	"graft/trainer"
)

// answerWithin is how long whoever asks for a change waits for it to be done.
const answerWithin = 10 * time.Second

// desk answers requests. It reads what the job has put up, and leaves what it is
// asked for where the job will find it; it never waits in the job's way.
type desk struct {
	board    *board
	live     *trainer.Live
	folder   string
	token    [sha256.Size]byte // of the token
	hosts    func(string) bool
	log      *zap.Logger
	patience time.Duration
}

// handlers are what can be asked for: by path, then by method.
var handlers = map[string]struct {
	method string
	handle func(*desk, http.ResponseWriter, *http.Request) *listen.Refusal
}{
	"/status":     {http.MethodGet, (*desk).status},
	"/metrics":    {http.MethodGet, (*desk).metrics},
	"/allocation": {http.MethodPost, (*desk).allocation},
}

// ServeHTTP answers a request, or says why not.
func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if refused := d.serve(w, r); refused != nil {
		writeAnswer(w, refused.Status, refused)
	}
}

func (d *desk) serve(w http.ResponseWriter, r *http.Request) *listen.Refusal {
	if host := listen.HostOf(r.Host); !d.hosts(host) {
		return listen.Refuse(http.StatusForbidden, "call it by the address in the run folder's file listen", "%q is not where this job listens", host)
	}
	if !d.knows(r.Header.Get("Authorization")) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="graft"`)
		return listen.Refuse(http.StatusUnauthorized, "send the header Authorization: Bearer TOKEN; a token that graft made is in the run folder's file token",
			"the request has no token, or not that of this job")
	}
	handler, found := handlers[r.URL.Path]
	if !found {
		return listen.Refuse(http.StatusNotFound, "there are /status, /metrics and /allocation", "there is no %q", r.URL.Path)
	}
	if r.Method != handler.method && !(r.Method == http.MethodHead && handler.method == http.MethodGet) {
		w.Header().Set("Allow", map[string]string{http.MethodGet: "GET, HEAD", http.MethodPost: "POST"}[handler.method])
		return listen.Refuse(http.StatusMethodNotAllowed, "use "+handler.method, "%s is not for %s", r.Method, r.URL.Path)
	}
	return handler.handle(d, w, r)
}

// knows says whether a header has the token. How long it takes does not depend on how
// much of it is right.
func (d *desk) knows(header string) bool {
	scheme, token, _ := strings.Cut(header, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1 && strings.EqualFold(scheme, "bearer")
}

func writeAnswer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = document.PrintJSON(w, v) // whoever asked may have left
}

// changeReport is the answer to a request for a change.
type changeReport struct {
	ID      int      `json:"id"` // counts the changes that the job was asked for
	Change  string   `json:"change"`
	Devices int      `json:"devices,omitempty"`      // absent where the number stays
	Pending bool     `json:"pending"`                // it is not done yet
	At      *float64 `json:"time_seconds,omitempty"` // of the budget, when it was taken
}

func newChangeReport(r *trainer.Request) changeReport {
	return changeReport{ID: r.ID, Change: string(r.Change), Devices: r.Devices, Pending: true}
}

// allocation asks the job for a change, and answers once it is done and saved.
func (d *desk) allocation(w http.ResponseWriter, r *http.Request) *listen.Refusal {
	body, refused := readBody(w, r)
	if refused != nil {
		return refused
	}
	change, devices, refused := parseChange(body)
	if refused != nil {
		return refused
	}
	request, err := d.live.Post(change, devices)
	if err != nil {
		return refusalOf(err)
	}
	report := newChangeReport(request)
	d.log.Info("asked for a change", zap.Int("id", report.ID), zap.String("change", report.Change), zap.Int("devices", report.Devices))
	timer := time.NewTimer(d.patience)
	defer timer.Stop()
	select {
	case <-request.Done():
		at, err := request.Outcome()
		if err != nil {
			return refusalOf(err)
		}
		seconds := at.Seconds()
		report.Pending, report.At = false, &seconds
		writeAnswer(w, http.StatusOK, report)
	case <-timer.C:
		writeAnswer(w, http.StatusAccepted, report)
	case <-r.Context().Done(): // whoever asked has left; the change stays asked for
	}
	return nil
}

// refusalOf says why the job did not take a change.
func refusalOf(err error) *listen.Refusal {
	switch {
	case errors.Is(err, trainer.ErrOver):
		return listen.Refuse(http.StatusConflict, "begin another job", "%v", err)
	case errors.Is(err, trainer.ErrConflict):
		return listen.Refuse(http.StatusConflict, "see how many devices it has under /status, and what it was asked for already", "%v", err)
	case errors.Is(err, trainer.ErrBusy):
		return listen.Refuse(http.StatusTooManyRequests, "wait until those under pending of /status are done", "%v", err)
	case errors.Is(err, trainer.ErrStopped):
		return listen.Refuse(http.StatusServiceUnavailable, "resume the job and ask again", "%v", err)
	}
	return listen.Refuse(http.StatusServiceUnavailable, "see the job's log, resume the job and ask again", "%v", err)
}

// readBody reads a body of JSON.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *listen.Refusal) {
	given := r.Header.Get("Content-Type")
	kind, parameters, err := mime.ParseMediaType(given)
	if charset := parameters["charset"]; err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, listen.Refuse(http.StatusUnsupportedMediaType, "send the header Content-Type: application/json", "the body is of the type %q", given)
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, listen.Refuse(http.StatusUnsupportedMediaType, "send it as it is", "the body is packed with %q", coding)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, listen.Refuse(http.StatusRequestEntityTooLarge, changeRemedy, "the body is larger than %d bytes", mostBody)
	}
	if err != nil {
		return nil, listen.Refuse(http.StatusBadRequest, changeRemedy, "the body could not be read to its end: %v", err)
	}
	return body, nil
}
