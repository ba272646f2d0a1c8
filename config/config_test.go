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

	"graft/config/decode"
	"graft/files"
	"graft/files/faults"
	"graft/model"
)

var update = flag.Bool("update", false, "write the expected outputs anew")

// golden compares a text with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want := must(os.ReadFile(path))
	assert.Equal(t, string(want), got, "run the test with -update if this is meant")
}

// examples are the files in testdata of both notations.
func examples(t testing.TB, folder string) []string {
	var all []string
	for _, ending := range []string{"*.toml", "*.json"} {
		found := must(filepath.Glob(filepath.Join("testdata", folder, ending)))
		all = append(all, found...)
	}
	require.NotEmpty(t, all)
	return all
}

func TestFaultsAreListedWithTheirLines(t *testing.T) {
	for _, path := range examples(t, "faults") {
		data := must(os.ReadFile(path))
		n, err := parseNetwork(filepath.Base(path), data)
		assert.Nil(t, n, path)
		var list Faults
		require.ErrorAs(t, err, &list, path)
		golden(t, path+".txt", err.Error()+"\n")
	}
}

func zoo(t testing.TB, name string) *model.Network {
	n := must(model.Zoo(name, model.ZooOptions{}))
	return n
}

// assertSame shows that two networks are the same tree.
func assertSame(t *testing.T, want, got *model.Network) {
	t.Helper()
	assert.Equal(t, want.Form(), got.Form())
	assert.Equal(t, want.String(), got.String())
}

func TestTheZooIsWrittenAndReadBack(t *testing.T) {
	for _, e := range model.ZooEntries() {
		n := zoo(t, e.Name)
		for _, ending := range []string{".toml", ".json", ".JSON", ""} {
			path := filepath.Join(t.TempDir(), "network"+ending)
			require.NoError(t, WriteNetwork(files.OS{}, path, n))
			again := must(ReadNetwork(files.OS{}, path))
			assertSame(t, n, again)
		}
	}
}

func TestFilesReadWell(t *testing.T) {
	for _, path := range examples(t, "networks") {
		n := must(ReadNetwork(files.OS{}, path))
		written := filepath.Join(t.TempDir(), filepath.Base(path))
		require.NoError(t, WriteNetwork(files.OS{}, written, n))
		got := must(os.ReadFile(written))
		golden(t, path, string(got))
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
	assert.ErrorContains(t, err, "more than the 1048576")

	wrong := filepath.Join(folder, "wrong.toml")
	require.NoError(t, os.WriteFile(wrong, []byte("input = [8]\nlayers = [3]\n"), 0o600))
	_, err = ReadNetwork(files.OS{}, wrong)
	assert.ErrorContains(t, err, "read network "+wrong+": 1 fault\n\n"+wrong+":2:11: a part must be")
}

func TestNetworksThatCouldNotBeReadAgainAreNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.toml")
	n := zoo(t, "ConvNet2")
	n.Input = model.Shape{4, 32, 32}
	assert.ErrorContains(t, WriteNetwork(files.OS{}, path, n), "takes 3 channels and gets 4")

	n = zoo(t, "ConvNet2")
	n.Root.Class = strings.Repeat("x", largestNetworkFile)
	assert.ErrorContains(t, WriteNetwork(files.OS{}, path, n), "a network's file has at most 1048576")
	assert.NoFileExists(t, path)
}

// TestEveryFaultLeavesAWholeFile puts each kind of fault at each operation.
func TestEveryFaultLeavesAWholeFile(t *testing.T) {
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		at := 1
		for ; writeWithFault(t, at, kind); at++ {
		}
		assert.Greater(t, at, 5, kind)
	}
}

// writeWithFault says whether the fault was reached.
func writeWithFault(t *testing.T, at int, kind faults.Kind) bool {
	path := filepath.Join(t.TempDir(), "network.toml")
	old, other := zoo(t, "ConvNet2"), zoo(t, "ConvNet3")
	require.NoError(t, WriteNetwork(files.OS{}, path, old))
	fsys := faults.New(files.OS{}, at, kind)
	err := WriteNetwork(fsys, path, other)
	if fsys.Fired() && err != nil {
		assert.ErrorIs(t, err, faults.ErrInjected)
	}
	got, readErr := ReadNetwork(files.OS{}, path)
	require.NoError(t, readErr)
	if got.Name() != old.Name() {
		old = other
	}
	assertSame(t, old, got)
	return fsys.Fired()
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
		for path, layout := range map[string]func(decode.Table, func(string) bool) string{"y.toml": decode.FormatTOML, "y.json": decode.FormatJSON} {
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
