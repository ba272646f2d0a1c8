// Package report turns runs into reports: one run with its details or several side by side, as
// text, Markdown, CSV, JSON and HTML.
package report
