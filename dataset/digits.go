package dataset

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"graft/internal/files"
)

// digitsFiles are the names of the file of digits: in Debian's python3-sklearn, and in the UCI repository.
var digitsFiles = []string{"digits.csv.gz", "optdigits.tes"}

const (
	digitsSide = 8  // pixels
	digitsInk  = 16 // the darkest pixel
	// The published file has 1,797 rows of at most 200 bytes.
	maxDigits      = 1 << 16
	maxDigitsBytes = 16 << 20
)

// findDigits finds the file of digits.
func findDigits(fsys files.FS, o Options) (reader, error) {
	for _, name := range digitsFiles {
		path := filepath.Join(o.Path, name)
		there, err := isFile(fsys, path)
		if err != nil {
			return nil, err
		}
		if there {
			return func() (*source, error) { return readDigits(fsys, path, o) }, nil
		}
	}
	return nil, fmt.Errorf("read %s: %w; put %s into this folder, or install Debian's python3-sklearn and set path to "+
		"its folder %s", o.Path, ErrMissing, strings.Join(digitsFiles, " or "),
		"/usr/lib/python3/dist-packages/sklearn/datasets/data")
}

// readDigits reads the file of digits, and holds out a part of its images for the test.
func readDigits(fsys files.FS, path string, o Options) (*source, error) {
	var images []byte
	var labels []int64
	err := readFile(fsys, path, func(r io.Reader, _ int64) (err error) {
		images, labels, err = parseDigits(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return digitsSource(images, labels, o), nil
}

func digitsSource(images []byte, labels []int64, o Options) *source {
	all := held(images, labels)
	rest, drawn := withheld(labels, everyRow(len(labels)), shareOf(len(labels), o.ValidationShare), o.Seed, streamTest)
	return &source{name: KindDigits, classes: digits, shape: [3]int{1, digitsSide, digitsSide}, train: all.pick(rest),
		test: all.pick(drawn)}
}

// pick returns the pool of some rows.
func (p pool) pick(rows []int) pool {
	labels := make([]int64, len(rows))
	for k, row := range rows {
		labels[k] = p.labels[row]
	}
	return pool{labels: labels, images: func(picked []int) ([]byte, error) {
		from := make([]int, len(picked))
		for k, row := range picked {
			from[k] = rows[row]
		}
		return p.images(from)
	}}
}

// parseDigits reads rows of 64 pixels and a label, separated by commas, compressed or not.
func parseDigits(r io.Reader) (images []byte, labels []int64, err error) {
	plain, err := unzipped(r)
	if err != nil {
		return nil, nil, fmt.Errorf("the file is not a gzip file: %w; %s", err, again)
	}
	lines := bufio.NewScanner(io.LimitReader(plain, maxDigitsBytes))
	for lines.Scan() {
		row, err := digitsRow(lines.Text())
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w; %s", len(labels)+1, err, again)
		}
		if len(labels) == maxDigits {
			return nil, nil, fmt.Errorf("the file has more than %d lines; expected the published file", maxDigits)
		}
		for _, ink := range row[:digitsSide*digitsSide] {
			images = append(images, byte(ink*255/digitsInk))
		}
		labels = append(labels, int64(row[digitsSide*digitsSide]))
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("the file is corrupt: %w; %s", err, again)
	}
	if len(labels) < len(digits) {
		return nil, nil, fmt.Errorf("the file has %d lines; expected 1797, as in the published file; %s", len(labels),
			again)
	}
	return images, labels, nil
}

// digitsRow reads the pixels and the label of a line.
func digitsRow(text string) ([]int, error) {
	cells := strings.Split(strings.TrimSpace(text), ",")
	if want := digitsSide*digitsSide + 1; len(cells) != want {
		return nil, fmt.Errorf("the line has %d numbers; expected %d", len(cells), want)
	}
	row := make([]int, len(cells))
	for k, cell := range cells {
		v, err := strconv.ParseFloat(cell, 64) // some copies write 5.0
		if err != nil || v != float64(int(v)) || v < 0 || v > digitsInk {
			return nil, fmt.Errorf("invalid pixel %q; expected a whole number from 0 to %d", cell, digitsInk)
		}
		row[k] = int(v)
	}
	if row[len(row)-1] >= len(digits) {
		return nil, fmt.Errorf("the label is %d; expected 0 to 9", row[len(row)-1])
	}
	return row, nil
}
