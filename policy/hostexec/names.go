// Package hostexec recognizes, by their names, files that programs of the host run or obey
// by themselves when a person opens or enters the directory with these files. A call that
// writes one of them is never allowed without asking a person.
package hostexec

import (
	"regexp"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// executingDirs are directories whose files programs of the host run or obey when a person
// opens or enters the project.
var executingDirs = map[string]string{
	".git":          "git obeys what is in .git",
	"git~1":         "some disks know .git by that name",
	".husky":        "git hooks live there",
	".githooks":     "git hooks live there",
	".devcontainer": "editors build and run it",
	".direnv":       "the shell loads it",
	".idea":         "editors run its configurations",
	".fleet":        "editors run its configurations",
	".zed":          "editors run its tasks",
	".codex":        "the agent's settings start programs",
	".opencode":     "the agent's settings start programs",
	".kiro":         "the agent's settings start programs",
	".windsurf":     "the agent's settings start programs",
	".roo":          "the agent's settings start programs",
	".amazonq":      "the agent's settings start programs",
	".continue":     "the agent's settings start programs",
	".junie":        "the agent's settings start programs",
	".crush":        "the agent's settings start programs",
	".mise":         "the shell loads it",
	".vs":           "editors run its tasks",
	".theia":        "editors run its tasks",
	".nova":         "editors run its tasks",
	".cline":        "the agent's settings start programs",
	".qwen":         "the agent's settings start programs",
	".amp":          "the agent's settings start programs",
	".factory":      "the agent's settings start programs",
	".augment":      "the agent's settings start programs",
	".copilot":      "the agent's settings start programs",
	".hg":           "Mercurial obeys what is in it",
	".jj":           "Jujutsu obeys what is in it",
	".lefthook":     "git hooks live there",
	".vim":          "the editor runs it",
	".nvim":         "the editor runs it",
	".helix":        "the editor runs the programs it names",
	".pijul":        "Pijul obeys what is in it",
	"_darcs":        "Darcs obeys what is in it",
}

// executingFiles are files that programs of the host run or obey, by name in lower case.
var executingFiles = map[string]string{
	".gitattributes": "git runs the filters it names",
	".gitmodules":    "git obeys it",
	".gitconfig":     "git obeys it",
	".lfsconfig":     "git obeys it",
	".envrc":         "the shell loads it",
	".mcp.json":      "agents start the servers it names",
	".claude.json":   "the agent's settings start programs",
	".bashrc":        "the shell runs it", ".bash_profile": "the shell runs it", ".profile": "the shell runs it",
	".zshrc": "the shell runs it", ".zshenv": "the shell runs it", ".zprofile": "the shell runs it",
	".mise.toml": "the shell loads it", "mise.toml": "the shell loads it", ".mise.local.toml": "the shell loads it",
	"mise.local.toml": "the shell loads it", ".autoenv": "the shell loads it", ".autoenv.zsh": "the shell loads it",
	".exrc": "the editor runs it", ".vimrc": "the editor runs it", ".nvimrc": "the editor runs it", ".nvim.lua": "the editor runs it",
	".lvimrc": "the editor runs it", ".dir-locals.el": "the editor runs it", ".dir-locals-2.el": "the editor runs it",
	".gdbinit": "the debugger runs it", ".lldbinit": "the debugger runs it",
	"opencode.json": "the agent's settings start programs", "opencode.jsonc": "the agent's settings start programs",
	"crush.json": "the agent's settings start programs", ".crush.json": "the agent's settings start programs",
	".aider.conf.yml": "the agent's settings start programs",
	".yarnrc.yml":     "the package manager runs the program it names", ".pnpmfile.cjs": "the package manager runs it",
	".pre-commit-config.yaml": "git hooks are made of it",
	".overcommit.yml":         "git hooks are made of it",
	".devcontainer.json":      "editors build and run it",
	".bash_login":             "the shell runs it", ".bash_aliases": "the shell runs it", ".bash_logout": "the shell runs it",
	".zlogin": "the shell runs it", ".zlogout": "the shell runs it",
	".rprofile": "R runs it", ".irbrc": "Ruby runs it", ".pryrc": "Ruby runs it", ".pdbrc": "the debugger runs it",
	".yarnrc": "the package manager runs the program it names", ".npmrc": "the package manager runs the program it names",
	".pnp.cjs": "editors and the package manager load it", ".pnp.js": "editors and the package manager load it",
	".pnp.loader.mjs": "editors and the package manager load it",
	".bazelrc":        "the build tool runs the programs it names",
	".tool-versions":  "the shell runs the programs of the versions it names",
	".ghci":           "Haskell runs it",
	".iex.exs":        "Elixir runs it",
	".erlang":         "Erlang runs it",
	".octaverc":       "Octave runs it",
	".renviron":       "R takes its environment from it",
	".latexmkrc":      "editors run it with LaTeX", "latexmkrc": "editors run it with LaTeX",
	".simple-git-hooks.json": "git hooks are made of it", ".simple-git-hooks.js": "git hooks are made of it", ".simple-git-hooks.cjs": "git hooks are made of it",
	".ycm_extra_conf.py": "the editor runs it", ".vimspector.json": "the debugger runs the programs it names",
}

// executingIn are names that matter only inside one directory. A name that ends with "*"
// means all names with that prefix.
var executingIn = map[string]struct {
	why   string
	names []string
}{
	".vscode": {"editors run its tasks and the programs it names", []string{"tasks.json", "settings.json", "launch.json", "extensions.json", "mcp.json", "c_cpp_properties.json", "cmake-kits.json"}},
	".claude": {"the agent's settings start programs", []string{"settings*", "hooks*", "commands*", "agents*", "skills*", "plugins*"}},
	".gemini": {"the agent's settings start programs", []string{"settings*", "extensions*", "commands*"}},
	".cursor": {"the agent's settings start programs", []string{"mcp.json", "hooks.json", "rules*", "environment.json", "commands*"}},
	".github": {"the agent's settings start programs", []string{"hooks*"}},
	".cargo":  {"Cargo runs the programs it names", []string{"config", "config.toml"}},
	".bundle": {"Bundler loads it", []string{"config", "plugin*"}},
	".yarn":   {"the package manager runs it", []string{"releases*", "plugins*", "sdks*"}},
	".config": {"the shell loads it, or git hooks are made of it", []string{"mise*", "lefthook*"}},
	"mise":    {"the shell loads it", []string{"config*"}},
}

// lefthook matches the configuration files of lefthook, a tool that installs git hooks.
var lefthook = regexp.MustCompile(`^\.?lefthook(-local)?\.(ya?ml|toml|jsonc?)$`)

// Name returns why programs of the host would run or obey by themselves a file or directory
// of this name in a directory named dir, or "". For a directory it returns why they would
// run or obey files below it. Case is ignored, because some disks ignore it.
func Name(dir, name string, isDir bool) string {
	return obeyedName(Fold(dir), Fold(name), isDir)
}

func obeyedName(dir, name string, isDir bool) string {
	if why := executingDirs[name]; why != "" {
		return why
	}
	if !isDir {
		switch why := executingFiles[name]; {
		case why != "":
			return why
		case strings.HasSuffix(name, ".code-workspace"):
			return "editors run its tasks"
		case lefthook.MatchString(name):
			return "git hooks are made of it"
		}
	}
	in := executingIn[dir]
	for _, one := range in.names {
		if prefix, wild := strings.CutSuffix(one, "*"); name == one || wild && strings.HasPrefix(name, prefix) {
			return in.why
		}
	}
	return ""
}

// Path is Name for a path and all directories on the way to it. A path that is itself the
// directory of such files counts as well, because the call could create the directory with
// any files in it.
func Path(p string, exists func(name string) bool) string {
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	around := ""
	for i, part := range parts {
		part, last := Fold(part), i == len(parts)-1
		if why := obeyedName(around, part, !last); why != "" {
			return why
		}
		if in, ok := executingIn[part]; ok && last {
			return in.why
		}
		around = part
	}
	return bareRepository(p, exists)
}

// Git reports whether git treats a name as ".git" on some file system.
func Git(name string) bool {
	name = Fold(strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, name))
	return name == ".git" || name == "git~1"
}

// ignorable reports whether some disks ignore the character when they compare names.
func ignorable(r rune) bool {
	return r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff
}

// Fold maps all spellings that some disk treats as the same name to one spelling. It
// removes case, invisible joiners, and dots and spaces at the end.
func Fold(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			s = strings.NewReplacer("\u200c", "", "\u200d", "").Replace(s)
			s = norm.NFKC.String(cases.Fold().String(s))
			break
		}
	}
	return strings.TrimRight(strings.ToLower(s), ". ")
}
