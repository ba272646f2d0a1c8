package cluster

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/cluster/trace"
	"graft/internal/files"
)

// Generated profiles read back unchanged.
func TestMadeProfilesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]trace.Job, rapid.IntRange(1, 12).Draw(t, "jobs"))
		for k := range jobs {
			jobs[k].Training = &trace.Training{Model: rapid.SampledFrom([]string{"a", "b,c", `d"e`}).Draw(t, "model"),
				Dataset: "set", Batch: rapid.IntRange(1, 3).Draw(t, "batch"), AMP: rapid.Bool().Draw(t, "amp"),
				GPUUtil: rapid.Float64Range(0, 100).Draw(t, "util")}
		}
		p := MakeProfiles(jobs)
		dir := must(os.MkdirTemp("", "profiles"))
		defer os.RemoveAll(dir)
		alone, pairs := filepath.Join(dir, "alone.csv"), filepath.Join(dir, "pairs.csv")
		require.NoError(t, p.Write(files.OS{}, alone, pairs))
		require.Equal(t, p, must(ReadProfiles(files.OS{}, alone, pairs)))
		for i := range jobs {
			for k := range jobs {
				a, b, measured := p.Rates(ConfigOf(&jobs[i]), ConfigOf(&jobs[k]))
				require.True(t, measured && a > 0 && a <= 1 && b > 0 && b <= 1)
			}
		}
	})
}

// An error in a file names its place.
func TestWrongInputs(t *testing.T) {
	jobs := []trace.Job{{ID: "1"}, {ID: "2"}}
	for text, says := range map[string]string{
		"":                                "expected a header with column names",
		"job_id\n1\n":                     `column "priority" is missing`,
		"job_id,priority\n1,x\n":          `:2: column "priority" is "x"; expected a number`,
		"job_id,priority\n1,NaN\n":        `:2: column "priority" is "NaN"`,
		"job_id,priority\n1,5\n":          "1 of 2 jobs have no estimate, for example job 2",
		"job_id,priority\n1,5,6\n":        "wrong number of fields",
		"job_id,priority\n\"1,5\n":        "extraneous or missing",
		"job_id,priority\n1,5\n2,1e999\n": ":3: column",

		"job_id,priority,priority\n1,5,6\n2,5,6\n": `the column "priority" twice`,
		"job_id,priority\n1,5\n2,6\n1,7\n":         ":4: job 1 has the estimates 5 and 7; remove one of its lines",
	} {
		path := filepath.Join(t.TempDir(), "e.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := ReadEstimates(files.OS{}, path, jobs)
		require.ErrorContains(t, err, says, text)
		_, err = ReadForecast(files.OS{}, path, 0)
		require.Error(t, err, text)
		_, err = ReadProfiles(files.OS{}, path, path)
		require.Error(t, err, text)
	}
}

// A file of pairs may repeat a measurement, in either order of the models, but not contradict it.
func TestRepeatedPairs(t *testing.T) {
	const head = "model1,dataset1,batchsize1,amp1,model2,dataset2,batchsize2,amp2,speed1,speed2\n"
	read := func(rows string) (map[[2]Config][2]float64, error) {
		path := filepath.Join(t.TempDir(), "pairs.csv")
		require.NoError(t, os.WriteFile(path, []byte(head+rows), 0o600))
		return ReadPairs(files.OS{}, path)
	}
	pairs := must(read("a,,1,0,b,,1,0,0.5,0.7\nb,,1,0,a,,1,0,0.7,0.5\na,,1,0,b,,1,0,0.5,0.7\na,,2,0,b,,1,0,1.4,0.9\n"))
	require.Equal(t, map[[2]Config][2]float64{
		{{Model: "a", Batch: 1}, {Model: "b", Batch: 1}}: {0.5, 0.7},
		{{Model: "a", Batch: 2}, {Model: "b", Batch: 1}}: {1.4, 0.9}}, pairs)
	for rows, says := range map[string]string{
		"a,,1,0,b,,1,0,0.5,0.7\na,,1,0,b,,1,0,0.5,0.6\n": "pairs.csv:3: the rates of a/1 and b/1 differ from line 2",
		"a,,1,0,b,,1,0,0.5,0.7\nb,,1,0,a,,1,0,0.5,0.7\n": "pairs.csv:3: the rates of a/1 and b/1 differ from line 2",
		"a,,1,0,b,,1,0,0.5,5e9\n":                        "expected numbers above 0 and at most 10",
		"a,,1,0,b,,1,0,0,1\n":                            "expected numbers above 0 and at most 10",
	} {
		_, err := read(rows)
		require.ErrorContains(t, err, says, rows)
	}
}

// A forecast averages the next spans and shifts to its dates.
func TestForecast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	require.NoError(t, os.WriteFile(path, []byte("time,pred_gpu_job,pred_gpu_num\n2020-09-01 00:00:00,1,10\n"+
		"2020-09-01 00:10:00,2,20\n2020-09-01 00:20:00,6,30\n"), 0o600))
	f := must(ReadForecast(files.OS{}, path, 1000))
	require.Equal(t, []int64{1000, 1600, 2200}, f.At)
	require.Equal(t, 3.0, f.Ahead(f.Jobs, 999))
	require.Equal(t, 4.0, f.Ahead(f.Jobs, 1000))
	require.NotEqual(t, f.Ahead(f.Jobs, 2200), f.Ahead(f.Jobs, 2200), "there is none any more")
	f.ShiftTo(time.Date(2020, 8, 31, 0, 0, 0, 0, time.UTC))
	require.Equal(t, int64(86_400), f.At[0])
}
