package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// realAgent is what the tests need to know of an agent that its makers publish.
type realAgent struct {
	name       string
	ready      string // on the screen as long as it takes input
	process    string // what its process is called
	host       string // of its provider
	forbidden  string // a path that the provider has and no agent may ask for
	credential string // the header in which it presents its credential
	sentinel   string // where that stands in the container, for a shell
	spent      string // what it says at the end of its budget, in lower case
}

// realAgents are all that can be had from a registry.
var realAgents = []realAgent{
	{
		"claude-code", "bypass permissions", "claude", "api.anthropic.com", "/v1/files",
		"X-Api-Key: %s", "$ANTHROPIC_API_KEY", "", // TestBudgetStop tries it
	},
	{
		"codex", "Ask Codex to do anything", "codex", "api.openai.com", "/v1/files",
		"Authorization: Bearer %s", `$(sed 's/.*"OPENAI_API_KEY":"\([^"]*\)".*/\1/' ~/.codex/auth.json)`, "usage limit",
	},
	{
		"opencode", "ctrl+p commands", "opencode", "api.anthropic.com", "/v1/files",
		"X-Api-Key: %s", "$ANTHROPIC_API_KEY", "session is spent", // a spinner runs through what stands before
	},
	{
		"gemini", "Type your message", "node", "generativelanguage.googleapis.com", "/v1beta/files",
		"X-Goog-Api-Key: %s", "$GEMINI_API_KEY", "usage limit reached",
	},
}

// realAgentNamed is the one of that name.
func realAgentNamed(t *testing.T, name string) realAgent {
	t.Helper()
	i := slices.IndexFunc(realAgents, func(a realAgent) bool { return a.name == name })
	if i < 0 {
		t.Fatalf("no agent %q is tried", name)
	}
	return realAgents[i]
}

// Every agent that can be had from a registry is tried, and the documents name every agent.
func TestEveryAgentIsTriedAndNamed(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agent.Builtin().All() {
		if row := "\n| `" + a.Name + "` |"; a.Place != agent.OnHost && !strings.Contains(string(guide), row) {
			t.Errorf("docs/agents.md has no row for %s", a.Name)
		}
		switch a.Name {
		case "shell", "local-shell": // programs of the image and of this machine
			continue
		case "goose": // no registry has it
		case agent.BuiltinName: // TestBuiltin…
		default:
			realAgentNamed(t, a.Name)
		}
		if !strings.Contains(string(readme), a.Title) {
			t.Errorf("README.md does not name %s", a.Title)
		}
	}
}

// dialogs are the words of what agents ask when they start on their own.
var dialogs = regexp.MustCompile(`(?i)do you trust|trust (this|the) |sign in|log ?in (with|to)|update available|new version|` +
	`press enter to continue|choose (a|the) |select (a )?theme|enter your|accept the|\[y/n\]|would you like`)

// open starts the demo with the agent and waits until it takes input and has
// its tools.
func (a realAgent) open(t testing.TB) *driver {
	t.Helper()
	return a.openIn(t, newHome(t))
}

// openIn does so with that state.
func (a realAgent) openIn(t testing.TB, home string) *driver {
	t.Helper()
	d := drive(t, home, 110, 40, "demo", "--agent", a.name)
	d.see(patience, a.ready)
	d.until("the agent's connection to the tools", patience, func(screen string) bool {
		if found := dialogs.FindString(screen); found != "" {
			t.Fatalf("the agent asks something first (%q):\n%s", found, screen)
		}
		return d.onlySession().State == broker.StateIdle
	})
	a.settle(d)
	return d
}

// settle asks for a list until the agent knows its tools: it has been told of
// them and takes its own time; a prompt before is answered without, and a
// person would ask again.
func (a realAgent) settle(d *driver) {
	d.t.Helper()
	for tries := 0; ; tries++ {
		order := sameList(tries)
		d.prompt(order)
		known := false
		d.until("an answer", patience, func(screen string) bool {
			known = strings.Contains(screen, "Done: list")
			return known || withoutTools(screen, order)
		})
		if known {
			return
		}
	}
}

// working are the words of an agent that is at work and can be interrupted.
var working = regexp.MustCompile(`(?i)esc (to )?(interrupt|cancel)`)

// turnEnded waits until the agent is not at work any more.
func (d *driver) turnEnded() {
	d.t.Helper()
	d.until("the end of the turn", patience, func(screen string) bool { return !working.MatchString(screen) })
}

// settled waits until the one session's agent has been quiet for a while: some
// ask their model once more behind an answer, and draw badly when their terminal
// changes in the middle of that.
func (d *driver) settled() {
	d.t.Helper()
	const quiet = 5 * time.Second
	since := time.Now()
	d.until("a quiet agent", patience, func(screen string) bool {
		if working.MatchString(screen) || d.onlySession().State != broker.StateIdle {
			since = time.Now()
		}
		return time.Since(since) > quiet
	})
}

// prompt gives the agent a prompt by the multiplexer's own command line, which
// types it as this agent wants it typed. It waits for the turn before to end.
func (d *driver) prompt(text string) {
	d.t.Helper()
	d.turnEnded()
	d.send("\x01")
	d.send(text)
	d.see(patience, "> "+text)
	d.send("\r")
}

// resize changes the size of the terminal that the multiplexer runs in.
func (d *driver) resize(cols, rows int) {
	d.t.Helper()
	d.screen.Resize(cols, rows)
	if err := d.pty.Resize(cols, rows); err != nil {
		d.t.Fatal(err)
	}
}

// Every agent, as its makers publish it: it starts without a question, takes a
// prompt, calls tools, waits for a person, follows its terminal's size, cannot be
// suspended, answers a task without a terminal, is locked in, and can be resumed.
func TestRealAgents(t *testing.T) {
	t.Parallel()
	for _, a := range realAgents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			d := a.open(t)
			session := d.onlySession()
			a.waitsForAPerson(t, d)
			a.followsTheSize(t, d, session.ID)

			d.send("\x1a")
			d.prompt("say not-suspended")
			d.until("an answer after Ctrl-Z", patience, func(screen string) bool {
				return strings.Count(screen, "not-suspended") >= 2
			})

			a.answersATask(t, session.ID)
			d.isolated(t, a, session.ID)

			d.send("\x01/quit!\r")
			if code := d.exit(2 * time.Minute); code != 0 {
				t.Errorf("exit code %d", code)
			}
			d.nothingLeft(session.ID)
			record := d.audit(session.ID)
			for _, want := range []string{"escalated-approved", "write_file", `"decidedBy":"tui"`, a.host} {
				if !strings.Contains(record, want) {
					t.Errorf("the audit does not mention %s", want)
				}
			}
			a.isListed(t, d, session.ID)
			if a.name != "claude-code" { // it has a test of its own
				a.goesOn(t, d.home, session)
			}
		})
	}
}

// isListed looks for the ended session in both lists: what was asked last is in
// them, as the agent itself keeps it.
func (a realAgent) isListed(t *testing.T, d *driver, id broker.SessionID) {
	t.Helper()
	const last = "say not-suspended"
	if s := d.stored(id); !s.Begun || s.LastPrompt != last {
		t.Errorf("listed as %+v", s)
	}
	if out, errs, code := d.command("sessions", "show", string(id[:8])); code != cli.ExitOK || !strings.Contains(out, `"`+last+`"`) {
		t.Errorf("show: code %d, %s%s", code, out, errs)
	}
	next := drive(t, d.home, 110, 40, "demo", "--agent", "shell")
	next.see(patience, "/workspace$")
	next.send("\x01/resume\r")
	next.see(patience, string(id[:8])+"  "+a.name, "“"+last+"”")
	next.send("\x1b")
	next.quit()
	for _, s := range d.allStored() { // the rest wants to know of one session
		if s.ID != id {
			if _, errs, code := d.command("sessions", "rm", s.ID); code != cli.ExitOK {
				t.Errorf("remove the shell's session: code %d, %s", code, errs)
			}
		}
	}
}

// goesOn resumes the session: the agent shows what was said in it last, in the
// run without a terminal, and answers again.
func (a realAgent) goesOn(t *testing.T, home string, session broker.Session) {
	t.Helper()
	d := drive(t, home, 110, 40, "demo", "--resume", string(session.ID[:8]))
	d.see(patience, "Hello from the workspace")
	if a.name != "opencode" { // the demo's hints cover its last line
		d.see(patience, a.ready)
	}
	d.until("the agent's connection to the tools", patience, func(string) bool {
		return d.onlySession().State == broker.StateIdle
	})
	a.settle(d)
	d.prompt("say resumed-here")
	d.until("an answer", patience, func(screen string) bool {
		return strings.Count(screen, "resumed-here") >= 2
	})
	d.quit()
	d.nothingLeft(session.ID)
}

// waitsForAPerson has the agent make a call that a person lets through.
func (a realAgent) waitsForAPerson(t *testing.T, d *driver) {
	t.Helper()
	notes := d.state("demo", "outside", "notes.txt")
	d.prompt("write " + notes + " approved-text")
	d.see(patience, "1 waiting")
	if text, _ := os.ReadFile(notes); strings.Contains(string(text), "approved-text") {
		t.Fatal("the file was written before anybody approved")
	}
	d.send("\x01")
	d.see(patience, "filesystem", "write_file")
	d.decide("/approve", func() bool {
		text, _ := os.ReadFile(notes)
		return strings.Contains(string(text), "approved-text")
	})
	d.see(patience, "Done: write")
}

// followsTheSize makes the terminal smaller. It waits for the end of the turn:
// some agents leave a line of their work behind on a screen that shrinks.
func (a realAgent) followsTheSize(t *testing.T, d *driver, id broker.SessionID) {
	t.Helper()
	d.settled()
	d.resize(80, 24)
	d.until("the agent's new size", patience, func(string) bool {
		return strings.HasSuffix(strings.TrimSpace(d.inside(id, "stty size </proc/1/fd/0 || stty size </dev/pts/0")), " 80")
	})
	d.see(patience, a.ready)
	d.resize(110, 40)
	d.see(patience, a.ready)
}

// answersATask runs the agent once more, without a terminal, in the same
// container, and asks it for its version.
func (a realAgent) answersATask(t *testing.T, id broker.SessionID) {
	t.Helper()
	adapter, err := agent.Builtin().Named(a.name)
	if err != nil {
		t.Fatal(err)
	}
	h := agent.Host{Sentinels: map[string]string{}, Conversation: "11111111-2222-4333-8444-555555555555", Prompt: agent.Prompt()}
	for _, p := range adapter.Providers {
		h.Sentinels[p] = strings.Repeat("x", 40) // the files of the session stand already
	}
	launch, err := adapter.Once(h, "read /workspace/hello.txt")
	if err != nil {
		t.Fatal(err)
	}
	client := engine(t)
	list, err := client.List(t.Context(), map[string]string{broker.LabelSession: id})
	if err != nil || len(list) != 1 {
		t.Fatalf("containers of the session: %v, %v", list, err)
	}
	run := func(argv []string) (string, int) {
		out, errs, code, err := client.Exec(t.Context(), list[0].ID, argv, "1000:1000")
		if err != nil {
			t.Fatalf("%q: %v\n%s", argv, err, errs)
		}
		t.Logf("%q wrote to its standard error: %s", argv[0], errs)
		return out, code
	}
	out, code := run(launch.Argv)
	answer := adapter.AnswerOf(out, "", code)
	if answer.Failure != "" || !strings.Contains(answer.Text, "Done: read") || !strings.Contains(answer.Text, "Hello from the workspace") {
		t.Errorf("the answer is %+v, read from: %s", answer, out)
	}
	images := docker.Images()
	image := images[slices.IndexFunc(images, func(i docker.ImageSpec) bool { return i.Name == adapter.Image })]
	if out, code := run([]string{launch.Argv[0], "--version"}); code != 0 || !strings.Contains(out, image.Version) {
		t.Errorf("its version is %q (code %d), the image says %s", out, code, image.Version)
	}
}
