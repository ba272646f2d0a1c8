package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
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
	// mostText bounds the bytes of a text: tokens and labels take sixteen times as much.
	mostText     = 256 << 20
	leastWindows = 3 // one for each part
)

// loadText reads a text and moves its windows to the device. The last windows of the text are for validation and for the
// test, each ValidationShare of them, so no part has text of another.
func loadText(s *torch.Scope, d torch.Device, fsys files.FS, o Options) (*Set, error) {
	text, err := readText(fsys, o.Path)
	if err != nil {
		return nil, err
	}
	tokens, classes, err := o.tokenize(fsys, text)
	if err != nil {
		return nil, err
	}
	count := (len(tokens) - 1) / o.context()
	if count < leastWindows {
		return nil, fmt.Errorf("%d tokens give %d windows of %d; at least %d are needed: give more text, or a shorter context", len(tokens), count, o.context(), leastWindows)
	}
	held := min(shareOf(count, o.ValidationShare), (count-1)/2)
	parts := []struct {
		to          *Split
		first, last int
	}{{nil, 0, count - 2*held}, {nil, count - 2*held, count - held}, {nil, count - held, count}}
	set := &Set{Name: filepath.Base(o.Path), Classes: classes, Shape: []int{o.context()}, Tokens: true}
	parts[0].to, parts[1].to, parts[2].to = &set.Train, &set.Validation, &set.Test
	digest := sha256.New()
	fmt.Fprintln(digest, o.tokens(), o.context(), held, o.Limit, len(classes))
	if o.tokens() == BytePairs {
		fmt.Fprintln(digest, classes)
	}
	for _, t := range tokens {
		digest.Write([]byte{byte(t), byte(t >> 8), byte(t >> 16)})
	}
	for k, p := range parts {
		windows := everyRow(p.last - p.first)
		if k == 0 && o.Limit > 0 && o.Limit < len(windows) {
			random := rand.New(rand.NewPCG(uint64(o.Seed), streamLimit))
			random.Shuffle(len(windows), func(i, j int) { windows[i], windows[j] = windows[j], windows[i] })
			windows = windows[:o.Limit]
			slices.Sort(windows)
		}
		for k := range windows {
			windows[k] += p.first
		}
		*p.to = windowsOf(s, d, tokens, windows, o.context())
	}
	if o.TestAsValidation {
		set.Validation = set.Test
	}
	set.Digest = hex.EncodeToString(digest.Sum(nil))
	return set, s.Err()
}

// windowsOf moves windows to the device. The label of a token is the next one.
func windowsOf(s *torch.Scope, d torch.Device, tokens []int32, windows []int, context int) Split {
	in, next := make([]int64, 0, len(windows)*context), make([]int64, 0, len(windows)*context)
	for _, w := range windows {
		for k := range context {
			in, next = append(in, int64(tokens[w*context+k])), append(next, int64(tokens[w*context+k+1]))
		}
	}
	return Split{Images: torch.FromOn(s, d, in, len(windows), context), Labels: torch.FromOn(s, d, next, len(windows), context), Count: len(windows)}
}

// readText reads a file, or all files below a folder in the order of their paths.
func readText(fsys files.FS, path string) ([]byte, error) {
	var paths []string
	info, err := fsys.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		paths = []string{path}
	default:
		if paths, err = textFiles(fsys, path, nil); err != nil {
			return nil, err
		}
	}
	var text []byte
	for _, p := range paths {
		data, err := files.ReadAll(fsys, p, int64(mostText-len(text)))
		if err != nil {
			return nil, fmt.Errorf("read text, of which at most %d MiB are read: %w", mostText>>20, err)
		}
		text = append(text, data...)
	}
	if len(text) == 0 {
		return nil, fmt.Errorf("%s has no text", path)
	}
	return text, nil
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

// tokenize returns the tokens of a text and the names of all tokens.
func (o Options) tokenize(fsys files.FS, text []byte) (tokens []int32, names []string, err error) {
	if o.tokens() != BytePairs {
		return tokenize(text, o.tokens())
	}
	e, err := bpe.Read(fsys, o.Vocabulary)
	if err != nil {
		return nil, nil, err
	}
	for k := range e.Size() {
		names = append(names, strconv.QuoteToASCII(e.Token(k)))
	}
	return e.Encode(nil, string(text)), names, nil
}

// tokenize divides a text into tokens, and names each token.
func tokenize(text []byte, kind string) (tokens []int32, names []string, err error) {
	if kind == Bytes {
		for _, b := range text {
			tokens = append(tokens, int32(b))
		}
		for b := range 256 {
			names = append(names, strconv.QuoteToASCII(string(rune(b))))
		}
		return tokens, names, nil
	}
	if !utf8.Valid(text) {
		return nil, nil, fmt.Errorf("the text is not UTF-8; convert it, or take %s as tokens", Bytes)
	}
	place := map[rune]int32{}
	for _, r := range string(text) {
		place[r] = 0
	}
	var all []rune
	for r := range place {
		all = append(all, r)
	}
	slices.Sort(all)
	for k, r := range all {
		place[r] = int32(k)
		names = append(names, strconv.QuoteToASCII(string(r)))
	}
	for _, r := range string(text) {
		tokens = append(tokens, place[r])
	}
	return tokens, names, nil
}
