package team

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A member that announced that it leaves has left, also if its process ended before the answer was read.
func TestMembersThatPart(t *testing.T) {
	for name, c := range map[string]struct {
		answers []answer
		ended   bool
		want    error
	}{
		"idle":            {nil, false, nil},
		"announced":       {[]answer{{Leaves: true}}, true, errLeft},
		"not ended yet":   {[]answer{{Leaves: true}}, false, errLeft},
		"another answer":  {[]answer{{Error: "no memory"}}, true, errGone},
		"without a word":  {nil, true, errGone},
		"after an answer": {[]answer{{}, {Leaves: true}}, true, errLeft},
	} {
		m := &member{answers: make(chan answer, pending)}
		for _, a := range c.answers {
			m.answers <- a
		}
		if c.ended {
			close(m.answers)
		}
		require.Equal(t, c.want, m.parted(), name)
	}
}
