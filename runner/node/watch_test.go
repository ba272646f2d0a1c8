package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/node/world"
	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/runner/app"
	"graft/runner/control"
	"graft/runner/node"
)

// patience limits waits for other processes; a busy machine may take minutes.
const patience = 10 * time.Minute

// waits returns a shell command that waits until a file exists.
func waits(path string) string { return fmt.Sprintf("until [ -e %s ]; do sleep 0.02; done", path) }

// tasksOf writes a file of tasks into a folder, and reads it.
func tasksOf(t *testing.T, dir, text string) (*world.File, string) {
	t.Helper()
	path := filepath.Join(dir, "tasks.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	c, err := node.Read(files.OS{}, path, []string{"run.folder=" + config.Quote(filepath.Join(dir, "run")),
		`executor.devices="cpu"`, "executor.grace=1s", "executor.idle_watts=-1"})
	require.NoError(t, err)
	return c, path
}

// got requests a page, and returns its status code and text.
func got(t *testing.T, method, url, host string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	r.Host = host
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text)
}

func TestWatchARun(t *testing.T) {
	dir := t.TempDir()
	first, second, listen := filepath.Join(dir, "first"), filepath.Join(dir, "second"),
		filepath.Join(dir, "run", control.AddressFile)
	c, path := tasksOf(t, dir, fmt.Sprintf("[machine]\ngpus = 1\nmax_tasks_per_gpu = 1\n[schedule]\n"+
		"schedulers = [\"fcfs\"]\n[[task]]\nname = \"a\"\ncommand = [\"sh\", \"-c\", %q]\n[[task]]\nname = \"b\"\n"+
		"command = [\"sh\", \"-c\", %q]\n[[task]]\nname = \"bad\"\nafter = [\"a\"]\ncommand = [\"false\"]\n",
		waits(first), waits(second)))
	env := machine(nil, &source{devices: []telemetry.Device{{UUID: "intel-rapl:0", Name: "package-0"}}})
	over := make(chan error, 1)
	go func() {
		_, err := node.Run(t.Context(), env, c, path,
			node.RunOptions{FolderOptions: app.FolderOptions{}, Watch: node.WatchOptions{Address: "127.0.0.1:0"}})
		over <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(listen); return err == nil }, patience, 5*time.Millisecond)
	address, err := os.ReadFile(listen)
	require.NoError(t, err)
	at := "http://" + strings.TrimSpace(string(address))
	status := func() (s node.RunStatus) {
		code, text := got(t, http.MethodGet, at+"/status", "")
		require.Equal(t, http.StatusOK, code, text)
		require.NoError(t, json.Unmarshal([]byte(text), &s))
		return s
	}
	require.Eventually(t, func() bool { s := status(); return len(s.Running) == 1 && s.Tasks[node.TaskQueued] == 1 },
		patience, 5*time.Millisecond)
	s := status()
	require.Equal(t, "a", s.Running[0].Task)
	require.Equal(t, map[node.TaskState]int{node.TaskRunning: 1, node.TaskQueued: 1, node.TaskWaiting: 1}, s.Tasks)
	_, known := s.Devices[0].Reading.EnergyJoules.Get()
	require.True(t, known)
	code, text := got(t, http.MethodGet, at+"/metrics", "")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, text, "graft_node_tasks{state=\"running\"} 1\n")
	require.Contains(t, text, "graft_node_energy_joules_total{domain=\"package-0\",zone=\"intel-rapl:0\"} ")
	for want, r := range map[int][3]string{http.StatusNotFound: {http.MethodGet, "/", ""},
		http.StatusMethodNotAllowed: {http.MethodPost, "/status", ""},
		http.StatusForbidden:        {http.MethodGet, "/status", "evil.example"}} {
		code, text := got(t, r[0], at+r[1], r[2])
		require.Equal(t, want, code)
		require.Contains(t, text, "remedy")
	}
	require.NoError(t, os.WriteFile(first, nil, 0o600))
	require.Eventually(t, func() bool {
		s := status()
		return s.Tasks[node.TaskDone] == 1 && len(s.Running) == 1 && s.Running[0].Task == "b"
	}, patience, 5*time.Millisecond)
	require.NoError(t, os.WriteFile(second, nil, 0o600))
	require.NoError(t, <-over)
	require.NoFileExists(t, listen)
	_, err = http.Get(at + "/status") //nolint:noctx // it must fail
	require.Error(t, err)
}

func TestWatchRefusesAddresses(t *testing.T) {
	c, path := tasksOf(t, t.TempDir(), "[machine]\ngpus = 1\n[[task]]\ncommand = [\"true\"]\n")
	for _, o := range []node.WatchOptions{{Address: "0.0.0.0:0"}, {Anywhere: true}} {
		_, err := node.Run(t.Context(), machine(nil, nil), c, path, node.RunOptions{Watch: o})
		require.Equal(t, failure.Usage, failure.CodeOf(t.Context(), err), "%v", err)
	}
}
