package view

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// command is a command of the agent itself, or a key, with its help.
type command struct{ name, argument, help string }

var commands = []command{
	{"/model", "NAME", "use this model from now on"},
	{"/compact", "", "make the conversation shorter"},
	{"/programs", "[N]", "list the programs, or show one's code"},
	{"/help", "", "show this"},
}

// keys are the input's keys, for /help.
var keys = []command{
	{"Enter", "", "send; while the agent works, send next"},
	{"Alt-Enter", "", "a new line, as Ctrl-J"},
	{"Esc", "", "interrupt; again: clear the input"},
	{"Up, Down", "", "what you wrote before"},
	{"Ctrl-D", "", "end, on an empty line"},
}

var commandLine = regexp.MustCompile(`^(/[A-Za-z]+)(?:[ \t]+(\S+))?\s*$`)

// runCommand runs a command. It returns false if the command does not exist.
func (m *model) runCommand(name, argument string) bool {
	switch name {
	case "/help":
		for _, c := range append(commands[:len(commands):len(commands)], keys...) {
			m.print(m.ours(own(fmt.Sprintf("%-15s", c.name+" "+c.argument), strong), own(" "+c.help, muted))...)
		}
	case "/compact":
		m.enqueue(name)
	case "/model":
		m.job(func() tea.Msg {
			if argument == "" {
				return said{what: "the model is " + m.o.Agent.Model()}
			}
			if err := m.o.Agent.UseModel(argument); err != nil {
				return said{err: err}
			}
			return said{what: "from now on the model is " + argument, model: argument}
		})
	case "/programs":
		n, err := strconv.Atoi(argument)
		switch {
		case argument == "":
			m.list()
		case err != nil:
			m.printError("/programs needs the number of a program")
		default:
			m.job(func() tea.Msg {
				code, known := m.o.Agent.Program(n)
				if !known {
					return said{err: fmt.Errorf("there is no program %d", n)}
				}
				return opened{n: n, code: code}
			})
		}
	default:
		if near := text.DidYouMean(name, commandNames()); near != "" {
			m.printError("there is no " + name + near)
		} else {
			m.printError("there is no " + name + " here: /help lists the commands; for a command of the multiplexer press Ctrl-A first")
		}
		return false
	}
	return true
}

// list lists the programs of this conversation.
func (m *model) list() {
	if len(m.programs) == 0 {
		m.print(m.ours(own("no programs yet", muted))...)
	}
	for _, p := range m.programs {
		word := "ran"
		if p.failed {
			word = "failed"
		} else if !p.ended {
			word = "runs"
		}
		title := fmt.Sprintf("program %-4d %-7s %4d calls  ", p.n, word, p.made+len(p.calls))
		first, _, _ := strings.Cut(strings.TrimSpace(p.code), "\n")
		m.print(clip(append(own("  "+title, 0), drawable(first, muted)...), m.width()))
	}
}

// commandNames lists the commands.
func commandNames() []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.name)
	}
	return out
}
