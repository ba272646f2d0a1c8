package world

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// With errors of speeds, every policy of a learned scheduler is simulated, even if the file has fewer seeds.
func TestEveryPolicyIsSimulated(t *testing.T) {
	five := Scheduler{Kind: elastic.Kind{Name: "mine"}, Seeds: make([]elastic.Kind, 5), Digest: "abc"}
	f := &File{studies: []elastic.Study{{}}, schedulers: []Scheduler{{Kind: elastic.Kind{Name: "drf"}}, five}}
	f.Schedule.Seeds, f.Schedule.Seed = 1, 7
	p := f.Study().Plan()
	require.Equal(t, []int{0, 5}, []int{p.Schedulers[0].Learned, p.Schedulers[1].Learned})
	require.False(t, p.PairSeeds)
	f.studies[0].Options.SpeedError = 0.2
	p = f.Study().Plan()
	require.True(t, p.PairSeeds)
	for _, s := range p.Schedulers {
		require.Equal(t, []uint64{7, 8, 9, 10, 11}, s.Seeds, s.Name)
	}
	require.Contains(t, strings.Join(p.Remarks, "\n"), "mine has 5 learned policies; the 5 seeds of this run use them")
	f.Schedule.Seeds = 7
	require.Len(t, f.Study().Plan().Schedulers[1].Seeds, 7)
}
