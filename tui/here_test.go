package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/here"
)

// hereHarness asks about a project, and shows the question for long enough.
func hereHarness(t *testing.T, cols, rows int, p here.Project) (r *harness, kept *[]here.Choice) {
	t.Helper()
	kept = new([]here.Choice)
	p.Dir = "/src/project"
	if p.Keep == nil {
		p.Keep = func(c here.Choice) error { *kept = append(*kept, c); return nil }
	}
	r = newHarness(t, cols, rows, Options{Here: &p, Agent: "codex", Prompt: "go on"})
	return r, kept
}

func TestTheFirstTabWorksWhereThePersonSays(t *testing.T) {
	for key, want := range map[string]struct {
		workspace string
		worktree  broker.WorktreeChoice
		kept      []here.Choice
	}{
		"y":    {"/src/project", broker.WorktreeNo, []here.Choice{here.Yes}},
		"w":    {"/src/project", broker.WorktreeYes, []here.Choice{here.Worktree}},
		"n":    {"", "", []here.Choice{here.No}},
		"\x1b": {"", "", nil},
	} {
		t.Run(key, func(t *testing.T) {
			r, kept := hereHarness(t, 80, 24, here.Project{Worktree: true})
			if len(r.broker.opened) != 0 {
				t.Fatalf("opened %+v before an answer", r.broker.opened)
			}
			r.wants("/src/project", "y  work in it", "w  work on a branch", "n  work in an empty directory")
			r.paint()
			r.keys(key)
			if len(r.broker.opened) != 1 {
				t.Fatalf("opened %+v", r.broker.opened)
			}
			got := r.lastOpened()
			if got.Workspace != want.workspace || got.Worktree != want.worktree || got.Agent != "codex" {
				t.Errorf("opened %+v", got)
			}
			if len(*kept) != len(want.kept) || len(*kept) == 1 && (*kept)[0] != want.kept[0] {
				t.Errorf("kept %v", *kept)
			}
			if r.m.current() == nil || r.m.mode != modeTerminal {
				t.Errorf("mode %d", r.m.mode)
			}
		})
	}
}

// Where agents work on copies, what brings their commits home is offered first, and nothing says that
// the files themselves are changed.
func TestABranchIsOfferedFirstWhereFilesAreCopied(t *testing.T) {
	r, _ := hereHarness(t, 80, 24, here.Project{Worktree: true, Copied: true})
	r.wants("w  work on a branch", "y  work on a copy of it", "/land writes", "w branch · y copy · n does not")
	screen := r.screen()
	if branch, in := strings.Index(screen, "work on a branch"), strings.Index(screen, "work on a copy"); branch > in || strings.Contains(screen, "at once") {
		t.Errorf("the screen is\n%s", screen)
	}
	r, _ = hereHarness(t, 80, 24, here.Project{Copied: true})
	r.wants("y  work on a copy of it", "y copy · n does not")
}

// What was typed before the question could be read answers nothing, and neither does a key
// without a meaning there.
func TestOnlyAKeyAfterTheQuestionWasReadAnswers(t *testing.T) {
	r := bareHarness(t, Options{Here: &here.Project{Dir: "/src/project", Worktree: true, Keep: func(here.Choice) error { return nil }}})
	r.keys("yes") // there is no screen yet
	r.send(sizeMsg{80, 24})
	r.keys("y") // the terminal has not shown it
	if len(r.broker.opened) != 0 || r.m.mode != modeHere {
		t.Fatalf("opened %+v, mode %d", r.broker.opened, r.m.mode)
	}
	r.send(paintedMsg{r.scene.Seq, r.now})
	r.now = r.now.Add(here.MinAge - time.Millisecond)
	r.keys("y")
	r.now = r.now.Add(time.Millisecond)
	r.keys("x \r\t\x01")
	r.send(continuedMsg{}) // other programs may have had the screen
	r.keys("y")
	if len(r.broker.opened) != 0 || r.m.mode != modeHere {
		t.Fatalf("opened %+v, mode %d", r.broker.opened, r.m.mode)
	}
	r.paint()
	r.keys("yls\r") // what follows the answer is for the tab
	if len(r.broker.opened) != 1 || r.lastOpened().Workspace != "/src/project" || r.queued(1) != "ls\r" {
		t.Errorf("opened %+v, the agent got %q", r.broker.opened, r.queued(1))
	}
}

// Where no working tree can be made, nothing is said of one, and its key does nothing.
func TestAWorktreeIsOfferedOnlyWhereThereCanBeOne(t *testing.T) {
	r, _ := hereHarness(t, 80, 24, here.Project{})
	r.paint()
	r.keys("w")
	if screen := r.screen(); len(r.broker.opened) != 0 || strings.Contains(screen, "branch") {
		t.Errorf("opened %+v:\n%s", r.broker.opened, screen)
	}
}

// The smallest screen shows the directory and every answer.
func TestTheQuestionFitsSmallScreens(t *testing.T) {
	r, _ := hereHarness(t, 20, 6, here.Project{Worktree: true})
	r.wants("…/project?", "y  work in it", "w  work on a", "n  work in an")
}

func TestAnAnswerThatCannotBeKeptIsTold(t *testing.T) {
	r, _ := hereHarness(t, 80, 24, here.Project{Keep: func(here.Choice) error { return errors.New("disk full") }})
	r.paint()
	r.keys("y")
	r.wants("store the answer", "disk full")
	if len(r.broker.opened) != 1 {
		t.Errorf("opened %+v", r.broker.opened)
	}
}

// Agents that were left running are offered first.
func TestTheQuestionComesAfterTheOfferToTakeBack(t *testing.T) {
	r := bareHarness(t, Options{Offer: func(context.Context) bool { return true }, Here: &here.Project{Dir: "/src/project"}})
	r.broker.stored = storedSessions()
	r.send(sizeMsg{100, 24})
	if r.m.mode != modePicker {
		t.Fatalf("mode %d", r.m.mode)
	}
	r.keys("\x1b")
	if r.m.mode != modeHere || len(r.broker.opened) != 0 {
		t.Errorf("mode %d, opened %+v", r.m.mode, r.broker.opened)
	}
}

// In a directory that others can write to only a no is kept, and the question says so.
func TestOnlyANoIsKeptOfASharedDirectory(t *testing.T) {
	for key, want := range map[string]int{"y": 0, "w": 0, "n": 1, "\x1b": 0} {
		t.Run(key, func(t *testing.T) {
			r, kept := hereHarness(t, 80, 24, here.Project{Worktree: true, Shared: true})
			r.wants("Others can write to this directory")
			r.paint()
			if r.keys(key); len(*kept) != want || len(r.broker.opened) != 1 {
				t.Errorf("kept %v, opened %+v", *kept, r.broker.opened)
			}
		})
	}
}

// Whoever names a directory cannot write another question with that, at no size.
func TestTheNameOfAProjectIsOnlyShown(t *testing.T) {
	for name, dir := range map[string]string{
		"control characters": "/src/\x1b[2J\x1b]0;x\x07\r\ny  work in it",
		"right to left":      "/src/\u202etcejorp\u2066/\u05d0\u05d1",
		"marks":              "/src/a" + strings.Repeat("\u0301", 200),
		"long":               "/" + strings.Repeat("long/", 800),
		"no text":            "/src/\xff\xfe\u200b\u3000\u00a0",
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range [][2]int{{80, 24}, {20, 6}, {200, 60}} {
				r := newHarness(t, size[0], size[1], Options{Here: &here.Project{Dir: dir, Worktree: true}})
				r.wants("y  work in it", "n  work in an", "work in")
				for _, c := range r.screen() {
					if c < ' ' && c != '\n' || strings.ContainsRune("\u202e\u2066\u0301\u05d0\u200b\u3000\u00a0", c) {
						t.Fatalf("%U is drawn:\n%s", c, r.screen())
					}
				}
			}
		})
	}
}
