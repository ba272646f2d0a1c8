package document

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// latexSample has every part of a document, and every character that LaTeX interprets.
func latexSample() *Document {
	d := &Document{}
	d.Head("times of jobs_1 & more")
	d.Say("100% of 2 jobs", `a \ b`)
	d.Know("digest", "a#b$c{d}e~f^g")
	t := NewTable("scheduler").Numbers("s", "%.1f", "mean JCT").Texts("note")
	low, high := 1.25, 3.75
	t.Add("fifo *", 2.5, "[first] <5 > 4")
	t.Add("srtf", Cell{Low: &low, High: &high}, "± 2 × 3…")
	d.Show(t)
	d.Show(NewTable("empty"))
	d.Head("100%% load")
	second := NewTable("scheduler").Numbers("", "", "p")
	second.Add("fifo", "-1.5 [-2, 1e-3] a-1")
	d.Show(second)
	return d
}

func TestLatex(t *testing.T) {
	var b strings.Builder
	require.NoError(t, latexSample().Latex(&b))
	for _, part := range []string{"% Times of jobs_1 & more\n", "% 100% of 2 jobs\n",
		"\\caption{Times of jobs\\_1 \\& more}\n", "\\begin{tabular}{lrl}\n\\toprule\n", "\\label{tab:1}\n",
		"fifo & $-$1.5 {[}$-$2, 1e-3{]} a-1 \\\\\n",
		"Scheduler & Mean JCT {[}s{]} & Note \\\\\n\\midrule\nfifo * & 2.5 & {[}first{]} $<$5 $>$ 4 \\\\\n",
		"srtf & {[}1.2, 3.8{]} & $\\pm$ 2 $\\times$ 3\\ldots{} \\\\\n\\bottomrule\n\\end{tabular}}\n\\end{table}\n",
		"% digest: a#b$c{d}e~f^g\n",
		"\\caption{Times of jobs\\_1 \\& more: 100\\% load}\n"} {
		require.Contains(t, b.String(), part)
	}
	require.NotContains(t, b.String(), "empty")
	require.Contains(t, latexTable([][]string{{"1", "2", "3", "4", "5", "6"}}, make([]bool, 6), "", 1),
		"\\begin{table*}\n")
}

// pdflatex accepts the written document.
func TestLatexIsSet(t *testing.T) {
	program, err := exec.LookPath("pdflatex")
	if err != nil || exec.Command("kpsewhich", "booktabs.sty", "graphicx.sty").Run() != nil {
		t.Skip("left out: pdflatex with booktabs is not installed")
	}
	dir := t.TempDir()
	var b strings.Builder
	require.NoError(t, latexSample().Latex(&b))
	text := "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\n" + b.String() +
		"\\end{document}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.tex"), []byte(text), 0o600))
	c := exec.Command(program, "-interaction=nonstopmode", "-halt-on-error", "a.tex")
	c.Dir = dir
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
