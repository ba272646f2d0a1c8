package trace

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

const (
	// maxSeconds limits times on either side of zero, so that sums of two do not overflow.
	maxSeconds = 1_000_000_000_000
	// maxCount limits counts of devices and other things.
	maxCount = math.MaxInt32
	// exactDigits is the number of decimal digits that a float64 always represents exactly.
	exactDigits = 15
)

// tens are the powers of ten up to exactDigits.
var tens = [exactDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// isMissing reports whether a cell stands for a missing value in published traces.
func isMissing(cell []byte) bool {
	switch string(cell) {
	case "", "None", "NaT", "nan", "NaN", "NULL", "null":
		return true
	}
	return false
}

// decimal reads a number. A short number without an exponent is an integer divided by a power of ten, both exact, so
// that one division rounds correctly (Clinger 1990). strconv parses all others.
func decimal(cell []byte) (float64, bool) {
	at, whole, digits, behind, point := 0, 0, 0, 0, false
	if len(cell) > 0 && cell[0] == '-' {
		at = 1
	}
	for _, b := range cell[at:] {
		switch {
		case '0' <= b && b <= '9':
			whole = 10*whole + int(b-'0')
			digits++
			if point {
				behind++
			}
		case b == '.' && !point:
			point = true
			continue
		default:
			digits = exactDigits + 1
		}
		if digits > exactDigits {
			return slowDecimal(cell)
		}
	}
	v := float64(whole) / tens[behind]
	if at == 1 {
		v = -v
	}
	return v, digits > 0
}

func slowDecimal(cell []byte) (float64, bool) {
	if bytes.ContainsFunc(cell, func(r rune) bool { return !strings.ContainsRune("0123456789.eE+-", r) }) {
		return 0, false // strconv also accepts infinities, hexadecimals and underscores
	}
	v, err := strconv.ParseFloat(string(cell), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// integer reads an integer of at most 18 digits.
func integer(cell []byte) (int64, bool) {
	at := 0
	if len(cell) > 0 && cell[0] == '-' {
		at = 1
	}
	if n := len(cell) - at; n == 0 || n > 18 {
		return 0, false
	}
	var v int64
	for _, b := range cell[at:] {
		if b < '0' || b > '9' {
			return 0, false
		}
		v = 10*v + int64(b-'0')
	}
	if at == 1 {
		v = -v
	}
	return v, true
}

// seconds reads a time in seconds and rounds it to a whole second.
func seconds(cell []byte) (int64, bool) {
	v, ok := integer(cell)
	if !ok {
		f, isNumber := decimal(cell)
		if !isNumber || math.Abs(f) > maxSeconds {
			return 0, false
		}
		v = int64(math.Round(f))
	}
	return v, -maxSeconds <= v && v <= maxSeconds
}

// clamped limits a difference of two times to the range of times.
func clamped(v int64) int64 { return min(max(v, -maxSeconds), maxSeconds) }

// count reads a count. It accepts an integer with a decimal point.
func count(cell []byte) (int, bool) {
	v, ok := integer(cell)
	if !ok {
		f, isNumber := decimal(cell)
		if !isNumber || f != math.Trunc(f) || math.Abs(f) > maxCount {
			return 0, false
		}
		v = int64(f)
	}
	return int(v), 0 <= v && v <= maxCount
}

const dateLength = 19

// dates reads dates without a time zone as seconds since 1970. It caches the last day, since a trace has many jobs per
// day.
type dates struct {
	day  [10]byte // as written
	unix int64    // seconds at its midnight
}

// zoned reads a date and a time of day that a time zone such as Z, +08:00 or +0800 may follow.
func (d *dates) zoned(cell []byte) (int64, bool) {
	if len(cell) <= dateLength {
		return d.of(cell)
	}
	offset, ok := zoneOf(cell[dateLength:])
	unix, dated := d.of(cell[:dateLength])
	return unix - offset, ok && dated
}

// zoneOf reads the offset of a time zone in seconds.
func zoneOf(text []byte) (int64, bool) {
	if string(text) == "Z" {
		return 0, true
	}
	if len(text) == 6 && text[3] == ':' {
		text = []byte{text[0], text[1], text[2], text[4], text[5]}
	}
	if len(text) != 5 || text[0] != '+' && text[0] != '-' {
		return 0, false
	}
	hours, minutes := digits(text[1:3]), digits(text[3:5])
	if hours|minutes < 0 || hours > 14 || minutes > 59 { // the largest offset, in Kiritimati, is 14 hours
		return 0, false
	}
	offset := int64(hours*3600 + minutes*60)
	if text[0] == '-' {
		offset = -offset
	}
	return offset, true
}

// of reads a date and a time of day, separated by a blank or a T.
func (d *dates) of(cell []byte) (int64, bool) {
	if len(cell) != dateLength || cell[10] != ' ' && cell[10] != 'T' || cell[13] != ':' || cell[16] != ':' {
		return 0, false
	}
	if [10]byte(cell) != d.day {
		unix, ok := midnight(cell)
		if !ok {
			return 0, false
		}
		d.day, d.unix = [10]byte(cell), unix
	}
	hour, minute, second := digits(cell[11:13]), digits(cell[14:16]), digits(cell[17:19])
	if hour|minute|second < 0 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return d.unix + int64(hour*3600+minute*60+second), true
}

// digits reads a few digits; it returns a negative number for other characters.
func digits(text []byte) int {
	v := 0
	for _, b := range text {
		if b < '0' || b > '9' {
			return -1
		}
		v = 10*v + int(b-'0')
	}
	return v
}

// midnight returns the second since 1970 at which a day begins.
func midnight(cell []byte) (int64, bool) {
	year, month, day := digits(cell[:4]), digits(cell[5:7]), digits(cell[8:10])
	if cell[4] != '-' || cell[7] != '-' || year|month|day < 0 || month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	date := dateOf(year, month, day)
	if date.Day() != day {
		return 0, false // the month does not have this day
	}
	return date.Unix(), true
}
