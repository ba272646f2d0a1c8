package serve

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/listen"
	"graft/internal/telemetry"
	"graft/results"
)

// The address of a run parses back to the run's name.
func TestAddressOfRuns(t *testing.T) {
	h := New(Options{Files: files.OS{}, Dir: ".", Every: time.Second, Now: time.Now, Hosts: listen.IsLoopback})
	for _, name := range []string{".", "a", "a/b c", "ä/%2f", `<a href="x">`, "a?b#c&d=e", "..a"} {
		at, err := url.Parse("http://127.0.0.1" + AddressOf(name))
		require.NoError(t, err, name)
		want, refused := h.parse(at)
		require.Nil(t, refused)
		require.Equal(t, []string{name}, want.names)
	}
}

// The list shows the GPUs of this machine, and a new reading changes the page.
func TestListShowsGPUs(t *testing.T) {
	watts, now := 70.0, time.Unix(1e9, 0)
	gpus := func() []telemetry.State {
		return []telemetry.State{{Device: telemetry.Device{Name: "H100"},
			Reading: telemetry.Reading{PowerWatts: telemetry.Known(watts)}}}
	}
	get := func(h *Handler, tag string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
		r.Header.Set("If-None-Match", tag)
		h.ServeHTTP(w, r)
		return w
	}
	o := Options{Files: files.OS{}, Dir: t.TempDir(), Every: time.Second, Now: func() time.Time { return now },
		Hosts: listen.IsLoopback}
	require.NotContains(t, get(New(o), "").Body.String(), "GPUs of this machine")
	o.GPUs = gpus
	h := New(o)
	first := get(h, "")
	require.Contains(t, first.Body.String(), "GPUs of this machine")
	require.Contains(t, first.Body.String(), "70.0")
	tag := first.Header().Get("ETag")
	require.Equal(t, http.StatusNotModified, get(h, tag).Code)
	watts, now = 71, now.Add(time.Minute)
	next := get(h, tag)
	require.Equal(t, http.StatusOK, next.Code)
	require.Contains(t, next.Body.String(), "71.0")
}

// A run counts as quiet soon after its process ends. If locks tell nothing, it takes much longer.
func TestQuietRuns(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	g := newIndex(files.OS{}, dir, time.Second, func() time.Time { return now })
	e := &indexedRun{runState: runState{path: dir, written: now}}
	after := func(d time.Duration) bool { return g.isQuiet(e, now.Add(d)) }
	require.False(t, after(time.Minute), "without a lock file")
	require.True(t, after(quietAfter+time.Second))
	lock, err := files.OS{}.Lock(filepath.Join(dir, results.LockFile), "test")
	require.NoError(t, err)
	require.False(t, after(time.Minute), "a process holds the lock")
	require.NoError(t, lock.Close())
	require.False(t, after(idleAfter-time.Second), "it may start again")
	require.True(t, after(idleAfter+time.Second))
	e.ended = true
	require.False(t, after(time.Minute))
}
