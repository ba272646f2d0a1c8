package trainer

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// An outcome can be written with any finite loss.
func TestPerplexityOfLargeLosses(t *testing.T) {
	require.InDelta(t, math.E, perplexity(1), 1e-12)
	_, err := json.Marshal(Outcome{Perplexity: perplexity(5000), ValidationPerplexity: perplexity(710)})
	require.NoError(t, err)
}
