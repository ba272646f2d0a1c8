// Package figure draws what runs have led to, for papers and pages.
//
// A figure is data: a [Chart] of curves, [Bars], a [Heat] map, the [Tree] of a
// table's actions, a [Surgery] on a network. Layout turns it into a [Picture],
// marks in points whose labels have a known extent, and Render writes that as
// SVG, PNG or PDF. Equal figures give equal bytes: nothing of the clock, of the
// machine or of the order of a map is in them.
//
// All figures share one style: Liberation Sans at 8 pt, the colours of Okabe and
// Ito, which people with any kind of colour vision can tell apart, a unit at
// every axis, and one of two widths, a column or a page of a two-column paper.
package figure
