// Package page writes a report as one HTML file that contains its style, script and
// figures, and loads nothing.
//
// A [Page] is data: sections of headings, facts, sentences, tables, figures, time lines and folded texts. All texts are
// escaped for their context; figures are checked for permitted elements and included unchanged. Everything is readable
// without a script; with it, tables sort by their columns, and a time line describes its events under the pointer or
// the keyboard's focus. Equal pages give equal bytes.
package page
