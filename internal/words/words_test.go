package words

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVerbs(t *testing.T) {
	assert.Equal(t, []string{"1 job is", "2 jobs are", "there is 1 job", "there are 0 jobs"},
		[]string{Are(1, "job"), Are(2, "job"), ThereAre(1, "job"), ThereAre(0, "job")})
}
