package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/listen"
	"graft/report/page/pagetest"
	"graft/report/serve"
	"graft/results"
	"graft/trainer"
)

// handed is a clock that a test moves.
type handed struct {
	mu sync.Mutex
	at time.Time
}

func (c *handed) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *handed) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// visitor requests pages from a handler.
type visitor struct {
	t       *testing.T
	handler *serve.Handler
	clock   *handed
	tag     string // tag of the last response
}

// visitors serves a folder like `graft serve`, with a clock that the test controls.
func visitors(t *testing.T, dir string) *visitor { return visitorsOf(t, files.Beneath(dir), dir) }

// visitorsOf does the same for a folder of a file system.
func visitorsOf(t *testing.T, fsys files.FS, dir string) *visitor {
	clock := &handed{at: time.Now()}
	return &visitor{t: t, handler: serve.New(serve.Options{Files: fsys, Dir: dir, Every: time.Second,
		Now: clock.now, Hosts: listen.IsLoopback, Version: thisVersion()}), clock: clock}
}

// ask sends a request with headers, which are given in pairs, and returns the response.
func (v *visitor) ask(method, address string, headers ...string) *httptest.ResponseRecorder {
	v.t.Helper()
	r := httptest.NewRequest(method, address, nil)
	r.Host = "127.0.0.1:80"
	for k := 0; k < len(headers); k += 2 {
		if headers[k] == "Host" {
			r.Host = headers[k+1]
		}
		r.Header.Set(headers[k], headers[k+1])
	}
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r)
	v.tag = w.Header().Get("ETag")
	return w
}

// get returns a page, and checks that it exists and is well-formed.
func (v *visitor) get(address string) string {
	v.t.Helper()
	w := v.ask(http.MethodGet, address)
	require.Equal(v.t, http.StatusOK, w.Code, "%s: %s", address, w.Body)
	require.Empty(v.t, pagetest.Check(w.Body.String()).Faults, address)
	return w.Body.String()
}

// fresh reports whether a page has changed since the last request.
func (v *visitor) fresh(address string) bool {
	v.t.Helper()
	w := v.ask(http.MethodGet, address, "If-None-Match", v.tag)
	require.Contains(v.t, []int{http.StatusOK, http.StatusNotModified}, w.Code, "%s: %s", address, w.Body)
	if w.Code == http.StatusNotModified {
		require.Empty(v.t, w.Header().Get("Content-Security-Policy"), "it would take the place of the page's")
	}
	return w.Code == http.StatusOK
}

// The list links to the page of every run of every kind, and names folders that are not runs. Nothing in the folder
// changes, not even file times.
func TestServeShowsAllRuns(t *testing.T) {
	all := writeAll(t)
	dir := filepath.Dir(all["job"])
	bad := badFolders(t, filepath.Join(dir, "bad"))
	before, same := listing(t, dir), digests(t, dir)
	v := visitors(t, dir)
	list := v.get("/")
	require.Contains(t, list, fmt.Sprintf("<p>%d runs, 9 running, 15 done, %d left out; 34 sub-runs inside them.</p>",
		len(all)+len(bad)-2, len(bad)-2))
	for name := range all {
		require.Contains(t, list, fmt.Sprintf(`<a href="/run/%s">%s</a>`, name, name))
		text := v.get("/run/" + name)
		require.Contains(t, text, "</h1>")
		require.Contains(t, text, "How to reproduce this run</h2>", name)
		require.Contains(t, text, `<a href="/">All runs</a>`)
	}
	for name, says := range bad {
		require.Contains(t, list, "bad/"+name)
		if name == "foreign" || name == "empty" {
			require.Contains(t, list, "no run in this folder")
			continue
		}
		require.Contains(t, list, `href="`+serve.AddressOf("bad/"+name)+`"`)
		require.Contains(t, v.get(serve.AddressOf("bad/"+name)), says)
	}
	require.Contains(t, list, `<td class="n" data-v="0.5" `+
		`data-u="validation_accuracy share">50.00</td><td>%</td><td>validation accuracy</td>`)
	compared := v.get("/compare?run=job&run=open&run=bad/torn&run=nowhere")
	containsAll(t, compared, ">Comparison of 2 jobs</h2>", ">Left out</h2>", "nowhere: the folder does not exist",
		"epochs.csv",
		`<a href="/run/job">job</a>`)
	require.Equal(t, before, listing(t, dir), "nothing was changed, and nothing made")
	require.Equal(t, same, digests(t, dir))
}

// digests returns the digest of each file in a folder.
func digests(t *testing.T, dir string) map[string][32]byte {
	all := map[string][32]byte{}
	for path := range listing(t, dir) {
		if text, err := os.ReadFile(path); err == nil { // fails for a folder
			all[path] = sha256.Sum256(text)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// Any folder name is shown as text, and links to it work.
func TestServeOfHostileFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{`<img src=x onerror=alert(1)>`, `"'&`, "new\nline", "\xff\xfe", "javascript:alert(1)",
		"%2e%2e", "</script><b>"} {
		folder := filepath.Join(dir, strings.ReplaceAll(name, "/", "|"))
		writeJob(t, folder, writtenJob{seed: 1, epochs: 2, accuracy: 0.5,
			resolved: "[a]\n\"<b>\" = \"</script><i>\"\n"})
		require.NoError(t, os.Mkdir(folder+"-none", 0o700))
	}
	v := visitors(t, dir)
	list := v.get("/")
	require.Contains(t, list, "7 runs, 7 done.")
	links := regexp.MustCompile(`<th scope="row"><a href="([^"]+)"`).FindAllStringSubmatch(list, -1)
	require.Len(t, links, 7)
	require.Equal(t, 5, strings.Count(list, `type="checkbox"`), "forms send some names otherwise")
	for _, link := range links {
		list += v.get(html.UnescapeString(link[1]))
	}
	for _, tag := range []string{"<img", "<b>", "<i>", `href="javascript`} {
		require.NotContains(t, list, tag)
	}
}

// Files that block, and links that lead out of the folder, are faults only of their run.
func TestServeStaysInItsFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	const secret = "76.54" // its accuracy in percent, as pages show it
	writeJob(t, filepath.Join(outside, "secret"), writtenJob{seed: 77, epochs: 2, accuracy: 0.76543})
	require.Contains(t, visitors(t, outside).get("/"), secret)
	require.Contains(t, visitors(t, outside).get("/run/secret"), secret)
	for _, name := range []string{"whole", "pipe", "link"} {
		writeJob(t, filepath.Join(dir, name), writtenJob{seed: 1, epochs: 2, accuracy: 0.5})
	}
	replace := func(name string, make func(path string) error) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, make(path))
	}
	replace("pipe/outcome.json", func(path string) error { return syscall.Mkfifo(path, 0o600) })
	replace("link/outcome.json", func(path string) error {
		return os.Symlink(filepath.Join(outside, "secret/outcome.json"), path)
	})
	replace("out", func(path string) error { return os.Symlink(filepath.Join(outside, "secret"), path) })
	v := visitors(t, dir)
	list := v.get("/")
	require.Contains(t, list, ">whole<")
	require.NotContains(t, list, secret)
	for _, name := range []string{"pipe", "link", "out"} {
		w := v.ask(http.MethodGet, "/run/"+name)
		require.NotContains(t, w.Body.String(), secret, name)
	}
}

// The page of a run equals the page of 'graft report --html', with a link back.
func TestServeAndReportShowTheSame(t *testing.T) {
	all := writeAll(t)
	t.Chdir(filepath.Dir(all["job"]))
	main := regexp.MustCompile(`(?s)<main.*</main>`)
	v := visitors(t, ".")
	for _, name := range []string{"job", "policies", "original"} {
		require.Equal(t, main.FindString(wrote(t, name)), main.FindString(v.get("/run/"+name)), name)
	}
	require.Contains(t, visitors(t, "job").get("/run/"), ">Job job</h1>", "a folder that is a run itself")
}

// The server answers only requests under its own name, and only known addresses by GET.
func TestServeRefuses(t *testing.T) {
	dir := t.TempDir()
	writeJob(t, filepath.Join(dir, "a b%?#"), writtenJob{seed: 1, epochs: 2, accuracy: 0.5})
	writeJob(t, filepath.Join(filepath.Dir(dir), "beside"), writtenJob{seed: 1, epochs: 2, accuracy: 0.5})
	v := visitors(t, dir)
	require.Contains(t, v.get("/"), `href="/run/a%20b%25%3F%23"`)
	v.get("/run/a%20b%25%3F%23")
	v.get("/compare?run=" + url.QueryEscape("a b%?#"))
	many := "/compare?run=x" + strings.Repeat("&run=x", serve.MaxCompared)
	for name, c := range map[string]struct {
		method, address string
		headers         []string
		code            int
	}{
		"a name of a stranger's": {"GET", "/", []string{"Host", "evil.example:80"}, http.StatusForbidden},
		"no name":                {"GET", "/", []string{"Host", ""}, http.StatusForbidden},
		"an image of another site's": {"GET", "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode",
			"no-cors"}, http.StatusForbidden},
		"a link of another site's": {"GET", "/", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
			http.StatusOK},
		"POST":                        {"POST", "/", nil, http.StatusMethodNotAllowed},
		"DELETE":                      {"DELETE", "/run/a%20b%25%3F%23", nil, http.StatusMethodNotAllowed},
		"a page that is none":         {"GET", "/nowhere", nil, http.StatusNotFound},
		"a run that is none":          {"GET", "/run/nowhere", nil, http.StatusNotFound},
		"a run above the folder":      {"GET", "/run/../beside", nil, http.StatusNotFound},
		"the same, hidden":            {"GET", "/run/%2e%2e%2fbeside", nil, http.StatusNotFound},
		"one by its whole path":       {"GET", "/run/" + dir, nil, http.StatusNotFound},
		"the folder itself, no run":   {"GET", "/run/", nil, http.StatusNotFound},
		"nothing to compare":          {"GET", "/compare", nil, http.StatusBadRequest},
		"much to compare":             {"GET", many, nil, http.StatusBadRequest},
		"runs to compare that are no": {"GET", "/compare?run=..%2fbeside&run=/etc", nil, http.StatusNotFound},
	} {
		w := v.ask(c.method, c.address, c.headers...)
		require.Equal(t, c.code, w.Code, "%s: %s", name, w.Body)
		require.Empty(t, pagetest.Check(w.Body.String()).Faults, name)
		for key, value := range map[string]string{"X-Content-Type-Options": "nosniff",
			"Cross-Origin-Resource-Policy": "same-origin", "Set-Cookie": "", "Access-Control-Allow-Origin": ""} {
			require.Equal(t, value, w.Header().Get(key), name)
		}
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'", name)
		require.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'", name)
		require.NotContains(t, w.Header().Get("Content-Security-Policy"), "unsafe-eval", name)
	}
}

// A client that accepts compression gets the same page, compressed.
func TestServePacks(t *testing.T) {
	dir := t.TempDir()
	writeJob(t, filepath.Join(dir, "run"), writtenJob{seed: 1, epochs: 30, accuracy: 0.5})
	v := visitors(t, dir)
	plain := v.get("/run/run")
	w := v.ask("GET", "/run/run", "Accept-Encoding", "deflate, gzip, br")
	require.Equal(t, "gzip", w.Header().Get("Content-Encoding"))
	require.Less(t, w.Body.Len(), len(plain)/2)
	unpacked, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Equal(t, plain, string(text))
	require.Empty(t, v.ask("GET", "/", "Accept-Encoding", "gzip;q=0, br").Header().Get("Content-Encoding"))
}

// A run is checked as often as it may change: soon if it is being written, and rarely if it is quiet or has ended. New
// runs are found.
func TestServeSeesWhatChanges(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	writeJob(t, at("open"), writtenJob{seed: 1, epochs: 3, accuracy: 0.5, open: true})
	writeJob(t, at("done"), writtenJob{seed: 2, epochs: 3, accuracy: 0.5})
	v := visitors(t, dir)
	changed := func(name, file string) {
		require.NoError(t, os.Chtimes(filepath.Join(at(name), file), time.Time{}, v.clock.now()))
	}

	v.get("/run/open")
	require.False(t, v.fresh("/run/open"))
	changed("open", "epochs.csv")
	require.False(t, v.fresh("/run/open"), "it was looked at just now")
	v.clock.pass(time.Second)
	require.True(t, v.fresh("/run/open"))
	require.NoError(t, os.WriteFile(at("open/checkpoints/x"), nil, 0o600))
	v.clock.pass(time.Second)
	require.False(t, v.fresh("/run/open"), "what it saves to go on from is on no page")

	v.get("/")
	write(t, at("open/"+serve.LogFile), "{}\n")
	require.NoError(t, os.Chtimes(at("open/"+serve.LogFile), time.Time{}, v.clock.now()))
	v.clock.pass(time.Second)
	require.True(t, v.fresh("/"), "it has said something")
	v.get("/run/open")
	write(t, at("open/"+serve.LogFile), "{}\n{}\n")
	v.clock.pass(time.Second)
	require.False(t, v.fresh("/run/open"), "and what, is on no page")

	v.get("/run/done")
	v.clock.pass(time.Second)
	changed("done", "events.jsonl")
	require.False(t, v.fresh("/run/done"), "it has ended")
	v.clock.pass(serve.EndedFactor * time.Second)
	require.True(t, v.fresh("/run/done"))

	v.get("/")
	v.clock.pass(time.Hour)
	require.True(t, v.fresh("/"), "the open one is not called running any more")
	require.Contains(t, v.get("/"), `<td class="down">stopped</td>`)
	require.False(t, v.fresh("/"))
	writeJob(t, at("new"), writtenJob{seed: 3, epochs: 3, accuracy: 0.5})
	require.False(t, v.fresh("/"))
	require.Equal(t, http.StatusNotFound, v.ask("GET", "/run/new").Code)
	v.clock.pass(time.Second)
	v.get("/run/new") // a request by name finds the run earlier
	v.clock.pass(serve.ScanFactor * time.Second)
	require.Contains(t, v.get("/"), "3 runs, 2 done, 1 stopped.")
	v.clock.pass(serve.EndedFactor * time.Second)
	changed("open", "epochs.csv")
	v.clock.pass(time.Second)
	require.Contains(t, v.get("/"), "3 runs, 1 running, 2 done.")
}

// A run that vanishes is named, and the others are shown.
func TestServeWhereRunsVanish(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		writeJob(t, filepath.Join(dir, name), writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	}
	v := visitors(t, dir)
	require.Contains(t, v.get("/"), "3 runs")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "b")))
	text := v.get("/compare?run=a&run=b") // it existed at the last scan
	require.Contains(t, text, ">Left out</h2>")
	require.Contains(t, text, "b: no such file or directory")
	require.Equal(t, http.StatusNotFound, v.ask("GET", "/run/b").Code)
	v.clock.pass(time.Hour)
	require.Contains(t, v.get("/compare?run=a&run=b"), "b: the folder does not exist")
	require.Contains(t, v.get("/"), "2 runs, 2 done.")
	require.NoError(t, os.RemoveAll(dir))
	v.clock.pass(time.Hour)
	require.Equal(t, http.StatusNotFound, v.ask("GET", "/").Code)
	require.NoError(t, os.Mkdir(dir, 0o700))
	v.clock.pass(time.Hour)
	require.Contains(t, v.get("/"), "No runs yet.")
}

// Twenty viewers watch a running job: their pages only grow, are never wrong, and are complete at the end.
func TestServeWhileARunIsWritten(t *testing.T) {
	dir := t.TempDir()
	run, err := results.Create(files.OS{}, filepath.Join(dir, "run"),
		results.CreateOptions{Resolved: "[run]\nseed = 1\n"}, results.Manifest{Created: when})
	require.NoError(t, err)
	book, err := trainer.OpenFolder(run, false)
	require.NoError(t, err)
	const epochs = 60
	require.NoError(t, book.Epoch(trainer.Row{Validation: trainer.Score{Loss: 1, Accuracy: 0.5}}))
	handler := serve.New(serve.Options{Files: files.Beneath(dir), Dir: dir, Every: time.Millisecond, Now: time.Now,
		Hosts: listen.IsLoopback, Version: thisVersion()})
	server := httptest.NewServer(handler)
	defer server.Close()
	over := make(chan struct{})
	var viewers sync.WaitGroup
	seen := regexp.MustCompile(`>(\d+) epochs?</h2>`)
	for k := range 20 {
		viewers.Go(func() {
			last, tag := 0, ""
			for ended := false; !ended; {
				select {
				case <-over:
					ended = true
				case <-time.After(10 * time.Millisecond):
				}
				text, now, err := viewed(server.URL+[]string{"/run/run", "/"}[k%2], tag)
				assert.NoError(t, err)
				tag = now
				if found := seen.FindStringSubmatch(text); found != nil {
					n, _ := strconv.Atoi(found[1]) // it consists of digits
					assert.GreaterOrEqual(t, n, last)
					last = n
				}
			}
			assert.True(t, k%2 == 1 || last > 0, "it saw the run")
		})
	}
	for k := 1; k < epochs; k++ {
		require.NoError(t, book.Epoch(trainer.Row{Epoch: k, Time: time.Duration(k) * time.Second,
			Validation: trainer.Score{Loss: 1, Accuracy: 0.5}}))
		time.Sleep(5 * time.Millisecond)
	}
	require.NoError(t, run.WriteOutcome(trainer.Outcome{Epochs: epochs,
		Validation: trainer.Score{Loss: 1, Accuracy: 0.5}}))
	require.NoError(t, run.Close())
	close(over)
	viewers.Wait()
	v := &visitor{t: t, handler: serve.New(serve.Options{Files: files.Beneath(dir), Dir: dir, Every: time.Second,
		Now: time.Now, Hosts: listen.IsLoopback, Version: thisVersion()})}
	require.Contains(t, v.get("/run/run"), ">60 epochs</h2>")
}

// viewed returns a page and its tag. The page is empty if the tag is unchanged.
func viewed(address, tag string) (text, now string, err error) {
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return "", "", err
	}
	r.Header.Set("If-None-Match", tag)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", "", err
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err == nil && answer.StatusCode != http.StatusOK &&
		answer.StatusCode != http.StatusNotModified {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return string(body), answer.Header.Get("ETag"), err
}

// 'graft serve' refuses unsafe or invalid options, and prints its address.
func TestServeCommand(t *testing.T) {
	dir := t.TempDir()
	for args, says := range map[string]string{
		"--listen 0.0.0.0:0": "add --listen-anywhere", "--listen :0": "add --listen-anywhere",
		"--every 1ms": "must be at least 100ms",
	} {
		got := fails(t, failure.Usage, says, append([]string{"serve", dir}, strings.Fields(args)...)...)
		require.Empty(t, got.stdout)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	fails(t, failure.Failed, "choose another port", "serve", dir, "--listen", taken.Addr().String())

	stopped, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("received a signal"))
	got := ends(t, call(stopped, newRootCommand(), "serve", dir, "--json"), failure.Interrupted, "")
	r := decoded[serveReport](t, got.stdout)
	require.Equal(t, dir, r.Folder)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/$`, r.URL)
	got = call(stopped, newRootCommand(), "serve", dir, "--listen", "0.0.0.0:0", "--listen-anywhere")
	require.Contains(t, got.stderr, "can read the runs")
	require.Regexp(t, `^serving the runs of .* at http://\S+:\d+/\n$`, got.stdout)
	require.NotContains(t, got.stdout, "0.0.0.0")
}

// The program listens quickly, without LibTorch, and ends properly at a signal.
func TestServeStartsAndEnds(t *testing.T) {
	dir := t.TempDir()
	writeJob(t, filepath.Join(dir, "run"), writtenJob{seed: 1, epochs: 3, accuracy: 0.5})
	self, err := os.Executable()
	require.NoError(t, err)
	maps := filepath.Join(t.TempDir(), "maps")
	var took []time.Duration
	for range 3 {
		command := exec.Command(self, "serve", dir)
		command.Env = append(os.Environ(), programVariable+"=1", mapsVariable+"="+maps)
		out, err := command.StdoutPipe()
		require.NoError(t, err)
		began := time.Now()
		require.NoError(t, command.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		took = append(took, time.Since(began))
		require.NoError(t, err)
		address := strings.Fields(line)[len(strings.Fields(line))-1]
		answer, err := http.Get(address + "run/run")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
		require.NoError(t, command.Process.Signal(syscall.SIGINT))
		_ = command.Wait() // the exit code is checked below
		require.Equal(t, int(failure.Interrupted), command.ProcessState.ExitCode())
		text := contents(t, maps)
		require.NotContains(t, text, "libtorch")
	}
	slices.Sort(took)
	t.Logf("measured: graft serve listens %v after it was started, in the median", took[1].Round(time.Millisecond))
}

// countedFS counts the operations that read a folder.
type countedFS struct {
	files.FS
	reads atomic.Int64
}

// Open opens a file.
func (c *countedFS) Open(path string) (files.File, error) {
	c.reads.Add(1)
	return c.FS.Open(path)
}

// ReadDir lists a folder.
func (c *countedFS) ReadDir(path string) ([]fs.DirEntry, error) {
	c.reads.Add(1)
	return c.FS.ReadDir(path)
}

// Stat returns information about a path.
func (c *countedFS) Stat(path string) (fs.FileInfo, error) {
	c.reads.Add(1)
	return c.FS.Stat(path)
}

// Locked reports whether a lock is held.
func (c *countedFS) Locked(path string) (bool, error) {
	c.reads.Add(1)
	return c.FS.Locked(path)
}

// The server reads a known list no second time, and keeps little memory. With GRAFT_LONG, the list of 1,000 runs
// appears within 15 s; other tests use 200 runs.
func TestServeOfManyRunsIsQuick(t *testing.T) {
	runs := 200
	if longTests {
		runs = 1000
	}
	dir := t.TempDir()
	writeMany(t, dir, runs, 10)
	fsys := &countedFS{FS: files.Beneath(dir)}
	v := visitorsOf(t, fsys, dir)
	took := func(address string) time.Duration {
		began := time.Now()
		v.get(address)
		return time.Since(began)
	}
	before := allocated()
	first := took("/")
	after := allocated() - before
	reads, began := fsys.reads.Load(), time.Now()
	require.Greater(t, reads, int64(runs))
	for range 20 {
		require.False(t, v.fresh("/"))
	}
	known := time.Since(began) / 20
	require.Equal(t, reads, fsys.reads.Load(), "what is known is not read again")
	v.clock.pass(serve.ScanFactor * time.Second)
	began = time.Now()
	require.False(t, v.fresh("/"))
	looked := time.Since(began)
	one, many := took("/run/way0-000"), took("/compare?run=way0-000&run=way1-000&run=way2-000")
	w := v.ask("GET", "/")
	t.Logf("measured: of %d runs the list (%d kB) takes %v and %d reads the first time, %v to look again, %v where it "+
		"is known; a run %v, three side by side %v; %d kB are kept", runs, w.Body.Len()/1000,
		first.Round(time.Millisecond), reads,
		looked.Round(time.Microsecond), known.Round(time.Microsecond), one.Round(time.Millisecond),
		many.Round(time.Millisecond), after>>10)
	if longTests { // other programs may use the processors
		require.Less(t, first, 15*time.Second)
	}
	require.Less(t, after, int64(32<<20))
}

// allocated returns the number of allocated heap bytes.
func allocated() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
