package trace_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/cluster/trace/tracetest"
)

// FuzzRead reads any text as each format. Reading succeeds or returns an error with its place, and the jobs read back
// unchanged from format graft.
func FuzzRead(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s.text))
	}
	f.Add([]byte(tracetest.Tiresias[:70]))
	f.Add([]byte("\ufeff\n\n;\n"))
	f.Add([]byte("[]"))
	f.Add([]byte("j,t,1,Failed,-1000000000000,1000000000000,0,0,0,\n" +
		"j,t,1,Failed,1000000000000,1000000000000,1e308,0,1e308,\n"))
	f.Add([]byte("name,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n" +
		"p,1,5,0,1000000000000,-1000000000000\n"))
	f.Add([]byte("[{\"jobid\": \"\\u0000\\n\\\"\", \"submitted_time\": \"2020-01-01 00:00:00\", \"user\": \"\\r\"}]"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	for _, name := range hostileNames(f) {
		f.Add(must(os.ReadFile(name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range append(trace.Formats(), trace.Format{}) {
			r, err := trace.NewReader(bytes.NewReader(data), "fuzz", trace.Options{Format: format.Name,
				History: true, Spot: []string{"spot"}})
			if err != nil {
				requirePlace(t, err)
				continue
			}
			jobs, err := drain(r)
			if err != nil {
				requirePlace(t, err)
			}
			require.LessOrEqual(t, len(jobs), 1+bytes.Count(data, []byte("\n"))+bytes.Count(data, []byte("{")))
			requireReadBack(t, jobs)
			_, err = trace.Check(jobs, trace.CheckOptions{})
			require.NoError(t, err)
		}
	})
}

// requirePlace checks that an error has a place, a text and a remedy.
func requirePlace(t *testing.T, err error) {
	var place *trace.Error
	require.ErrorAs(t, err, &place)
	require.ErrorIs(t, err, trace.ErrMalformed)
	require.Equal(t, "fuzz", place.Path)
	require.NotEmpty(t, place.Text)
	require.NotEmpty(t, place.Remedy)
	require.GreaterOrEqual(t, place.Line, 0)
}

func requireReadBack(t *testing.T, jobs []trace.Job) {
	var out bytes.Buffer
	w := must(trace.NewWriter(&out, trace.WriterOptions{Columns: allColumns}))
	for k := range jobs {
		require.NoError(t, w.Write(&jobs[k]))
	}
	again, _, err := readText(out.String(), trace.Options{History: true})
	require.NoError(t, err)
	require.Equal(t, jobs, again)
}

var allColumns = trace.Columns{RAM: true, Limit: true, Type: true, Spot: true, History: true}

// FuzzReadNodes checks that any text is refused with a place, or gives sizes of virtual clusters.
func FuzzReadNodes(f *testing.F) {
	f.Add(",num\nred,1\n\"a\nb\",20\n")
	f.Add("name,num\r\nred,1000000\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		vcs, err := trace.ReadNodes(oneFile(text), "fuzz")
		if err != nil {
			requirePlace(t, err)
			return
		}
		require.NotEmpty(t, vcs)
		require.Positive(t, trace.Nodes(vcs))
	})
}

// A reader accepts its input byte by byte.
func TestSlowReadersAreReadToTheEnd(t *testing.T) {
	for name, s := range samples {
		r := must(trace.NewReader(oneByOne{strings.NewReader(s.text)}, "a.csv", trace.Options{}))
		jobs, err := drain(r)
		require.NoError(t, err, name)
		require.Equal(t, s.jobs, jobs, name)
	}
}

// oneByOne reads one byte at a time.
type oneByOne struct{ in io.Reader }

// Read implements [io.Reader].
func (o oneByOne) Read(to []byte) (int, error) { return o.in.Read(to[:min(len(to), 1)]) }

// Lines that are longer than the reader's buffer read like other lines.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("long, ", 60_000)
	for _, quoted := range []string{`"` + long + `"`, strings.ReplaceAll(long, ",", ";")} {
		jobs, _, err := readText("job_id,user,gpu_num,submit_time,duration\n1,"+quoted+",1,0,5\n2,u,1,0,5\n",
			trace.Options{})
		require.NoError(t, err)
		require.Len(t, jobs, 2)
		require.Equal(t, strings.Trim(quoted, `"`), jobs[0].User)
	}
	_, _, err := readText("job_id,user,gpu_num,submit_time,duration\n1,\""+strings.Repeat("x\n", 1<<20),
		trace.Options{})
	require.ErrorContains(t, err, "a.csv:2:3: the quote that begins here is not closed")
	var place *trace.Error
	require.True(t, errors.As(err, &place))
	require.Equal(t, 2, place.Line)
}
