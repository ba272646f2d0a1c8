package bpe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"graft/internal/files"
)

// largestFile limits a file of a vocabulary, in bytes.
const largestFile = 64 << 20

// EndOfText is GPT-2's token between documents.
const EndOfText = "<|endoftext|>"

// Merges returns the path of the file of merges that belongs to GPT-2's vocab.json.
func Merges(vocab string) string { return filepath.Join(filepath.Dir(vocab), "merges.txt") }

// Read reads Hugging Face's tokenizer.json, or GPT-2's vocab.json with merges.txt in the same folder. It returns an
// error for a tokenizer that splits words differently from GPT-2.
func Read(fsys files.FS, path string) (*Encoding, error) {
	data, err := files.ReadAll(fsys, path, largestFile)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer: %w", err)
	}
	var keys map[string]json.RawMessage
	if err := unmarshal(data, &keys); err != nil {
		return nil, fmt.Errorf("read tokenizer %s: %w", path, err)
	}
	if _, ok := keys["model"]; ok && bytes.HasPrefix(bytes.TrimSpace(keys["model"]), []byte("{")) {
		e, err := parseTokenizer(data)
		if err != nil {
			return nil, fmt.Errorf("read tokenizer %s: %w", path, err)
		}
		return e, nil
	}
	beside := Merges(path)
	merges, err := files.ReadAll(fsys, beside, largestFile)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer %s: merges: %w; put GPT-2's merges.txt next to vocab.json, "+
			"or use a tokenizer.json", path, err)
	}
	e, err := parsePair(data, merges)
	if err != nil {
		return nil, fmt.Errorf("read tokenizer %s and %s: %w", path, beside, err)
	}
	return e, nil
}

// unmarshal reads JSON; an error names its line.
func unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", line(data, syntax.Offset), err)
	case errors.As(err, &kind):
		return fmt.Errorf("line %d: %w", line(data, kind.Offset), err)
	}
	return err
}

func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

// parsePair reads vocab.json and merges.txt.
func parsePair(vocab, merges []byte) (*Encoding, error) {
	var vocabulary map[string]int32
	if err := unmarshal(vocab, &vocabulary); err != nil {
		return nil, err
	}
	var pairs [][2]string
	for k, text := range strings.Split(string(merges), "\n") {
		text = strings.TrimSuffix(text, "\r")
		if text == "" || k == 0 && strings.HasPrefix(text, "#version") {
			continue
		}
		p, err := splitMerge(text)
		if err != nil {
			return nil, fmt.Errorf("merges.txt line %d: %w", k+1, err)
		}
		pairs = append(pairs, p)
	}
	var extra []added
	if number, ok := vocabulary[EndOfText]; ok {
		extra = []added{{EndOfText, number}}
	}
	return newEncoding(vocabulary, pairs, extra)
}

func splitMerge(text string) ([2]string, error) {
	first, second, ok := strings.Cut(text, " ")
	if !ok || first == "" || second == "" || strings.Contains(second, " ") {
		return [2]string{}, fmt.Errorf("got %q; expected two tokens separated by a space", text)
	}
	return [2]string{first, second}, nil
}

// tokenizer holds the supported content of tokenizer.json.
type tokenizer struct {
	Added []struct {
		ID         int32
		Content    string
		SingleWord bool `json:"single_word"`
		LStrip     bool
		RStrip     bool
	} `json:"added_tokens"`
	Normalizer   json.RawMessage
	PreTokenizer *struct {
		Type        string
		PrefixSpace bool  `json:"add_prefix_space"`
		UseRegex    *bool `json:"use_regex"`
	} `json:"pre_tokenizer"`
	Model struct {
		Type         string
		Dropout      *float64
		Prefix       *string `json:"continuing_subword_prefix"`
		Suffix       *string `json:"end_of_word_suffix"`
		ByteFallback bool    `json:"byte_fallback"`
		IgnoreMerges bool    `json:"ignore_merges"`
		Vocab        map[string]int32
		Merges       []json.RawMessage
	}
}

// refused returns the reason why a tokenizer is not of GPT-2's kind; empty if it is.
func (t *tokenizer) refused() string {
	given := func(text *string) bool { return text != nil && *text != "" }
	m, p := t.Model, t.PreTokenizer
	switch {
	case m.Type != "BPE" && m.Type != "":
		return fmt.Sprintf("model.type is %q; must be BPE", m.Type)
	case len(t.Normalizer) > 0 && string(t.Normalizer) != "null":
		return "normalizer is set; must be null"
	case p == nil || p.Type != "ByteLevel" || p.UseRegex != nil && !*p.UseRegex:
		return "pre_tokenizer is unsupported; expected ByteLevel with GPT-2's regular expression"
	case m.Dropout != nil && *m.Dropout != 0 || m.ByteFallback || given(m.Prefix) || given(m.Suffix):
		return "model sets dropout, byte_fallback, a prefix or a suffix, which are unsupported"
	}
	for _, a := range t.Added {
		if a.SingleWord || a.LStrip || a.RStrip || a.Content == "" {
			return fmt.Sprintf("added token %q is unsupported, because the token is empty, strips spaces or is a "+
				"single word",
				a.Content)
		}
	}
	return ""
}

func parseTokenizer(data []byte) (*Encoding, error) {
	var t tokenizer
	if err := unmarshal(data, &t); err != nil {
		return nil, err
	}
	if why := t.refused(); why != "" {
		return nil, fmt.Errorf("%s; only byte-level BPE with GPT-2's word splitting is supported", why)
	}
	pairs := make([][2]string, len(t.Model.Merges))
	for k, raw := range t.Model.Merges {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			var err error
			if pairs[k], err = splitMerge(text); err != nil {
				return nil, fmt.Errorf("merge %d: %w", k+1, err)
			}
			continue
		}
		var two []string
		if err := json.Unmarshal(raw, &two); err != nil || len(two) != 2 {
			return nil, fmt.Errorf("merge %d: got %.100s; expected two tokens", k+1, raw)
		}
		pairs[k] = [2]string(two)
	}
	extra := map[string]added{}
	for _, a := range t.Added {
		extra[a.Content] = added{a.Content, a.ID}
	}
	e, err := newEncoding(t.Model.Vocab, pairs,
		slices.SortedFunc(maps.Values(extra), func(a, b added) int { return strings.Compare(a.text, b.text) }))
	if err != nil {
		return nil, err
	}
	e.whole, e.prefix = t.Model.IgnoreMerges, t.PreTokenizer.PrefixSpace
	return e, nil
}
