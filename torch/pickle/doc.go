// Package pickle reads Python pickles without executing code.
//
// A pickle is a program for a small stack machine, and Python's own reader lets that program call any function. This
// reader creates only plain values. Other values can only come from a Go function that the caller registers under the
// Python name; an unregistered name is an error. All sizes are limited, so a hostile file also causes an error.
//
// It reads protocols 0 to 5, as described in the comments of CPython's Lib/pickletools.py, except out-of-band buffers
// and the extension registry.
//
// Python values become these Go values:
//
//	None, bool             nil, bool
//	int                    int64, or *big.Int where it does not fit
//	float                  float64
//	str                    string
//	str of Python 2        string holding its raw bytes
//	bytes, bytearray       []byte
//	tuple                  Tuple
//	list                   *List
//	dict, OrderedDict      *Dict
//	set, frozenset         *Set
//	a class or function    Global
//	anything else          what the registered Constructor returns
package pickle
