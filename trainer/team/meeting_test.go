package team

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/torch"
)

// ask calls a store and returns its answer.
func ask(t *testing.T, s torch.Store, op torch.StoreOp, key, value string, number int64) torch.StoreResult {
	r, err := s.Call(torch.StoreCall{Op: op, Key: []byte(key), Value: []byte(value), Number: number})
	require.NoError(t, err)
	return r
}

// The store of a group keeps the values of its members, within limits, until the next group.
func TestMeetingsAreBounded(t *testing.T) {
	var m meetings
	require.Equal(t, "the group has ended", m.serve(storeCall{}).Error)
	s := ownStore{&m, m.open()}
	require.Zero(t, ask(t, s, torch.StoreCheck, "a", "", 0).Number)
	ask(t, s, torch.StoreSet, "a", "x\x00\xff", 0)
	require.Equal(t, "x\x00\xff", string(ask(t, s, torch.StoreGet, "a", "", 0).Value))
	require.EqualValues(t, 1, ask(t, s, torch.StoreCheck, "a", "", 0).Number)
	require.EqualValues(t, 3, ask(t, s, torch.StoreAdd, "n", "", 3).Number)
	require.EqualValues(t, 1, ask(t, s, torch.StoreAdd, "n", "", -2).Number)
	require.Equal(t, "1", string(ask(t, s, torch.StoreGet, "n", "", 0).Value))
	require.EqualValues(t, 1, ask(t, s, torch.StoreDelete, "a", "", 0).Number)
	require.Zero(t, ask(t, s, torch.StoreDelete, "a", "", 0).Number)
	require.Equal(t, 2, m.total, "the key n and its value")

	for name, c := range map[string]struct {
		call torch.StoreCall
		says string
	}{
		"no such key":       {torch.StoreCall{Op: torch.StoreGet, Key: []byte("a")}, `unknown key "a"`},
		"no such operation": {torch.StoreCall{Op: 17}, "unknown operation 17 on the rendezvous store"},
		"a long key":        {torch.StoreCall{Op: torch.StoreSet, Key: make([]byte, storeKey+1)}, "do not fit"},
		"a long value":      {torch.StoreCall{Op: torch.StoreSet, Value: make([]byte, storeValue+1)}, "do not fit"},
	} {
		require.Contains(t, m.serve(storeCall{ID: 7, Meeting: 1, StoreCall: c.call}).Error, c.says, name)
	}
	ask(t, s, torch.StoreSet, "text", "words", 0)
	_, err := s.Call(torch.StoreCall{Op: torch.StoreAdd, Key: []byte("text")})
	require.ErrorContains(t, err, "is not a number")
	m.total = storeTotal
	_, err = s.Call(torch.StoreCall{Op: torch.StoreSet, Key: []byte("b"), Value: []byte("c")})
	require.ErrorContains(t, err, "do not fit")

	next := ownStore{&m, m.open()}
	require.Zero(t, ask(t, next, torch.StoreCheck, "n", "", 0).Number)
	_, err = s.Call(torch.StoreCall{Op: torch.StoreCheck})
	require.ErrorContains(t, err, "the group has ended")
}

func TestLinesAreBounded(t *testing.T) {
	const most = 10_000 // longer than a reader's buffer
	long := strings.Repeat("a", most)
	r := bufio.NewReader(strings.NewReader("first\n\n" + long + "\nends"))
	for _, want := range []string{"first", "", long} {
		got, err := readLine(r, most)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	_, err := readLine(r, most)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	_, err = readLine(r, most)
	require.ErrorIs(t, err, io.EOF)
	_, err = readLine(bufio.NewReader(strings.NewReader(long+"a\n")), most)
	require.ErrorIs(t, err, errLongLine)
}
