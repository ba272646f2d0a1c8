// Package figure draws the results of runs, for papers and pages.
//
// A figure is data: a [Chart] of curves, [Bars], a [Heat] map, the [Tree] of a table's actions, a [Surgery] on a
// network. Layout turns it into a [Picture], marks in points whose labels have a known extent, and Render writes that
// as SVG, PNG or PDF. Equal figures give equal bytes: they do not depend on the clock, the machine or the order of a
// map.
//
// All figures share one style: Liberation Sans at 8 pt, the colours of Okabe and Ito, which are distinct for people
// with any kind of colour vision, a unit at every axis, and one of two widths, a column or a page of a two-column
// paper.
//
// # Design
//
// A figure is data, a picture is marks. report/figure is independent of runs: it receives curves, bars or a tree.
// Layout places them as lines, areas and words. The extent of words follows from the font's metrics, so a test can
// check for every figure of every run that no label is cut or overlaps another. SVG, PNG and PDF are written from the
// same marks. Inks are named by purpose, except that inks of curves are named by colour; report/figure/ink.go defines
// them for each theme.
//
// Equal runs, equal bytes. Circles are constants, numbers have two digits, maps are sorted, fonts are part of the
// program, and the dates of a PDF are blank. Each text states its width, in case the reader lacks the font.
//
// Kinds of figures are one list. A kind is a function in report/plot from runs to figures and a line in plot.Kinds. It
// uses the same reader of folders as reports, which takes no lock and writes nothing.
package figure
