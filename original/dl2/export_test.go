package dl2

import (
	"graft/cluster/elastic"
	"graft/internal/random/numpy"
)

// NewEnv begins an episode. All random numbers come from one stream, as in the original.
func NewEnv(s elastic.Study, o EnvOptions, random *numpy.Random) (*Env, error) {
	s.Options = published(s.Options)
	return newEnv(s, o, random, newNoise(&s, random))
}
