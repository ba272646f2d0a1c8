package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/results"
	"graft/results/document"
	"graft/results/page"
	"graft/trainer"
)

func TestRegisteredAndUnknownEventsAreShown(t *testing.T) {
	lent := results.NewJobEvent("lent out", results.EventTraits{Look: results.Down, Of: results.OfDevices})
	job := &JobDetail{Events: eventRows(nil, []trainer.Note{{Event: lent, Devices: 1}, {Event: "unheard of", Devices: 2}})}
	d, text := &document.Document{}, &strings.Builder{}
	job.write(d)
	require.NoError(t, d.Print(text))
	require.Contains(t, text.String(), "lent out")
	require.Contains(t, text.String(), "unheard of")
	require.Equal(t, []page.Event{{Name: "lent out", Look: results.Down, Detail: "1 device, 0 parameters"}, {Name: "unheard of", Detail: "2 devices, 0 parameters"}}, job.timeline().Events)
}
