package dataset_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/dataset"
	"graft/internal/files"
	"graft/torch"
)

// contentOf returns a digest of everything that a job reads of a set: facts, examples and labels of each split.
func contentOf(t *testing.T, s *torch.Scope, set *dataset.Set) string {
	h := sha256.New()
	for _, p := range []dataset.Split{set.Train, set.Validation, set.Test} {
		fmt.Fprintln(h, p.Count, set.Shape, set.Task, set.Vocabulary, set.Mean, set.Deviation)
		for _, of := range []*torch.Tensor{p.Images, p.Labels} {
			values, err := torch.Values[int64](s.To(of, torch.Int64, torch.CPU))
			require.NoError(t, err)
			fmt.Fprintln(h, values)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Two sets have the same digest exactly if a job reads the same data, whatever options made them.
func TestDigestsFollowWhatAJobReads(t *testing.T) {
	folder := t.TempDir()
	text, table := filepath.Join(folder, "a.txt"), filepath.Join(folder, "a.csv")
	var words, rows strings.Builder
	rows.WriteString("text,label,other\n")
	for k := range 400 {
		fmt.Fprintf(&words, "%d ", k*k)
		fmt.Fprintf(&rows, "number %d,%d,%d\n", k*k, k%3, k%2)
	}
	require.NoError(t, os.WriteFile(text, []byte(words.String()), 0o600))
	require.NoError(t, os.WriteFile(table, []byte(rows.String()), 0o600))
	require.NoError(t, os.WriteFile(text+"2", []byte(words.String()+"and more of it"), 0o600))
	paths := map[string][]string{dataset.KindText: {text, text + "2"}, dataset.KindCSV: {table},
		dataset.KindSynthetic: {""}}
	for kind, paths := range paths {
		digests, contents := map[string]string{}, map[string]string{} // digest to content, and content to digest
		for _, o := range variants(kind, paths) {
			require.NoError(t, torch.With(func(s *torch.Scope) error {
				set, err := dataset.Load(s, torch.CPU, files.OS{}, o)
				require.NoError(t, err, "%+v", o)
				content := contentOf(t, s, set)
				if was, known := digests[set.Digest]; known {
					assert.Equal(t, was, content, "sets that differ share the digest %.12s: %+v", set.Digest, o)
				}
				// the digest of a text also covers the kind of its tokens
				if was, known := contents[content]; known && kind != dataset.KindText {
					assert.Equal(t, was, set.Digest, "equal sets have two digests: %+v", o)
				}
				digests[set.Digest], contents[content] = content, set.Digest
				return nil
			}))
		}
		assert.Greater(t, len(contents), 8, kind)
	}
}

// variants returns options of a kind that differ in the selection of examples.
func variants(kind string, paths []string) []dataset.Options {
	var all []dataset.Options
	for _, path := range paths {
		for _, seed := range []int64{1, 2} {
			for _, limit := range []int{0, 20, 21} {
				for _, share := range []float64{0, 0.2} {
					for _, twice := range []bool{false, true} {
						all = append(all, dataset.Options{Kind: kind, Path: path, Seed: seed, Limit: limit,
							ValidationShare: share, TestAsValidation: twice,
							Synthetic: dataset.SyntheticOptions{Size: 16, Classes: 3, Train: 60, Test: 20}})
					}
				}
			}
		}
		base := dataset.Options{Kind: kind, Path: path, Seed: 1,
			Synthetic: dataset.SyntheticOptions{Size: 16, Classes: 3, Train: 60, Test: 20}}
		all = append(all, changed(base, kind)...)
	}
	return all
}

// changed returns copies of base, each with one option changed that only this kind has.
func changed(base dataset.Options, kind string) []dataset.Options {
	change := func(by func(*dataset.Options)) dataset.Options {
		o := base
		by(&o)
		return o
	}
	switch kind {
	case dataset.KindSynthetic:
		return []dataset.Options{change(func(o *dataset.Options) { o.Mean = []float64{0.4} }),
			change(func(o *dataset.Options) { o.Deviation = []float64{0.3} }),
			change(func(o *dataset.Options) { o.Synthetic.Size = 17 }),
			change(func(o *dataset.Options) { o.Synthetic.Train = 61 })}
	case dataset.KindCSV:
		return []dataset.Options{change(func(o *dataset.Options) { o.Context = 8 }),
			change(func(o *dataset.Options) { o.Tokens = dataset.Characters }),
			change(func(o *dataset.Options) { o.LabelColumn = "other" })}
	}
	return []dataset.Options{change(func(o *dataset.Options) { o.Context = 8 }),
		change(func(o *dataset.Options) { o.Tokens = dataset.Characters })}
}

// With TestAsValidation, a text trains on all windows outside of the test split, as images do.
func TestTextTrainsOnAllButTheTest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("abcdefgh", 200)), 0o600))
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		apart, err := dataset.Load(s, torch.CPU, files.OS{},
			dataset.Options{Kind: dataset.KindText, Path: path, Context: 8})
		require.NoError(t, err)
		set, err := dataset.Load(s, torch.CPU, files.OS{},
			dataset.Options{Kind: dataset.KindText, Path: path, Context: 8, TestAsValidation: true})
		require.NoError(t, err)
		assert.Equal(t, apart.Train.Count+apart.Validation.Count, set.Train.Count)
		assert.Equal(t, set.Test.Count, set.Validation.Count)
		assert.Equal(t, apart.Test.Count, set.Test.Count)
		return nil
	}))
}
