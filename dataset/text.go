package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"graft/dataset/bpe"
	"graft/internal/files"
	"graft/internal/validate"
	"graft/torch"
)

// KindText is the dataset kind for the user's own text: a file, or a folder whose files are read in the order of their
// paths. A network learns to predict the next token.
const KindText = "text"

// Kinds of tokens.
const (
	Bytes      = "bytes"
	Characters = "characters"
	BytePairs  = "bpe"
)

// textFaults returns the faults of the options of a text.
func (o Options) textFaults() (faults validate.Faults) {
	faults.When(o.tokens() != Bytes && o.tokens() != Characters && o.tokens() != BytePairs,
		"tokens is %q; must be %s, %s or %s", o.Tokens, Bytes, Characters, BytePairs)
	if (o.tokens() == BytePairs) != (o.Vocabulary != "") {
		faults = append(faults, fmt.Errorf("vocabulary is %q and tokens is %s; vocabulary must be set for %s tokens, "+
			"and empty for other tokens", o.Vocabulary, o.tokens(), BytePairs))
	}
	faults.When(o.context() < 2 || o.context() > mostContext,
		"context is %d tokens; must be from 2 to %d", o.Context, mostContext)
	if o.Kind == KindCSV {
		faults = append(faults, o.csvFaults()...)
	}
	faults.When(len(o.Mean)+len(o.Deviation) > 0, "mean or deviation is set, but kind %s contains text, not images; "+
		"remove both", o.Kind)
	return faults
}

func (o Options) tokens() string { return cmp.Or(o.Tokens, Bytes) }

func (o Options) context() int { return cmp.Or(o.Context, defaultContext) }

const (
	defaultContext = 64
	mostContext    = 1 << 16
	mostTextFiles  = 100_000
	// mostText limits the bytes of a text: on their way to the device its tokens take four times the space.
	mostText     = 1 << 30
	leastWindows = 3 // one per split
)

// loadText reads a text and moves its windows to the device. The last windows of the text are for validation and test,
// each with a share of ValidationShare, so the splits have no text in common.
func loadText(s *torch.Scope, d torch.Device, fsys files.FS, o Options) (*Set, error) {
	text, err := readText(fsys, o.Path)
	if err != nil {
		return nil, err
	}
	how, err := o.tokenizer(fsys, func(yield func(string) bool) { yield(text) })
	if err != nil {
		return nil, err
	}
	tokens, classes := how.encode(text), how.names
	count := (len(tokens) - 1) / o.context()
	if count < leastWindows {
		return nil, fmt.Errorf("the text has %d tokens, which yield %d windows of %d tokens; expected at least %d "+
			"windows; use more text, or a shorter context", len(tokens), count, o.context(), leastWindows)
	}
	set := &Set{Name: filepath.Base(o.Path), Classes: classes, Shape: []int{o.context()}, Task: NextToken,
		Vocabulary: len(classes)}
	all := compact(s, d, tokens, len(classes), count*o.context()+1)
	set.Train, set.Validation, set.Test = o.windowSplits(count).on(s, all, o.context())
	if o.TestAsValidation {
		set.Validation = set.Test
	}
	set.Digest = o.textDigest(tokens, classes, count)
	return set, s.Err()
}

// windows are consecutive windows of a text; a part of them can be picked.
type windows struct {
	first, last int
	picked      []int // indices from first on, ascending
}

// windowSplits holds the windows of each split.
type windowSplits struct{ train, validation, test windows }

// heldWindows is the number of windows held out for validation, and for the test.
func (o Options) heldWindows(count int) int {
	return min(shareOf(count, o.ValidationShare), (count-1)/2)
}

// windowSplits divides the windows of a text. With TestAsValidation, no windows are held out for validation.
func (o Options) windowSplits(count int) windowSplits {
	held := o.heldWindows(count)
	learned, validation := count-2*held, held
	if o.TestAsValidation {
		learned, validation = count-held, 0
	}
	return windowSplits{
		train:      windows{0, learned, o.limited(learned)},
		validation: windows{learned, learned + validation, everyRow(validation)},
		test:       windows{count - held, count, everyRow(held)},
	}
}

// limited draws at most Limit of the windows, by the seed.
func (o Options) limited(count int) []int {
	picked := everyRow(count)
	if o.Limit <= 0 || o.Limit >= count {
		return picked
	}
	random := rand.New(rand.NewPCG(uint64(o.Seed), streamLimit))
	random.Shuffle(count, func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })
	picked = picked[:o.Limit]
	slices.Sort(picked)
	return picked
}

// on returns the splits as views of the tokens on the device. A split without windows is the zero Split.
func (w windowSplits) on(s *torch.Scope, tokens *torch.Tensor, context int) (train, validation, test Split) {
	train, test = w.train.on(s, tokens, context), w.test.on(s, tokens, context)
	if len(w.validation.picked) > 0 {
		validation = w.validation.on(s, tokens, context)
	}
	return train, validation, test
}

// textDigest covers the tokens and the windows of each split. Sets without a limit and with separate validation and
// test keep the digest from before splits were part of it.
func (o Options) textDigest(tokens []int32, classes []string, count int) string {
	h := sha256.New()
	fmt.Fprintln(h, o.tokens(), o.context(), o.heldWindows(count), o.Limit, len(classes))
	if o.tokens() == BytePairs {
		fmt.Fprintln(h, classes)
	}
	for _, t := range tokens {
		h.Write([]byte{byte(t), byte(t >> 8), byte(t >> 16)})
	}
	train := o.windowSplits(count).train
	if o.TestAsValidation || len(train.picked) < train.last-train.first {
		fmt.Fprintln(h, "test as validation", o.TestAsValidation, "windows", train.picked)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// compact moves tokens to the device, as bytes if they fit.
func compact(s *torch.Scope, d torch.Device, tokens []int32, different int, shape ...int) *torch.Tensor {
	if different > 256 {
		return torch.FromOn(s, d, tokens[:product(shape)], shape...)
	}
	small := make([]uint8, product(shape))
	for k := range small {
		small[k] = uint8(tokens[k])
	}
	return torch.FromOn(s, d, small, shape...)
}

func product(shape []int) int {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return n
}

// on picks the windows. The label of a token is the next token, so inputs and labels are views of the same tokens,
// unless windows are left out.
func (w windows) on(s *torch.Scope, all *torch.Tensor, context int) Split {
	count := w.last - w.first
	view := func(shift int) *torch.Tensor {
		x := s.Reshape(s.Narrow(all, 0, w.first*context+shift, count*context), count, context)
		if len(w.picked) == count {
			return x
		}
		places := make([]int64, len(w.picked))
		for k, p := range w.picked {
			places[k] = int64(p)
		}
		info, err := x.Info()
		if err != nil {
			return x // the scope holds the error
		}
		return s.IndexSelect(x, 0, torch.FromOn(s, info.Device, places, len(places)))
	}
	return Split{Images: view(0), Labels: view(1), Count: len(w.picked)}
}

// readText reads a file, or all files below a folder in the order of their paths.
func readText(fsys files.FS, path string) (string, error) {
	var paths []string
	info, err := fsys.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		paths = []string{path}
	default:
		if paths, err = textFiles(fsys, path, nil); err != nil {
			return "", err
		}
	}
	var text strings.Builder
	for _, p := range paths {
		data, err := files.ReadAll(fsys, p, int64(mostText-text.Len()))
		if err != nil {
			return "", fmt.Errorf("read text (limit: %d MiB): %w", mostText>>20, err)
		}
		text.Write(data)
	}
	if text.Len() == 0 {
		return "", fmt.Errorf("%s has no text; expected a file or a folder of text files", path)
	}
	return text.String(), nil
}

// textFiles lists the regular files below a folder. Links are not followed, and hidden files are left out.
func textFiles(fsys files.FS, folder string, found []string) ([]string, error) {
	entries, err := fsys.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.Name()[0] == '.':
		case e.IsDir():
			if found, err = textFiles(fsys, path, found); err != nil {
				return nil, err
			}
		case e.Type().IsRegular():
			found = append(found, path)
		}
		if len(found) > mostTextFiles {
			return nil, fmt.Errorf("folder %s has more than the maximum of %d files", folder, mostTextFiles)
		}
	}
	return found, nil
}

// tokenizer turns texts into tokens.
type tokenizer struct {
	names  []string // names of all tokens
	encode func(text string) []int32
}

// tokenizer makes a tokenizer for some texts.
func (o Options) tokenizer(fsys files.FS, texts iter.Seq[string]) (tokenizer, error) {
	switch o.tokens() {
	case Bytes:
		return byBytes(), nil
	case Characters:
		return byCharacters(texts)
	}
	e, err := bpe.Read(fsys, o.Vocabulary)
	if err != nil {
		return tokenizer{}, err
	}
	t := tokenizer{encode: func(text string) []int32 { return e.Encode(nil, text) }}
	for k := range e.Size() {
		t.names = append(t.names, strconv.QuoteToASCII(e.Token(k)))
	}
	return t, nil
}

func byBytes() tokenizer {
	t := tokenizer{encode: func(text string) []int32 {
		tokens := make([]int32, len(text))
		for k := range len(text) {
			tokens[k] = int32(text[k])
		}
		return tokens
	}}
	for b := range 256 {
		t.names = append(t.names, strconv.QuoteToASCII(string(rune(b))))
	}
	return t
}

func byCharacters(texts iter.Seq[string]) (t tokenizer, err error) {
	place := map[rune]int32{}
	for text := range texts {
		if !utf8.ValidString(text) {
			return t, fmt.Errorf("the text is not UTF-8; convert it, or use %s tokens", Bytes)
		}
		for _, r := range text {
			place[r] = 0
		}
	}
	for k, r := range slices.Sorted(maps.Keys(place)) {
		place[r] = int32(k)
		t.names = append(t.names, strconv.QuoteToASCII(string(r)))
	}
	t.encode = func(text string) (tokens []int32) {
		for _, r := range text {
			tokens = append(tokens, place[r])
		}
		return tokens
	}
	return t, nil
}

// CheckVocabulary returns an error if the vocabulary file in the options cannot be read or is invalid.
func CheckVocabulary(fsys files.FS, o Options) error {
	_, err := bpe.Read(fsys, o.Vocabulary)
	return err
}
