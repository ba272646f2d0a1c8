// Package report turns runs into reports: one run with its details or a comparison of several runs, as text, Markdown,
// CSV, JSON and HTML.
//
// # Design
//
// One reader of run folders. Reports, figures and pages need the same data of a run: its kind, configuration,
// outcomes with units and seeds, and measurements over time. runs.Open recognises a kind of folder by its files, with
// one line in runs.Kinds and one file per kind, and reads it through a read-only file system. For one run among a
// thousand it reads only the outcome, or the end of its table.
//
// A report is data: a list of headings, facts, sentences and tables (report/document), rendered for the terminal,
// Markdown and pages. A cell is a number with its unit, format, interval and mark, or a text; the numbers of a column
// share its unit and format. Text, Markdown and pages show rounded numbers; CSV has the exact numbers, and pages also
// contain them, for sorting. JSON is written from the report's structs; their keys are a contract.
//
// A pipeline keeps a journal. Its parts are runs of other kinds, which have their own readers. Its journal is one file,
// replaced atomically before and after each stage: inputs, outputs, start, duration. So a report can distinguish a
// running stage from a stage that never started, and detects later changes by digest. An evaluation is a normal run:
// its tables are written first and its outcome last; without an outcome it does not count.
//
// Significance by permutation. With few seeds a bootstrap interval is too narrow, and comparing intervals says
// little. A difference therefore counts as significant only if few of the ways to divide the values into two columns
// give a difference as large (Pitman 1937). The significance level is divided by the number of comparisons
// (Bonferroni 1936). The test needs no assumption about the distribution, and with two seeds it never reports a
// difference. internal/stat has the tests and intervals, each with its source.
//
// A contrast is a difference between two arms over several sweeps, listed in a file. report/contrast pairs trials by
// seed in each setting, and then counts each setting once.
//
// A page is one file. report/page writes style, script and figures into it. Its Content-Security-Policy forbids loading
// anything and running any script except the script with the given digest, so a hostile folder name is harmless even if
// an escape is missed. Text is escaped for its context. Embedded figures consist only of shapes, without ids that could
// clash, links or scripts. Everything is readable without the script, which sorts tables and describes events under the
// pointer or the keyboard's focus. Equal pages give equal bytes. Tests open pages in a browser through a pipe
// (pagetest) and record its requests.
//
// A live page is the same page, polled. graft serve renders the pages of graft report. An open page requests itself
// with the tag of its content, every few seconds and less often while nothing changes. A stream would block: a
// browser opens at most six connections to a server, so a seventh page would hang. With polling the server keeps no
// state per viewer, a lost connection needs no handling, and while there are no viewers, nothing is read. The tag is
// made of names, sizes and times of files, so the server answers a request about an unchanged page without opening a
// file or rendering anything. The script updates the old page to the new page node by node, which keeps focus,
// sorting and open sections.
package report
