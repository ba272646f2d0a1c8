package config

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/model"
	"graft/trainer/clock"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// golden compares a text with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want := must(os.ReadFile(path))
	assert.Equal(t, string(want), got, "run the test with -update if this is meant")
}

// examples returns the TOML and JSON files of a folder in testdata.
func examples(t testing.TB, folder string) []string {
	var all []string
	for _, ending := range []string{"*.toml", "*.json"} {
		all = append(all, must(filepath.Glob(filepath.Join("testdata", folder, ending)))...)
	}
	require.NotEmpty(t, all)
	return all
}

func TestFaultsAreListedWithTheirLines(t *testing.T) {
	for folder, parse := range map[string]func(name string, text []byte) error{
		"faults":      func(name string, text []byte) error { return second(parseNetwork(name, text)) },
		"jobs/faults": func(name string, text []byte) error { return second(parseJob(name, string(text))) },
		"profiles/faults": func(name string, _ []byte) error {
			return second(ReadProfile(files.OS{}, "testdata/profiles/faults/"+name))
		},
	} {
		for _, path := range examples(t, folder) {
			err := parse(filepath.Base(path), must(os.ReadFile(path)))
			var list Faults
			require.ErrorAs(t, err, &list, path)
			golden(t, path+".txt", err.Error()+"\n")
		}
	}
}

func second[T any](_ T, err error) error { return err }

func zoo(t testing.TB, name string) *model.Network {
	return must(model.Zoo(name, model.ZooOptions{}))
}

// assertSame checks that two networks have the same structure.
func assertSame(t *testing.T, want, got *model.Network) {
	t.Helper()
	assert.Equal(t, want.Form(), got.Form())
	assert.Equal(t, want.String(), got.String())
}

func TestTheZooIsWrittenAndReadBack(t *testing.T) {
	for _, e := range model.ZooEntries() {
		if e.IsGraph() {
			continue
		}
		n := zoo(t, e.Name)
		for _, ending := range []string{".toml", ".json", ".JSON", ""} {
			path := filepath.Join(t.TempDir(), "network"+ending)
			require.NoError(t, WriteNetwork(files.OS{}, path, n))
			assertSame(t, n, must(ReadNetwork(files.OS{}, path)))
		}
	}
}

func TestFilesReadWell(t *testing.T) {
	for _, path := range examples(t, "networks") {
		n := must(ReadNetwork(files.OS{}, path))
		written := filepath.Join(t.TempDir(), filepath.Base(path))
		require.NoError(t, WriteNetwork(files.OS{}, written, n))
		golden(t, path, string(must(os.ReadFile(written))))
	}
}

func TestBothWaysOfWritingPartsInTOML(t *testing.T) {
	compact, err := parseNetwork("a.toml", []byte(`
		input = [8]
		layers = ["Linear(8, 4)", {name = "b", block = [{name = "c", layer = "ReLU()"}]}] # a comment`))
	require.NoError(t, err)
	long, err := parseNetwork("b.toml", []byte(`
		input = [8]
		[[layers]]
		layer = "Linear(8, 4)"
		[[layers]]
		name = "b"
		[[layers.block]]
		name = "c"
		layer = "ReLU()"`))
	require.NoError(t, err)
	assertSame(t, compact, long)
}

func TestFilesThatCannotBeReadSaySo(t *testing.T) {
	folder := t.TempDir()
	_, err := ReadNetwork(files.OS{}, filepath.Join(folder, "none.toml"))
	assert.ErrorIs(t, err, fs.ErrNotExist)

	large := filepath.Join(folder, "large.toml")
	require.NoError(t, os.WriteFile(large, make([]byte, largestNetworkFile+1), 0o600))
	_, err = ReadNetwork(files.OS{}, large)
	assert.ErrorContains(t, err, "the maximum is 1048576")

	wrong := filepath.Join(folder, "wrong.toml")
	require.NoError(t, os.WriteFile(wrong, []byte("input = [8]\nlayers = [3]\n"), 0o600))
	_, err = ReadNetwork(files.OS{}, wrong)
	assert.ErrorContains(t, err, "read network "+wrong+": 1 fault\n\n"+wrong+":2:11: a part must be")
}

func TestNetworksThatCouldNotBeReadAgainAreNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.toml")
	n := zoo(t, "ConvNet2")
	n.Input = model.Shape{4, 32, 32}
	assert.ErrorContains(t, WriteNetwork(files.OS{}, path, n), "expects 3 channels, got 4")

	n = zoo(t, "ConvNet2")
	n.Root.Class = strings.Repeat("x", largestNetworkFile)
	assert.ErrorContains(t, WriteNetwork(files.OS{}, path, n), "exceed the limit of 1048576 bytes for a network file")
	assert.NoFileExists(t, path)
}

// A write that fails, for each kind of fault at each operation, leaves either the old file or the new one.
func TestEveryFaultLeavesAWholeFile(t *testing.T) {
	networks, profiles := []*model.Network{zoo(t, "ConvNet2"), zoo(t, "ConvNet3")},
		[]*clock.Profile{clock.Profiles()[0], fullProfile()}
	for name, write := range map[string]func(fsys files.FS, path string, which int) error{
		"network": func(fsys files.FS, path string, which int) error {
			return WriteNetwork(fsys, path, networks[which])
		},
		"profile": func(fsys files.FS, path string, which int) error {
			return WriteProfile(fsys, path, profiles[which])
		},
	} {
		path := filepath.Join(t.TempDir(), "a.toml")
		var texts []string
		for which := range 2 {
			require.NoError(t, write(files.OS{}, path, which))
			texts = append(texts, string(must(os.ReadFile(path))))
		}
		for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
			at := 1
			for fired := true; fired; at++ {
				path := filepath.Join(t.TempDir(), "a.toml")
				require.NoError(t, write(files.OS{}, path, 0))
				fsys := faults.New(files.OS{}, at, kind)
				err := write(fsys, path, 1)
				if fired = fsys.Fired(); fired && err != nil {
					assert.ErrorIs(t, err, faults.ErrInjected)
				} else if err == nil {
					assert.Equal(t, texts[1], string(must(os.ReadFile(path))), "what is not there was not written")
				}
				assert.Contains(t, texts, string(must(os.ReadFile(path))), "%s: %s at %d", name, kind, at)
			}
			assert.Greater(t, at, 6, kind)
		}
	}
}

func FuzzReadNetwork(f *testing.F) {
	for _, folder := range []string{"faults", "networks"} {
		for _, path := range examples(f, folder) {
			data := must(os.ReadFile(path))
			f.Add(data, isJSON(path))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		n, err := parseNetwork(map[bool]string{true: "x.json", false: "x.toml"}[asJSON], data)
		if err != nil {
			var list Faults
			require.ErrorAs(t, err, &list)
			assert.NotEmpty(t, list.Error())
			return
		}
		for path, layout := range map[string]func(decode.Table, func(string) bool) string{"y.toml": decode.FormatTOML,
			"y.json": decode.FormatJSON} {
			text := layout(tableOf(n.Form()).(decode.Table), isParts)
			again, err := parseNetwork(path, []byte(text))
			require.NoError(t, err, text)
			assertSame(t, n, again)
		}
	})
}

// must returns the value of a call that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
