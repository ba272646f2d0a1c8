// Package pickle reads Python pickles without running anything.
//
// A pickle is a program for a small stack machine, and Python's own reader lets
// that program call any function. This reader makes only plain values: the one
// way to make others is a Go function that the caller registers under the
// Python name, and an unregistered name is an error. Everything is
// bounded, so that a hostile file ends in an error as well.
//
// Protocols 0 to 5 are read, as described in the comments of CPython's
// Lib/pickletools.py; out-of-band buffers and the extension registry are not.
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
