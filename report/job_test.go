package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/report/document"
	"graft/report/page"
	"graft/results"
	"graft/trainer"
)

func TestRegisteredAndUnknownEventsAreShown(t *testing.T) {
	lent := results.NewJobEvent("lent out", results.EventTraits{Look: results.Down, Of: results.OfDevices})
	job := &JobDetail{Events: eventRows(nil,
		[]trainer.Note{{Event: lent, Devices: 1}, {Event: "unheard of", Devices: 2}})}
	d, text := &document.Document{}, &strings.Builder{}
	job.write(d)
	require.NoError(t, d.Print(text))
	require.Contains(t, text.String(), "lent out")
	require.Contains(t, text.String(), "unheard of")
	require.Equal(t, []page.Event{{Name: "lent out", Look: results.Down, Detail: "1 device, 0 parameters"},
		{Name: "unheard of", Detail: "2 devices, 0 parameters"}}, job.timeline().Events)
}

// A report notes growth in a training of only a few epochs.
func TestGrowthInFewEpochsIsNoted(t *testing.T) {
	for epochs, noted := range map[int]bool{0: true, 2: true, 3: false, 30: false} {
		d, text := &document.Document{}, &strings.Builder{}
		(&JobDetail{Advice: trainer.GrowthAdvice(epochs)}).write(d)
		require.NoError(t, d.Print(text))
		require.Equal(t, noted, strings.Contains(text.String(), "Note: growing in a training of "), epochs)
	}
}

// Long lists of settings are wrapped in a terminal, and remain complete.
func TestLongSettingsAreWrapped(t *testing.T) {
	list := "[" + strings.Repeat(`"runs/a-scenario/table", `, 40) + `"runs/last/table"]`
	short := "[]"
	c := &comparison{Columns: []comparedColumn{{Name: "a"}, {Name: "b"}},
		Differs: []comparedSetting{{"tables.folders", []*string{&list, &short}}}}
	var text strings.Builder
	require.NoError(t, c.settingsTable().Print(&text))
	for line := range strings.Lines(text.String()) {
		require.Less(t, len(line), 120)
	}
	require.Equal(t, 40, strings.Count(text.String(), "runs/a-scenario/table"))
}
