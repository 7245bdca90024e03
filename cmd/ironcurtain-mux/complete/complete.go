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

// limit is how long the daemon may take, because a person waits for the shell.
const limit = time.Second

// source finds what a word can be. given are the arguments before it.
type source func(ctx context.Context, p wiring.Paths, given []string) []cobra.Completion

// argument completes an argument of a command.
type argument struct {
	source
	first int  // index of the argument, from 0
	many  bool // also completes all further arguments, each word once
	files bool // the argument can also be a file
}

// arguments are the arguments that can be completed, by the command's path.
var arguments = map[string]argument{
	"approve":         {source: waiting},
	"deny":            {source: waiting},
	"revoke":          {source: grants},
	"attach":          {source: sessions(shown)},
	"stop":            {source: sessions(ongoing), many: true},
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

// values complete the values of flags: of the named command, or without one, of all commands that
// have such a flag.
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

// orFile are the flags in values whose value can also be a file.
var orFile = map[string]bool{"engine": true}

// Add adds completion to the arguments and flags of a command tree. It returns the commands in
// arguments that the tree does not have.
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
				_ = cmd.RegisterFlagCompletionFunc(name, value(from, orFile[name])) // the flag exists, and has no function yet
			}
		}
		if cmd.Flags().Lookup("workspace") != nil { // it opens a tab
			_ = cmd.MarkFlagDirname("workspace")
			_ = cmd.MarkFlagDirname("policy") // demo has no such flag
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

// plain reports whether a word means itself in a shell without any quoting.
func plain(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@") == ""
}

// mostAbout is how many bytes of a description a shell gets. An agent's text may be long.
const mostAbout = 300

// one returns a completion with a description in plain ASCII.
func one(word, format string, args ...any) cobra.Completion {
	about := cli.SafeText(fmt.Sprintf(format, args...))
	if len(about) > mostAbout {
		about = about[:mostAbout] + "..."
	}
	return cobra.CompletionWithDesc(word, about)
}

// words completes fixed words.
func words(all ...string) source {
	return func(context.Context, wiring.Paths, []string) []cobra.Completion { return slices.Clone(all) }
}

// ask calls the daemon, if one runs, and ignores errors.
func ask(ctx context.Context, p wiring.Paths, call func(context.Context, *calls.Client) error) {
	_ = running.AskIfRunning(ctx, p.Home, call)
}
