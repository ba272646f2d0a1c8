package trainer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/net2net"
	"graft/torch"
	"graft/trainer"
)

// A job starts new units from the gradient of the loss on training images. It gives the same bits with any number of
// threads and from each checkpoint, also with an average of the weights.
func TestJobsStartNewUnits(t *testing.T) {
	seen := map[string]bool{run(t, brief(), nil, "deepen:conv1", "widen:conv2:12").Digest: true}
	for _, start := range []net2net.Start{"gradmax", "firefly", "tiny"} {
		t.Run(string(start), func(t *testing.T) {
			o := brief()
			o.Adapt.Surgery.Start, o.Adapt.OnError, o.EMA = start, trainer.StopOnError, 0.9
			require.NotEqual(t, trainer.Digest(brief()), trainer.Digest(o))
			digest := run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest
			require.False(t, seen[digest], "the start changes nothing")
			seen[digest] = true
			require.NoError(t, torch.SetThreads(2))
			again := run(t, o, nil, "deepen:conv1", "widen:conv2:12").Digest
			require.NoError(t, torch.SetThreads(1))
			require.Equal(t, digest, again)
			resumesFromItsCheckpoints(t, o)
		})
	}
}
