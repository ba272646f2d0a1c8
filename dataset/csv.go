package dataset

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"graft/internal/files"
	"graft/internal/validate"
	"graft/torch"
)

// KindCSV is the dataset kind for the user's own tables of labelled texts: a file, or a folder with train.csv and
// test.csv.
const KindCSV = "csv"

// Units of text that have a label in a table.
const (
	EachText = "text"
	EachWord = "word" // words, separated by spaces like their labels
)

// Ignored is the label of a token that training and evaluation ignore, as in PyTorch.
const Ignored = -100

// ignoredLabel is Ignored in a table.
const ignoredLabel = "-100"

const mostRows = 10_000_000 // maximum of a table

// csvFaults returns the faults of the options of a table.
func (o Options) csvFaults() (faults validate.Faults) {
	faults.When(o.labelEach() != EachText && o.labelEach() != EachWord,
		"label_each is %q; must be %s or %s", o.LabelEach, EachText, EachWord)
	if o.textColumn() == o.labelColumn() {
		faults = append(faults, fmt.Errorf("text_column and label_column are both %s; set them to different columns",
			o.textColumn()))
	}
	return faults
}

func (o Options) labelEach() string   { return cmp.Or(o.LabelEach, EachText) }
func (o Options) textColumn() string  { return cmp.Or(o.TextColumn, "text") }
func (o Options) labelColumn() string { return cmp.Or(o.LabelColumn, "label") }

// row is a text of a table and its labels: one, or one per word.
type row struct {
	pieces []string // the whole text, or its words
	labels []string
}

// readTables reads the training rows and the test rows.
func readTables(fsys files.FS, o Options) (train, test []row, err error) {
	info, err := fsys.Stat(o.Path)
	if err != nil {
		return nil, nil, err
	}
	if !info.IsDir() {
		all, err := readTable(fsys, o.Path, o)
		if err != nil {
			return nil, nil, err
		}
		classes := map[string]int64{}
		train, test = apartOf(all, func(r row) int64 {
			if o.labelEach() == EachWord {
				return 0
			}
			if _, known := classes[r.labels[0]]; !known {
				classes[r.labels[0]] = int64(len(classes))
			}
			return classes[r.labels[0]]
		}, o)
		return train, test, nil
	}
	if train, err = readTable(fsys, filepath.Join(o.Path, "train.csv"), o); err != nil {
		return nil, nil, err
	}
	if test, err = readTable(fsys, filepath.Join(o.Path, "test.csv"), o); err != nil {
		return nil, nil, err
	}
	if err := o.checkTested(train, test); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", o.Path, err)
	}
	return train, test, nil
}

func readTable(fsys files.FS, path string, o Options) ([]row, error) {
	data, err := files.ReadAll(fsys, path, mostText)
	if err != nil {
		return nil, fmt.Errorf("read a table (limit: %d MiB): %w", mostText>>20, err)
	}
	rows, err := parseTable(data, o)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return rows, nil
}

// parseTable reads a table whose first line names its columns.
func parseTable(data []byte, o Options) ([]row, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read the header line: %w", err)
	}
	for _, column := range []string{o.textColumn(), o.labelColumn()} {
		if first := slices.Index(header, column); first >= 0 && slices.Contains(header[first+1:], column) {
			return nil, fmt.Errorf("two columns have the name %s; rename one of them", column)
		}
	}
	text, label := slices.Index(header, o.textColumn()), slices.Index(header, o.labelColumn())
	if text < 0 || label < 0 {
		return nil, fmt.Errorf("the columns are %q; expected %s and %s; "+
			"set text_column and label_column to columns of the table", header, o.textColumn(), o.labelColumn())
	}
	var rows []row
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		made, err := o.row(cells[text], cells[label])
		if err != nil {
			line, _ := r.FieldPos(text)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if rows = append(rows, made); len(rows) > mostRows {
			return nil, fmt.Errorf("the table has more than %d rows; remove rows", mostRows)
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("the table has no rows after the header")
	}
	return rows, nil
}

func (o Options) row(text, label string) (row, error) {
	text, label = strings.Clone(text), strings.TrimSpace(strings.Clone(label)) // "a" and "a " are one label
	made := row{[]string{text}, []string{label}}
	if o.labelEach() == EachWord {
		made = row{strings.Fields(text), strings.Fields(label)}
	}
	switch {
	case strings.TrimSpace(text) == "":
		return row{}, errors.New("the text is empty; remove the row")
	case len(made.pieces) != len(made.labels):
		return row{}, fmt.Errorf("the row has %d words, but %d labels; expected one label per word (%s for a word "+
			"without a label)",
			len(made.pieces),
			len(made.labels), ignoredLabel)
	case o.labelEach() == EachText && strings.TrimSpace(label) == "":
		return row{}, errors.New("the label is empty; set it, or remove the row")
	}
	return made, nil
}

// Limits of the labels of a table. Each label is an output of the network, for every text. If there are more than a few
// labels, most must occur more than once.
const (
	mostLabels = 1 << 16
	fewLabels  = 1000
)

// classesOf returns the labels that occur, in order: whole numbers by value, other labels by their text.
func (o Options) classesOf(rows []row) ([]string, error) {
	seen, count := map[string]bool{}, 0
	for _, r := range rows {
		count += len(r.labels)
		for _, l := range r.labels {
			seen[l] = true
		}
	}
	if o.labelEach() == EachWord {
		delete(seen, ignoredLabel)
	}
	if len(seen) < 2 || len(seen) > mostLabels {
		return nil, fmt.Errorf("the table has %d distinct labels; expected 2 to %d", len(seen), mostLabels)
	}
	if len(seen) > fewLabels && 2*len(seen) > count {
		return nil, fmt.Errorf("%d of %d labels are distinct, so most labels occur only once and cannot be learned; "+
			"check that %s is the column of labels, or set label_column", len(seen), count, o.labelColumn())
	}
	return slices.SortedFunc(maps.Keys(seen), labelOrder(maps.Keys(seen))), nil
}

// labelOrder returns the order of labels. Whole numbers are ordered by value, so that label 10 of a table is output 10
// of a network, not output 2.
func labelOrder(labels iter.Seq[string]) func(a, b string) int {
	values := map[string]int{}
	for l := range labels {
		v, err := strconv.Atoi(l)
		if err != nil {
			return strings.Compare
		}
		values[l] = v
	}
	return func(a, b string) int { return cmp.Or(cmp.Compare(values[a], values[b]), strings.Compare(a, b)) }
}

// checkTested returns an error if a label of a test table does not occur in the training table: the network cannot
// learn it, and it may be a misspelled label. Words can have rare labels, so they are not checked.
func (o Options) checkTested(train, test []row) error {
	if o.labelEach() == EachWord {
		return nil
	}
	known := map[string]bool{}
	for _, r := range train {
		known[r.labels[0]] = true
	}
	for _, r := range test {
		if !known[r.labels[0]] {
			return fmt.Errorf("test.csv has the label %q, which train.csv does not have; correct the label, or remove "+
				"its rows", r.labels[0])
		}
	}
	return nil
}

// textsOf returns the texts of rows, with one space between words.
func textsOf(parts ...[]row) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, r := range slices.Concat(parts...) {
			if !yield(strings.Join(r.pieces, " ")) {
				return
			}
		}
	}
}

// labelled holds texts as tokens, with a label per text or per token.
type labelled struct {
	o       Options
	tokens  tokenizer
	classes []string
	places  map[string]int64 // indices of the classes
	cut     int              // texts longer than the context
}

// CheckTable checks a table: it reads the table as Load does, but does not move it to a device, and returns the first
// error.
func CheckTable(fsys files.FS, o Options) error {
	train, test, err := readTables(fsys, o)
	if err != nil {
		return err
	}
	_, err = o.classesOf(slices.Concat(train, test))
	return err
}

// loadCSV reads a table and moves its texts to the device as tokens. A short text is filled up with padding, which is
// the last token of the vocabulary; a long one is cut.
func loadCSV(s *torch.Scope, d torch.Device, fsys files.FS, o Options) (*Set, error) {
	train, test, err := readTables(fsys, o)
	if err != nil {
		return nil, err
	}
	l := &labelled{o: o, places: map[string]int64{}}
	if l.classes, err = o.classesOf(slices.Concat(train, test)); err != nil {
		return nil, err
	}
	for k, class := range l.classes {
		l.places[class] = int64(k)
	}
	if l.tokens, err = o.tokenizer(fsys, textsOf(train, test)); err != nil {
		return nil, err
	}
	if bytes := 12 * int64(o.context()) * int64(len(train)+len(test)); bytes > maxBytes {
		return nil, fmt.Errorf("%d texts of %d tokens take %d GiB; the maximum is %d GiB; use fewer texts, "+
			"or a shorter context", len(train)+len(test), o.context(), bytes>>30, maxBytes>>30)
	}
	parts, err := (&source{train: pool{labels: l.strata(train)}, test: pool{labels: l.strata(test)}}).divide(o)
	if err != nil {
		return nil, err
	}
	set := &Set{Name: filepath.Base(filepath.Clean(o.Path)), Classes: l.classes, Shape: []int{o.context()},
		Task: TextLabel, Vocabulary: len(l.tokens.names) + 1}
	if o.labelEach() == EachWord {
		set.Task = TokenLabel
	}
	hash := digest{sha256.New()}
	for _, name := range slices.Concat([]string{o.tokens(), o.labelEach()}, l.classes, l.tokens.names) {
		hash.text(name)
	}
	set.Train = l.move(s, d, hash, train, parts.train.rows)
	set.Test = l.move(s, d, hash, test, parts.test.rows)
	if set.Validation = set.Test; !o.TestAsValidation {
		set.Validation = l.move(s, d, hash, train, parts.validation.rows)
	}
	set.Cut, set.Digest = l.cut, hex.EncodeToString(hash.Sum(nil))
	return set, s.Err()
}

// strata returns the labels that stratify the splits: all zero if words have the labels.
func (l *labelled) strata(rows []row) []int64 {
	strata := make([]int64, len(rows))
	for k, r := range rows {
		if l.o.labelEach() == EachText {
			strata[k] = l.class(r.labels[0])
		}
	}
	return strata
}

func (l *labelled) class(label string) int64 {
	k, known := l.places[label]
	if !known {
		return Ignored
	}
	return k
}

// move moves some rows to the device.
func (l *labelled) move(s *torch.Scope, d torch.Device, hash digest, rows []row, picked []int) Split {
	context := l.o.context()
	split := Split{Count: len(picked)}
	var tokens []int32
	var labels []int64
	for _, k := range picked {
		of, each := l.encode(rows[k])
		if len(of) > context {
			l.cut++
		}
		for at := range context {
			token, label := int32(len(l.tokens.names)), int64(Ignored)
			if at < len(of) {
				token, label = of[at], each[at]
			}
			tokens = append(tokens, token)
			if l.o.labelEach() == EachWord {
				labels = append(labels, label)
			}
		}
		if l.o.labelEach() == EachText {
			labels = append(labels, l.class(rows[k].labels[0]))
			continue
		}
		split.Marked = append(split.Marked, marked(labels[len(labels)-context:]))
	}
	hash.number(len(picked), context)
	for _, v := range tokens {
		hash.number(int(v))
	}
	for _, v := range labels {
		hash.number(int(v))
	}
	split.Images = compact(s, d, tokens, len(l.tokens.names)+1, len(picked), context)
	if l.o.labelEach() == EachText {
		split.Labels = torch.FromOn(s, d, labels, len(picked))
	} else {
		split.Labels = torch.FromOn(s, d, labels, len(picked), context)
	}
	return split
}

// encode returns a row's tokens, and a label for each: a word's first token has the word's label, all others are
// Ignored.
func (l *labelled) encode(r row) (tokens []int32, labels []int64) {
	for k, piece := range r.pieces {
		if k > 0 && l.o.tokens() == BytePairs {
			piece = " " + piece // the space belongs to the word's first pair
		} else if k > 0 {
			tokens = append(tokens, l.tokens.encode(" ")...)
		}
		labels = append(labels, slices.Repeat([]int64{Ignored}, len(tokens)-len(labels))...)
		tokens = append(tokens, l.tokens.encode(piece)...)
		labels = append(labels, l.class(r.labels[min(k, len(r.labels)-1)]))
	}
	return tokens, append(labels, slices.Repeat([]int64{Ignored}, max(0, len(tokens)-len(labels)))...)
}

// marked returns the number of labels that count.
func marked(labels []int64) (count int32) {
	for _, l := range labels {
		if l != Ignored {
			count++
		}
	}
	return count
}
