package input

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
)

// Place is where a key is pressed. Each place has keys of its own.
type Place string

// The places, in the order of the help screen.
const (
	PlaceTerminal Place = "in the agent"
	PlaceStarting Place = "while an agent starts"
	PlacePrefix   Place = "after the prefix key"
	PlaceCommand  Place = "on the command line"
	PlaceEmpty    Place = "on an empty command line"
	PlacePanel    Place = "with the approval panel open"
	PlaceDecide   Place = "in the approval panel, after Tab"
	PlaceMenu     Place = "with a menu above the command line"
	PlaceSearch   Place = "while the history is searched"
	PlaceCopy     Place = "in copy mode"
	PlaceHelp     Place = "in this help and other lists"
	PlacePicker   Place = "in the list of sessions"
	PlaceQuestion Place = "at a question"
	PlaceHere     Place = "at the question whether to work in a project"
)

// Places returns all places, in the order of the help screen.
func Places() (out []Place) {
	for _, b := range keyTable("", "") {
		if !slices.Contains(out, b.Place) {
			out = append(out, b.Place)
		}
	}
	return out
}

// Topic returns the place as an argument of /help; empty if p is not a place.
func (p Place) Topic() string {
	if !slices.Contains(Places(), p) {
		return ""
	}
	return p.word()
}

// word returns the place as the names of bindings in config.json write it.
func (p Place) word() string {
	switch p {
	case PlaceTerminal:
		return "agent"
	case PlaceStarting:
		return "starting"
	case PlacePrefix:
		return "prefix"
	case PlaceCommand:
		return "command"
	case PlaceEmpty:
		return "empty"
	case PlacePanel:
		return "panel"
	case PlaceDecide:
		return "decide"
	case PlaceMenu:
		return "menu"
	case PlaceSearch:
		return "search"
	case PlaceCopy:
		return "copy"
	case PlaceHelp:
		return "help"
	case PlacePicker:
		return "pick"
	case PlaceHere:
		return "here"
	}
	return "question"
}

// Binding binds keys to an action in one place. The table of all bindings is the only
// list of keys: dispatch, the help screen and the generated documentation read it.
type Binding struct {
	Place       Place
	action      Action
	key.Binding // its keys, as KeyName names them; its help says what they do
}

// keyed makes a binding of keys, perhaps none, with a help text.
func keyed(does string, names ...string) key.Binding {
	b := key.NewBinding(key.WithKeys(names...))
	b.SetHelp("", does)
	return b
}

// Member returns the member of config.json that sets this key, if that is not "keys"; else
// empty.
func (b Binding) Member() string {
	switch {
	case b.action == ActPrefix:
		return "prefix"
	case b.action == ActLiteral || b.action == ActCommand && b.Place == PlaceTerminal:
		return "commandKey"
	}
	return ""
}

// Name returns the binding's name in config.json: its place and its action. The names do
// not change between versions.
func (b Binding) Name() string {
	word := b.Place.word()
	return word + "." + strings.ReplaceAll(strings.TrimPrefix(string(b.action), word+"-"), " ", "-")
}

// Action names what a key does.
type Action string

// Repeats reports whether, for a moment after the action, its key works without the prefix.
func (a Action) Repeats() bool { return strings.HasPrefix(string(a), "resize ") }

// The actions.
const (
	ActCommand     Action = "command-line"
	ActTab         Action = "tab-number"
	ActLog         Action = "log"
	ActPrefix      Action = "prefix"
	ActPaste       Action = "paste"
	ActTakePrefix  Action = "take-prefix"
	ActEndTour     Action = "end-tour"
	ActLiteral     Action = "literal"
	ActLeave       Action = "leave"
	ActEnter       Action = "enter"
	actLeft        Action = "left"
	actRight       Action = "right"
	actHome        Action = "home"
	actEnd         Action = "end"
	actWordLeft    Action = "word-left"
	actWordRight   Action = "word-right"
	ActBackspace   Action = "backspace"
	actDelete      Action = "delete"
	actKillWord    Action = "kill-word"
	actKillStart   Action = "kill-to-start"
	actKillEnd     Action = "kill-to-end"
	actClear       Action = "clear"
	actUndo        Action = "undo"
	actOlder       Action = "older"
	actNewer       Action = "newer"
	ActComplete    Action = "complete"
	ActSearch      Action = "search-history"
	actNewline     Action = "newline"
	ActMenuDown    Action = "menu-down"
	ActMenuUp      Action = "menu-up"
	actSearchOlder Action = "search-older"
	actSearchNewer Action = "search-newer"
	actSearchRun   Action = "search-run"
	actSearchTake  Action = "search-take"
	actSearchBack  Action = "search-back"
	ActPrevTab     Action = "previous-tab"
	ActNextTab     Action = "next-tab"
	ActCopyMode    Action = "copy-mode"
	ActKeys        Action = "keys"
	ActPanLeft     Action = "pan left"
	ActPanRight    Action = "pan right"
	ActPanUp       Action = "pan up"
	ActPanDown     Action = "pan down"
	ActPanelDown   Action = "panel-down"
	ActPanelUp     Action = "panel-up"
	ActPanelPage   Action = "panel-page"
	ActPanelPageUp Action = "panel-page-up"
	ActPanelTop    Action = "panel-top"
	ActPanelEnd    Action = "panel-end"
	ActPanelNext   Action = "panel-next"
	ActPanelPrev   Action = "panel-previous"
	ActPanelTab    Action = "panel-tab"
	ActApprove     Action = "decide-approve"
	ActDeny        Action = "decide-deny"
	ActChooseYes   Action = "decide-choose-approve"
	ActChooseNo    Action = "decide-choose-deny"
	ActDecide      Action = "decide-chosen"
	ActCopyLeft    Action = "copy-left"
	ActCopyRight   Action = "copy-right"
	ActCopyUp      Action = "copy-up"
	ActCopyDown    Action = "copy-down"
	ActCopyPageUp  Action = "copy-page-up"
	ActCopyPageDn  Action = "copy-page-down"
	ActCopyHalfUp  Action = "copy-half-up"
	ActCopyHalfDn  Action = "copy-half-down"
	ActCopyTop     Action = "copy-top"
	ActCopyBottom  Action = "copy-bottom"
	ActCopyStart   Action = "copy-line-start"
	ActCopyFirst   Action = "copy-first-letter"
	ActCopyLineEnd Action = "copy-line-end"
	ActCopyWord    Action = "copy-word"
	ActCopyBack    Action = "copy-word-back"
	ActCopyWordEnd Action = "copy-word-end"
	ActCopySelect  Action = "copy-select"
	ActCopyLines   Action = "copy-select-lines"
	ActCopySwap    Action = "copy-swap-ends"
	ActCopyBlock   Action = "copy-block"
	ActCopyMark    Action = "copy-mark"
	ActCopyToMark  Action = "copy-to-mark"
	ActCopyYank    Action = "copy-yank"
	ActCopyEdit    Action = "copy-edit"
	ActCopySearch  Action = "copy-search"
	ActCopySearchB Action = "copy-search-back"
	ActCopyNext    Action = "copy-next-match"
	ActCopyPrev    Action = "copy-previous-match"
	ActCopyPrompt  Action = "copy-next-prompt"
	ActCopyPromptB Action = "copy-previous-prompt"
	ActYes         Action = "yes"
	ActNo          Action = "no"
	ActHelpDown    Action = "help-down"
	ActHelpUp      Action = "help-up"
	ActHelpPage    Action = "help-page"
	ActHelpPageUp  Action = "help-page-up"
	ActHelpSearch  Action = "help-search"
	ActHelpNext    Action = "help-next-match"
	ActHelpPrev    Action = "help-previous-match"
	ActPickDown    Action = "pick-down"
	ActPickUp      Action = "pick-up"
	ActPickPage    Action = "pick-page"
	ActPickPageUp  Action = "pick-page-up"
	ActPick        Action = "pick"
	ActPickEnd     Action = "pick-end"
	ActPickAll     Action = "pick-all"

	ActHereWorktree Action = "worktree"
)
