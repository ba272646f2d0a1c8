package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/torch"
)

// table writes lines to a new file and returns its path.
func table(t *testing.T, name string, lines ...string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

// valuesOf returns a tensor's values as int64.
func valuesOf(t *testing.T, s *torch.Scope, x *torch.Tensor) []int64 {
	values, err := torch.Values[int64](s.To(x, torch.Int64, torch.CPU))
	require.NoError(t, err)
	return values
}

// Texts are padded with the last token, cut at the context length and split evenly by class.
func TestTableOfTexts(t *testing.T) {
	lines := []string{"\ufeffid,label,text"}
	for range 10 {
		lines = append(lines, "1,no,ab", `2,yes,"a, long text"`)
	}
	o := Options{Kind: KindCSV, Path: table(t, "a.csv", lines...), Context: 4, ValidationShare: 0.2}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, err := Load(s, torch.CPU, files.OS{}, o)
		require.NoError(t, err)
		assert.Equal(t, []string{"no", "yes"}, set.Classes)
		assert.Equal(t, Facts{Shape: []int{4}, Classes: 2, Vocabulary: 257, Task: TextLabel,
			Labels: set.Classes}, set.Facts())
		assert.Equal(t, set.Facts(), Declared(files.OS{}, o))
		assert.Equal(t, []int{13, 3, 4}, []int{set.Train.Count, set.Validation.Count, set.Test.Count})
		tokens, labels := valuesOf(t, s, set.Test.Images), valuesOf(t, s, set.Test.Labels)
		assert.ElementsMatch(t, []int64{0, 1, 0, 1}, labels)
		for k, label := range labels {
			assert.Equal(t, [][]int64{{'a', 'b', 256, 256}, {'a', ',', ' ', 'l'}}[label], tokens[4*k:4*k+4])
		}
		assert.Equal(t, 10, set.Cut, "every yes")
		assert.Equal(t, 4, set.Labels(set.Test, 0, 4))
		return nil
	}))
}

// Only the first token of each word has the word's label.
func TestTableOfWords(t *testing.T) {
	train := []string{"text,tags"}
	for range 4 {
		train = append(train, "bc a bc,X Y -100", "a,Y")
	}
	path := table(t, "train.csv", train...)
	folder := filepath.Dir(path)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "test.csv"), []byte("text,tags\na bc,Z X\n"), 0o600))
	o := Options{Kind: KindCSV, Path: folder, Context: 6, Tokens: Characters, LabelColumn: "tags", LabelEach: EachWord}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, err := Load(s, torch.CPU, files.OS{}, o)
		require.NoError(t, err)
		// Vocabulary: a, b, c, a space, padding.
		assert.Equal(t, Facts{Shape: []int{6}, Classes: 3, Vocabulary: 5, Task: TokenLabel,
			Labels: []string{"X", "Y", "Z"}}, set.Facts())
		assert.Equal(t, set.Facts(), Declared(files.OS{}, o))
		assert.Equal(t, []int64{1, 0, 2, 3, 4, 4}, valuesOf(t, s, set.Test.Images), "the space is the first character")
		assert.Equal(t, []int64{2, Ignored, 0, Ignored, Ignored, Ignored}, valuesOf(t, s, set.Test.Labels))
		assert.Equal(t, []int32{2}, set.Test.Marked)
		rows, held := valuesOf(t, s, set.Train.Labels), valuesOf(t, s, set.Validation.Labels)
		assert.Len(t, rows, 7*6)
		assert.Len(t, held, 6)
		assert.Equal(t, int(marked(rows)), set.Labels(set.Train, 0, 7))
		assert.Zero(t, set.Cut-4, "every row of three words")
		return nil
	}))
}

func TestTablesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		o     Options
		fault string
	}{
		"nothing": {[]string{""}, Options{}, "read the header line"},
		"no rows": {[]string{"text,label"}, Options{}, "the table has no rows after the header"},
		"another column": {[]string{"review,label", "a,b"}, Options{},
			`the columns are ["review" "label"]`},
		"a short row": {[]string{"text,label", "a,b", "c"}, Options{}, "line 3"},
		"a quote":     {[]string{"text,label", `a"b,c`}, Options{}, "line 2"},
		"no text":     {[]string{"text,label", "a,b", " ,b"}, Options{}, "line 3: the text is empty"},
		"no label":    {[]string{"text,label", "a,"}, Options{}, "line 2: the label is empty"},
		"one label":   {[]string{"text,label", "a,b", "c,b"}, Options{}, "1 distinct labels"},
		"two columns": {[]string{"text,label,label", "a,b,c"}, Options{}, "two columns have the name label; rename"},
		"too few": {[]string{"text,label", "a,b", "c,d"}, Options{},
			"1 training images and 1 test images"},
		"words": {[]string{"text,label", "a b,X"}, Options{LabelEach: EachWord}, "line 2: the row has 2 words, but 1 " +
			"labels"},
		"another unit": {[]string{"text,label", "a,b"}, Options{LabelEach: "line"},
			`label_each is "line"; must be text or word`},
		"one column": {[]string{"text,label", "a,b"}, Options{LabelColumn: "text"},
			"text_column and label_column are both text"},
		"bytes as character": {[]string{"text,label", "a,b", "\xff,c", "d,b"}, Options{Tokens: Characters},
			"not UTF-8"},
		"not for images": {[]string{"text,label"}, Options{Kind: KindDigits, TextColumn: "x"},
			"only csv supports them"},
	} {
		c.o.Path = table(t, "a.csv", c.lines...)
		if c.o.Kind == "" {
			c.o.Kind = KindCSV
		}
		require.NoError(t, torch.With(func(s *torch.Scope) error {
			_, err := Load(s, torch.CPU, files.OS{}, c.o)
			assert.ErrorContains(t, err, c.fault, name)
			return nil
		}))
	}
}

// Labels that are whole numbers are ordered by value, and spaces around a label do not make another label.
func TestLabelsOfTables(t *testing.T) {
	lines := []string{"text,label"}
	for k := range 12 {
		lines = append(lines, fmt.Sprintf("a,%d", k), fmt.Sprintf("b, %d ", k), fmt.Sprintf("c,%d", k))
	}
	o := Options{Kind: KindCSV, Path: table(t, "a.csv", lines...)}
	require.NoError(t, torch.With(func(s *torch.Scope) error {
		set, err := Load(s, torch.CPU, files.OS{}, o)
		require.NoError(t, err)
		assert.Equal(t, strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11"), set.Classes)
		seen := valuesOf(t, s, set.Train.Labels)
		assert.Contains(t, seen, int64(11))
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(seen))), 12, "each class has a row for training")
		return nil
	}))
}

// A label of the test table that the training table lacks is an error.
func TestALabelOnlyOfTheTest(t *testing.T) {
	path := table(t, "train.csv", "text,label", "a,good", "b,bad", "c,good", "d,bad")
	o := Options{Kind: KindCSV, Path: filepath.Dir(path)}
	require.NoError(t, os.WriteFile(filepath.Join(o.Path, "test.csv"), []byte("text,label\na,godo\n"), 0o600))
	require.ErrorContains(t, CheckTable(files.OS{}, o), `test.csv has the label "godo", which train.csv does not have`)
}

// Any table parses completely or gives an error. Every piece of a parsed row has a label.
func FuzzTable(f *testing.F) {
	f.Add([]byte("text,label\na b,X Y\n"), true)
	f.Add([]byte("\ufefflabel,text,x\n1,\"a\n\"\"b\",\n"), false)
	f.Fuzz(func(t *testing.T, data []byte, words bool) {
		o := Options{}
		if words {
			o.LabelEach = EachWord
		}
		rows, err := parseTable(data, o)
		if err != nil {
			return
		}
		require.NotEmpty(t, rows)
		for _, r := range rows {
			require.NotEmpty(t, r.pieces)
			require.Len(t, r.labels, len(r.pieces))
			l := labelled{o: o, tokens: byBytes(), classes: r.labels[:1]}
			tokens, labels := l.encode(r)
			require.Len(t, labels, len(tokens))
		}
	})
}

// A large table is refused if each row has its own label. Any table is refused if it has more than 65536 labels.
func TestTablesOfTooManyLabels(t *testing.T) {
	table := func(rows, each int) error {
		var text strings.Builder
		text.WriteString("text,label\n")
		for k := range rows {
			fmt.Fprintf(&text, "word,%d\n", k/each)
		}
		path := filepath.Join(t.TempDir(), "table.csv")
		write(t, path, []byte(text.String()))
		o := Options{Kind: KindCSV, Path: path}
		o.EnsureDefaults()
		return CheckTable(files.OS{}, o)
	}
	require.NoError(t, table(4000, 2))
	require.NoError(t, table(900, 1))
	require.ErrorContains(t, table(4000, 1), "4000 of 4000 labels are distinct, so most labels occur only once "+
		"and cannot be learned")
	require.ErrorContains(t, table(140_000, 2), "70000 distinct labels; expected 2 to 65536")
}
