package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/results"
	"graft/runner/control"
)

// steered is a job that runs until it is told to stop.
type steered struct {
	t       *testing.T
	folder  string
	address string
	token   string
	stop    func() outcome
}

// steer starts a job with a very long budget, and waits until it listens.
func steer(t *testing.T, folder string, more ...string) *steered {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan outcome, 1)
	args := brief(folder, append([]string{"--listen", "127.0.0.1:0", "--set", "time.budget=9000h", "--set",
		"time.events=[]"}, more...)...)
	go func() { ended <- call(ctx, newRootCommand(), args...) }()
	j := &steered{t: t, folder: folder, stop: func() outcome { cancel(); return receive(t, ended) }}
	t.Cleanup(cancel)
	j.address = j.await(control.AddressFile)
	if os.Getenv(control.TokenVariable) == "" && !strings.Contains(strings.Join(more, " "), "--token-file") {
		j.token = j.await(control.TokenFile)
	}
	return j
}

// await waits for a file that the job writes, and returns its line.
func (j *steered) await(name string) (line string) {
	j.t.Helper()
	require.Eventually(j.t, func() bool {
		text, err := os.ReadFile(filepath.Join(j.folder, name))
		line = strings.TrimSpace(string(text))
		return err == nil && line != ""
	}, patience, time.Millisecond)
	return line
}

// answered holds the response to a request.
type answered struct {
	status int
	header http.Header
	body   []byte
}

// request sends a request, which the callback can change first.
func (j *steered) request(method, path, body string, change func(*http.Request)) answered {
	j.t.Helper()
	r, err := http.NewRequestWithContext(j.t.Context(), method, "http://"+j.address+path, strings.NewReader(body))
	require.NoError(j.t, err)
	r.Header.Set("Authorization", "Bearer "+j.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if change != nil {
		change(r)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	require.NoError(j.t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(j.t, err)
	require.NoError(j.t, response.Body.Close())
	return answered{response.StatusCode, response.Header, text}
}

// status returns the job's answer to GET /status; an undocumented key fails the test.
func (j *steered) status() (s control.Status) {
	j.t.Helper()
	a := j.request(http.MethodGet, "/status", "", nil)
	require.Equal(j.t, http.StatusOK, a.status, "%s", a.body)
	in := json.NewDecoder(bytes.NewReader(a.body))
	in.DisallowUnknownFields()
	require.NoError(j.t, in.Decode(&s))
	return s
}

// until waits until the job's status satisfies a condition.
func (j *steered) until(is func(control.Status) bool) (s control.Status) {
	j.t.Helper()
	require.Eventually(j.t, func() bool { s = j.status(); return is(s) }, patience, 5*time.Millisecond)
	return s
}

// ask requests a valid change.
func (j *steered) ask(body string) (r control.ChangeStatus) {
	j.t.Helper()
	a := j.request(http.MethodPost, "/allocation", body, nil)
	require.Equal(j.t, http.StatusOK, a.status, "%s", a.body)
	require.NoError(j.t, json.Unmarshal(a.body, &r))
	return r
}

// requireNoServer checks that the server left no goroutine, port or file behind.
func (j *steered) requireNoServer() {
	j.t.Helper()
	require.NoFileExists(j.t, filepath.Join(j.folder, control.AddressFile))
	require.NoFileExists(j.t, filepath.Join(j.folder, control.TokenFile))
	_, err := net.Dial("tcp", j.address)
	require.Error(j.t, err, "the port is free")
	var stacks string
	require.Eventually(j.t, func() bool {
		text := make([]byte, 1<<20)
		stacks = string(text[:runtime.Stack(text, true)])
		return !strings.Contains(stacks, "net/http.(*Server)") && !strings.Contains(stacks, "net/http.(*conn)") &&
			!strings.Contains(stacks, "control.(*Server)")
	}, patience, 5*time.Millisecond, "%s", stacks)
}

// A job deepens when it gets devices, and shrinks when it loses them. It reports the changes, saves them, and has them
// after a resume.
func TestListenSteersAJob(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	j := steer(t, folder)
	info, err := os.Stat(filepath.Join(folder, control.TokenFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Len(t, j.token, 64)

	before := j.until(func(s control.Status) bool { return s.Epoch > 0 })
	require.Equal(t, 1, before.Devices)
	require.Equal(t, folder, before.Folder)
	require.Nil(t, before.Next)
	require.InDelta(t, before.Budget, before.Time+before.Left, 1e-3)
	require.NotNil(t, before.ValidationAccuracy)
	require.Equal(t, 5, before.StepsPerEpoch, "270 images in batches of 64")

	up := j.ask(`{"change": "up", "devices": 2}`)
	require.Equal(t, control.ChangeStatus{ID: 1, Change: "up", Devices: 2, At: up.At}, up)
	require.GreaterOrEqual(t, *up.At, before.Time)
	require.Equal(t, 2, j.status().Devices, "whoever was told sees it")
	grown := j.until(func(s control.Status) bool {
		return len(s.Decisions) == 1 && s.Decisions[0].AccuracyAfter != nil
	})
	require.Greater(t, grown.Network.Parameters, before.Network.Parameters)
	require.Greater(t, grown.Network.Layers, before.Network.Layers)
	decision := grown.Decisions[0]
	require.Equal(t, "deepen:conv1", decision.Action)
	require.Equal(t, []int{before.Network.Parameters, grown.Network.Parameters},
		[]int{decision.Before, decision.Parameters})
	require.GreaterOrEqual(t, decision.At, *up.At)

	metrics := j.request(http.MethodGet, "/metrics", "", nil)
	require.Contains(t, string(metrics.body), "\ngraft_job_decisions_total 1\n")

	down := j.ask(`{"devices": 1}`)
	require.Equal(t, control.ChangeStatus{ID: 2, Change: "down", Devices: 1, At: down.At}, down)
	small := j.until(func(s control.Status) bool { return len(s.Decisions) == 2 })
	require.Equal(t, before.Network, small.Network)
	require.Equal(t, results.EventShrink, small.Decisions[1].Event)
	require.Equal(t, []control.ChangeStatus{up, down}, small.Taken)
	require.Empty(t, small.Pending)

	left := j.stop()
	require.Equal(t, failure.Requeue, left.code, left.stderr)
	j.requireNoServer()
	j = steer(t, folder, "--resume")
	again := j.status()
	require.Equal(t, []control.ChangeStatus{up, down}, again.Taken)
	require.Equal(t, small.Decisions[:1], again.Decisions[:1])
	require.Equal(t, 3, j.ask(`{"change": "down"}`).ID, "it never grew since, and says nothing of devices")
	require.Equal(t, failure.Requeue, j.stop().code)
	j.requireNoServer()
}

// noToken is the answer to a request without the right token.
const noToken = "the token is missing or wrong"

// The error of a refused request names the fault, and the job is unchanged.
func TestListenRefuses(t *testing.T) {
	j := steer(t, filepath.Join(t.TempDir(), "run"))
	before := j.status()
	header := func(key, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(key, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	good := `{"change": "up", "devices": 2}`
	cases := map[string]struct {
		method, path, body string
		change             func(*http.Request)
		status             int
		word               string
	}{
		"an unknown path":           {"GET", "/", "", nil, 404, `unknown path "/"`},
		"a path below":              {"GET", "/status/", "", nil, 404, `/status/`},
		"a status that is posted":   {"POST", "/status", good, nil, 405, "POST is not allowed for /status"},
		"an allocation that is got": {"GET", "/allocation", "", nil, 405, "GET is not allowed for /allocation"},
		"no type":                   {"POST", "/allocation", good, header("Content-Type", ""), 415, `content type ""`},
		"a form": {"POST", "/allocation", good, header("Content-Type", "application/x-www-form-urlencoded"), 415,
			"www-form"},
		"another charset": {"POST", "/allocation", good, header("Content-Type", "application/json; charset=latin1"),
			415, "latin1"},
		"a packed body":  {"POST", "/allocation", good, header("Content-Encoding", "gzip"), 415, "gzip"},
		"no body":        {"POST", "/allocation", "", header("Content-Type", "application/json"), 400, "not JSON"},
		"no JSON":        {"POST", "/allocation", "up", nil, 400, "not JSON"},
		"half an object": {"POST", "/allocation", `{"change": "up"`, nil, 400, "not JSON"},
		"two objects":    {"POST", "/allocation", good + good, nil, 400, "not JSON"},
		"a list":         {"POST", "/allocation", "[" + good + "]", nil, 400, "expected an object"},
		"null":           {"POST", "/allocation", "null", nil, 400, "the body is null"},
		"nothing said":   {"POST", "/allocation", "{}", nil, 400, "neither change nor devices"},
		"an unknown key": {"POST", "/allocation", `{"change": "up", "device": 2}`, nil, 400,
			`unknown key "device"`},
		"a key in capitals":         {"POST", "/allocation", `{"Change": "up"}`, nil, 400, `unknown key "Change"`},
		"a key that is there twice": {"POST", "/allocation", `{"devices": 2, "devices": 3}`, nil, 400, "duplicate key"},
		"an unknown change":         {"POST", "/allocation", `{"change": "UP"}`, nil, 400, "change is"},
		"a change that is no text":  {"POST", "/allocation", `{"change": 1}`, nil, 400, "change is 1"},
		"a change that is null":     {"POST", "/allocation", `{"change": null}`, nil, 400, "change is null"},
		"devices as a text":         {"POST", "/allocation", `{"devices": "2"}`, nil, 400, "whole number"},
		"half a device":             {"POST", "/allocation", `{"devices": 1.5}`, nil, 400, "devices is 1.5"},
		"no device": {"POST", "/allocation", `{"change": "down", "devices": 0}`, nil, 400,
			"devices is 0"},
		"fewer than none": {"POST", "/allocation", `{"devices": -1}`, nil, 400, "devices is -1"},
		"too many":        {"POST", "/allocation", `{"devices": 65537}`, nil, 400, "from 1 to 65536"},
		"far too many": {"POST", "/allocation", `{"devices": 99999999999999999999}`, nil, 400,
			"from 1 to 65536"},
		"as many as there are": {"POST", "/allocation", `{"devices": 1}`, nil, 409, "the job already has 1 device"},
		"down to more": {"POST", "/allocation", `{"change": "down", "devices": 2}`, nil, 409,
			`but change "down" requests 2`},
		"a large body": {"POST", "/allocation", `{"change": "up"` + strings.Repeat(" ", 64<<10) + "}", nil, 413,
			"larger than 65536"},
		"no token": {"GET", "/status", "",
			func(r *http.Request) { r.Header.Del("Authorization") }, 401, noToken},
		"no token, wrong path": {"GET", "/nothing", "",
			func(r *http.Request) { r.Header.Del("Authorization") }, 401, noToken},
		"a wrong token": {"GET", "/metrics", "", header("Authorization",
			"Bearer "+strings.Repeat("0", 64)), 401, noToken},
		"half a token": {"GET", "/status", "", header("Authorization", "Bearer "+j.token[:32]),
			401, noToken},
		"a token by another scheme":   {"GET", "/status", "", header("Authorization", "Basic "+j.token), 401, noToken},
		"a token with nothing around": {"POST", "/allocation", good, header("Authorization", j.token), 401, noToken},
		"another host":                {"GET", "/status", "", host("example.com"), 403, `"example.com" is not`},
		"another host with the port": {"POST", "/allocation", good,
			host("example.com:" + j.address[strings.LastIndex(j.address, ":")+1:]), 403, "is not an address"},
		"another address": {"GET", "/status", "", host("192.0.2.1"), 403, "is not an address"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := j.request(c.method, c.path, c.body, c.change)
			assert.Equal(t, c.status, a.status, "%s", a.body)
			var said struct{ Error, Remedy string }
			in := json.NewDecoder(bytes.NewReader(a.body))
			in.DisallowUnknownFields()
			require.NoError(t, in.Decode(&said), "%s", a.body)
			assert.Contains(t, said.Error, c.word)
			assert.NotEmpty(t, said.Remedy)
			assert.Equal(t, "application/json", a.header.Get("Content-Type"))
			assert.Equal(t, c.status == 401, strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer"))
			assert.Equal(t, c.status == 405, a.header.Get("Allow") != "")
		})
	}
	for _, name := range []string{"localhost", "LOCALHOST:9", "127.0.0.1", "[::1]:80", "127.8.9.1", "localhost."} {
		require.Equal(t, http.StatusOK, j.request("GET", "/status", "", host(name)).status, name)
	}
	require.Equal(t, http.StatusOK,
		j.request("GET", "/status", "", header("Authorization", "bEARER   "+j.token)).status)
	head := j.request("HEAD", "/metrics", "", nil)
	require.Equal(t, http.StatusOK, head.status)
	require.Empty(t, head.body)
	after := j.status()
	require.Equal(t, []any{before.Devices, before.Network, before.Taken, before.Pending},
		[]any{after.Devices, after.Network, after.Taken, after.Pending})
	left := j.stop()
	require.Equal(t, failure.Requeue, left.code)
	events := contents(t, filepath.Join(j.folder, "events.jsonl"))
	require.Equal(t, 1, strings.Count(events, "\n"), "it started, and nothing else")
	require.NotContains(t, left.stderr, j.token)
	record := contents(t, filepath.Join(j.folder, "log.jsonl"))
	require.NotContains(t, record, j.token, "no log has the token")
}

// A token from a file or the environment is not written to the run folder.
func TestListenTakesTokens(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "secret"), "from-a-file\n")
	for want, more := range map[string][]string{"from-a-file": {"--token-file", file}, "from-outside": nil} {
		t.Run(want, func(t *testing.T) {
			t.Setenv(control.TokenVariable, "from-outside")
			j := steer(t, filepath.Join(t.TempDir(), "run"), more...)
			require.NoFileExists(t, filepath.Join(j.folder, control.TokenFile))
			for _, j.token = range []string{"", "from-another", "from-a-file", "from-outside"} {
				status := j.request("GET", "/status", "", nil).status
				require.Equal(t, map[bool]int{true: 200, false: 401}[j.token == want], status, j.token)
			}
			require.Equal(t, failure.Requeue, j.stop().code)
		})
	}
}

// An invalid address ends the command before it creates a run, with a remedy.
func TestListenRefusesAddresses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	files := t.TempDir()
	secret := func(name, text string) string {
		path := write(t, filepath.Join(files, name), text)
		return path
	}
	free := "127.0.0.1:0"
	cases := map[string]struct {
		args []string
		code failure.Code
		word string
	}{
		"a port in use": {[]string{"--listen", taken.Addr().String()}, failure.Failed,
			"choose another port, or use port 0"},
		"any address":          {[]string{"--listen", "0.0.0.0:0"}, failure.Usage, "--listen-anywhere"},
		"no host":              {[]string{"--listen", ":0"}, failure.Usage, "--listen-anywhere"},
		"another address":      {[]string{"--listen", "192.0.2.1:80"}, failure.Usage, "--listen-anywhere"},
		"another, by the file": {[]string{"--set", `run.listen="0.0.0.0:0"`}, failure.Usage, "--listen-anywhere"},
		"not an own address": {[]string{"--listen", "192.0.2.1:0", "--listen-anywhere"}, failure.Failed,
			"listen on 192.0.2.1:0"},
		"no port": {[]string{"--listen", "127.0.0.1"}, failure.Usage, "such as 127.0.0.1:8080"},
		"no port, by the file": {[]string{"--set", "run.listen=127.0.0.1"}, failure.Configuration,
			"such as 127.0.0.1:8080"},
		"anywhere, but nowhere": {[]string{"--listen-anywhere"}, failure.Usage, "require --listen"},
		"a token for nobody":    {[]string{"--token-file", secret("good", "abc")}, failure.Usage, "require --listen"},
		"no file of a token": {[]string{"--listen", free, "--token-file", filepath.Join(files, "none")},
			failure.Usage, "none"},
		"an empty token": {[]string{"--listen", free, "--token-file", secret("empty", " \n")}, failure.Usage,
			"contains no token"},
		"two tokens": {[]string{"--listen", free, "--token-file", secret("two", "a\nb")}, failure.Usage,
			"without spaces"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "run")
			fails(t, c.code, c.word, brief(folder, c.args...)...)
			require.NoDirExists(t, folder)
		})
	}
}

// The job file can set the address. An address open to all needs a flag.
func TestListenAnywhere(t *testing.T) {
	j := steer(t, filepath.Join(t.TempDir(), "run"), "--listen", "0.0.0.0:0", "--listen-anywhere", "--set",
		"run.listen=127.0.0.1:0")
	_, port, err := net.SplitHostPort(j.address)
	require.NoError(t, err)
	j.address = "127.0.0.1:" + port
	for name, status := range map[string]int{"192.0.2.1": 200, "localhost": 200, "example.com": 403} {
		require.Equal(t, status, j.request("GET", "/status", "", func(r *http.Request) { r.Host = name }).status, name)
	}
	left := j.stop()
	require.Equal(t, failure.Requeue, left.code)
	j.requireNoServer()
}

// Clients that send nothing, or slowly, neither stop the job nor delay other clients.
func TestListenWaitsForNobody(t *testing.T) {
	j := steer(t, filepath.Join(t.TempDir(), "run"))
	var idle []net.Conn
	for range 64 {
		c, err := net.Dial("tcp", j.address)
		require.NoError(t, err)
		_, err = c.Write([]byte("POST /allocation HTTP/1.1\r\nHost: localhost\r\n"))
		require.NoError(t, err)
		idle = append(idle, c)
	}
	rows := func() int { return strings.Count(contents(t, filepath.Join(j.folder, "epochs.csv")), "\n") }
	before := rows()
	require.Eventually(t, func() bool { return rows() > before+2 }, patience, 5*time.Millisecond, "the job goes on")
	j.status()
	for _, c := range idle {
		require.NoError(t, c.Close())
	}
	require.Equal(t, failure.Requeue, j.stop().code)
	j.requireNoServer()
}
