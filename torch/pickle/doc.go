// Package pickle reads Python pickles without executing code.
package pickle
