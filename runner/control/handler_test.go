package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/trainer"
	"graft/trainer/clock"
)

// idleHandler returns the handler of a job that applies no changes.
func idleHandler(t *testing.T) (*handler, *trainer.Live) {
	profile, err := clock.FindProfile("steady")
	require.NoError(t, err)
	live := trainer.NewLive(trainer.Timeline{Budget: time.Minute}, &clock.Virtual{Profile: profile})
	return &handler{monitor: NewMonitor("Net", trainer.Progress{Phase: trainer.Trains, Devices: 1,
		Budget: time.Minute, Left: time.Minute}, nil, nil), live: live, folder: "run", log: zap.NewNop(),
		patience: 20 * time.Millisecond}, live
}

// A change that the job does not apply in time stays pending, and the client is told. If the job ends first, the client
// learns that the change was not applied.
func TestListenAnswersLater(t *testing.T) {
	h, live := idleHandler(t)
	ask := func(patience time.Duration) (int, string) {
		h.patience = patience
		w := httptest.NewRecorder()
		r, err := http.NewRequest("POST", "/allocation", strings.NewReader(`{"change": "up", "devices": 4}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json; charset=UTF-8")
		if refused := h.allocation(w, r); refused != nil {
			return refused.Status, refused.Wrong
		}
		return w.Code, w.Body.String()
	}
	status, body := ask(time.Millisecond)
	require.Equal(t, http.StatusAccepted, status)
	require.JSONEq(t, `{"id": 1, "change": "up", "devices": 4, "pending": true}`, body)
	require.Equal(t, []ChangeStatus{{ID: 1, Change: "up", Devices: 4, Pending: true}}, h.now().Pending)
	go func() {
		for len(live.Pending()) < 2 {
			time.Sleep(time.Millisecond)
		}
		live.End(nil)
	}()
	status, body = ask(time.Minute)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, body, "has ended")
	status, _ = ask(time.Minute)
	require.Equal(t, http.StatusConflict, status, "it has ended before")

	h, live = idleHandler(t)
	for range 64 {
		_, err := live.Post(trainer.Up, 0)
		require.NoError(t, err)
	}
	status, body = ask(time.Minute)
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Contains(t, body, "64 changes are already pending")
	live.End(trainer.ErrStopped)
	status, _ = ask(time.Minute)
	require.Equal(t, http.StatusServiceUnavailable, status)
}

// Parsing a change never panics, and an accepted change equals the request.
func FuzzParseChange(f *testing.F) {
	for _, text := range []string{`{"change": "up", "devices": 2}`, `{"devices": 3}`, `{"change":"down"}`,
		`{}`, `[]`, `null`, `{"change": null}`, `{"devices": 1e3}`, `{"devices": 2, "devices": 2}`,
		`{"Devices": 2}`, "{\"change\":\"\\u0075p\"}", `{"change": {"change": "up"}}`, `{"devices": -0}`, "\xff",
		` {"devices" : 65536 } `} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		change, devices, refused := parseChange(body)
		if refused != nil {
			require.NotEmpty(t, refused.Wrong)
			require.NotEmpty(t, refused.Remedy)
			require.Equal(t, http.StatusBadRequest, refused.Status)
			require.Less(t, len(refused.Wrong), 1000)
			return
		}
		require.True(t, json.Valid(body))
		require.Contains(t, []trainer.Change{trainer.Same, trainer.Up, trainer.Down}, change)
		require.True(t, devices == 0 && change != trainer.Same || devices >= 1 && devices <= trainer.MostDevices)
		var object map[string]any
		require.NoError(t, json.Unmarshal(body, &object))
		want := map[string]any{}
		if change != trainer.Same {
			want["change"] = string(change)
		}
		if devices != 0 {
			want["devices"] = float64(devices)
		}
		require.Equal(t, want, object, fmt.Sprintf("%q", body))
	})
}
