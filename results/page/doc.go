// Package page writes a report as one HTML file that needs nothing else: style, script
// and figures are in it, and it asks nobody for anything.
//
// A [Page] is data: sections of headings, facts, sentences, tables, figures, time lines
// and folded texts. Whatever is in it is escaped for where it stands; figures alone are
// taken as they are, after a look at what they are made of. Without a script all can be
// read; with it tables sort by their columns, and a time line tells its events where
// the pointer or the keyboard is. Equal pages give equal bytes.
package page
