package coprocess

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// written writes a shell program and returns its path.
func written(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o777))
	return path
}

// polite answers the handshake.
const polite = `read line; echo '{"protocol": 1}'`

func TestAnswers(t *testing.T) {
	path := written(t, `read line; echo "$line" >&2; echo '{"protocol": 1}'`,
		`while read line; do n=$((n+1)); echo "{\"n\": $n}"; done`)
	p, err := Start(t.Context(), Options{Path: path, Limit: time.Minute}, "counter", map[string]int{"from": 3})
	require.NoError(t, err)
	for want := range 100 {
		var got struct{ N int }
		require.NoError(t, p.Ask(t.Context(), struct{}{}, &got))
		require.Equal(t, want+1, got.N)
	}
	require.NoError(t, p.requests.Close())
	select {
	case <-p.ended: // Close kills a program that takes long to exit
	case <-time.After(5 * time.Minute):
		t.Fatal("the program does not end after the end of its requests")
	}
	p.Close()
	require.Equal(t, `  {"from":3,"protocol":1,"role":"counter"}`, p.messages.String())
	require.NoError(t, p.err, "the end of the requests ends the program")
}

func TestLargeAnswers(t *testing.T) {
	const size = 1 << 20
	path := written(t, polite, `read line; printf '{"text": "'; head -c 1048576 /dev/zero | tr '\0' a; echo '"}'`)
	p, err := Start(t.Context(), Options{Path: path, Limit: time.Minute}, "", nil)
	require.NoError(t, err)
	defer p.Close()
	var got struct{ Text string }
	require.NoError(t, p.Ask(t.Context(), struct{}{}, &got))
	require.Equal(t, strings.Repeat("a", size), got.Text)
}

// Every fault of a program gives an error that names the cause, and ends the program.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string // late faults contain "within"
	}{
		"exits at once": {[]string{"exit 0"}, "exited without an answer"},
		"fails": {[]string{"echo no module named x >&2", "exit 3"},
			"ended without an answer: exit status 3; its last messages:\n  no module named x"},
		"is killed": {[]string{polite, "kill -9 $$"}, "signal: killed"},
		"prints text": {[]string{polite, "read line", "echo hello"},
			`answered "hello": expected one line of JSON on standard output (invalid character 'h' looking for ` +
				`beginning of value); print messages to standard error`},
		"prints nothing":   {[]string{polite, "read line", "echo"}, `answered "": expected one line of JSON`},
		"other keys":       {[]string{polite, "read line", `echo '{"strat": []}'`}, `unknown field "strat"`},
		"null":             {[]string{polite, "read line", "echo null"}, `answered "null": expected a JSON object`},
		"a list":           {[]string{polite, "read line", "echo '[1]'"}, `answered "[1]": expected a JSON object`},
		"a brace too many": {[]string{polite, "read line", `echo '{} }'`}, "expected one JSON object per line"},
		"two objects":      {[]string{polite, "read line", `echo '{} {}'`}, "expected one JSON object per line"},
		"another type": {[]string{polite, "read line", `echo '{"start": "x"}'`},
			`"start" is a string; expected a list`},
		"another protocol": {[]string{"read line", `echo '{"protocol": 2}'`},
			`answered with protocol 2; expected protocol 1`},
		"no protocol": {[]string{"read line", "echo '{}'"},
			`answered with protocol 0; expected protocol 1`},
		"half a line":         {[]string{polite, "read line", "printf '{\"start\": ['"}, "exited without an answer"},
		"hangs":               {[]string{polite, "sleep 60"}, "did not answer within 1s"},
		"hangs in a child":    {[]string{polite, "sleep 60 & wait"}, "did not answer within 1s"},
		"never ends its line": {[]string{polite, "read line", "cat /dev/zero"}, "exceeds 16 MiB"},
		"closes its input":    {[]string{polite, "exec <&-", "sleep 60"}, "did not answer within 1s"},
	} {
		path := written(t, c.lines...) // written before any fork: a child would keep the file open for writing
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if strings.Contains(c.want, "within") {
				limit = time.Second
			}
			p, err := Start(t.Context(), Options{Path: path, Limit: limit}, "test", nil)
			if err == nil {
				err = p.Ask(t.Context(), map[string]int{"now": 1}, &struct {
					Start []int `json:"start"`
				}{})
				defer p.Close()
				defer func() { <-p.ended }()
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// The error of a program that cannot start states a remedy.
func TestPrograms(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o666))
	shapeless := filepath.Join(folder, "shapeless")
	require.NoError(t, os.WriteFile(shapeless, []byte("text\n"), 0o777))
	for path, want := range map[string]string{
		filepath.Join(folder, "absent"): "no such file or directory",
		plain:                           "make it executable with 'chmod +x",
		shapeless:                       "add a first line such as #!",
	} {
		_, err := Start(t.Context(), Options{Path: path}, "", nil)
		require.ErrorContains(t, err, want)
	}
}

// A cancelled request ends the program and its children.
func TestCancelledRequests(t *testing.T) {
	// The child is named before the answer, because the request may be cancelled at once.
	path := written(t, `sleep 60 & echo $! >&2`, `read line; echo "{\"protocol\": 1}"`, "wait")
	p, err := Start(t.Context(), Options{Path: path, Limit: time.Minute}, "", nil)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	require.ErrorIs(t, p.Ask(ctx, struct{}{}, &struct{}{}), context.Canceled)
	p.Close()
	child := strings.TrimSpace(p.messages.String())
	require.NotEmpty(t, child)
	require.Eventually(t, func() bool {
		state, err := os.ReadFile(filepath.Join("/proc", child, "stat"))
		return err != nil || strings.Contains(string(state), ") Z ")
	}, time.Minute, time.Millisecond)
}

// An accepted answer is one JSON object.
func FuzzDecode(f *testing.F) {
	for _, line := range []string{`{"start": [1, 2]}`, `{"start": [1`, "null\n", "5", "{} }", "{} {}", "",
		`{"start": null}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var answer struct {
			Start []int `json:"start"`
		}
		if decode(line, &answer) == nil {
			var object map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(line, &object))
			require.NotNil(t, object)
		}
	})
}
