package failures

import (
	"bytes"
	"slices"
	"strings"

	"graft/cluster/trace"
)

// Formats of files with failures of nodes.
const (
	FaultTrace  = "fault-trace" // JSON list of events, in the format of InfiniteHBD
	OutageList  = "outages"     // CSV table of outages with the columns [Columns]
	SlurmEvents = "slurm"       // events of nodes that sacctmgr prints
)

// formatOf detects the format of a file from its first line.
func formatOf(text []byte, path string) (string, error) {
	line := firstLine(text)
	switch {
	case strings.HasPrefix(line, "[") || strings.HasPrefix(line, "{"):
		return FaultTrace, nil
	case strings.Contains(line, "|") || strings.Contains(line, "NodeName"):
		return SlurmEvents, nil
	case isHeader(line):
		return OutageList, nil
	}
	return "", &trace.Error{Path: path, Line: 1, Text: "unknown format of failures", Remedy: "name a fault trace (a " +
		"JSON list of events), a CSV table of outages with the columns node, from [s] and to [s], or the output of " +
		"'sacctmgr --parsable2 show event'"}
}

// firstLine returns the first line that is not empty.
func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(withoutMark(text)), []byte("\n"))
	return string(line[:min(len(line), maxLine)])
}

// withoutMark removes the byte order mark that spreadsheets write.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// isHeader reports whether a line has the name of a column of an outage list.
func isHeader(line string) bool {
	cells := strings.Split(line, ",")
	return slices.ContainsFunc(cells, func(cell string) bool {
		return slices.Contains(Columns, strings.Trim(cell, "\" \r"))
	})
}
