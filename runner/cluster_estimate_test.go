package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/study"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/estimates"
)

// twoWeeks changes to a folder with a trace of sixteen days, jobs.csv, and the nodes of its cluster. The trace has few
// users with many similar jobs.
func twoWeeks(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	must(t, "trace generate jobs.csv --jobs 1200 --days 16 --nodes 9 --vcs 1 --users 3 --load 0.6 --seed 4 "+
		"--vc-file-out nodes.csv")
}

// Every job has an estimate, a simulation finds and uses the estimates in a data folder, and the command prints the
// last model and its shapes.
func TestClusterEstimate(t *testing.T) {
	twoWeeks(t)
	require.NoError(t, os.MkdirAll("data", 0o755))
	r := object[estimates.DurationReport](t,
		"cluster estimate --trace jobs.csv --past --out data/jobs_ebm.csv --model model.json --shapes shapes")
	jobs, rows := lines(t, "jobs.csv"), lines(t, "data/jobs_ebm.csv")
	require.Len(t, rows, len(jobs))
	for k, e := range rows {
		require.Equal(t, jobs[k]["id"], e["job_id"])
		seconds, err := strconv.Atoi(e["priority"])
		require.NoError(t, err)
		require.Positive(t, seconds, "a second is the shortest of all")
	}
	require.Equal(t, []int{len(jobs), len(jobs)}, []int{r.Jobs, r.Learned + r.Similar + r.Blind})
	require.Greater(t, r.Learned, 500)
	require.Positive(t, r.Blind)
	t.Logf("measured: 1200 jobs that are made up: R² %s, by similar jobs %s", r.Scores.R2, r.Usual.R2)
	require.Greater(t, *r.Scores.R2.Value, 0.05)
	require.Len(t, r.Windows, 2)
	require.Equal(t, r.Learned, r.Windows[0].Jobs+r.Windows[1].Jobs)
	require.True(t, slices.IsSortedFunc(r.Terms,
		func(a, b estimates.Term) int { return int(b.Importance*1e6 - a.Importance*1e6) }))
	must(t, "cluster run --trace jobs.csv --vc-file nodes.csv --data data --scheduler qssf --estimates ebm --out run")
	require.Len(t, lines(t, "run/qssf/jobs.csv"), len(jobs))

	before := contents(t, "data/jobs_ebm.csv")
	fails(t, failure.Usage, "", "cluster", "estimate", "--trace", "jobs.csv", "--past", "--out", "data/jobs_ebm.csv")
	screen := must(t, "cluster estimate --trace jobs.csv --past --out data/jobs_ebm.csv --force --workers 1")
	require.Equal(t, before, contents(t, "data/jobs_ebm.csv"), "the same bytes again")
	require.Contains(t, screen, fmt.Sprintf("%d estimates by a model, %d by the mean of similar jobs, %d by the "+
		"default of an hour\n",
		r.Learned, r.Similar, r.Blind))
	require.Contains(t, screen, r.Terms[0].Name)
	shapesAreAll(t, r)
}

// shapesAreAll compares the files of shapes, and the printed shapes, with the model's terms.
func shapesAreAll(t *testing.T, r estimates.DurationReport) {
	t.Helper()
	for _, path := range r.Shapes {
		content := []byte(contents(t, path))
		if filepath.Ext(path) == ".csv" {
			_, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
			require.NoError(t, err, path)
			continue
		}
		for decoder := xml.NewDecoder(bytes.NewReader(content)); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err, path)
			}
		}
	}
	s := object[estimates.ShapesReport](t, "cluster shapes model.json")
	require.Len(t, s.Terms, len(r.Terms))
	for _, term := range s.Terms {
		file := filepath.Join("shapes", strings.Join(term.Features, "-"))
		require.Contains(t, r.Shapes, file+".csv")
		require.Equal(t, !(len(term.Axes) == 2 && term.Axes[0].Text && term.Axes[1].Text),
			slices.Contains(r.Shapes, file+".svg"), term.Name)
		got := done(t, "cluster", "shapes", "model.json", "--term", strings.ReplaceAll(term.Name, "×", "x"), "--csv")
		require.Equal(t, contents(t, file+".csv"), got.stdout)
		rows := 0.0
		for _, c := range term.Cells {
			rows += c.Rows
		}
		require.InDelta(t, s.Rows, rows, 0.5, term.Name)
	}
	all := must(t, "cluster shapes model.json")
	require.Contains(t, all, "\nHour\n\nHOUR ")
	require.NotContains(t, all, "\nGpus × hour\n", "maps are printed one by one")
	require.Contains(t, must(t, "cluster shapes model.json --term gpus"), "\nGpus\n\nGPUS ")
	for _, args := range []string{"--csv", "--term nosuch", "--term gpus --csv --json"} {
		require.Equal(t, failure.Usage,
			graft(append([]string{"cluster", "shapes", "model.json"}, strings.Fields(args)...)...).code, args)
	}
}

// changed copies a trace and applies a change to each row.
func changed(t *testing.T, from, to string, change func(row []string)) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(contents(t, from))).ReadAll()
	require.NoError(t, err)
	for _, row := range rows[1:] {
		change(row)
	}
	var b bytes.Buffer
	require.NoError(t, csv.NewWriter(&b).WriteAll(rows))
	require.NoError(t, os.WriteFile(to, b.Bytes(), 0o600))
}

// Later jobs change no byte of earlier estimates and forecasts.
func TestTheCommandsKnowNoFuture(t *testing.T) {
	twoWeeks(t)
	const from = 11 * runs.SecondsOfDay
	const submit, duration, gpus = 4, 5, 6
	early := 0
	changed(t, "jobs.csv", "other.csv", func(row []string) {
		at, err := strconv.ParseInt(row[submit], 10, 64)
		require.NoError(t, err)
		lasts, err := strconv.ParseInt(row[duration], 10, 64)
		require.NoError(t, err)
		switch {
		case at >= from:
			row[duration], row[gpus] = fmt.Sprint(lasts*7%9973+1), "3"
		case at+lasts >= from:
			row[duration] = fmt.Sprint(from - at + lasts*3)
			fallthrough
		default:
			early++
		}
	})
	require.Greater(t, early, 600)
	for _, trace := range []string{"jobs", "other"} {
		must(t, "cluster estimate --past --trace "+trace+".csv --out "+trace+"_ebm.csv")
		must(t, "cluster forecast --trace "+trace+".csv --out "+trace+"_throughput_pred.csv")
	}
	for file, same := range map[string]int{"_ebm.csv": early, "_throughput_pred.csv": from / 600} {
		one, other := strings.Split(contents(t, "jobs"+file), "\n"), strings.Split(contents(t, "other"+file), "\n")
		require.Equal(t, one[:same+1], other[:same+1], file)
		require.NotEqual(t, one, other, file)
	}
}

// With a history, the first week has a model too. Traces whose clocks start at different times are aligned by date.
func TestEstimatesFromAHistory(t *testing.T) {
	twoWeeks(t)
	must(t, "trace convert jobs.csv past.csv --to helios --window ..691199")
	must(t, "trace convert jobs.csv rest.csv --to helios --window 691200..")
	r := object[estimates.DurationReport](t, "cluster estimate --trace rest.csv --history past.csv --out one.csv")
	require.Equal(t, []int{1200, r.Jobs, 0, 0, 0}, []int{r.Jobs + r.History, r.Learned, r.Similar, r.Blind, r.Later})
	r = object[estimates.DurationReport](t,
		"cluster estimate --trace jobs.csv --window 691200.. --history jobs.csv --out two.csv")
	require.Equal(t, r.Jobs, r.Later, "jobs of the trace are no history")
	require.Equal(t, contents(t, "one.csv"), contents(t, "two.csv"))
	r = object[estimates.DurationReport](t,
		"cluster estimate --trace rest.csv --history past.csv --walk none --out once.csv")
	require.Len(t, r.Windows, 1)
	require.Equal(t, r.Jobs, r.Learned)
	r = object[estimates.DurationReport](t, "cluster estimate --trace jobs.csv --walk none --out alone.csv")
	require.Len(t, r.Windows, 1)
	require.Less(t, r.Learned, r.Jobs)
	r = object[estimates.DurationReport](t, "cluster estimate --trace jobs.csv --walk never --out never.csv")
	require.Empty(t, r.Windows)
	require.Nil(t, r.Scores)
	require.Equal(t, 1200, r.Similar+r.Blind)
	must(t, "cluster estimate --trace rest.csv --history past.csv --history past.csv --walk never --out several.csv")
}

// A stopped command leaves no output file. The whole command would take many times as long.
func TestLearningCommandsCanBeStopped(t *testing.T) {
	const after = 300 * time.Millisecond
	t.Chdir(t.TempDir())
	must(t, "trace generate jobs.csv --jobs 40000 --days 120")
	for _, command := range []string{"estimate --past", "forecast"} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		began := time.Now()
		got := call(ctx, newRootCommand(), append([]string{"cluster"},
			append(strings.Fields(command), "--trace", "jobs.csv", "--out", "out.csv", "--quiet")...)...)
		cancel()
		require.Equal(t, failure.Interrupted, got.code, "%s\n%s", command, got.stderr)
		t.Logf("measured: graft cluster %s ended %v after the signal", command,
			(time.Since(began) - after).Round(time.Millisecond))
		entries, err := os.ReadDir(".")
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing but the trace")
	}
}

// A forecast covers all steps of a trace, and simulations read it from a data folder.
func TestClusterForecast(t *testing.T) {
	twoWeeks(t)
	require.NoError(t, os.MkdirAll("data", 0o755))
	r := object[estimates.ForecastReport](t,
		"cluster forecast --trace jobs.csv --out data/my_throughput_pred.csv --models models --shapes shapes")
	require.InDelta(t, 16*144, r.Steps, 5, "up to the last job")
	require.Equal(t, []int{r.Steps, r.Steps - 7*144, 2}, []int{r.Rows, r.Learned, r.Times})
	require.Greater(t, *r.Jobs.Scores.R2.Value, 0.0, "days and weeks repeat")
	sum := 0.0
	for _, row := range lines(t, r.Out) {
		x, err := strconv.ParseFloat(row["submit_gpu_job"], 64)
		require.NoError(t, err)
		sum += x
	}
	require.InDelta(t, 1200, sum, 0.5)
	found, err := cluster.FindData(files.OS{}, "data")
	require.NoError(t, err)
	forecast, err := cluster.ReadForecast(files.OS{}, found.Forecast, 0)
	require.NoError(t, err)
	require.Len(t, forecast.At, r.Rows)
	require.Equal(t, r.Jobs.Terms,
		learnedAsPrinted(object[estimates.ShapesReport](t, "cluster shapes models/jobs.json")))
	require.FileExists(t, "shapes/jobs-hour.svg")
	require.FileExists(t, "shapes/gpus-hour.csv")

	late := object[estimates.ForecastReport](t,
		"cluster forecast --ticks data/my_throughput_pred.csv --from 2020-09-14 --out late.csv")
	left := r.Steps - 13*144
	require.Equal(t, []int{r.Steps, left, left, 1}, []int{late.Steps, late.Rows, late.Learned, late.Times})
	require.Equal(t, "2020-09-14 00:00:00", late.From)
	require.Contains(t, must(t, "cluster forecast --trace jobs.csv --from 2020-09-14 --out trace.csv"),
		fmt.Sprintf("%d steps by models learned 1 time, 0 by the last known hour", left))
	require.Equal(t, contents(t, "late.csv"), contents(t, "trace.csv"),
		"a table of submissions says what its trace does")
}

// learnedAsPrinted returns a model's terms in printing order.
func learnedAsPrinted(r estimates.ShapesReport) []estimates.Term {
	var terms []estimates.Term
	for _, t := range r.Terms {
		terms = append(terms, t.Term)
	}
	slices.SortStableFunc(terms, func(a, b estimates.Term) int {
		switch {
		case a.Importance > b.Importance:
			return -1
		case a.Importance < b.Importance:
			return 1
		}
		return 0
	})
	return terms
}

func TestLearningCommandsAreCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"cluster estimate --walk ":    "never",
		"cluster estimate --format ":  "helios\t",
		"cluster forecast --target ":  "median",
		"cluster shapes ":             "json",
		"cluster estimate --model ":   "",
		"cluster forecast --from 202": "",
	} {
		list, _ := offered(t, strings.Split(line, " ")...)
		if want == "" {
			require.Empty(t, list, line)
		}
		require.Contains(t, strings.Join(list, "\n"), want, line)
	}
}

func TestLearningIsCalledWrongly(t *testing.T) {
	twoWeeks(t)
	write(t, "seconds.csv", "job_id,gpu_num,submit_time,duration,vc\n1,1,0,5,a\n2,1,9,7,a\n")
	for args, want := range map[string]string{
		"estimate --trace jobs.csv":                                  `"out"`,
		"estimate --trace jobs.csv --out o.csv --walk x":             `--walk is "x"; expected week, none or never`,
		"estimate --trace jobs.csv --out o.csv --target x":           `target is "x"`,
		"estimate --trace jobs.csv --out o.csv --format x":           `unknown trace format "x"`,
		"estimate --trace jobs.csv --out o.csv --window 5":           "--window 5",
		"estimate --trace jobs.csv --out o.csv --start 2020-09-01":   "omit the option",
		"estimate --trace seconds.csv --out o.csv":                   "has no dates",
		"estimate --trace seconds.csv --out o.csv --start yesterday": "--start yesterday: expected a date",
		"estimate --trace jobs.csv --history seconds.csv --out o.csv": "seconds.csv " +
			"has no dates",
		"estimate --trace jobs.csv --out o.csv --model o.csv":      "is named for two outputs",
		"forecast --out o.csv":                                     "[trace ticks]",
		"forecast --trace jobs.csv --out o.csv --from x":           "--from x: expected a date",
		"forecast --trace jobs.csv --out o.csv --start 2020-09-01": "omit the option",
		"forecast --ticks jobs.csv --out o.csv --window 5..":       "omit them with --ticks",
		"forecast --trace jobs.csv --out jobs.csv":                 "already exists",
		"forecast --trace jobs.csv --out o.csv --window 1..0": "expected an end at or " +
			"after its start",
		"estimate --trace seconds.csv --out o.csv --start 2020-04-01 --workers -1":    "workers is -1",
		"estimate --trace seconds.csv --out nodes.csv --start 2020-04-01 --walk none": "already exists",
	} {
		fails(t, failure.Usage, want, append([]string{"cluster"}, strings.Fields(args)...)...)
	}
	require.NoFileExists(t, "o.csv")
	must(t, "cluster estimate --trace seconds.csv --out few.csv --start 2020-04-01")
	require.Equal(t, "job_id,priority\n1,3600\n2,5\n", contents(t, "few.csv"))
	fails(t, failure.Failed, "jobs.csv has no jobs to learn from", "cluster", "estimate", "--trace", "jobs.csv",
		"--window", "9999999..", "--out", "none.csv")
}

// Estimates of a published month are compared with the published ones, under the schedulers that use estimates.
func TestEstimatesOfAPublishedMonth(t *testing.T) {
	data, err := filepath.Abs(filepath.Join("..", "..", "shared", "reference", "lucid"))
	require.NoError(t, err)
	path := filepath.Join(data, "venus_sept_trace.csv")
	if _, err := os.Stat(path); err != nil {
		t.Skip("left out: the published month is not here")
	}
	t.Chdir(t.TempDir())
	estimate := func(args string) estimates.DurationReport {
		return object[estimates.DurationReport](t, "cluster estimate --trace "+path+" --start 2020-04-01 "+args)
	}
	e := estimate("--out ours.csv")
	require.Equal(t, []int{23_859, 17_971}, []int{e.Jobs, e.Learned})
	require.Greater(t, *e.Scores.R2.Value, 0.45)
	estimate("--out similar.csv --walk never")
	const second = 13_219_200 + 7*runs.SecondsOfDay // second at which the second week begins
	later := dataFromSecondWeek(t, data)
	for span, args := range map[string]string{"all of the month": "--data " + data,
		"from the second week on": fmt.Sprintf("--from %d --data %s", second, later)} {
		mean := map[string]float64{}
		for _, by := range []string{"published", "ours.csv", "similar.csv", "exact"} {
			line := "cluster run --force --out run --scheduler qssf,lucid --trace " + path + " " + args
			if by != "published" {
				line += " --estimates " + by
			}
			for _, c := range object[study.Outcome](t, line).Cells {
				t.Logf("measured: %s, %s, %s: mean completion %.0f s, %.0f to %.0f", span, c.Scheduler, by,
					c.Interval.Mean, c.Interval.Low, c.Interval.High)
				mean[c.Scheduler+by] = float64(c.Interval.Mean)
			}
		}
		for _, scheduler := range []string{"qssf", "lucid"} {
			require.Less(t, mean[scheduler+"ours.csv"], mean[scheduler+"similar.csv"], span)
			require.Less(t, mean[scheduler+"ours.csv"], 1.1*mean[scheduler+"published"], span)
		}
	}
}

// dataFromSecondWeek writes a data folder with a forecast from the second week on. The trace's seconds have no date, so
// a simulation starts at the forecast's first line.
func dataFromSecondWeek(t *testing.T, data string) string {
	dir := t.TempDir()
	found, err := cluster.FindData(files.OS{}, data)
	require.NoError(t, err)
	for _, path := range []string{found.Nodes, found.LGB, found.EBM, found.Alone, found.Pairs} {
		require.NoError(t, os.Symlink(path, filepath.Join(dir, filepath.Base(path))))
	}
	head, rows, _ := strings.Cut(contents(t, found.Forecast), "\n")
	_, rows, known := strings.Cut(rows, "\n2020-09-08 00:00:00")
	require.True(t, known)
	write(t, filepath.Join(dir, "throughput_pred.csv"), head+"\n2020-09-08 00:00:00"+rows)
	return dir
}
