package twister_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/random/twister"
)

// The expected output is in the C++ standard, [rand.predef].
func TestTenThousandthOutput(t *testing.T) {
	r := twister.New(5489)
	for range 9999 {
		r.Uint32()
	}
	require.Equal(t, uint32(4123659995), r.Uint32())
}

// The expected outputs are in the authors' mt19937ar.out.
func TestOutputsOfAKey(t *testing.T) {
	r := twister.NewByKey([]uint32{0x123, 0x234, 0x345, 0x456})
	for _, want := range []uint32{1067595299, 955945823, 477289528, 4107218783, 4228976476} {
		require.Equal(t, want, r.Uint32())
	}
	require.Equal(t, twister.NewByKey([]uint32{0}).Uint32(), twister.NewByKey(nil).Uint32())
}

func draw(r *twister.Random) (all [2000]uint32) {
	for k := range all {
		all[k] = r.Uint32()
	}
	return all
}

// A restored generator continues with the same bits, and an invalid state is refused.
func TestStateOfTheGenerator(t *testing.T) {
	r := twister.New(7)
	for range 1000 {
		r.Uint32()
	}
	state, err := r.MarshalBinary()
	require.NoError(t, err)
	other := twister.New(8)
	require.NoError(t, other.UnmarshalBinary(state))
	require.Equal(t, draw(r), draw(other))
	require.ErrorContains(t, other.UnmarshalBinary(state[:40]), "got 40")
	state[1] = 0xff
	require.Error(t, other.UnmarshalBinary(state), "a place behind the end")
}
