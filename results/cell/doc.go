// Package cell holds the typed values of reports and the tables that they stand in.
//
// A [Cell] is a number with its unit, digits, interval and mark, or a text. It is
// written once and shown as text, Markdown, CSV and JSON here, and as HTML by package
// page. Text and Markdown show a number rounded and in the unit for people; CSV and
// JSON have it exactly, in the unit that it was measured in.
package cell
