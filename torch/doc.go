// Package torch is the only access to LibTorch.
package torch

// #cgo LDFLAGS: -L${SRCDIR}/link -ldl
import "C"
