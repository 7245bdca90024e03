package menu

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAt(t *testing.T) {
	for text, want := range map[string]*Place{
		"":                      nil,
		"text":                  nil,
		"//text":                nil,
		"/a\nb":                 nil,
		"/":                     {Names: true},
		"/Ta":                   {Command: "ta", Word: "Ta", Names: true},
		"/tab ":                 {Command: "tab"},
		"/tab 1":                {Command: "tab", Word: "1"},
		"/approve+  1 fi":       {Command: "approve+", Before: []string{"1"}, Word: "fi"},
		"/new shell -- fix it ": nil,
		`/attach a\ b\ c d\ `:   {Command: "attach", Before: []string{`a\ b\ c`}, Word: `d\ `},
		"/new shell --":         {Command: "new", Before: []string{"shell"}, Word: "--"},
	} {
		p, ok := At(text)
		if ok != (want != nil) {
			t.Errorf("%q: %v", text, ok)
		} else if ok {
			if len(p.Before) == 0 {
				p.Before = nil
			}
			if diff := cmp.Diff(*want, p); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
	}
}

func TestArguments(t *testing.T) {
	entries := func(all ...string) (out []Entry) {
		for _, w := range all {
			out = append(out, Entry{Word: w})
		}
		return out
	}
	known := Known{
		Agents: entries("codex"), Tabs: entries("1", "2"), Calls: entries("7", "8"), Expired: entries("3"), Copies: entries("abcd"), Topics: entries("keys"),
		Themes: entries("dark"), Usage: "left|right [N]",
		Scopes: func(number string) []Entry { return entries("scope" + number) },
	}
	for line, want := range map[string]string{
		"/approve ":              "7 8 all",
		"/approve 7 ":            "",
		"/deny ":                 "7 8 all",
		"/approve+ ":             "7 8 scope",
		"/approve+ 7 ":           "scope7",
		"/approve+ scope ":       "15m 1h 8h 1d 7d",
		"/approve+ 7 scope ":     "15m 1h 8h 1d 7d",
		"/approve+ 7 s 1h ":      "",
		"/tab ":                  "1 2",
		"/split ":                "right down 1 2",
		"/split right ":          "right down 1 2",
		"/clipboard ":            "abcd",
		"/history ":              "again",
		"/history again ":        "3",
		"/help ":                 "keys",
		"/swap ":                 "left right 1 2",
		"/swap left ":            "",
		"/resume ":               "sessions",
		"/revoke ":               "all grants",
		"/servers ":              "add restart disable",
		"/servers add ":          "",
		"/servers restart ":      "servers",
		"/registries release ":   "denied",
		"/attach a ~/b/.c":       "files ~/b/.",
		"/save ":                 "inside ",
		`/attach my\ dir/a\ `:    "files my dir/",
		"/save -":                "-f",
		"/save -f a/b":           "inside a/",
		"/save -f a/b /tmp/x":    "files /tmp/",
		"/new ":                  "codex --workspace --worktree --no-worktree --repo --branch --policy --",
		"/new codex --repo ":     "",
		"/new codex --policy ":   "directories ",
		"/new ~/x":               "directories ~/",
		"/new codex --worktree ": "--workspace --no-worktree --repo --branch --policy --",
	} {
		p, ok := At(line)
		if !ok {
			t.Errorf("%q is no command", line)
			continue
		}
		found, more := p.Arguments(known)
		var got []string
		for _, e := range found {
			got = append(got, e.Word)
		}
		switch kind := []string{"", "sessions", "grants", "servers", "denied", "directories", "files", "inside"}[more.Kind]; {
		case more.Kind >= Directories:
			got = append(got, kind+" "+more.Dir)
		case kind != "":
			got = append(got, kind)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, strings.Join(got, " "), want)
		}
	}
}

func TestMatchAndComplete(t *testing.T) {
	all := []Entry{
		{Word: "close", About: "end it"}, {Word: "clone"}, {Word: "unclog", About: "of a pipe"}, {Word: "2", Names: []string{"build"}}, {Word: "3", Names: []string{"my build"}},
	}
	for typed, want := range map[string]struct{ found, completes string }{
		"":      {"close clone unclog 2 3", ""},
		"cl":    {"close clone unclog", "clo"},
		"CLO":   {"close clone unclog", ""},
		"clo":   {"close clone unclog", ""},
		"clos":  {"close", "close"},
		"unc":   {"unclog", "unclog"},
		"pipe":  {"unclog", "unclog"},
		"bu":    {"build 3", "build"},
		"build": {"build 3", "build"},
		"zz":    {"", ""},
	} {
		found := Match(typed, all)
		var words []string
		for _, e := range found {
			words = append(words, e.Word)
		}
		completes := ""
		if e, ok := Complete(typed, found); ok {
			completes = e.Word
		}
		if got := strings.Join(words, " "); got != want.found || completes != want.completes {
			t.Errorf("%q: %q, completes to %q, want %+v", typed, got, completes, want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	for args, want := range map[string]string{"lfet": "; did you mean left?", "left x": "", "": "", "zzzz": "", "N": ""} {
		if got := DidYouMean("[left|right|N] [M]", args); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	if got := DidYouMean("[add NAME COMMAND...|restart NAME]", "retsart x"); got != "; did you mean restart?" {
		t.Error(got)
	}
}
