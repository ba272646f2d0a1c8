package team

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// A member that announced that it leaves has left, also if its process ended before anyone read the answer.
func TestFarewells(t *testing.T) {
	for name, c := range map[string]struct {
		answers []answer
		want    error
	}{
		"announced":       {[]answer{{Leaves: true}}, errLeft},
		"another answer":  {[]answer{{Error: "no memory"}}, errGone},
		"without a word":  {nil, errGone},
		"after an answer": {[]answer{{}, {Leaves: true}}, errLeft},
	} {
		m := &member{answers: make(chan answer, pending)}
		for _, a := range c.answers {
			m.answers <- a
		}
		close(m.answers)
		require.True(t, errors.Is(m.farewell(), c.want), name)
	}
}
