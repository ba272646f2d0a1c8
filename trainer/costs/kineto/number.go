package kineto

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// mostDigits limits the text of a number.
const mostDigits = 40

// microseconds reads a decimal number of microseconds exactly, rounded to nanoseconds.
func microseconds(text json.RawMessage) (time.Duration, error) {
	if len(text) == 0 {
		return 0, fmt.Errorf("missing; %s", foreign)
	}
	number := string(text)
	if whole, fraction, _ := strings.Cut(number, "."); len(fraction) <= 3 && len(whole) <= 15 {
		digits := whole + (fraction + "000")[:3]
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && digits[0] != '+' {
			return time.Duration(n), nil
		}
	}
	return rounded(number)
}

// rounded reads a number with an exponent or with many digits.
func rounded(number string) (time.Duration, error) {
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || len(number) > mostDigits {
		return 0, fmt.Errorf("%.*s: expected a number of microseconds with at most %d digits", mostDigits, number,
			mostDigits)
	}
	if math.Abs(f) >= math.MaxInt64/1000 {
		return 0, fmt.Errorf("%s microseconds are out of range", number)
	}
	if f == 0 || math.Abs(f) < 1e-4 { // bounds the exponent
		return 0, nil
	}
	r, valid := new(big.Rat).SetString(number)
	if !valid {
		return 0, fmt.Errorf("%s: expected a number of microseconds", number)
	}
	r.Mul(r, big.NewRat(1000, 1))
	half := big.NewRat(int64(r.Sign()), 2)
	n := new(big.Int).Quo(r.Add(r, half).Num(), r.Denom())
	return time.Duration(n.Int64()), nil
}

// whole reads a whole number, which some versions of PyTorch write as a text. A missing number is zero.
func whole(name string, text json.RawMessage) (int64, error) {
	if len(text) == 0 || string(text) == "null" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is %.*s; expected a whole number; export the trace again", name, mostDigits, text)
	}
	return n, nil
}

// Limits of the shapes of an operator.
const (
	mostTensors    = 1 << 16
	mostDimensions = 64
	mostSize       = 1 << 40
	mostLists      = 4 // lists in lists
)

// shapesOf reads the shapes of an operator's arguments: a list of shapes, and of lists of shapes.
func shapesOf(text json.RawMessage) (shapes [][]int, err error) {
	if len(text) == 0 {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("\"Input Dims\" is not a list; export the trace again")
	}
	for _, item := range list {
		if shapes, err = appendShapes(shapes, item, mostLists); err != nil {
			return nil, fmt.Errorf("\"Input Dims\": %w; export the trace again", err)
		}
	}
	return shapes, nil
}

func appendShapes(to [][]int, text json.RawMessage, depth int) ([][]int, error) {
	var sizes []int
	if json.Unmarshal(text, &sizes) == nil {
		for _, n := range sizes {
			if n < 0 || n > mostSize {
				return nil, fmt.Errorf("the size %d is out of range", n)
			}
		}
		switch {
		case len(sizes) > mostDimensions || len(to) == mostTensors:
			return nil, fmt.Errorf("a shape has more than %d dimensions, or there are more than %d tensors",
				mostDimensions, mostTensors)
		case len(sizes) > 0:
			to = append(to, sizes)
		}
		return to, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil || depth == 0 {
		return nil, fmt.Errorf("%.*s is not a shape", mostDigits, text)
	}
	for _, item := range list {
		var err error
		if to, err = appendShapes(to, item, depth-1); err != nil {
			return nil, err
		}
	}
	return to, nil
}
