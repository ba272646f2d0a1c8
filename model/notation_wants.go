package model

import "fmt"

// largestSize limits every size in a notation, so counts cannot overflow.
const largestSize = 1 << 20

// want is the type of a parameter.
type want struct {
	text string // completes "it must be"
	read func(literal) (any, bool)
}

// whole accepts a number of at least least and returns an int.
func whole(least int) want {
	return want{fmt.Sprintf("an integer from %d to %d", least, largestSize), func(l literal) (any, bool) {
		return wholeNumber(l, least)
	}}
}

func wholeNumber(l literal, least int) (int, bool) {
	n, ok := l.value.(int)
	return n, ok && least <= n && n <= largestSize
}

// pair accepts one or two such numbers and returns a Pair.
func pair(least int) want {
	text := fmt.Sprintf("an integer from %d to %d, or two such as (%d, %d)", least, largestSize,
		least+1, least+2)
	return want{text, func(l literal) (any, bool) {
		if n, ok := wholeNumber(l, least); ok {
			return One(n), true
		}
		both, ok := l.value.([]literal)
		if !ok || len(both) != 2 {
			return nil, false
		}
		h, okH := wholeNumber(both[0], least)
		w, okW := wholeNumber(both[1], least)
		return Pair{H: h, W: w}, okH && okW
	}}
}

// or also accepts one of some words.
func (w want) or(text string, words ...string) want {
	return want{w.text + ", or " + text, func(l literal) (any, bool) {
		for _, word := range words {
			if l.value == word {
				return word, true
			}
		}
		return w.read(l)
	}}
}

// orNone also accepts None, and returns a value for it.
func (w want) orNone(stands any) want {
	return want{w.text, func(l literal) (any, bool) {
		if l.value == nil {
			return stands, true
		}
		return w.read(l)
	}}
}

// sizes accepts one or several sizes and returns an []int.
var sizes = want{fmt.Sprintf("an integer from 1 to %d, or several such as (32, 8, 8)", largestSize),
	func(l literal) (any, bool) {
		if n, ok := wholeNumber(l, 1); ok {
			return []int{n}, true
		}
		const most = 8
		items, ok := l.value.([]literal)
		if !ok || len(items) == 0 || len(items) > most {
			return nil, false
		}
		var list []int
		for _, item := range items {
			n, ok := wholeNumber(item, 1)
			if !ok {
				return nil, false
			}
			list = append(list, n)
		}
		return list, true
	}}

// flag accepts a boolean.
var flag = want{"True or False", func(l literal) (any, bool) {
	b, ok := l.value.(bool)
	return b, ok
}}

// anyReal accepts any number and returns a float64.
var anyReal = want{"a number", realNumber}

// positive accepts a number of at least zero and returns a float64.
var positive = want{"a number, at least 0", func(l literal) (any, bool) {
	value, ok := realNumber(l)
	return value, ok && value.(float64) >= 0
}}

// probability accepts a number in [0, 1) and returns a float64.
var probability = want{"a number, at least 0 and below 1", func(l literal) (any, bool) {
	value, ok := realNumber(l)
	return value, ok && value.(float64) >= 0 && value.(float64) < 1
}}

func realNumber(l literal) (any, bool) {
	switch v := l.value.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return nil, false
}

// only accepts the single supported value of an argument.
func only(value any, text string) want {
	return want{text + ", the only supported value",
		func(l literal) (any, bool) { return true, l.value == value }}
}
