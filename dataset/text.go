package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	"graft/files"
	"graft/torch"
)

// KindText is the kind of the user's texts: a file, or a folder whose files are read in the order of their paths. A network
// learns to give the next token.
const KindText = "text"

// The kinds of tokens.
const (
	Bytes      = "bytes"
	Characters = "characters"
	BytePairs  = "bpe"
)

// textFaults are the faults of the options of a text.
func (o Options) textFaults() (faults []error) {
	if o.tokens() != Bytes && o.tokens() != Characters && o.tokens() != BytePairs {
		faults = append(faults, fmt.Errorf("tokens %q; they are %s, %s or %s", o.Tokens, Bytes, Characters, BytePairs))
	}
	if (o.tokens() == BytePairs) != (o.Vocabulary != "") {
		faults = append(faults, fmt.Errorf("vocabulary is %q and tokens are %s; tokens of %s, and no others, need a vocabulary", o.Vocabulary, o.tokens(), BytePairs))
	}
	if o.context() < 2 || o.context() > mostContext {
		faults = append(faults, fmt.Errorf("a context of %d tokens; it lies between 2 and %d", o.Context, mostContext))
	}
	if o.Kind == KindCSV {
		faults = append(faults, o.csvFaults()...)
	}
	if len(o.Mean)+len(o.Deviation) > 0 {
		faults = append(faults, errors.New("a mean or a deviation of text, which has none"))
	}
	return faults
}

func (o Options) tokens() string { return cmp.Or(o.Tokens, Bytes) }

func (o Options) context() int { return cmp.Or(o.Context, defaultContext) }

const (
	defaultContext = 64
	mostContext    = 1 << 16
	mostTextFiles  = 100_000
	// mostText bounds the bytes of a text: on their way to the device its tokens take four times as much.
	mostText     = 1 << 30
	leastWindows = 3 // one for each part
)

// loadText reads a text and moves its windows to the device. The last windows of the text are for validation and for the
// test, each ValidationShare of them, so no part has text of another.
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
		return nil, fmt.Errorf("%d tokens give %d windows of %d; at least %d are needed: give more text, or a shorter context", len(tokens), count, o.context(), leastWindows)
	}
	held := min(shareOf(count, o.ValidationShare), (count-1)/2)
	parts := []struct {
		to          *Split
		first, last int
	}{{nil, 0, count - 2*held}, {nil, count - 2*held, count - held}, {nil, count - held, count}}
	set := &Set{Name: filepath.Base(o.Path), Classes: classes, Shape: []int{o.context()}, Task: NextToken, Vocabulary: len(classes)}
	parts[0].to, parts[1].to, parts[2].to = &set.Train, &set.Validation, &set.Test
	digest := sha256.New()
	fmt.Fprintln(digest, o.tokens(), o.context(), held, o.Limit, len(classes))
	if o.tokens() == BytePairs {
		fmt.Fprintln(digest, classes)
	}
	for _, t := range tokens {
		digest.Write([]byte{byte(t), byte(t >> 8), byte(t >> 16)})
	}
	all := compact(s, d, tokens, len(classes), count*o.context()+1)
	for k, p := range parts {
		windows := everyRow(p.last - p.first)
		if k == 0 && o.Limit > 0 && o.Limit < len(windows) {
			random := rand.New(rand.NewPCG(uint64(o.Seed), streamLimit))
			random.Shuffle(len(windows), func(i, j int) { windows[i], windows[j] = windows[j], windows[i] })
			windows = windows[:o.Limit]
			slices.Sort(windows)
		}
		*p.to = windowsOf(s, all, o.context(), p.first, p.last, windows)
	}
	if o.TestAsValidation {
		set.Validation = set.Test
	}
	set.Digest = hex.EncodeToString(digest.Sum(nil))
	return set, s.Err()
}

// compact moves tokens to the device, a byte each where that is enough.
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

// windowsOf picks windows from those of a part. The label of a token is the next one, so inputs and labels are views of the
// same tokens, unless windows are left out.
func windowsOf(s *torch.Scope, all *torch.Tensor, context, first, last int, picked []int) Split {
	view := func(shift int) *torch.Tensor {
		x := s.Reshape(s.Narrow(all, 0, first*context+shift, (last-first)*context), last-first, context)
		if len(picked) == last-first {
			return x
		}
		places := make([]int64, len(picked))
		for k, p := range picked {
			places[k] = int64(p)
		}
		info, err := x.Info()
		if err != nil {
			return x // the scope knows why
		}
		return s.IndexSelect(x, 0, torch.FromOn(s, info.Device, places, len(places)))
	}
	return Split{Images: view(0), Labels: view(1), Count: len(picked)}
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
			return "", fmt.Errorf("read text, of which at most %d MiB are read: %w", mostText>>20, err)
		}
		text.Write(data)
	}
	if text.Len() == 0 {
		return "", fmt.Errorf("%s has no text", path)
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
			return nil, fmt.Errorf("%s has more than %d files", folder, mostTextFiles)
		}
	}
	return found, nil
}

// tokenizer turns texts into tokens.
type tokenizer struct {
	names  []string // of all tokens
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
			return t, fmt.Errorf("the text is not UTF-8; convert it, or take %s as tokens", Bytes)
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
