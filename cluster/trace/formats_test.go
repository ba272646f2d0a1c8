package trace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster/trace"
	"graft/files"
)

const smallPhilly = `[
 {"status": "Pass", "vc": "11cb48", "jobid": "application_1_1", "user": "ce2f",
  "attempts": [
   {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:13:00", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
   {"start_time": "2017-10-07 02:00:00", "end_time": "2017-10-07 03:00:00", "detail": [{"ip": "m2", "gpus": ["gpu0", "gpu1"]}, {"ip": "m3", "gpus": ["gpu7"]}]}],
  "submitted_time": "2017-10-07 01:11:39"},
 {"status": "Killed", "vc": "11cb48", "jobid": "application_1_2", "attempts": [], "submitted_time": "2017-10-06 00:00:00", "user": null, "extra": {"a": [1]}},
 {"status": "Failed", "vc": null, "jobid": "application_1_3", "user": "ce2f", "submitted_time": "2017-10-08 00:00:00",
  "attempts": [{"start_time": "2017-10-08 00:00:01", "end_time": null, "detail": [{"gpus": ["gpu0"]}]}, {"start_time": "None", "end_time": "None", "detail": []}]}
]
`

const smallPhillyCSV = "jobname,user,vc,gpu_num,state,submit_time,duration\n" +
	"application_1,ce2f,11cb48,3,Pass,2017-10-07 00:00:09,3660.0\n" +
	"application_2,,11cb48,0,Killed,2017-10-07 00:00:10,\n"

const smallTiresias = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n" +
	"1,4,10,1000,vgg16,500.4,3\n"

const smallAlibaba2020 = "j1,ps,2.0,Terminated,1000.0,1500.0,600.0,29.3,,\n" +
	"j1,worker,4.0,Terminated,1010.0,1600.0,400.0,29.3,50.0,T4\n" +
	"j2,tensorflow,1.0,Running,2000.0,,600.0,29.3,100.0,V100\n" +
	"j3,tensorflow,1.0,Waiting,,,600.0,29.3,25.0,MISC\n" +
	"j4,worker,2,Failed,3000,3005,150,1,250,P100\n"

const smallOwners = "j1,i1,ann,Terminated,990.0,1601.0\nj9,i9,bob,Running,1.0,2.0\nj2,i2,bob,Waiting,,\n"

const smallAlibaba2023 = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
	"pod-1,12500,65536,1,220,,LS,Running,100,500,110\n" +
	"pod-2,8000,1,8,1000,V100M16|V100M32,BE,Succeeded,200,300,200\n" +
	"pod-3,4000,1,0,0,,BE,Pending,300,310,\n"

const smallSWF = "; Version: 2.2\n;   UnixStartTime:  1600000000 \n; MaxNodes: 16\n; MaxProcs: 128\n; Note: none\n\n" +
	"    1   100  5  60   4 -1 -1   8 3600 -1  1  3 1 7 2 -1 -1 -1\n" +
	"2 200 -1 -1 -1 -1 -1 2 -1 -1 5 -1 -1 -1 -1 6 -1 -1\r\n" +
	"3 300 -1 1.6 0 -1 -1 0 -1 -1 -1 4 -1 -1 1 -1 -1 -1"

const smallOurs = "id,user,vc,name,submit [s since 2021-03-04 00:00:00],duration [s],gpus,share [1/1000],cpus,state,dataset,model,batch,amp,speed [1/s],gpu_util [%],memory_util [%],memory [MiB]\n" +
	"7,ann,red,train,43210,60,2,0,8,COMPLETED,Pictures,Net,32,1,12.5,80,20.25,1000\n" +
	"8,bob,blue,\"a, \"\"b\"\"\n c\",43205,5,0,0,4,TIMEOUT,,,0,0,0,0,0,0\n" +
	"9,ann,red,,86400,7200,16,0,64,NODE_FAIL,Pictures,Net,64,0,10,0.5,20,1000\n"

// samples are small files of each format and what they say.
var samples = map[string]struct {
	text   string
	format string
	start  string // date of second zero; empty is none
	jobs   []trace.Job
}{
	"our own": {smallOurs, "graft", "2021-03-04 00:00:00", smallJobs()},
	"Helios":  {smallHelios, "helios", "2021-03-04 00:00:00", smallJobs()},
	"Helios as it was published": {"job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue,vc\n" +
		"5,u1,8,40,1,FAILED,2020-04-01 00:00:07,2020-04-01 00:00:08,2020-04-01 00:01:00,52,1,vc1\n", "helios", "2020-04-01 00:00:00",
		[]trace.Job{{ID: "5", User: "u1", VC: "vc1", GPUs: 8, CPUs: 40, State: trace.Failed, Submit: 7, Duration: 52}}},
	"Philly": {smallPhilly, "philly", "2017-10-07 00:00:00", []trace.Job{
		{ID: "application_1_1", User: "ce2f", VC: "11cb48", GPUs: 3, State: trace.Completed, Submit: 3600 + 11*60 + 39, Duration: 3660},
		{ID: "application_1_2", VC: "11cb48", State: trace.Cancelled, Submit: -86400},
		{ID: "application_1_3", User: "ce2f", GPUs: 1, State: trace.Failed, Submit: 86400},
	}},
	"Philly as a table": {smallPhillyCSV, "philly-csv", "2017-10-07 00:00:00", []trace.Job{
		{ID: "application_1", User: "ce2f", VC: "11cb48", GPUs: 3, State: trace.Completed, Submit: 9, Duration: 3660},
		{ID: "application_2", VC: "11cb48", State: trace.Cancelled, Submit: 10},
	}},
	"a table of Tiresias": {smallTiresias, "philly-csv", "", []trace.Job{{ID: "1", GPUs: 4, Submit: 10, Duration: 500, Model: "vgg16"}}},
	"Alibaba's of 2020": {smallAlibaba2020, "alibaba2020", "", []trace.Job{
		{ID: "j1", VC: "T4", Name: "worker", GPUs: 4, Share: 500, CPUs: 28, RAM: 180020, State: trace.Completed, Submit: 1000, Duration: 600},
		{ID: "j2", VC: "V100", Name: "tensorflow", GPUs: 1, CPUs: 6, RAM: 30004, State: trace.Running, Submit: 2000},
		{ID: "j4", VC: "P100", Name: "worker", GPUs: 6, CPUs: 3, RAM: 2048, State: trace.Failed, Submit: 3000, Duration: 5},
	}},
	"Alibaba's of 2023": {smallAlibaba2023, "alibaba2023", "", []trace.Job{
		{ID: "pod-1", GPUs: 1, Share: 220, CPUs: 13, RAM: 65536, State: trace.Running, Submit: 100, Duration: 390},
		{ID: "pod-2", GPUs: 8, CPUs: 8, RAM: 1, State: trace.Completed, Submit: 200, Duration: 100},
		{ID: "pod-3", CPUs: 4, RAM: 1, Submit: 300},
	}},
	"the Standard Workload Format": {smallSWF, "swf", "2020-09-13 12:26:40", []trace.Job{
		{ID: "1", User: "3", VC: "2", Name: "7", GPUs: 4, State: trace.Completed, Submit: 100, Duration: 60},
		{ID: "2", VC: "6", GPUs: 2, State: trace.Cancelled, Submit: 200},
		{ID: "3", User: "4", VC: "1", Submit: 300, Duration: 2},
	}},
}

func TestFormatsAreKnownAndRead(t *testing.T) {
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{"", s.format} {
				jobs, r, err := readText(s.text, trace.Options{Format: format})
				require.NoError(t, err)
				require.Equal(t, s.format, r.Format())
				require.Equal(t, s.jobs, jobs)
				start, known := r.Start()
				require.Equal(t, s.start != "", known)
				if known {
					require.Equal(t, s.start, start.Format(time.DateTime))
				}
			}
		})
	}
}

func TestEveryFormatHasASample(t *testing.T) {
	for _, f := range trace.Formats() {
		found := false
		for _, s := range samples {
			found = found || s.format == f.Name
		}
		require.True(t, found, f.Name)
		require.NotEmpty(t, f.About)
	}
}

func TestFaultsInFormats(t *testing.T) {
	swap := func(text, old, with string) string {
		require.Contains(t, text, old)
		return strings.Replace(text, old, with, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"our own, no such start":      {swap(smallOurs, "2021-03-04", "2021-03-32"), `a.csv:1:17: submit [s] is "2021-03-32 00:00:00": want a date`},
		"our own, a column missing":   {swap(smallOurs, ",cpus,", ",kpus,"), `a.csv:1: the header has no column cpus, without which there is no graft trace`},
		"our own, no number":          {swap(smallOurs, "43210", "x"), `a.csv:2:17: submit [s] is "x": want a number of seconds`},
		"our own, behind quotes":      {swap(smallOurs, "43205", "x"), `a.csv:4:5: submit [s] is "x": want`},
		"Philly, cut short":           {smallPhilly[:500], `the file ends within the list of jobs; fetch it again`},
		"Philly, no end":              {strings.TrimSuffix(smallPhilly, "]\n"), `the file ends within the list of jobs; fetch it again`},
		"Philly, no JSON":             {swap(smallPhilly, `"Killed"`, `Killed`), `a.csv:7: this is no JSON`},
		"Philly, more after it":       {smallPhilly + "{}", `a.csv:11: there is more after the list of jobs`},
		"Philly, another kind":        {swap(smallPhilly, `"ce2f"`, `7`), `a.csv:6: user is a number and no string`},
		"Philly, no name":             {swap(smallPhilly, `"application_1_2"`, `null`), `a.csv:7: jobid is empty: want the job's name`},
		"Philly, no date":             {swap(smallPhilly, `"2017-10-06 00:00:00"`, `"yesterday"`), `a.csv:7: submitted_time is "yesterday": want a date`},
		"Philly, no date of an end":   {swap(smallPhilly, `"2017-10-07 03:00:00"`, `"later"`), `a.csv:6: attempts.end_time is "later": want a date`},
		"Philly, a job without end":   {`[{"vc": "` + strings.Repeat("x", 6<<20) + `"}]`, `the job has more than 4194304 bytes`},
		"Philly as a table, no state": {swap(smallPhillyCSV, ",3,Pass", ",x,Pass"), `a.csv:2:27: num_gpu is "x": want a whole number`},
		"Alibaba 2020, no start":      {swap(smallAlibaba2020, "1010.0", "x"), `a.csv:2:26: start_time is "x": want a number of seconds`},
		"Alibaba 2020, less GPUs":     {swap(smallAlibaba2020, "50.0", "-50.0"), `a.csv:2:51: plan_gpu is "-50.0": want a number from 0`},
		"Alibaba 2020, a field less":  {swap(smallAlibaba2020, ",V100", ""), `a.csv:3: the line has 9 fields, a task 10`},
		"Alibaba 2020, no name":       {smallAlibaba2020 + ",worker,2,Failed,3000,3005,150,1,250,P100\n", `a.csv:6:1: job_name is empty`},
		"Alibaba 2023, no time":       {swap(smallAlibaba2023, "110", "soon"), `a.csv:2:45: scheduled_time is "soon": want a number of seconds`},
		"SWF, no number":              {swap(smallSWF, "3600", "x"), `a.csv:7:34: requested time is "x": want a number, -1 where it is not known`},
		"SWF, a field less":           {swap(smallSWF, "7 2 -1", "7 2"), `a.csv:7: the line has 17 fields, one of this format 18`},
		"SWF, half a processor":       {swap(smallSWF, "   4 ", " 4.5 "), `allocated processors is "4.5": want a whole number from 0 to 2147483647, or -1`},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := readText(c.text, trace.Options{})
			require.ErrorContains(t, err, c.want)
			require.ErrorIs(t, err, trace.ErrMalformed)
		})
	}
}

// The table of jobs says who submitted a job, and when.
func TestAlibabasTableOfJobs(t *testing.T) {
	o := trace.Options{JobTable: write(t, "pai_job_table.csv", smallOwners)}
	path := write(t, "pai_task_table.csv", smallAlibaba2020)
	all := must(trace.ReadAll(files.OS{}, path, o))
	require.Equal(t, []string{"ann", "", ""}, []string{all.Jobs[0].User, all.Jobs[1].User, all.Jobs[2].User})
	require.Equal(t, int64(990), all.Jobs[0].Submit)
	require.Equal(t, int64(600), all.Jobs[0].Duration, "it waited for ten seconds")
	for text, want := range map[string]string{
		"j1,i1,ann,Terminated,990.0\n":        "jobs.csv:1: the line has 5 fields, a job 6",
		"j1,i1,ann,Terminated,soon,1601.0\n":  `jobs.csv:1:22: start_time is "soon": want a number of seconds`,
		"j1,i1,\"ann,Terminated,990,1601.0\n": "jobs.csv:1:7: a quote begins here",
	} {
		_, err := trace.ReadAll(files.OS{}, path, trace.Options{JobTable: write(t, "jobs.csv", text)})
		require.ErrorContains(t, err, want)
	}
	_, err := trace.Open(files.OS{}, path, trace.Options{JobTable: path + "y"})
	require.ErrorContains(t, err, "reading "+path+"y")
}

func TestRowsWithoutATimeAreCounted(t *testing.T) {
	_, r, err := readText(smallAlibaba2020, trace.Options{})
	require.NoError(t, err)
	require.Equal(t, 1, r.Skipped())
}

func TestWhatAProcessorStandsFor(t *testing.T) {
	jobs, r, err := readText(smallSWF, trace.Options{Processors: trace.AsCPUs})
	require.NoError(t, err)
	require.Equal(t, 4, jobs[0].CPUs)
	require.Zero(t, jobs[0].GPUs)
	nodes, processors := r.Size()
	require.Equal(t, []int{16, 128}, []int{nodes, processors})
}

// Numbers parse as with strconv, to the last bit.
func TestNumbersAreExact(t *testing.T) {
	const head = "job_id,gpu_num,submit_time,duration,speed\n"
	for _, text := range []string{"0.1", "29773.989", "1e22", "123456789012345678", "0.000001", "9007199254740993", "5e-324", "-0.3", "4.", ".25", "179769313486231570000000000000000", "2.2250738585072011e-308"} {
		var want float64
		_, err := fmt.Sscan(text, &want)
		require.NoError(t, err)
		jobs, _, err := readText(head+"1,1,0,1,"+text+"\n", trace.Options{})
		require.NoError(t, err)
		require.Equal(t, want, jobs[0].Speed, text)
	}
	for _, text := range []string{"-", ".", "1.2.3", "0x", "1_000", "--1", "1e400"} {
		_, _, err := readText(head+"1,1,0,1,"+text+"\n", trace.Options{})
		require.ErrorContains(t, err, "want a number", text)
	}
}
