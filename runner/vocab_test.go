package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/original/vocab"
)

func TestVocabulariesAreBuiltShownAndChecked(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "some", "where")
	build := func(more ...string) outcome {
		return graft(append([]string{"vocab", "build", "--out", folder}, more...)...)
	}
	got := ends(t, build("ConvNet2"), failure.Done, "")
	require.Equal(t, "wrote "+filepath.Join(folder, vocab.FileName)+": 8 keys on 8 tokens, 8 vectors of 16 numbers\n",
		got.stdout)

	ends(t, build("ConvNet2", "ConvNet3"), failure.Usage, "--force")
	require.Equal(t, failure.Done, graft("vocab", "check", folder, "ConvNet2").code)
	got = fails(t, failure.Failed, "no token for the layer Conv2d(32, 32, kernel_size=(3, 3), stride=(1, 1), "+
		"padding=(1, 1)) at conv1.1.layers.0 in ConvNet2", "vocab", "check", folder, "ConvNet2", "--deepen")
	require.Contains(t, got.stderr,
		"no token for the layer Linear(in_features=10, out_features=10, bias=True) at fc.1.layers.0 in ConvNet2")

	ends(t, build("ConvNet2", "ConvNet3", "--deepen", "--force", "--legacy", "models", "--size", "4"), failure.Done, "")
	for _, path := range []string{folder, filepath.Join(folder, "models.ids.pkl")} {
		got = done(t, "vocab", "check", path, "ConvNet2", "ConvNet3", "--deepen")
		require.Contains(t, got.stdout, "14 keys on 14 tokens, 14 vectors of 4 numbers; 0 faults")
	}
	require.NoError(t, os.Remove(filepath.Join(folder, vocab.FileName)))
	ends(t, build("ConvNet2", "--legacy", "models"), failure.Usage, "models.ids.pkl already exists")
	require.Equal(t, failure.Done, build("ConvNet2", "ConvNet3", "--deepen", "--size", "4").code, "from the same seed")
	got = fails(t, failure.Failed, "Conv2d(1, 32, kernel_size=(3, 3), stride=(1, 1)) at conv1.layers.0", "vocab",
		"check", folder, "ConvNet2", "--input", "1x28x28", "--classes", "5")
	require.Contains(t, got.stderr, "Linear(in_features=32, out_features=5, bias=True) at fc.layers.0")

	var ours, legacy vocabReport
	require.NoError(t, json.Unmarshal([]byte(graft("vocab", "show", "--json", folder).stdout), &ours))
	require.NoError(t, json.Unmarshal([]byte(graft("vocab", "show", "--json",
		filepath.Join(folder, "models.ids.pkl")).stdout), &legacy))
	require.Equal(t, ours.Keys, legacy.Keys)
	require.Equal(t, ours.Vectors, legacy.Vectors)
	require.Len(t, ours.Vectors, 14)
	require.Empty(t, ours.Collisions)
	require.Empty(t, ours.Unused)
}

func TestSharedAndUnusedTokensAreShown(t *testing.T) {
	v, err := vocab.New([]vocab.Entry{{Key: "ReLU()", ID: 2}, {Key: "a\x1bb", ID: 0}, {Key: "c", ID: 2}},
		[][]float32{{1, -2}, {0, 0}, {0.5, 4}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "some.json")
	require.NoError(t, v.Write(files.OS{}, path))
	got := graft("vocab", "show", path)
	require.Equal(t, `TOKEN  VECTOR         KEY
    0  +1.000 -2.000  a?b
    1  +0.000 +0.000  -
    2  +0.500 +4.000  ReLU()
    2  +0.500 +4.000  c
3 keys on 2 tokens, 3 vectors of 2 numbers; 1 token shared, 1 without a key
`, got.stdout)
	report := decoded[vocabReport](t, graft("vocab", "show", "--json", path).stdout)
	require.Equal(t, []vocab.Collision{{ID: 2, Keys: []string{"ReLU()", "c"}}}, report.Collisions)
	require.Equal(t, []int{1}, report.Unused)
	got = fails(t, failure.Failed, "", "vocab", "check", path)
	require.Contains(t, got.stdout, "1 fault")
	require.Contains(t, got.stderr, "token 2 is shared by ReLU() and c")
}

func TestVocabulariesThatCannotBeReadOrMade(t *testing.T) {
	folder := t.TempDir()
	damaged := write(t, filepath.Join(folder, "damaged.json"),
		`{"format": "graft vocabulary", "version": 1, "keys": [{"key": "a", "id": 3}], "vectors": [[1]]}`)
	allFail(t, "vocab", map[string]wrongCall{
		"show nothing":         {[]string{"show", filepath.Join(folder, "none")}, failure.Failed, "no such file"},
		"show an empty folder": {[]string{"show", t.TempDir()}, failure.Failed, "'graft vocab build'"},
		"show what is damaged": {[]string{"show", damaged}, failure.Damaged,
			`"a" has token 3, but there are only 1 vectors`},
		"check what is damaged": {[]string{"check", damaged}, failure.Damaged, `"a" has token 3`},
		"check no such network": {[]string{"check", damaged, "ConvNet9"}, failure.Usage, "ConvNet9"},
		"build of nothing":      {[]string{"build", "--out", folder}, failure.Usage, "requires at least 1 arg"},
		"build to nowhere":      {[]string{"build", "ConvNet2"}, failure.Usage, "--out is missing"},
		"build without size": {[]string{"build", "ConvNet2", "--out", folder, "--size", "0"}, failure.Usage,
			"between 1 and 65536"},
		"build a path": {[]string{"build", "ConvNet2", "--out", folder, "--legacy", "../models"}, failure.Usage,
			"expected a name, not a path"},
		"build of wrong shape": {[]string{"build", "ConvNet2", "--out", folder, "--input", "3x"}, failure.Usage,
			"--input"},
		"build into a file": {[]string{"build", "ConvNet2", "--out", damaged}, failure.Failed, damaged},
	})
}
