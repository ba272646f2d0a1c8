package pt2

import (
	"slices"
	"strings"
)

// views knows which values share memory. A graph has no operators in place: the in-place form of an operator
// becomes the plain one, and later readers get its result. That is the same unless a view of the changed memory is read later
// under another name.
type views struct {
	group   map[string]int
	members map[int][]string
	stale   map[string]string // values whose memory an operator has changed
}

func newViews() *views {
	return &views{group: map[string]int{}, members: map[int][]string{}, stale: map[string]string{}}
}

// viewing are the operators that may return a view of their first argument.
var viewing = strings.Fields(`view reshape flatten unflatten transpose t permute movedim expand expand_as squeeze unsqueeze select slice
	narrow chunk split split_with_sizes unbind alias detach contiguous to type_as view_as reshape_as diagonal unfold dropout feature_dropout`)

// add adds the result of an operator.
func (v *views) add(name, self, operator string) {
	op, _, _ := strings.Cut(operator, ".")
	id := len(v.group)
	if slices.Contains(viewing, op) && self != "" {
		if _, known := v.group[self]; !known {
			v.join(self, id)
		}
		id = v.group[self]
	}
	v.join(name, id)
}

func (v *views) join(name string, id int) {
	v.group[name] = id
	v.members[id] = append(v.members[id], name)
}

// change notes that an operator changes a value in place. Its own name and that of the result go on to be read.
func (v *views) change(self, result, operator string) {
	id, known := v.group[self]
	if !known {
		id = len(v.group)
	}
	for _, other := range v.members[id] {
		v.stale[other] = operator
	}
	delete(v.stale, self)
	v.members[id] = nil
	v.join(self, id)
	v.join(result, id)
}
