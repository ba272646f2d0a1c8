package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxKeyBytes limits the hash key of a tuple, which can grow without end if the tuple contains itself many times.
// maxKeyDepth limits the nesting of a tuple used as a key.
const (
	maxKeyBytes = 1 << 16
	maxKeyDepth = 100
)

var errKey = fmt.Errorf("%w: a key of a dict or set has more than %d bytes or %d levels",
	ErrLimit, maxKeyBytes, maxKeyDepth)

// hashKey returns a string that is equal for two keys exactly if they are equal in Python. It begins with a letter for
// the kind of key.
func hashKey(key any) (string, error) {
	if s, ok := key.(string); ok { // the common case, without the limit
		return "s" + s, nil
	}
	b, err := appendKey(nil, key, 0)
	return string(b), err
}

func appendKey(b []byte, key any, depth int) ([]byte, error) {
	if len(b) > maxKeyBytes || depth > maxKeyDepth {
		return nil, errKey
	}
	switch k := key.(type) {
	case nil:
		return append(b, 'n'), nil
	case string:
		return appendText(b, 's', k), nil
	case []byte:
		return appendText(b, 'b', string(k)), nil
	case Tuple:
		return appendItems(append(b, 't'), k, depth+1)
	case *Set:
		return appendSet(b, k, depth+1)
	case Global:
		return appendText(b, 'g', k.String()), nil
	}
	return appendNumber(b, key)
}

// appendNumber writes equal numbers in the same way, regardless of their type.
func appendNumber(b []byte, key any) ([]byte, error) {
	switch k := key.(type) {
	case bool:
		if k {
			return append(b, "i1;"...), nil
		}
		return append(b, "i0;"...), nil
	case int:
		return append(strconv.AppendInt(append(b, 'i'), int64(k), 10), ';'), nil
	case int64:
		return append(strconv.AppendInt(append(b, 'i'), k, 10), ';'), nil
	case *big.Int:
		return append(k.Append(append(b, 'i'), 10), ';'), nil
	case float64:
		if k == math.Trunc(k) && !math.IsInf(k, 0) {
			whole, _ := big.NewFloat(k).Int(nil)
			return append(whole.Append(append(b, 'i'), 10), ';'), nil
		}
		return binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(k)), nil
	}
	return nil, malformed("a %T cannot be a key", key)
}

// appendText writes the length first, so the texts in a tuple stay separate.
func appendText(b []byte, kind byte, text string) []byte {
	b = strconv.AppendInt(append(b, kind), int64(len(text)), 10)
	return append(append(b, ':'), text...)
}

func appendItems(b []byte, items []any, depth int) (_ []byte, err error) {
	b = append(strconv.AppendInt(b, int64(len(items)), 10), ':')
	for _, item := range items {
		if b, err = appendKey(b, item, depth); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// appendSet sorts the items, since the order of sets does not matter.
func appendSet(b []byte, s *Set, depth int) ([]byte, error) {
	if !s.Frozen {
		return nil, malformed("a set cannot be a key; a frozenset can")
	}
	size := len(b)
	keys := make([]string, 0, s.Len())
	for item := range s.items.All() {
		key, err := appendKey(nil, item, depth)
		if err != nil {
			return nil, err
		}
		if size += len(key); size > maxKeyBytes {
			return nil, errKey
		}
		keys = append(keys, string(key))
	}
	slices.Sort(keys)
	b = append(strconv.AppendInt(append(b, 'z'), int64(len(keys)), 10), ':')
	return append(b, strings.Join(keys, "")...), nil
}
