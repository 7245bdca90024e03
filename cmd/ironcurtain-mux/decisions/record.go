package decisions

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// recordPrinter writes one record a line, for people below headings or as the log's JSON in plain
// ASCII.
type recordPrinter struct {
	cmd   *cobra.Command
	raw   bool
	begun bool
}

// printer returns a printer of the log at path. For people it first prints the log's session.
func printer(cmd *cobra.Command, path string, raw bool) *recordPrinter {
	if !raw {
		printSession(cmd, path)
	}
	return &recordPrinter{cmd: cmd, raw: raw}
}

// printSession prints the session that a log belongs to, if it belongs to one.
func printSession(cmd *cobra.Command, path string) {
	if id := filepath.Base(filepath.Dir(path)); stored.ValidID(id) {
		fmt.Fprintf(cmd.ErrOrStderr(), "session %s\n", id)
	}
}

func (p *recordPrinter) print(l audit.Line) error {
	out := p.cmd.OutOrStdout()
	if p.raw {
		_, err := fmt.Fprintf(out, "%s\n", jsonx.ASCII(l.Raw))
		return err
	}
	if !p.begun {
		p.begun = true
		if _, err := fmt.Fprintf(out, "%6s  %-19s  %-19s %-5s %s\n", "SEQ", "TIME", "DECISION", "PLANE", "CALL AND OUTCOME"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out, RecordText(l))
	return err
}

// end prints the given message if no record was printed.
func (p *recordPrinter) end(empty string) error {
	if p.raw || p.begun {
		return nil
	}
	_, err := fmt.Fprintln(p.cmd.ErrOrStderr(), empty)
	return err
}

// RecordText formats a record for people. It is plain ASCII, because it goes to a terminal
// and an agent wrote parts of it.
func RecordText(l audit.Line) string {
	what := ""
	if l.Server != "" || l.Tool != "" {
		what = cli.SafeName(l.Server)
	}
	if l.Tool != "" {
		what += "/" + cli.SafeName(l.Tool)
	}
	text := fmt.Sprintf("%6d  %s  %-19s %-5s %s", l.Seq, l.Time.Local().Format("2006-01-02 15:04:05"),
		cli.SafeName(string(l.Decision)), cli.SafeName(l.Plane), what)
	if len(l.Arguments) > 0 {
		text += " " + string(jsonx.ASCII(l.Arguments))
	}
	if l.Outcome != "" {
		text += fmt.Sprintf(" %s in %s ms", cli.SafeName(string(l.Outcome)), strconv.FormatFloat(l.DurationMs, 'f', -1, 64))
		if l.ResultBytes > 0 {
			text += fmt.Sprintf(", %d bytes", l.ResultBytes)
		}
		if l.Reason != "" {
			text += ": " + cli.SafeName(l.Reason)
		}
	}
	if l.Rule != "" {
		text += "  (" + cli.SafeName(l.Rule) + ")"
	}
	if l.DecidedBy != "" {
		text += fmt.Sprintf("  by %s after %d ms", cli.SafeName(l.Client.Decider(l.DecidedBy)), l.WaitMs)
	}
	if program := programOf(l); program != "" {
		line := ""
		if n, known := l.Detail["line"]; known {
			line = ", line " + cli.SafeName(fmt.Sprint(n))
		}
		text += fmt.Sprintf("  [%s, call %v of program %s%s]", cli.SafeName(l.Call), cli.SafeName(fmt.Sprint(l.Detail["index"])), cli.SafeName(program), line)
	} else if l.Call != "" {
		text += "  [" + cli.SafeName(l.Call) + "]"
	}
	return text
}

// programOf returns the id of the program that made a call, or "".
func programOf(l audit.Line) string {
	id, _ := l.Detail["program"].(string)
	return id
}
