package menu

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// Place is the word at the cursor of a command line.
type Place struct {
	Command string   // without its slash, in lower case
	Before  []string // the arguments before the word
	Word    string   // the typed part of the word
	Names   bool     // the word is the command itself
}

// At returns the word at the end of the text before a cursor. ok is false when the text is no
// command, or when the word is part of a prompt.
func At(text string) (p Place, ok bool) {
	line, slash := strings.CutPrefix(text, "/")
	if !slash || strings.HasPrefix(line, "/") || strings.Contains(line, "\n") {
		return p, false
	}
	command, args, more := strings.Cut(line, " ")
	p.Command = strings.ToLower(command)
	if !more {
		p.Names, p.Word = true, command
		return p, true
	}
	const space = "\x00" // stands for a space that is part of a word
	words := strings.Split(strings.ReplaceAll(args, input.Escape(" "), space), " ")
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], space, input.Escape(" "))
	}
	p.Word = words[len(words)-1]
	p.Before = slices.DeleteFunc(words[:len(words)-1], func(w string) bool { return w == "" })
	return p, !slices.Contains(p.Before, "--")
}

// Known has the entries that a view knows without a look-up.
type Known struct {
	Usage   string // how the command is typed, for commands that take fixed words only
	Agents  []Entry
	Tabs    []Entry
	Calls   []Entry
	Scopes  func(number string) []Entry // of the call with a number; empty: the one shown
	Expired []Entry
	Copies  []Entry
	Themes  []Entry
	Topics  []Entry
}

// Kind is a kind of entries that are looked up outside of the event loop.
type Kind uint8

// The kinds.
const (
	Nothing Kind = iota
	Sessions
	Grants
	Servers
	Denied      // denied versions of packages
	Directories // of this machine
	Files       // files and directories of this machine
	Inside      // files and directories of the tab's workspace
)

// Source says what to look up: a kind and, for files, the directory.
type Source struct {
	Kind    Kind
	Dir     string           // as typed; it ends with a dot if hidden files are wanted
	Session broker.SessionID // of the tab in front; set by the caller
}

// Arguments returns the known entries that the word can become, and the source of further ones.
func (p Place) Arguments(k Known) (entries []Entry, more Source) {
	switch p.Command {
	case "approve+":
		return p.remembered(k), more
	case "new":
		return p.opening(k)
	case "servers":
		return p.server()
	case "attach":
		return nil, p.path(Files)
	case "save":
		return p.saving()
	case "split":
		return append(words("right", "down"), k.Tabs...), more
	}
	switch before := strings.Join(p.Before, " "); {
	case before == "":
		return p.first(k)
	case p.Command == "history" && before == "again":
		entries = k.Expired
	case p.Command == "registries" && before == "release":
		more.Kind = Denied
	}
	return entries, more
}

// first returns the first arguments of simple commands.
func (p Place) first(k Known) (entries []Entry, more Source) {
	switch p.Command {
	case "approve", "deny":
		if len(k.Calls) > 0 {
			entries = append(slices.Clone(k.Calls), Entry{Word: "all", About: "all calls that were shown in full"})
		}
	case "tab", "close", "move":
		entries = k.Tabs
	case "swap":
		entries = append(fixed(k.Usage), k.Tabs...)
	case "clipboard":
		entries = k.Copies
	case "help":
		entries = k.Topics
	case "theme":
		entries = k.Themes
	case "history":
		if len(k.Expired) > 0 {
			entries = words("again")
		}
	case "port":
		entries = words("close", "--to")
	case "registries":
		entries = words("release")
	case "resume":
		more.Kind = Sessions
	case "revoke":
		entries, more.Kind = words("all"), Grants
	default:
		entries = fixed(k.Usage)
	}
	return entries, more
}

// remembered returns the arguments of /approve+: a call, a scope, a time.
func (p Place) remembered(k Known) []Entry {
	number, before := "", p.Before
	if len(before) > 0 {
		if _, is := input.Number(before[0]); is {
			number, before = before[0], before[1:]
		}
	}
	switch {
	case len(p.Before) == 0:
		return append(slices.Clone(k.Calls), k.Scopes("")...)
	case len(before) == 0:
		return k.Scopes(number)
	case len(before) == 1:
		return []Entry{
			{Word: "15m", About: "as without a time"},
			{Word: "1h", About: "for an hour"},
			{Word: "8h", About: "for a day of work"},
			{Word: "1d", About: "for a day"},
			{Word: "7d", About: "for a week"},
		}
	}
	return nil
}

// opening returns the arguments of /new.
func (p Place) opening(k Known) (entries []Entry, more Source) {
	last := ""
	if n := len(p.Before); n > 0 {
		last = p.Before[n-1]
	}
	switch {
	case last == "--workspace", last == "--policy", strings.ContainsAny(p.Word, "/~"):
		return nil, p.path(Directories)
	case last == "--repo", last == "--branch":
		return nil, more
	case len(p.Before) == 0:
		entries = slices.Clone(k.Agents)
	}
	for _, flag := range []Entry{
		{Word: "--workspace", About: "the directory that its agent works in"},
		{Word: "--worktree", About: "a working tree on a branch of its own"},
		{Word: "--no-worktree", About: "the directory itself"},
		{Word: "--repo", About: "a clone of the repository at a URL"},
		{Word: "--branch", About: "the branch of that repository"},
		{Word: "--policy", About: "the directory of a stricter policy"},
		{Word: "--", About: "the first prompt follows"},
	} {
		if !slices.Contains(p.Before, flag.Word) {
			entries = append(entries, flag)
		}
	}
	return entries, more
}

// server returns the arguments of /servers.
func (p Place) server() (entries []Entry, more Source) {
	switch {
	case len(p.Before) == 0:
		return []Entry{
			{Word: "add", About: "add a server by its command or https address"},
			{Word: "restart", About: "start a server again"},
			{Word: "disable", About: "turn a server off in this tab"},
		}, more
	case len(p.Before) == 1 && p.Before[0] != "add":
		more.Kind = Servers
	}
	return nil, more
}

// saving returns the arguments of /save: a file of the workspace, and its destination.
func (p Place) saving() (entries []Entry, more Source) {
	before := len(p.Before)
	if before > 0 && p.Before[0] == "-f" {
		before--
	} else if before == 0 && strings.HasPrefix(p.Word, "-") {
		return []Entry{{Word: "-f", About: "replace a file that is there"}}, more
	}
	switch before {
	case 0:
		more = p.path(Inside)
	case 1:
		more = p.path(Files)
	}
	return nil, more
}

// path returns the source of completions of a path. They include hidden files once a dot is typed.
func (p Place) path(kind Kind) Source {
	word := p.Word
	if kind != Directories { // /new takes its directories unquoted
		word = input.Unescape(word)
	}
	dir, name := filepath.Split(word)
	if strings.HasPrefix(name, ".") {
		dir += "."
	}
	return Source{Kind: kind, Dir: dir}
}

// about describes fixed words.
var about = map[string]string{
	"left": "on the left", "right": "on the right", "up": "above", "down": "below", "all": "all of them", "next": "the next one", "prev": "the previous one",
	"again": "tell the agent of a call that has expired to make it again", "release": "let a version that you denied ask again",
	"close": "close a port", "--to": "let the container reach a port of this machine",
	"reload": "read the policy again, and show what would change", "apply": "put in force what was shown",
	"--ignored": "show also what git ignores", "now": "write into your directory what was shown",
	"even": "panes of one size", "main": "one large pane, the others beside it", "tiled": "a grid of panes",
}

func words(all ...string) (out []Entry) {
	for _, w := range all {
		out = append(out, Entry{Word: w, About: about[w]})
	}
	return out
}

// fixed returns the words that can be a command's first argument, read from its usage, such as
// "[left|right]" or "[again [N]]". A part in capitals is a placeholder and not such a word.
func fixed(usage string) []Entry {
	first, _, _ := strings.Cut(usage, "] [")
	var out []string
	for _, one := range strings.Split(first, "|") {
		w, _, _ := strings.Cut(strings.Trim(one, "[]"), " ")
		if w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz-") == "" {
			out = append(out, w)
		}
	}
	return words(out...)
}

// DidYouMean returns the end of an error about the arguments of a command, which proposes fixed words
// that are similar to the first argument. It is empty if none is similar, or if the first argument is
// such a word.
func DidYouMean(usage, args string) string {
	word, _, _ := strings.Cut(args, " ")
	var known []string
	for _, e := range fixed(usage) {
		known = append(known, e.Word)
	}
	if slices.Contains(known, word) {
		return ""
	}
	return text.DidYouMean(word, known)
}
