// Package tracetest contains small traces in every format, and traces with faults, for tests of trace readers.
package tracetest

import "strings"

// Helios contains three jobs in the format "helios".
const Helios = "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,dataset,model,batchsize,amp,speed," +
	"gpu_util,gmem_util,gmem\n" +
	"7,ann,red,train,2,8,COMPLETED,2021-03-04 12:00:10,60,Pictures,Net,32,1,12.5,80,20.25,1000\n" +
	"8,bob,blue,\"a, \"\"b\"\"\n c\",0,4,TIMEOUT,2021-03-04 12:00:05,5,,,,,,,,\r\n" +
	"\n" +
	"9,ann,red,,16,64,NODE_FAIL,2021-03-05 00:00:00,7200,Pictures,Net,64,0,1e1,.5,20,1000\n"

// Philly contains three jobs in the format "philly".
const Philly = `[
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

// PhillyCSV contains two jobs in the format "philly-csv".
const PhillyCSV = "jobname,user,vc,gpu_num,state,submit_time,duration\n" +
	"application_1,ce2f,11cb48,3,Pass,2017-10-07 00:00:09,3660.0\n" +
	"application_2,,11cb48,0,Killed,2017-10-07 00:00:10,\n"

// Pollux contains jobs in the format "pollux".
const Pollux = "name,time,application,num_replicas,batch_size\ncifar10-0,53,cifar10,6,2048\nncf-1,60,ncf,1,\n"

// Tiresias contains a job in the format "philly-csv" with the columns of Tiresias's traces.
const Tiresias = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n" +
	"1,4,10,1000,vgg16,500.4,3\n"

// Alibaba2020 contains the tasks of four jobs in the format "alibaba2020".
const Alibaba2020 = "j1,ps,2.0,Terminated,1000.0,1500.0,600.0,29.3,,\n" +
	"j1,worker,4.0,Terminated,1010.0,1600.0,400.0,29.3,50.0,T4\n" +
	"j2,tensorflow,1.0,Running,2000.0,,600.0,29.3,100.0,V100\n" +
	"j3,tensorflow,1.0,Waiting,,,600.0,29.3,25.0,MISC\n" +
	"j4,worker,2,Failed,3000,3005,150,1,250,P100\n"

// Owners is the job table for the trace Alibaba2020.
const Owners = "j1,i1,ann,Terminated,990.0,1601.0\nj9,i9,bob,Running,1.0,2.0\nj2,i2,bob,Waiting,,\n"

// Alibaba2023 contains three jobs in the format "alibaba2023".
const Alibaba2023 = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time," +
	"scheduled_time\n" +
	"pod-1,12500,65536,1,220,,LS,Running,100,500,110\n" +
	"pod-2,8000,1,8,1000,V100M16|V100M32,BE,Succeeded,200,300,200\n" +
	"pod-3,4000,1,0,0,,BE,Pending,300,310,\n"

// Slurm contains four jobs and a step in the format "slurm".
const Slurm = "JobID|User|Partition|JobName|Submit|Start|End|Elapsed|AllocTRES|ReqTRES|State|Timelimit\n" +
	"71|ann|gpu|a \"b\", c|2026-05-01T00:03:37|2026-05-01T00:35:58|2026-05-02T01:34:04|1-00:58:06|" +
	"billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|cpu=8|COMPLETED|2-00:00:00\n" +
	"71.batch|||batch|2026-05-01T00:35:58|2026-05-01T00:35:58|2026-05-02T01:34:04|1-00:58:06|cpu=8||COMPLETED|\n" +
	"72_3|bob|cpu|x|2026-05-01T00:04:00|Unknown|Unknown|00:00:00||cpu=2,gres/gpu:v100=1|CANCELLED by 1001|UNLIMITED\n" +
	"73|bob|gpu||2026-05-01T00:05:00|2026-05-01T00:05:01|2026-05-01T00:15:01||" +
	"cpu=4,gres/gpu:v100=2,mem=512K||NODE_FAIL|" +
	"30:00\n" +
	"74|ann|gpu|y|2026-05-01T00:06:00|2026-05-01T00:06:01|2026-05-01T00:06:03|00:02.500|" +
	"cpu=1|cpu=1|TIMEOUT|Partition_Limit\n"

// Alibaba2026 contains four jobs in the format "alibaba2026".
const Alibaba2026 = "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num," +
	"submit_time,duration,job_type\n" +
	"1,13,A10,20,1,1,0,3600,HP\n" +
	"2,57,A100-SXM4-80GB,15.5,8,16,60,41060,Spot\n" +
	"3,57,A10,2,0.25,2,70,10,Spot\n" +
	"4,13,,8,0,1,80,5,HP\n"

// Acme contains three jobs in the format "acme". The durations of Kalos contain the waiting time.
const Acme = "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state," +
	"submit_time,start_time," +
	"end_time,fail_time,stop_time,duration,queue,gpu_time\n" +
	"dlc1,u1,8,64,960,1000,100.0,Pretrain,FAILED,2023-05-17 08:00:00+08:00,2023-05-17 08:00:10+08:00," +
	"2023-05-17 08:01:00+08:00,2023-05-17 08:01:00+08:00,,60,10.0,3840.0\n" +
	"dlc2,u2,1,1,16,100,10.0,Other,CANCELLED,2023-05-17 00:00:05+00:00,,2023-05-17 00:00:20+00:00,,,15,,\n" +
	"dlc3,u2,1,8,16,100,10.0,Eval,COMPLETED,2023-05-17 00:00:06+00:00,2023-05-17 00:00:06+00:00," +
	"2023-05-17 01:00:06+00:00,,,3600,0.0,28800.0\n"

// SWF contains three jobs in the format "swf".
const SWF = "; Version: 2.2\n;   UnixStartTime:  1600000000 \n; MaxNodes: 16\n; MaxProcs: 128\n; Note: none\n\n" +
	"    1   100  5  60   4 -1 -1   8 3600 -1  1  3 1 7 2 -1 -1 -1\n" +
	"2 200 -1 -1 -1 -1 -1 2 -1 -1 5 -1 -1 -1 -1 6 -1 -1\r\n" +
	"3 300 -1 1.6 0 -1 -1 0 -1 -1 -1 4 -1 -1 1 -1 -1 -1"

// Ours contains the jobs of the trace Helios in the format "graft".
const Ours = "id,user,vc,name,submit [s since 2021-03-04 00:00:00],duration [s],gpus,share " +
	"[1/1000],cpus,state,dataset,model,batch,amp,speed [1/s],gpu_util [%],memory_util [%],memory [MiB]\n" +
	"7,ann,red,train,43210,60,2,0,8,COMPLETED,Pictures,Net,32,1,12.5,80,20.25,1000\n" +
	"8,bob,blue,\"a, \"\"b\"\"\n c\",43205,5,0,0,4,TIMEOUT,,,0,0,0,0,0,0\n" +
	"9,ann,red,,86400,7200,16,0,64,NODE_FAIL,Pictures,Net,64,0,10,0.5,20,1000\n"

// Fault is an invalid trace.
type Fault struct {
	Text string // content of the file
	Says string // text that the error for a file named a.csv must contain
}

// Faults returns traces that every reader rejects, indexed by the kind of error.
func Faults() map[string]Fault {
	const head = "job_id,user,gpu_num,submit_time,duration,amp,speed\n"
	swap := func(text, old, with string) string { return strings.Replace(text, old, with, 1) }
	return map[string]Fault{
		"not a number": {head + "1,ann,x2,0,5,0,1\n",
			`a.csv:2:7: gpu_num is "x2": expected a whole number from 0 to 2147483647; correct or remove the line`},
		"less than nothing":  {head + "1,ann,-1,0,5,0,1\n", `a.csv:2:7: gpu_num is "-1": expected`},
		"a part of a device": {head + "1,ann,0.5,0,5,0,1\n", `gpu_num is "0.5": expected a whole number`},
		"too many":           {head + "1,ann,99999999999,0,5,0,1\n", `gpu_num is "99999999999": expected`},
		"no name":            {head + ",ann,1,0,5,0,1\n", `a.csv:2:1: job_id is empty: expected a job ID`},
		"no time":            {head + "1,ann,1,,5,0,1\n", `submit_time is empty: expected a date such as`},
		"no such day": {head + "1,ann,1,2021-02-29 00:00:00,5,0,1\n",
			`submit_time is "2021-02-29 00:00:00": expected a date`},
		"no such hour": {head + "1,ann,1,2021-02-28 24:00:00,5,0,1\n",
			`submit_time is "2021-02-28 24:00:00": expected a date`},
		"a date and seconds": {head + "1,ann,1,2021-02-28 00:00:00,5,0,1\n2,ann,1,7,5,0,1\n",
			`a.csv:3:9: submit_time is "7": expected a date such as 2020-04-01 00:02:30, as in earlier lines`},
		"seconds and a date": {head + "2,ann,1,7,5,0,1\n1,ann,1,2021-02-28 00:00:00,5,0,1\n",
			`a.csv:3:9: submit_time is "2021-02-28 00:00:00": expected a number of seconds, as in earlier lines`},
		"seconds past all days": {head + "2,ann,1,10000000000000,5,0,1\n", `submit_time is "10000000000000": expected`},
		"neither yes nor no":    {head + "1,ann,1,0,5,maybe,1\n", `amp is "maybe": expected 0 or 1`},
		"no finite number":      {head + "1,ann,1,0,5,0,Inf\n", `speed is "Inf": expected a number`},
		"too few fields": {head + "1,ann,1\n",
			`a.csv:2: the line has 3 fields, expected 7; correct or remove the line`},
		"an open quote": {head + "1,\"ann,1,0,5,0,1\nand so on\n",
			`a.csv:2:3: the quote that begins here is not closed; close the cell with a quote`},
		"more after a quote": {head + "1,\"ann\"e,1,0,5,0,1\n", `a.csv:2:8: unexpected text after the closing quote`},
		"a column twice": {"job_id,gpu_num,submit_time,duration,job_id\n",
			`a.csv:1:37: job_id is a duplicate column`},
		"nothing": {"", `a.csv: the file is empty; name a trace with at least one line`},
		"something else": {"a,b,c\n1,2,3\n",
			`a.csv: unknown trace format; set the trace format with --from or the key cluster.format to one of graft,`},
		"a line without end": {head + strings.Repeat("x", 3<<20), `a.csv:2: the line has more than 1048576 bytes`},
		"our own, no such start": {swap(Ours, "2021-03-04", "2021-03-32"),
			`a.csv:1:17: submit [s] is "2021-03-32 00:00:00": expected a date`},
		"our own, a column missing": {swap(Ours, ",gpus,", ",kpus,"),
			`a.csv:1: the header has no column gpus, which a graft trace needs`},
		"our own, no number": {swap(Ours, "43210", "x"),
			`a.csv:2:17: submit [s] is "x": expected a number of seconds`},
		"our own, behind quotes": {swap(Ours, "43205", "x"), `a.csv:4:5: submit [s] is "x": expected`},
		"Philly, cut short": {Philly[:500],
			`the file ends within the list of jobs; download the complete trace again`},
		"Philly, no end": {strings.TrimSuffix(Philly, "]\n"),
			`the file ends within the list of jobs; download the complete trace again`},
		"Philly, no JSON":       {swap(Philly, `"Killed"`, `Killed`), `a.csv:7: invalid JSON`},
		"Philly, more after it": {Philly + "{}", `a.csv:11: unexpected text after the list of jobs`},
		"Philly, another kind":  {swap(Philly, `"ce2f"`, `7`), `a.csv:6: user is a number; expected a string`},
		"Philly, no name": {swap(Philly, `"application_1_2"`, `null`),
			`a.csv:7: jobid is empty: expected a job ID`},
		"Philly, no date": {swap(Philly, `"2017-10-06 00:00:00"`, `"yesterday"`),
			`a.csv:7: submitted_time is "yesterday": expected a date`},
		"Philly, no date of an end": {swap(Philly, `"2017-10-07 03:00:00"`, `"later"`),
			`a.csv:6: attempts.end_time is "later": expected a date`},
		"Philly, a job without end": {`[{"vc": "` + strings.Repeat("x", 6<<20) + `"}]`,
			`the job has more than 4194304 bytes`},
		"Philly as a table, no state": {swap(PhillyCSV, ",3,Pass", ",x,Pass"),
			`a.csv:2:27: num_gpu is "x": expected a whole number`},
		"Alibaba 2020, no start": {swap(Alibaba2020, "1010.0", "x"),
			`a.csv:2:26: start_time is "x": expected a number of seconds`},
		"Alibaba 2020, less GPUs": {swap(Alibaba2020, "50.0", "-50.0"),
			`a.csv:2:51: plan_gpu is "-50.0": expected a number of at least 0`},
		"Alibaba 2020, a field less": {swap(Alibaba2020, ",V100", ""), `a.csv:3: the line has 9 fields, expected 10`},
		"Alibaba 2020, no name": {Alibaba2020 + ",worker,2,Failed,3000,3005,150,1,250,P100\n",
			`a.csv:6:1: job_name is empty`},
		"Alibaba 2023, no time": {swap(Alibaba2023, "110", "soon"),
			`a.csv:2:45: scheduled_time is "soon": expected a number of seconds`},
		"Alibaba 2026, half a GPU more than one": {swap(Alibaba2026, "15.5,8,16", "15.5,1.5,16"),
			`a.csv:3:26: gpu_request is "1.5": expected a whole number of GPUs, or a part of one GPU`},
		"Alibaba 2026, less than no processor": {swap(Alibaba2026, "15.5", "-1"),
			`cpu_request is "-1": expected a number of processors of at least 0`},
		"Alibaba 2026, another kind of job": {swap(Alibaba2026, "HP", "LP"),
			`a.csv:2:24: job_type is "LP": expected HP or Spot`},
		"Acme, no zone": {swap(Acme, "2023-05-17 08:00:10+08:00", "2023-05-17 08:00:10+8"),
			`start_time is "2023-05-17 08:00:10+8": expected a date such as 2023-03-01 00:18:22+08:00`},
		"SWF, no number": {swap(SWF, "3600", "x"),
			`a.csv:7:34: requested time is "x": expected a number, or -1 if unknown`},
		"SWF, a field less": {swap(SWF, "7 2 -1", "7 2"), `a.csv:7: the line has 17 fields, expected 18`},
		"SWF, half a processor": {swap(SWF, "   4 ", " 4.5 "),
			`allocated processors is "4.5": expected a whole number from 0 to 2147483647, or -1`},
	}
}
