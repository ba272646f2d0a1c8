package bpe

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// vocabulary returns a token per byte, and a token per merge from 256 on.
func vocabulary(merges ...[2]string) map[string]int32 {
	all := map[string]int32{}
	for r, b := range bytesByLetter {
		all[string(r)] = int32(b)
	}
	for k, m := range merges {
		all[m[0]+m[1]] = int32(256 + k)
	}
	return all
}

var few = [][2]string{{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {"Ġ", "hello"}, {"a", "a"}}

func pairFiles(t testing.TB) (vocab, merges []byte) {
	table := vocabulary(few...)
	table[EndOfText] = 300
	vocab, err := json.Marshal(table)
	require.NoError(t, err)
	lines := []string{"#version: 0.2"}
	for _, m := range few {
		lines = append(lines, m[0]+" "+m[1])
	}
	return vocab, []byte(strings.Join(lines, "\n") + "\n")
}

func TestEncode(t *testing.T) {
	vocab, merges := pairFiles(t)
	e, err := parsePair(vocab, merges)
	require.NoError(t, err)
	assert.Equal(t, 301, e.Size())
	for text, want := range map[string][]int32{
		"":                         nil,
		"hello hello":              {259, 260},
		"  hello":                  {' ', 260},
		"hell":                     {258},
		"aaaaa":                    {261, 261, 'a'},
		"é":                        {0xc3, 0xa9},
		"\xff":                     {0xff},
		"hello<|endoftext|> hello": {259, 300, 260},
		"<|endoftext":              {'<', '|', 'e', 'n', 'd', 'o', 'f', 't', 'e', 'x', 't'},
	} {
		assert.Equal(t, want, e.Encode(nil, text), "%q", text)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"It's we'll 12cats!?\n\n  x ": {"It", "'s", " we", "'ll", " 12", "cats", "!?", "\n\n ", " x", " "},
		"a\tb  \n":                    {"a", "\t", "b", "  \n"},
		"don'T ²½ ü":                  {"don", "'", "T", " ²½", " ü"},
	} {
		var got []string
		for rest := text; rest != ""; {
			n := word(rest)
			got, rest = append(got, rest[:n]), rest[n:]
		}
		assert.Equal(t, want, got, "%q", text)
	}
}

func TestFilesThatAreWrong(t *testing.T) {
	vocab, merges := pairFiles(t)
	for want, try := range map[string]func() error{
		"merges.txt line 2": func() error { _, err := parsePair(vocab, []byte("#version: 0.2\nhe\n")); return err },
		"merge 1":           func() error { _, err := parsePair(vocab, []byte("h z\n")); return err },
		"line 2":            func() error { _, err := parsePair([]byte("{\n\"a\": x}"), merges); return err },
		"the vocabulary has no token for byte 0x00": func() error {
			_, err := parsePair([]byte(`{"a": 1}`), merges)
			return err
		},
		"1000000 are unused": func() error {
			table := vocabulary(few...)
			table["far"] = 1_000_000
			far, _ := json.Marshal(table)
			_, err := parsePair(far, merges)
			return err
		},
		"must be between 0 and 2097151": func() error {
			_, err := parsePair([]byte(`{"a": 999999999}`),
				merges)
			return err
		},
		"normalizer": func() error {
			_, err := parseTokenizer([]byte(`{"model": {"type": "BPE"}, "normalizer": {}}`))
			return err
		},
		"pre_tokenizer": func() error {
			_, err := parseTokenizer([]byte(`{"model": {"type": "BPE"}, "pre_tokenizer": {"type": "Whitespace"}}`))
			return err
		},
		"WordPiece": func() error { _, err := parseTokenizer([]byte(`{"model": {"type": "WordPiece"}}`)); return err },
	} {
		assert.ErrorContains(t, try(), want)
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "vocab.json"), vocab, 0o600))
	_, err := Read(files.OS{}, filepath.Join(folder, "vocab.json"))
	assert.ErrorContains(t, err, "put GPT-2's merges.txt next to vocab.json, or use a tokenizer.json")
}

// The tokens of any text concatenate to its bytes.
func FuzzEncode(f *testing.F) {
	vocab, merges := pairFiles(f)
	e, err := parsePair(vocab, merges)
	require.NoError(f, err)
	f.Add("hello  aaa's<|endoftext|>\xff")
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		for _, token := range e.Encode(nil, text) {
			b.WriteString(e.Token(int(token)))
		}
		require.Equal(t, text, b.String())
	})
}

// Any file parses to a working encoder or gives an error.
func FuzzParse(f *testing.F) {
	vocab, merges := pairFiles(f)
	f.Add(vocab, merges)
	f.Add([]byte(`{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "a"], "a a"]}, "pre_tokenizer": `+
		`{"type": "ByteLevel"}}`), []byte("a"))
	f.Fuzz(func(t *testing.T, data, merges []byte) {
		if e, err := parsePair(data, merges); err == nil {
			e.Encode(nil, "any text")
		}
		if e, err := parseTokenizer(data); err == nil {
			e.Encode(nil, "any text")
		}
	})
}
