// Package encoder turns the tokens of a network into one encoding for each of them.
package encoder
