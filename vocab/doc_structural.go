// Package vocab turns the layers of a network into tokens. A structural token says
// what a layer does and how large it is, in numbers that mean the same for every
// network, so that a layer that was never seen is no error.
package vocab
