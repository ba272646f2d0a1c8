package failures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"graft/cluster/trace"
)

// maxName is the maximum length of a node's name in bytes, as in the domain name system.
const maxName = 255

// hosts lists the nodes of Slurm hostlist expressions, such as "ga[01-12],login1", in their order.
func hosts(expressions []string) (names []string, err error) {
	for _, text := range expressions {
		for _, part := range hostParts(text) {
			more, err := expandHost(part, trace.MaxNodes-len(names))
			if err != nil {
				return nil, fmt.Errorf("%.60q: %w", text, err)
			}
			names = append(names, more...)
		}
	}
	return names, nil
}

// hostParts splits an expression at the commas outside of brackets.
func hostParts(text string) (parts []string) {
	depth, begin := 0, 0
	for k, c := range text {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			parts, begin = append(parts, text[begin:k]), k+1
		}
	}
	return append(parts, text[begin:])
}

// expandHost lists the names of one part of an expression. The last range varies fastest.
func expandHost(part string, most int) ([]string, error) {
	names := []string{""}
	for {
		literal, rest, ranged := strings.Cut(part, "[")
		if strings.ContainsFunc(literal, invalidInName) {
			return nil, errors.New("expected names and ranges such as ga[01-12]")
		}
		if len(names[0])+len(literal) > maxName {
			return nil, errLongName
		}
		names = product(names, []string{literal})
		if !ranged {
			return names, checkNames(names, most)
		}
		inside, after, closed := strings.Cut(rest, "]")
		if !closed {
			return nil, errors.New("the bracket [ is not closed")
		}
		numbers, err := hostRanges(inside, most/len(names))
		if err != nil {
			return nil, err
		}
		names, part = product(names, numbers), after
	}
}

// checkNames returns an error for an empty or long name, or too many names.
func checkNames(names []string, most int) error {
	longest := slices.MaxFunc(names, func(a, b string) int { return len(a) - len(b) })
	switch {
	case slices.Contains(names, ""):
		return errors.New("a name is empty")
	case len(longest) > maxName:
		return errLongName
	case len(names) > most:
		return errTooManyNames
	}
	return nil
}

var (
	errTooManyNames = fmt.Errorf("the list has more than the limit of %d nodes", trace.MaxNodes)
	errLongName     = fmt.Errorf("a name is longer than the limit of %d bytes", maxName)
)

// invalidInName reports whether a character cannot be in the name of a node.
func invalidInName(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune("[]|,", c) }

// product appends each end to each beginning.
func product(begins, ends []string) (list []string) {
	for _, begin := range begins {
		for _, end := range ends {
			list = append(list, begin+end)
		}
	}
	return list
}

// hostRanges lists the numbers of ranges such as "01-03,7".
func hostRanges(text string, most int) (list []string, err error) {
	for part := range strings.SplitSeq(text, ",") {
		low, high, two := strings.Cut(part, "-")
		if !two {
			high = low
		}
		first, last, err := rangeEnds(low, high)
		if err != nil {
			return nil, err
		}
		if last-first >= most-len(list) {
			return nil, errTooManyNames
		}
		for n := first; n <= last; n++ {
			list = append(list, fmt.Sprintf("%0*d", len(low), n))
		}
	}
	return list, nil
}

// rangeEnds reads the first and the last number of a range.
func rangeEnds(low, high string) (first, last int, err error) {
	const most = 9 // digits of a number
	first, failedFirst := strconv.Atoi(low)
	last, failedLast := strconv.Atoi(high)
	signed := strings.ContainsAny(low+high, "+-")
	if failedFirst != nil || failedLast != nil || signed || len(low) > most || len(high) > most {
		return 0, 0, fmt.Errorf("expected a range such as 01-12, got %.20q", low+"-"+high)
	}
	if first > last {
		return 0, 0, fmt.Errorf("the range %s-%s is empty", low, high)
	}
	return first, last, nil
}

// numbered returns the position of each name. A repeated name is an error.
func numbered(names []string) (map[string]int, error) {
	at := make(map[string]int, len(names))
	for k, name := range names {
		if _, twice := at[name]; twice {
			return nil, fmt.Errorf("node %s occurs twice; remove one", name)
		}
		at[name] = k
	}
	return at, nil
}
