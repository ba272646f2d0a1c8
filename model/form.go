package model

import (
	"strconv"

	"graft/model/form"
)

// The form of a network is the content of its file as plain values: tables, lists, texts and numbers, which TOML and
// JSON both have. Its terms are:
//
//   - The network is a table with name (its class), input (its sizes) and its
//     parts under layers, block, residual or branches.
//   - A part is a layer's notation, a table with more details, or a step without a
//     module such as "flatten()". A table has a layer, or its own parts under
//     sequence, block, residual (added to the shortcut) or branches (joined along
//     the channels), and any of name, class, mark, inner, shortcut, then and order.
//   - A part without a name is called by its position: the number of parts that its
//     list defines before it. Parts of shortcut are called shortcut, shortcut2 and
//     so on; parts of then are named in the same way.
//   - {use = "relu"} repeats an earlier part of the same container.
//   - A block holds its parts in a sequence of its own, named by inner: "layers"
//     by default. If inner is empty, the block holds them itself. mark states
//     whether surgery added it: "original" by default, or "grown".
//   - Children are registered in the order of their definition: first the body,
//     then shortcut and then. order lists them if the order differs.

// formKey is the key of a container's parts.
type formKey struct {
	name  string
	about string // one line
	join  Join
	with  []string // other allowed keys
}

var formKeys = []formKey{
	{"sequence", "parts that run in order", Chain, []string{"class", "then", "order"}},
	{"block", "parts that surgery deepens and widens together", Chain,
		[]string{"class", "mark", "inner", "then", "order"}},
	{"residual", "parts whose output is added to their input, or to the output of a shortcut", Sum,
		[]string{"class", "mark", "shortcut", "then", "order"}},
	{"branches", "parts that take the same input and whose outputs are joined along the channels", Cat,
		[]string{"class", "mark", "then", "order"}},
}

// usualInner is the name of the sequence in a block.
const usualInner = "layers"

// positioned is the default name of the k-th part of a lane, from zero.
func positioned(l Lane, k int) string {
	stem := map[Lane]string{ShortcutLane: "shortcut", ThenLane: "then"}[l]
	switch {
	case stem == "":
		return strconv.Itoa(k)
	case k == 0:
		return stem
	default:
		return stem + strconv.Itoa(k+1)
	}
}

// Form is a table in a network file. The zero Form is an empty table.
type Form = form.Form

// Field is a key in a form, with its value.
type Field = form.Field

// FormFault is an error in the content of a network file.
type FormFault = form.Fault

// FormFaults lists all errors in the content of a network file. FormFaults is never empty when it is returned as an
// error.
type FormFaults = form.Faults
