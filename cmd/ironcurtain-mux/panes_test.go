package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// paneOf returns the rows of the pane whose title has a tab's number: what is below the title, as
// wide as that is, up to the next title or the status line.
func paneOf(screen string, number int) (rows []string) {
	title := regexp.MustCompile(fmt.Sprintf(`[─━] %d \S+ local-shell`, number))
	lines := strings.Split(strings.TrimSuffix(screen, "\n"), "\n")
	left, right := -1, 0
	for _, line := range lines[:len(lines)-1] {
		cells := []rune(line + strings.Repeat(" ", max(0, 100-len([]rune(line)))))
		switch at := title.FindStringIndex(line); {
		case left < 0 && at != nil:
			left = len([]rune(line[:at[0]]))
			right = left + slices.IndexFunc(append(cells[left:], '┬'), func(r rune) bool { return strings.ContainsRune("┬┤┼", r) })
		case left < 0:
		case strings.ContainsRune("─━", cells[left]):
			return rows
		default:
			rows = append(rows, strings.TrimRight(string(cells[left:right]), " "))
		}
	}
	return rows
}

// Shells in panes, as somebody from tmux would work with them: each has the size of its pane,
// what is typed goes where the focus is, borders are dragged, exit closes a pane, and all of it is
// there again after the terminal was lost.
func TestShellsInPanes(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell","prefix":"ctrl+b"}`)
	d := serveDaemon(t, home, "env", noEngine)
	view := func() *driver {
		return driveArgv(t, home, 100, 30, "env", "SHELL=/bin/sh", "PS1=here> ", "ENV=", "ironcurtain-mux", "attach", "--name", "desk")
	}
	desk := view()
	// in types a command into the shell with the focus, and waits for what it prints in its pane.
	in := func(number int, command, printed string) {
		t.Helper()
		desk.send(command + "\r")
		desk.until(fmt.Sprintf("%q in pane %d", printed, number), patience, func(screen string) bool {
			return strings.Contains(strings.Join(paneOf(screen, number), "\n")+"\n", printed+"\n")
		})
	}
	desk.see(patience, "here>")
	desk.send("\x02%")
	desk.until("the second shell", patience, func(s string) bool { return strings.Contains(strings.Join(paneOf(s, 2), ""), "here>") })
	in(2, "stty size", "27 49")
	desk.send("\x02\"")
	desk.until("the third shell", patience, func(s string) bool { return strings.Contains(strings.Join(paneOf(s, 3), ""), "here>") })
	in(3, "stty size; echo th''ird", "13 49\nthird")
	desk.send("\x02\x1b[A")
	in(2, "echo sec''ond", "second")
	desk.send("\x02\x1b[D")
	in(1, `until [ "$(stty size)" = "27 50" ]; do sleep 0.1; done; echo fi''rst`, "first")

	// The line between them is dragged by 15 columns, and the lower title by 4 rows.
	desk.send("\x1b[<0;51;9M\x1b[<32;40;9M\x1b[<32;36;9M\x1b[<0;36;9m")
	in(1, `until [ "$(stty size)" = "27 35" ]; do sleep 0.1; done; echo nar''row`, "narrow")
	desk.send("\x1b[<0;70;16M\x1b[<32;70;12M\x1b[<0;70;12m")
	in(3, `until [ "$(stty size)" = "17 64" ]; do sleep 0.1; done; echo hi''gh`, "high")
	desk.send("\x02\x1b[A")
	in(2, `until [ "$(stty size)" = "9 64" ]; do sleep 0.1; done; echo l''ow`, "low")

	desk.signal(syscall.SIGKILL)
	desk.exit(patience)
	d.until("the end of the view", patience, func(string) bool { out, _, _ := d.command("clients", "ls"); return out == "" })
	desk = view()
	desk.until("the panes of before", patience, func(s string) bool {
		one, two, three := paneOf(s, 1), paneOf(s, 2), paneOf(s, 3)
		return len(two) == 9 && len(three) >= 17 && strings.Contains(strings.Join(one, ""), "narrow") &&
			strings.Contains(strings.Join(two, ""), "low") && strings.Contains(strings.Join(three, ""), "high")
	})
	in(2, "echo aga''in", "again")
	desk.send("exit\r")
	desk.until("two panes", patience, func(s string) bool { return len(paneOf(s, 3)) == 0 && len(paneOf(s, 2)) >= 27 })
	in(2, `until [ "$(stty size)" = "27 64" ]; do sleep 0.1; done; echo wi''de`, "wide") // the former third one, which had the focus before
	desk.send("exit\r")
	desk.until("one pane", patience, func(s string) bool {
		return strings.Contains(s, "narrow") && !strings.Contains(s, "━")
	})
	desk.send("until [ \"$(stty size)\" = '28 100' ]; do sleep 0.1; done; echo al''one\r")
	desk.see(patience, "alone")
	if out, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop --now: %d, %s%s", code, out, errs)
	}
	desk.exit(patience)
	d.exit(patience)
}
