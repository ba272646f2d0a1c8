// Package bpe turns text into tokens by a byte-level byte pair encoding, as GPT-2 does (Radford et al. 2019; Sennrich,
// Haddow and Birch 2016), with vocabulary files that the user provides.
package bpe

import (
	"container/heap"
	"fmt"
	"strings"
)

// Encoding is a byte-pair encoding: a vocabulary with its merges. Create it with Read; only one goroutine may use it at
// a time.
type Encoding struct {
	tokens  []string         // bytes of each token, by its number; empty for an unused number
	numbers map[string]int32 // numbers of tokens, by their bytes
	ranks   map[pair]merge
	bytes   [256]int32 // token of each byte
	added   []added    // tokens that are matched before the text is split
	whole   bool       // a word that is a token is not merged
	prefix  bool       // adds a space before a text that has none
	known   map[string][]int32
}

type pair [2]int32

// merge merges two tokens into one; lower ranks come first.
type merge struct{ rank, into int32 }

type added struct {
	text   string
	number int32
}

// Size returns the number of tokens, which is one more than the largest token number.
func (e *Encoding) Size() int { return len(e.tokens) }

// Token returns the bytes of a token.
func (e *Encoding) Token(number int) string { return e.tokens[number] }

// Encode converts a text to token numbers, and appends them to a list.
func (e *Encoding) Encode(list []int32, text string) []int32 {
	for len(text) > 0 {
		at, which := e.firstAdded(text)
		list = e.plain(list, text[:at])
		if which == nil {
			break
		}
		list = append(list, which.number)
		text = text[at+len(which.text):]
	}
	return list
}

// firstAdded finds the first added token, the longest of several; if there is none, it returns the end of the text.
func (e *Encoding) firstAdded(text string) (at int, which *added) {
	at = len(text)
	for k := range e.added {
		a := &e.added[k]
		found := strings.Index(text[:min(len(text), at+len(a.text))], a.text)
		if found >= 0 && (found < at || found == at && which != nil && len(a.text) > len(which.text)) {
			at, which = found, a
		}
	}
	return at, which
}

func (e *Encoding) plain(list []int32, text string) []int32 {
	if e.prefix && text != "" && text[0] != ' ' {
		text = " " + text
	}
	for len(text) > 0 {
		n := word(text)
		list = e.word(list, text[:n])
		text = text[n:]
	}
	return list
}

// Limits of the cache of words, since most texts repeat a few words.
const (
	cachedWords = 1 << 16
	cachedBytes = 64 // longest cached word
)

func (e *Encoding) word(list []int32, w string) []int32 {
	if tokens, ok := e.known[w]; ok {
		return append(list, tokens...)
	}
	start := len(list)
	if number, ok := e.numbers[w]; ok && e.whole {
		list = append(list, number)
	} else {
		list = e.merged(list, w)
	}
	if len(w) <= cachedBytes && len(e.known) < cachedWords {
		e.known[strings.Clone(w)] = append([]int32(nil), list[start:]...)
	}
	return list
}

// symbol is a token of a word that is being merged, in a doubly linked list.
type symbol struct {
	token      int32 // -1 if merged into its left neighbour
	last, next int   // -1 for none
}

// candidate is a pair that may be merged.
type candidate struct {
	merge
	at    int
	token pair // pair when it was found; a pair that has changed since is skipped
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].at < c[j].at
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// merged merges the pair of the lowest rank, the leftmost of equal ones, until there are no pairs left. Its time is O(n
// log n).
func (e *Encoding) merged(list []int32, w string) []int32 {
	symbols := make([]symbol, len(w))
	for k := range len(w) {
		symbols[k] = symbol{e.bytes[w[k]], k - 1, k + 1}
	}
	symbols[len(w)-1].next = -1
	var queue candidates
	consider := func(at int) {
		if at < 0 || symbols[at].next < 0 {
			return
		}
		p := pair{symbols[at].token, symbols[symbols[at].next].token}
		if m, ok := e.ranks[p]; ok {
			heap.Push(&queue, candidate{m, at, p})
		}
	}
	for k := range symbols {
		consider(k)
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		left := &symbols[c.at]
		if left.token != c.token[0] || left.next < 0 || symbols[left.next].token != c.token[1] {
			continue
		}
		right := &symbols[left.next]
		left.token, left.next, right.token = c.into, right.next, -1
		if left.next >= 0 {
			symbols[left.next].last = c.at
		}
		consider(left.last)
		consider(c.at)
	}
	for at := 0; at >= 0; at = symbols[at].next {
		list = append(list, symbols[at].token)
	}
	return list
}

// newEncoding makes an encoding of a vocabulary and its merges, both in the printable letters that represent bytes.
func newEncoding(vocabulary map[string]int32, merges [][2]string, extra []added) (*Encoding, error) {
	e := &Encoding{numbers: map[string]int32{}, ranks: map[pair]merge{}, added: extra, known: map[string][]int32{}}
	special := map[int32]bool{}
	for _, a := range extra {
		special[a.number] = true
		if err := e.put(a.number, a.text); err != nil {
			return nil, err
		}
	}
	for letters, number := range vocabulary {
		text, ok := bytesOf(letters)
		if special[number] {
			continue
		}
		if !ok {
			return nil, fmt.Errorf("token %q has characters that do not represent bytes; "+
				"expected a byte-level vocabulary", letters)
		}
		if err := e.put(number, text); err != nil {
			return nil, err
		}
		e.numbers[text] = number
	}
	if err := e.checkGaps(); err != nil {
		return nil, err
	}
	for b := range 256 {
		number, ok := e.numbers[string([]byte{byte(b)})]
		if !ok {
			return nil, fmt.Errorf("the vocabulary has no token for byte %#02x; expected a byte-level vocabulary", b)
		}
		e.bytes[b] = number
	}
	for rank, m := range merges {
		if err := e.rank(int32(rank), m); err != nil {
			return nil, fmt.Errorf("merge %d (%q and %q): %w", rank+1, m[0], m[1], err)
		}
	}
	return e, nil
}

// mostTokens limits a vocabulary.
const mostTokens = 1 << 21

// mostGaps limits the numbers without a token, because a network has a row for each. Vocabularies that are padded to a
// round number have fewer.
const mostGaps = 10_000

// checkGaps returns an error if the numbers of a vocabulary are far apart.
func (e *Encoding) checkGaps() error {
	gaps := 0
	for _, text := range e.tokens {
		if text == "" {
			gaps++
		}
	}
	if gaps > mostGaps {
		return fmt.Errorf("%d token IDs from 0 to %d are unused; expected at most %d, because a network has one "+
			"embedding row per token ID; renumber the tokens from 0", gaps, len(e.tokens)-1, mostGaps)
	}
	return nil
}

func (e *Encoding) put(number int32, text string) error {
	if number < 0 || number >= mostTokens {
		return fmt.Errorf("token %q has ID %d; must be between 0 and %d", text, number, mostTokens-1)
	}
	for len(e.tokens) <= int(number) {
		e.tokens = append(e.tokens, "")
	}
	if e.tokens[number] != "" {
		return fmt.Errorf("tokens %q and %q have the same ID %d", e.tokens[number], text, number)
	}
	e.tokens[number] = text
	return nil
}

func (e *Encoding) rank(rank int32, m [2]string) error {
	var p pair
	var whole string
	for k, letters := range m {
		text, _ := bytesOf(letters)
		number, ok := e.numbers[text]
		if !ok {
			return fmt.Errorf("token %q is not in the vocabulary", letters)
		}
		p[k], whole = number, whole+text
	}
	into, ok := e.numbers[whole]
	if !ok {
		return fmt.Errorf("the merged token is not in the vocabulary")
	}
	if _, twice := e.ranks[p]; !twice {
		e.ranks[p] = merge{rank, into}
	}
	return nil
}
