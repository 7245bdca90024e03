package complete

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire/calls"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// limit is how long the daemon may take: a person waits for the shell.
const limit = time.Second

// source finds what a word can be. given are the arguments before it.
type source func(ctx context.Context, p wiring.Paths, given []string) []cobra.Completion

// argument says what the arguments of a command can be.
type argument struct {
	source
	first int  // the first argument that it is about, from 0
	many  bool // it is about all further ones, and takes none twice
	files bool // or the argument is a file
}

// arguments are the arguments that can be completed, by the command's path.
var arguments = map[string]argument{
	"approve":         {source: waiting},
	"deny":            {source: waiting},
	"revoke":          {source: grants},
	"attach":          {source: sessions(shown)},
	"sessions show":   {source: sessions(every)},
	"sessions land":   {source: sessions(copied)},
	"sessions resume": {source: sessions(resting)},
	"sessions rm":     {source: sessions(resting), many: true},
	"audit tail":      {source: sessions(every), files: true},
	"audit show":      {source: sessions(every), files: true},
	"audit verify":    {source: sessions(every), files: true},
	"registry log":    {source: sessions(every), files: true},
	"tokens create":   {source: sessions(every), first: 1, many: true},
	"tokens revoke":   {source: tokens},
	"clients kick":    {source: clients},
	"servers login":   {source: servers},
	"servers logout":  {source: servers},
	"servers import":  {source: importable, many: true},
	"images build":    {source: agents, many: true},
	"images rm":       {source: agents, many: true},
}

// values are the values of flags that can be completed, of all commands that have such a flag or,
// with a command, of that one.
var values = map[string]source{
	"agent":                 agents,
	"resume":                sessions(resting),
	"remember":              scopes,
	"engine":                engines,
	"base":                  words("auto", "registry", "mmdebstrap"),
	"start --output":        words("text", "json"),
	"audit show --decision": words("allow", "deny", "escalated-approved", "escalated-denied", "done", "error"),
	"audit show --outcome":  words("answered", "tool-error", "refused", "cancelled", "timed-out", "server-died", "unreadable"),
}

// orFile are the flags of values that can be a file, too.
var orFile = map[string]bool{"engine": true}

// Add makes the arguments and flags of a command tree complete themselves. It returns the commands
// that it did not find.
func Add(root *cobra.Command) (missing []string) {
	left := map[string]bool{}
	for path := range arguments {
		left[path] = true
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		if a, is := arguments[path]; is {
			delete(left, path)
			cmd.ValidArgsFunction = a.complete
		}
		for name, from := range values {
			if of, flag, found := strings.Cut(name, " --"); found && of == path {
				name = flag
			}
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, value(from, orFile[name])) // the flag is there, and has none yet
			}
		}
		if cmd.Flags().Lookup("workspace") != nil { // it opens a tab
			_ = cmd.MarkFlagDirname("workspace")
			_ = cmd.MarkFlagDirname("policy") // a demo has none
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for path := range left {
		missing = append(missing, path)
	}
	return missing
}

// value completes the value of a flag, which may be a file.
func value(from source, files bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return argument{source: from, first: len(given), files: files}.complete(cmd, given, typed)
	}
}

// complete is what cobra calls.
func (a argument) complete(cmd *cobra.Command, given []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if a.files {
		directive = cobra.ShellCompDirectiveDefault
	}
	p, err := wiring.FindPaths()
	if err != nil || len(given) < a.first || !a.many && len(given) > a.first {
		return nil, directive
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), limit)
	defer cancel()
	found := a.source(ctx, p, given)
	return slices.DeleteFunc(found, func(c cobra.Completion) bool {
		word, _, _ := strings.Cut(c, "\t")
		return !strings.HasPrefix(word, typed) || a.many && slices.Contains(given[a.first:], word) || !plain(word)
	}), directive
}

// plain reports whether a shell takes a word for itself, whatever its quoting.
func plain(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@") == ""
}

// mostAbout is how many bytes of a description a shell gets: what an agent wrote may be long.
const mostAbout = 300

// one is a completion with a description, of which a terminal draws every character as it is.
func one(word, format string, args ...any) cobra.Completion {
	about := cli.SafeText(fmt.Sprintf(format, args...))
	if len(about) > mostAbout {
		about = about[:mostAbout] + "..."
	}
	return cobra.CompletionWithDesc(word, about)
}

// words are fixed words.
func words(all ...string) source {
	return func(context.Context, wiring.Paths, []string) []cobra.Completion { return slices.Clone(all) }
}

// ask calls the daemon, if one runs. Without an answer there is nothing to complete.
func ask(ctx context.Context, p wiring.Paths, call func(context.Context, *calls.Client) error) {
	_ = running.AskIfRunning(ctx, p.Home, call)
}
