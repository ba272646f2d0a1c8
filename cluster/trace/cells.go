package trace

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// place is the position at which a cell begins, from 1.
type place struct{ line, column int }

// cells splits rows of values that are separated by commas, or by another character without quoting. Package
// encoding/csv allocates a string per cell; here a cell is a slice
// of the line.
type cells struct {
	lines
	mark  byte     // separator; zero means a comma
	row   [][]byte // cells of the last row read, valid until the next call
	first int      // number of the row's first line

	text   []byte  // contents of cells without their quotes; only for rows with quotes
	ends   []int   // end of each cell in text
	places []place // beginning of each cell; empty for rows without quotes
	whole  []byte  // buffer for a row of several lines without quotes
}

// next reads a row; it skips empty lines.
func (c *cells) next() error {
	for {
		line, err := c.lines.next()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			continue
		}
		c.first = c.number
		c.row, c.places = c.row[:0], c.places[:0]
		if c.mark == 0 && bytes.IndexByte(line, '"') >= 0 {
			return c.splitQuoted(line)
		}
		c.split(line)
		return nil
	}
}

// split splits a line without quotes. It processes eight bytes at once: after an exclusive or with separators, a
// separator is a zero byte, and the sum below carries into the top bit of all other bytes.
func (c *cells) split(line []byte) {
	const ones, low, top = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	mark := cmp.Or(c.mark, ',')
	row, begin, k, marks := c.row, 0, 0, ones*uint64(mark)
	for ; k+8 <= len(line); k += 8 {
		word := binary.LittleEndian.Uint64(line[k:]) ^ marks
		for found := ^((word&low + low) | word) & top; found != 0; found &= found - 1 {
			at := k + bits.TrailingZeros64(found)/8
			row = append(row, line[begin:at])
			begin = at + 1
		}
	}
	for ; k < len(line); k++ {
		if line[k] == mark {
			row = append(row, line[begin:k])
			begin = k + 1
		}
	}
	c.row = append(row, line[begin:])
}

// splitQuoted splits a line with quotes, according to RFC 4180: a quoted cell may contain commas, line ends and doubled
// quotes.
func (c *cells) splitQuoted(line []byte) error {
	c.text, c.ends = c.text[:0], c.ends[:0]
	at := 0
	for {
		c.places = append(c.places, place{c.number, at + 1})
		var err error
		if at < len(line) && line[at] == '"' {
			line, at, err = c.quoted(line, at+1)
		} else {
			at = c.plain(line, at)
		}
		if err != nil {
			return err
		}
		c.ends = append(c.ends, len(c.text))
		if at == len(line) {
			break
		}
		if line[at] != ',' {
			return c.fault(c.number, at+1, "", "unexpected text after the closing quote of a cell",
				"add a comma, or double the quotes inside the cell")
		}
		at++
	}
	begin := 0
	for _, end := range c.ends {
		c.row = append(c.row, c.text[begin:end])
		begin = end
	}
	return nil
}

// plain adds a cell without quotes and returns its end.
func (c *cells) plain(line []byte, at int) int {
	end := len(line)
	if k := bytes.IndexByte(line[at:], ','); k >= 0 {
		end = at + k
	}
	c.text = append(c.text, line[at:end]...)
	return end
}

// quoted adds a cell, starting after its opening quote. It returns the line in which the cell ends, and its end.
func (c *cells) quoted(line []byte, at int) ([]byte, int, error) {
	for {
		k := bytes.IndexByte(line[at:], '"')
		if k < 0 {
			c.text = append(c.text, line[at:]...)
			if c.cut {
				c.text = append(c.text, '\r')
			}
			c.text = append(c.text, '\n')
			next, err := c.lines.next()
			if errors.Is(err, io.EOF) || len(c.text) > maxLine {
				begin := c.places[len(c.places)-1]
				return nil, 0, c.fault(begin.line, begin.column, "", "the quote that begins here is not closed",
					"close the cell with a quote")
			}
			if err != nil {
				return nil, 0, err
			}
			line, at = next, 0
			continue
		}
		c.text = append(c.text, line[at:at+k]...)
		at += k + 1
		if at == len(line) || line[at] != '"' {
			return line, at, nil
		}
		c.text = append(c.text, '"')
		at++
	}
}

// faultAt returns an error about a cell of the row.
func (c *cells) faultAt(k int, field, text, remedy string) error {
	at := place{c.first, 1}
	if k < len(c.places) {
		at = c.places[k]
	} else {
		for _, cell := range c.row[:k] {
			at.column += len(cell) + 1
		}
	}
	return c.fault(at.line, at.column, field, text, remedy)
}

// wrongCount returns the error for a row with the wrong number of cells.
func (c *cells) wrongCount(want int) error {
	return c.fault(c.first, 0, "", fmt.Sprintf("the line has %d fields, expected %d", len(c.row), want), mendLine)
}
