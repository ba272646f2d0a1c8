package dataset

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
)

func content(seed byte) []byte {
	out := make([]byte, 200_000)
	for k := range out {
		out[k] = byte(k*k>>3) + seed
	}
	return out
}

func remoteOf(server *httptest.Server, name string, data []byte) remote {
	sum := md5.Sum(data)
	return remote{name, server.URL + "/" + name, hex.EncodeToString(sum[:]), int64(len(data))}
}

func serve(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
}

// cutAfter returns a handler that announces the full length and disconnects after some bytes.
func cutAfter(data []byte, bytes int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		_, _ = w.Write(data[:bytes])
		panic(http.ErrAbortHandler)
	}
}

func ignoringRanges(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestFetchSaysWhatIsWrongAndLeavesNothingHalf(t *testing.T) {
	data := content(1)
	cases := map[string]struct {
		answers []http.HandlerFunc // one per call of Fetch
		want    []string           // error of each call; empty for none
		part    int                // bytes kept for the next call
	}{
		"all goes well": {[]http.HandlerFunc{serve(data)}, []string{""}, 0},
		"not there": {[]http.HandlerFunc{status(404)},
			[]string{"404 Not Found; try again later, or copy file"}, 0},
		"server in trouble":        {[]http.HandlerFunc{status(503), serve(data)}, []string{"503", ""}, 0},
		"another file":             {[]http.HandlerFunc{serve(content(2))}, []string{"MD5"}, 0},
		"another file, then right": {[]http.HandlerFunc{serve(content(2)), serve(data)}, []string{"MD5", ""}, 0},
		"a longer file":            {[]http.HandlerFunc{serve(append(content(1), 0))}, []string{"MD5"}, 0},
		"a shorter file":           {[]http.HandlerFunc{serve(data[:1000])}, []string{"MD5"}, 0},
		"cut": {[]http.HandlerFunc{cutAfter(data, 5000)},
			[]string{"lost after 5000 of 200000 bytes"}, 5000},
		"cut and resumed": {[]http.HandlerFunc{cutAfter(data, 5000), serve(data)}, []string{"lost after", ""}, 0},
		"cut, no parts to be had": {[]http.HandlerFunc{cutAfter(data, 5000), ignoringRanges(data)},
			[]string{"lost after", ""}, 0},
		"cut, then a short file": {[]http.HandlerFunc{cutAfter(data, 5000), serve(data[:4000]), serve(data)},
			[]string{"lost after", "416", ""}, 0},
		"cut, then another file": {[]http.HandlerFunc{cutAfter(data, 5000), serve(content(2)), serve(data)},
			[]string{"lost after", "MD5", ""}, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var answer http.HandlerFunc
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer(w, r)
			}))
			defer server.Close()
			dir := filepath.Join(t.TempDir(), "data")
			path := filepath.Join(dir, "file")
			for k, want := range c.want {
				answer = c.answers[k]
				err := fetch(context.Background(), server.Client(), files.OS{},
					[]remote{remoteOf(server, "file", data)}, dir, nil)
				if want == "" {
					require.NoError(t, err)
					got, err := os.ReadFile(path)
					require.NoError(t, err)
					require.True(t, bytes.Equal(data, got))
					require.NoFileExists(t, path+".part")
					continue
				}
				require.ErrorContains(t, err, want)
				require.ErrorContains(t, err, server.URL)
				require.NoFileExists(t, path)
			}
			if c.part > 0 {
				kept, err := os.ReadFile(path + ".part")
				require.NoError(t, err)
				require.Equal(t, data[:c.part], kept)
			} else {
				require.NoFileExists(t, path+".part")
			}
		})
	}
}

func TestFetchAsksOnlyForWhatIsMissing(t *testing.T) {
	all := map[string][]byte{"one": content(1), "two": content(2)}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.Header.Get("Range"))
		serve(all[strings.TrimPrefix(r.URL.Path, "/")])(w, r)
	}))
	defer server.Close()
	list := []remote{remoteOf(server, "one", all["one"]), remoteOf(server, "two", all["two"])}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one.part"), all["one"][:1234])
	write(t, filepath.Join(dir, "two"), []byte("something else"))
	run := func() (last [2]int64) {
		at := int64(-1)
		require.NoError(t, fetch(context.Background(), server.Client(), files.OS{}, list, dir, func(done, total int64) {
			require.GreaterOrEqual(t, done, at)
			at, last = done, [2]int64{done, total}
		}))
		return last
	}
	require.Equal(t, [2]int64{400_000, 400_000}, run())
	require.Equal(t, []string{"/one bytes=1234-", "/two "}, asked)
	require.Equal(t, [2]int64{400_000, 400_000}, run())
	require.Len(t, asked, 2, "what is right is left alone")
	require.NoError(t, os.Rename(filepath.Join(dir, "two"), filepath.Join(dir, "two.part")))
	run()
	require.Len(t, asked, 2, "a whole part only needs its name")
}

func TestFetchStopsWhenToldTo(t *testing.T) {
	server := httptest.NewServer(serve(content(1)))
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := fetch(ctx, nil, files.OS{}, []remote{remoteOf(server, "file", content(1))}, t.TempDir(), nil)
	require.ErrorIs(t, err, context.Canceled)
}

func TestFetchKnowsItsNames(t *testing.T) {
	err := Fetch(context.Background(), nil, files.OS{}, "imagenet", t.TempDir(), nil)
	require.ErrorContains(t, err, "imagenet")
	require.ErrorContains(t, err, "cifar10, cifar100, fashion-mnist, mnist")
	for _, name := range Fetchable() {
		require.Contains(t, Kinds(), name)
		for _, file := range published[name] {
			sum, err := hex.DecodeString(file.md5)
			require.NoError(t, err)
			require.Len(t, sum, md5.Size)
			require.True(t, strings.HasSuffix(file.url, "/"+file.name))
			require.Positive(t, file.bytes)
		}
	}
	require.Equal(t, cifar10.formats[0].archive, published[KindCIFAR10][0].name,
		"what is fetched is what is looked for")
	require.Equal(t, cifar100.formats[0].archive, published[KindCIFAR100][0].name)
}

// After any disk fault, the final name holds the whole file or does not exist, and the next call succeeds.
func TestFetchSurvivesFaults(t *testing.T) {
	data := content(1)
	server := httptest.NewServer(serve(data))
	defer server.Close()
	list := []remote{remoteOf(server, "file", data)}
	run := func(fsys files.FS, dir string) error {
		return fetch(context.Background(), server.Client(), fsys, list, dir, nil)
	}
	counting := faults.New(files.OS{}, 0, faults.Fail)
	require.NoError(t, run(counting, t.TempDir()))
	for at := range counting.Ops() {
		for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
			dir := t.TempDir()
			_ = run(faults.New(files.OS{}, at+1, kind), dir)
			file, err := os.Open(filepath.Join(dir, "file"))
			if !errors.Is(err, os.ErrNotExist) {
				require.NoError(t, err)
				got, err := io.ReadAll(file)
				require.NoError(t, err)
				require.True(t, bytes.Equal(data, got), "%v at %d", kind, at+1)
				require.NoError(t, file.Close())
			}
			require.NoError(t, run(files.OS{}, dir), "%v at %d", kind, at+1)
		}
	}
}
