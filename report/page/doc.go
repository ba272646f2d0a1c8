// Package page writes a report as one HTML file that contains its style, script and
// figures, and loads nothing.
//
// A [Page] is data: sections of headings, facts, sentences, tables, figures, time lines
// and folded texts. All texts are escaped for their place; figures are checked for the
// elements that they may have and included as they are. Everything can be read without a
// script; with it tables sort by their columns, and a time line describes its events
// under the pointer or the keyboard's focus. Equal pages give equal bytes.
package page
