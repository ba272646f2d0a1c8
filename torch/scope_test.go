package torch

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScopeOwnsWhatIsMadeInIt(t *testing.T) {
	outer := NewScope()
	var kept, lost *Tensor
	within(t, func(s *Scope) {
		a := From(s, []float32{1, 2}, 2)
		lost = s.Add(a, a)
		kept = s.Mul(a, lost)
		s.Keep(outer, kept)
	})
	require.Equal(t, []float64{2, 8}, floats(t, kept))
	_, err := lost.Info()
	require.ErrorIs(t, err, ErrClosed)
	require.NoError(t, outer.Close())
	_, err = kept.Info()
	require.ErrorIs(t, err, ErrClosed)
}

func TestMisuseOfScopesIsAnError(t *testing.T) {
	cases := map[string]func() error{
		"closing twice": func() error {
			s := NewScope()
			_ = s.Close()
			return s.Close()
		},
		"an operator after close": func() error {
			s := NewScope()
			_ = s.Close()
			s.Zeros(Float32, CPU, 1)
			return s.Err()
		},
		"an operand of a closed scope": func() error {
			other := NewScope()
			x := other.Zeros(Float32, CPU, 1)
			_ = other.Close()
			return With(func(s *Scope) error { s.ReLU(x); return nil })
		},
		"an operand that was freed": func() error {
			return With(func(s *Scope) error {
				x := s.Zeros(Float32, CPU, 1)
				s.Free(x, x)
				s.Neg(x)
				return nil
			})
		},
		"an operand that was never made": func() error {
			return With(func(s *Scope) error { s.Add(&Tensor{}, nil); return nil })
		},
		"keeping what another scope owns": func() error {
			return With(func(s *Scope) error {
				return With(func(inner *Scope) error { inner.Keep(s, s.Zeros(Float32, CPU, 1)); return nil })
			})
		},
		"the zero scope": func() error {
			var s Scope
			s.Zeros(Float32, CPU, 1)
			return s.Err()
		},
		"a program whose scope is closed": func() error {
			s := NewScope()
			var b Builder
			p := s.NewProgram(&b, b.Activate(b.Input(), ReLU, 0), ProgramOptions{})
			_ = s.Close()
			return With(func(s *Scope) error { p.Forward(s, s.Zeros(Float32, CPU, 1), false, nil); return nil })
		},
		"a generator whose scope is closed": func() error {
			s := NewScope()
			g := s.NewGenerator(CPU, 1)
			_ = s.Close()
			return g.Restore(nil)
		},
		"an optimizer whose scope is closed": func() error {
			s := NewScope()
			o := s.NewOptimizer(Group{OptimizerOptions: OptimizerOptions{Rule: SGD}})
			_ = s.Close()
			return o.Step()
		},
	}
	for name, call := range cases {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, call(), ErrClosed) })
	}
}

func TestFirstErrorStaysAndStopsTheRest(t *testing.T) {
	err := With(func(s *Scope) error {
		a, b := s.Zeros(Float32, CPU, 2, 3), s.Zeros(Float32, CPU, 2, 3)
		bad := s.MM(a, b)
		s.Add(bad, a)
		s.CrossEntropy(a, b)
		return nil
	})
	require.ErrorContains(t, err, "mm of float32 [2 3] and float32 [2 3]")
	require.NotContains(t, err.Error(), "cross_entropy")
}

// Operators survive forced garbage collection. gotorch alone dies within seconds, because its operators keep nothing
// alive.
func TestForcedCollectionDoesNotDisturbOperators(t *testing.T) {
	stop := make(chan struct{})
	var collector sync.WaitGroup
	collector.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for range 300 {
				within(t, func(s *Scope) {
					x := s.Full(1, Float32, CPU, 8, 8)
					for range 50 {
						x = s.Scale(s.MM(x, x), 0.125, 0)
					}
					sum, err := s.Sum(x).Item()
					require.NoError(t, err)
					require.InDelta(t, 64, sum, 1e-3)
				})
			}
		})
	}
	workers.Wait()
	close(stop)
	collector.Wait()
}
