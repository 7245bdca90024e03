package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runAttach is /attach [FILE...].
func (m *Model) runAttach(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("to attach this to")
	}
	if t.dead() {
		return nil, fault.New("/restart starts it again, /resume continues it", "%s has ended", t.title())
	}
	paths, err := input.Paths(m.o.Dir, args)
	if err != nil {
		return nil, fmt.Errorf("/attach: %w", err)
	}
	id := t.session.ID
	attach := func(ctx context.Context) ([]string, error) { return m.api.AttachFiles(ctx, id, paths) }
	return request(m, attach, func(attached []string) { m.pasteAttached(id, attached) }), nil
}

// pasteAttached pastes the paths of attachments in the container into the agent's terminal.
func (m *Model) pasteAttached(id broker.SessionID, paths []string) {
	t := m.tabOf(id)
	if t == nil {
		m.showError(errors.New("attach: the tab was closed meanwhile"))
		return
	}
	paste := keys.Paste{Start: true, Data: []byte(strings.Join(paths, " ") + " "), End: true}
	data := keys.Encode(keys.Event{Kind: keys.PasteEvent, Paste: paste}, t.pane.Screen.Modes())
	shown := text.Drawable(strings.Join(paths, " "))
	t.pane.Use()
	if !t.pane.Put(data) {
		m.showError(fmt.Errorf("attach: %s takes no input; the files are at %s", t.name(), shown))
		return
	}
	m.showSuccess(fmt.Sprintf("attached to %s: %s", t.name(), shown))
}

// runSave is /save [-f] PATH [DEST].
func (m *Model) runSave(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("to save a file of")
	}
	rest, replace := strings.CutPrefix(args+" ", "-f ")
	words, err := input.Words(rest)
	if err != nil {
		return nil, fmt.Errorf("/save: %w", err)
	}
	if len(words) == 0 || len(words) > 2 {
		return nil, fmt.Errorf("%s: takes a file of the container and, if not the current directory, where to save it", typed("save", args))
	}
	if len(words) == 1 {
		words = append(words, ".")
	}
	to, err := input.Absolute(m.o.Dir, words[1])
	if err != nil {
		return nil, err
	}
	id, r := t.session.ID, broker.SaveRequest{Path: words[0], To: to, Replace: replace}
	save := func(ctx context.Context) (string, error) { return m.api.SaveFile(ctx, id, r) }
	return request(m, save, func(path string) { m.showSuccess("saved as " + text.Drawable(path)) }), nil
}

// maxOffered is the longest paste that can be the path of a file, in bytes.
const maxOffered = 1024

// offerAttachment offers to attach a file if the text of a paste is the path of a file of the host
// that the tab's agent cannot see. It offers a path once.
func (m *Model) offerAttachment(t *tab, pasted string) tea.Cmd {
	path, ok := input.PastedPath(pasted)
	if !ok || t.offered[path] {
		return nil
	}
	id, workspace := t.session.ID, t.session.Place()
	return m.do(func(context.Context) tea.Msg {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(path, workspace+string(filepath.Separator)) {
			return nil
		}
		return answerMsg(func() { m.showOffer(id, path) })
	})
}

func (m *Model) showOffer(id broker.SessionID, path string) {
	t := m.tabOf(id)
	if t == nil || t.offered[path] || t.session.Ephemeral {
		return
	}
	if t.offered == nil {
		t.offered = map[string]bool{}
	}
	t.offered[path] = true
	m.later = join(m.later, m.addToast(view.Toast{
		Parts: []string{"the agent cannot see " + text.Drawable(path) + ", which is outside its workspace", input.DisplayKey(m.keys.CommandKey) + ", then /attach with that path, gives it a copy"},
		More:  "/attach",
	}))
}

// landing identifies the changes that /land has shown last, which "/land now" writes.
type landing struct {
	session broker.SessionID
	id      string
}

// landingTitle is the title of the list while the changes are being compared.
const landingTitle = "landing"

// runLand is /land: it shows what this tab's agent has changed in its copy of a directory. With "now"
// it writes into the directory what was shown.
func (m *Model) runLand(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("whose changes could be landed")
	}
	id, which := t.session.ID, broker.Which{}
	switch args {
	case "now":
		shown := m.landing
		if shown.id == "" || shown.session != id {
			return nil, fault.New("/land shows it first", "/land now: there is nothing to land, because nothing was shown for this tab")
		}
		m.landing = landing{}
		land := func(ctx context.Context) (broker.Landed, error) { return m.api.Land(ctx, id, shown.id) }
		return request(m, land, func(done broker.Landed) { m.showSuccess(text.Drawable(done.String())) }), nil
	case "--ignored":
		which.Ignored = true
	case "":
	default:
		return nil, fault.New("/land, or /land --ignored, and then /land now", "/land does not take %s", args)
	}
	m.landing = landing{}
	m.showHelp(landingTitle, []view.Line{{Text: "comparing the copy with the directory"}})
	return m.do(func(ctx context.Context) tea.Msg {
		l, err := m.api.Landing(ctx, id, which)
		return answerMsg(func() {
			// If the person has closed the list, nothing can be landed, because nobody has seen it.
			m.fillList(landingTitle, err, func() {
				if l.Files > 0 {
					m.landing = landing{id, l.ID}
				}
				m.showHelp("the copy of "+text.Drawable(l.Origin), panel.LandingLines(l))
			})
		})
	}), nil
}
