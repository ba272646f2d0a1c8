package schedulers_test

import (
	"testing"

	"graft/cluster/node/nodetest"
	"graft/cluster/node/schedulers"
)

func TestSchedulersConform(t *testing.T) {
	t.Parallel()
	for _, kind := range schedulers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			nodetest.Conforms(t, kind)
		})
	}
}
