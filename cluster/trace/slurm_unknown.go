package trace

import (
	"bytes"
	"slices"
	"strings"
)

// separators are the names of characters that separate columns in files that users make from sacct output.
var separators = []struct{ mark, name string }{
	{",", "commas"}, {";", "semicolons"}, {"\t", "tabs"}, {" ", "blanks"},
}

// sacctFault returns the reason why the first line of sacct output is not a header of the format slurm, and the remedy.
// Both are empty if the line does not look like sacct output.
func sacctFault(line []byte) (fault, remedy string) {
	names := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune("|,;\t ", r) })
	piped := bytes.Contains(line, []byte("|"))
	switch {
	case piped && isSlurmRow(line):
		return "it has no column names", "run sacct without --noheader"
	case !isSacctHeader(names):
		return "", ""
	case !piped:
		return "its columns are separated by " + separatorOf(line), "run sacct with --parsable2"
	case !slices.Contains(names, "Submit"):
		return "the column Submit is missing", "add Submit to the columns of sacct --format"
	}
	return "the column JobID is missing", "add JobID to the columns of sacct --format"
}

// isSacctHeader reports whether several names are columns of sacct. Other tables share one or two of the names.
func isSacctHeader(names []string) bool {
	const fewest = 3
	found := 0
	for _, name := range names {
		if name == rawID || named(slurmColumns, name) != nil {
			found++
		}
	}
	return found >= fewest
}

// isSlurmRow reports whether a line begins with a job ID and has a time of submission, or another date.
func isSlurmRow(line []byte) bool {
	var days dates
	cells := bytes.Split(line, []byte("|"))
	first, _, _ := bytes.Cut(cells[0], []byte("_"))
	return len(first) > 0 && digits(first) >= 0 && slices.ContainsFunc(cells, func(cell []byte) bool {
		_, is := days.zoned(cell)
		return is
	})
}

// separatorOf names the first separator of separators that a line contains.
func separatorOf(line []byte) string {
	for _, s := range separators {
		if bytes.Contains(line, []byte(s.mark)) {
			return s.name
		}
	}
	return "other characters"
}
