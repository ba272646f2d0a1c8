package config

import "math/rand/v2"

// seeded is a stream of random numbers.
func seeded(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }
