package vocab_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/files/faults"
	"graft/model"
	"graft/original/vocab"
	"graft/torch/pickle"
	"graft/torch/pickle/pickletest"
	"graft/torch/weights"
)

// reference is the folder of the original's vocabulary, next to the repository.
const reference = "../../../shared/reference/adaptation/vocabs"

func zoo(t testing.TB, name string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	return n
}

func built(t testing.TB, names ...string) *vocab.Vocabulary {
	var networks []*model.Network
	for _, name := range names {
		networks = append(networks, zoo(t, name))
	}
	v, err := vocab.Build(networks, 3, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	return v
}

// equal compares two vocabularies, except their sources.
func equal(t *testing.T, want, got *vocab.Vocabulary) {
	t.Helper()
	require.Equal(t, want.Entries, got.Entries)
	require.Equal(t, want.Vectors, got.Vectors)
}

func TestThePublishedVocabulary(t *testing.T) {
	var ids struct {
		Entries []struct {
			Layer string
			ID    int
		}
	}
	var vectors struct{ Weight [][]float32 }
	for name, into := range map[string]any{"models.ids.json": &ids, "models.embeddings.json": &vectors} {
		text, err := os.ReadFile(filepath.Join(reference, name))
		if err != nil {
			t.Skip("left out: the original's vocabulary is not beside the repository")
		}
		require.NoError(t, json.Unmarshal(text, into))
	}
	for _, path := range []string{"", "models.ids.pkl", "models.embeddings.pkl"} {
		v, err := vocab.Read(files.OS{}, filepath.Join(reference, path))
		require.NoError(t, err)
		require.Len(t, v.Entries, len(ids.Entries))
		for k, want := range ids.Entries {
			require.Equal(t, vocab.Entry{Key: want.Layer, ID: want.ID}, v.Entries[k])
		}
		require.Equal(t, vectors.Weight, v.Vectors)
		require.Len(t, v.Entries, 18)
		require.Equal(t, 16, v.Size())
		var shared []int
		for _, c := range v.Collisions() {
			shared = append(shared, c.ID, len(c.Keys))
		}
		require.Equal(t, []int{9, 2, 10, 4, 11, 2}, shared)
		require.Nil(t, v.Keys(13))
		require.Empty(t, v.Unknown(zoo(t, "ConvNet3")))
	}
	// The first thirteen come from the five networks that the original had at first.
	v := built(t, "ConvNet", "LargeConvNet", "FeedForwardNet", "FeedForwardNet2", "FeedForwardNet3")
	for k, e := range v.Entries {
		require.Equal(t, ids.Entries[k].Layer, e.Key)
		require.Equal(t, k, e.ID)
	}
	require.Len(t, v.Entries, 13)
}

func TestBuild(t *testing.T) {
	v := built(t, "ConvNet2", "ConvNet3")
	equal(t, v, built(t, "ConvNet2", "ConvNet3"))
	require.Equal(t, vocab.Entry{Key: vocab.NoneLayer}, v.Entries[0])
	require.Empty(t, v.Collisions())
	require.Len(t, v.Vectors, len(v.Entries))
	tokens, err := v.Tokens(zoo(t, "ConvNet2"))
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3, 4, 5, 2, 3, 6, 7, 3}, tokens)
	squares, count := 0.0, 0
	wide, err := vocab.Build([]*model.Network{zoo(t, "ConvNet2")}, 1000, rand.New(rand.NewPCG(2, 0)))
	require.NoError(t, err)
	for _, vector := range wide.Vectors {
		for _, x := range vector {
			squares += float64(x) * float64(x)
			count++
		}
	}
	require.InDelta(t, 1, squares/float64(count), 5*math.Sqrt(2/float64(count)), "normal numbers")
	_, err = vocab.Build(nil, 0, rand.New(rand.NewPCG(1, 0)))
	require.ErrorContains(t, err, "at least one")
}

func TestUnknownLayers(t *testing.T) {
	v := built(t, "ConvNet2")
	v.Source = "some.json"
	_, err := v.Tokens(zoo(t, "ConvNet3"))
	var unknown *vocab.UnknownError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, vocab.Layer{Path: "conv1.layers.0", Key: "Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1))"},
		unknown.Layers[0])
	require.Len(t, unknown.Layers, 3)
	for _, part := range []string{"Conv2d(3, 64, kernel_size=(3, 3), stride=(1, " +
		"1)) at conv1.layers.0 of ConvNet3 has no token in the vocabulary some.json",
		"(other missing layers: 2)", "'graft vocab build'"} {
		require.ErrorContains(t, err, part)
	}
}

// A vocabulary reads back bit for bit in both notations.
func TestBothNotationsReadBack(t *testing.T) {
	shared, err := vocab.New([]vocab.Entry{{Key: "a <b>\n\"é\"", ID: 1}, {Key: "", ID: 1}, {Key: "c", ID: 0}},
		[][]float32{{math.SmallestNonzeroFloat32, math.MaxFloat32}, {-0.1, float32(math.Copysign(0, -1))}, {1, 2}})
	require.NoError(t, err)
	for _, v := range []*vocab.Vocabulary{built(t, "ConvNet2", "LargeConvNet"), shared} {
		folder := t.TempDir()
		require.NoError(t, v.WritePickles(files.OS{}, filepath.Join(folder, "some")))
		legacy, err := vocab.Read(files.OS{}, folder)
		require.NoError(t, err)
		equal(t, v, legacy)
		require.Equal(t, filepath.Join(folder, "some.ids.pkl"), legacy.Source)
		require.NoError(t, v.Write(files.OS{}, filepath.Join(folder, vocab.FileName)))
		for _, path := range []string{folder, filepath.Join(folder, vocab.FileName)} {
			ours, err := vocab.Read(files.OS{}, path)
			require.NoError(t, err)
			equal(t, v, ours)
			require.Equal(t, filepath.Join(folder, vocab.FileName), ours.Source)
		}
	}
}

// If replacing a vocabulary fails, a reader gets the old one or the new one, and never tokens of one with vectors of
// the other.
func TestReplacingIsWholeOrNot(t *testing.T) {
	before, after := built(t, "ConvNet2"), built(t, "FeedForwardNet", "ConvNet2")
	for _, kind := range []faults.Kind{faults.Fail, faults.Torn, faults.DiskFull, faults.Crash} {
		for at, fired := 1, true; fired; at++ {
			folder := t.TempDir()
			require.NoError(t, before.WritePickles(files.OS{}, filepath.Join(folder, "a")))
			broken := faults.New(files.OS{}, at, kind)
			failed := after.WritePickles(broken, filepath.Join(folder, "a"))
			fired = broken.Fired()
			v, err := vocab.Read(files.OS{}, folder)
			switch {
			case failed == nil:
				equal(t, after, v)
			case err != nil:
				require.ErrorIs(t, err, fs.ErrNotExist, "%s at %d", kind, at)
			case len(v.Entries) == len(before.Entries):
				equal(t, before, v)
			default:
				equal(t, after, v)
			}
		}
	}
}

func TestFaultyParts(t *testing.T) {
	row := []float32{1, 2}
	for name, c := range map[string]struct {
		entries []vocab.Entry
		vectors [][]float32
		says    []string
	}{
		"no vectors":    {nil, nil, []string{"no vectors"}},
		"no keys":       {nil, [][]float32{row}, []string{"no keys"}},
		"empty vectors": {nil, [][]float32{{}}, []string{"no vectors"}},
		"unequal": {nil, [][]float32{row, {1}},
			[]string{"the vector of token 1 is invalid: got 1 numbers; expected 2, as in the first vector"}},
		"infinite": {nil, [][]float32{row, {1, float32(math.Inf(-1))}},
			[]string{"the vector of token 1 is invalid: a number is not finite"}},
		"beyond, before": {[]vocab.Entry{{"a", 1}, {"b", -1}}, [][]float32{row},
			[]string{`"a" has token 1, but there are only 1 vectors`, `"b" has token -1`}},
		"twice": {[]vocab.Entry{{"a", 0}, {"a", 0}}, [][]float32{row}, []string{`duplicate key "a"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := vocab.New(c.entries, c.vectors)
			for _, says := range c.says {
				require.ErrorContains(t, err, says)
			}
		})
	}
}

func TestFaultyFiles(t *testing.T) {
	var good bytes.Buffer
	require.NoError(t, built(t, "ConvNet2").Format(&good))
	for name, c := range map[string]struct{ text, says string }{
		"truncated":      {good.String()[:good.Len()/2], "not a vocabulary, or truncated"},
		"more behind":    {good.String() + "{}", "extra data after"},
		"no JSON":        {"keys", "not a vocabulary"},
		"a list":         {"[]", "not a vocabulary"},
		"another format": {`{"format": "graft job", "version": 1}`, `format "graft job", version 1, is not supported`},
		"a later one":    {strings.Replace(good.String(), `"version": 1`, `"version": 2`, 1), "version 2"},
		"an unknown key": {strings.Replace(good.String(), `"version": 1`, `"version": 1, "size": 3`, 1), "size"},
		"a huge number":  {`{"format": "graft vocabulary", "version": 1, "keys": [], "vectors": [[1e39]]}`, "1e39"},
		"a null vector":  {`{"format": "graft vocabulary", "version": 1, "keys": [], "vectors": [null]}`, "no vectors"},
		"a broken token": {`{"format": "graft vocabulary", "version": 1, "keys": [{"key": "a", "id": 0.5}], ` +
			`"vectors": [[1]]}`, "0.5"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "some.json")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			_, err := vocab.Read(files.OS{}, path)
			require.ErrorContains(t, err, "read vocabulary "+path)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func set(t *testing.T, name string, shape []int64, values ...float32) func(io.Writer) error {
	w, err := weights.FromFloat32s(name, shape, values)
	require.NoError(t, err)
	return func(out io.Writer) error { return weights.WritePTH(out, &weights.Set{Tensors: []weights.Tensor{w}}) }
}

func TestFaultyPickles(t *testing.T) {
	value := func(v any) func(io.Writer) error { return func(w io.Writer) error { return pickle.Write(w, v) } }
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	dict := func(key, value any) *pickle.Dict {
		d, err := pickletest.Dict(pickle.Pair{Key: key, Value: value})
		require.NoError(t, err)
		return d
	}
	for name, c := range map[string]struct {
		ids, vectors func(io.Writer) error
		says         string
	}{
		"no dictionary": {value(int64(3)), nil, "read the token IDs"},
		"a number as a key": {value(dict(int64(1), int64(0))), nil,
			"key 1 has ID 0; expected a string with an integer ID"},
		"a text as a token": {value(dict("ReLU()", "0")), nil, "key ReLU() has ID 0"},
		"code to run":       {text("cos\nsystem\n(S'true'\ntR."), nil, "not allowed"},
		"truncated":         {text("\x80\x04}"), nil, "read the token IDs"},
		"beyond the vectors": {value(dict("ReLU()", int64(7))), nil,
			`"ReLU()" has token 7, but there are only 1 vectors`},
		"vectors cut short":  {nil, text("PK\x03\x04"), "truncated"},
		"vectors are others": {nil, set(t, "bias", []int64{1, 1}, 1), "no tensor weight"},
		"vectors are flat":   {nil, set(t, "weight", []int64{1}, 1), "no tensor weight with float32 rows"},
		"vectors are empty":  {nil, set(t, "weight", []int64{1 << 40, 0}), "no tensor weight with float32 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if c.ids == nil {
				c.ids = value(dict("ReLU()", int64(0)))
			}
			if c.vectors == nil {
				c.vectors = set(t, "weight", []int64{1, 2}, 1, 2)
			}
			require.NoError(t, files.WriteAtomic(files.OS{}, filepath.Join(folder, "a.ids.pkl"), c.ids))
			require.NoError(t, files.WriteAtomic(files.OS{}, filepath.Join(folder, "a.embeddings.pkl"), c.vectors))
			_, err := vocab.Read(files.OS{}, folder)
			require.ErrorContains(t, err, "read vocabulary "+folder)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestWhereThereIsNoVocabulary(t *testing.T) {
	folder := t.TempDir()
	_, err := vocab.Read(files.OS{}, filepath.Join(folder, "nowhere"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = vocab.Read(files.OS{}, folder)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "'graft vocab build'")
	v := built(t, "ConvNet2")
	require.NoError(t, v.WritePickles(files.OS{}, filepath.Join(folder, "a")))
	require.NoError(t, v.WritePickles(files.OS{}, filepath.Join(folder, "b")))
	_, err = vocab.Read(files.OS{}, folder)
	require.ErrorContains(t, err, "a.ids.pkl, b.ids.pkl; use the path of one")
	require.NoError(t, os.Remove(filepath.Join(folder, "a.embeddings.pkl")))
	_, err = vocab.Read(files.OS{}, filepath.Join(folder, "a.ids.pkl"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = vocab.Read(files.OS{}, filepath.Join(folder, "b.embeddings.pkl"))
	require.NoError(t, err)
	plain := filepath.Join(folder, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	_, err = vocab.Read(files.OS{}, plain)
	require.ErrorContains(t, err, "must end in .json or .ids.pkl")
}
