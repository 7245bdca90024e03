package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// PrintTable prints rows below headings, in columns; an empty cell becomes "-". Without rows it
// prints nothing, and the caller says on standard error that the list is empty. The cells must be
// safe to print.
func PrintTable(w io.Writer, headings []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(headings, "\t"))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = cmp.Or(cell, "-")
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}
