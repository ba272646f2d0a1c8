// Package page writes a report as one HTML file that contains its style, script and
// figures, and loads nothing.
//
// A [Page] is data: sections of headings, facts, sentences, tables, figures, time lines and folded texts. All texts
// are escaped for their context; figures are checked for permitted elements and included unchanged. Everything is
// readable without a script. With the script, readers can sort tables by column, and a time line describes the event
// under the pointer or the keyboard's focus. Equal pages give equal bytes.
package page
