package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// An agent whose budget is spent is stopped with an error that it understands,
// and goes on once its person lets it use more.
func TestBudgetStop(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	state := spendsAtMost(t, home, 1)
	d := drive(t, home, 110, 40, "demo")
	d.until("Claude Code's prompt", patience, func(screen string) bool {
		return strings.Contains(screen, "bypass permissions") || strings.Contains(screen, "for agents") ||
			strings.Contains(screen, "for shortcuts")
	})
	d.ask("good day") // no word of the hint that is on the screen
	d.until("the answer", patience, func(screen string) bool {
		return strings.Contains(screen, "I am a script") && !working.MatchString(screen)
	})
	d.ask("hello again")
	d.see(patience, "The budget of this session is spent: 1 requests of 1 requests", "/budget +50 requests")

	d.send("\x01/budget +500 requests\r")
	d.see(patience, "may now use $5.00, 501 requests")
	d.until("the end of the turn", patience, func(screen string) bool { return !working.MatchString(screen) })
	d.ask("read hello.txt")
	d.until("an answer", patience, func(screen string) bool {
		return strings.Contains(screen, "Done: read") || strings.Contains(screen, "is not connected")
	})
	d.send("\x01/budget\r")
	d.see(patience, "usage of the models", "all sessions there ever were", "$5.00, 501 requests")
	id := d.onlySession().ID
	d.send("q\x01/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, name := range []string{"used.json", filepath.Join("sessions", id, "budget.json")} {
		text, err := os.ReadFile(filepath.Join(state, name))
		if err != nil || !strings.Contains(string(text), `"requests"`) {
			t.Errorf("%s holds %q, %v", name, text, err)
		}
	}
}

// spendsAtMost limits the requests of each session of a home, and returns where
// its state is.
func spendsAtMost(t *testing.T, home string, requests int) string {
	t.Helper()
	state := filepath.Join(home, "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	config := fmt.Appendf(nil, `{"budget":{"requests":%d}}`, requests)
	if err := os.WriteFile(filepath.Join(state, "config.json"), []byte(withWay(string(config))), 0o600); err != nil {
		t.Fatal(err)
	}
	return state
}

// Every agent stops at the end of its budget and says why, in its own way, and
// goes on once its person lets it use more. How many requests an agent makes for
// an order is its own affair.
func TestBudgetStopsEveryAgent(t *testing.T) {
	t.Parallel()
	for _, a := range realAgents {
		if a.spent == "" {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			home := newHome(t)
			spendsAtMost(t, home, 1)
			d := drive(t, home, 110, 40, "demo", "--agent", a.name)
			d.see(patience, a.ready)
			d.until("the agent's connection to the tools", patience, func(string) bool {
				return d.onlySession().State == broker.StateIdle
			})
			for tries := 1; ; tries++ {
				d.prompt(fmt.Sprintf("say answer-%d", tries))
				stopped := false
				d.until("an answer or the end of the budget", patience, func(screen string) bool {
					stopped = strings.Contains(strings.ToLower(oneLine(screen)), a.spent)
					return stopped || strings.Count(screen, fmt.Sprintf("answer-%d", tries)) >= 2
				})
				if stopped {
					break
				}
			}
			if record := d.audit(d.onlySession().ID); !strings.Contains(record, `"reason":"budget"`) {
				t.Errorf("the audit has no refusal for the budget:\n%s", record)
			}
			d.send("\x01/budget +500 requests\r")
			d.see(patience, "may now use", "501 requests")
			if a.name == "gemini" { // it asks whether to keep trying
				d.send("\r")
				d.until("the answer that was kept back", patience, func(screen string) bool {
					return strings.Count(screen, "answer-1") >= 2
				})
			}
			d.turnEnded()
			d.prompt("say going-on")
			d.until("an answer after the raise", patience, func(screen string) bool {
				return strings.Count(screen, "going-on") >= 2
			})
			d.quit()
		})
	}
}

// oneLine undoes the wrapping and the frames of what an agent draws.
func oneLine(screen string) string {
	return strings.Join(strings.FieldsFunc(screen, func(r rune) bool { return unicode.IsSpace(r) || r >= '─' && r <= '▟' }), " ")
}
