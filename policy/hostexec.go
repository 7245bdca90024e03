package policy

import (
	"regexp"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// executingDirs are directories whose files tools on the host execute or obey
// when a person opens or enters the project.
var executingDirs = map[string]string{
	".git":          "git obeys what stands in .git",
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
	".hg":           "Mercurial obeys what stands in it",
	".jj":           "Jujutsu obeys what stands in it",
	".lefthook":     "git hooks live there",
}

// executingFiles are files of that kind, by their name.
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
	".pnp.loader.mjs":    "editors and the package manager load it",
	".bazelrc":           "the build tool runs the programs it names",
	".ycm_extra_conf.py": "the editor runs it", ".vimspector.json": "the debugger runs the programs it names",
}

// executingIn are files that matter only inside one directory; a name that
// ends with "*" stands for all that begin so.
var executingIn = map[string][]string{
	".vscode": {"tasks.json", "settings.json", "launch.json", "extensions.json", "mcp.json", "c_cpp_properties.json", "cmake-kits.json"},
	".claude": {"settings*", "hooks*", "commands*", "agents*", "skills*", "plugins*"},
	".gemini": {"settings*", "extensions*", "commands*"},
	".cursor": {"mcp.json", "hooks.json", "rules*", "environment.json", "commands*"},
	".github": {"hooks*"},
	".cargo":  {"config", "config.toml"},
	".bundle": {"config", "plugin*"},
	".config": {"mise*"},
	"mise":    {"config*"},
}

// lefthook are the names of the files of a tool that installs git hooks.
var lefthook = regexp.MustCompile(`^\.?lefthook(-local)?\.(ya?ml|toml|jsonc?)$`)

// hostObeys says why programs on the host run or obey a file by its name, or "".
// Names are compared without regard to case, because some disks do so.
func hostObeys(p string, exists func(name string) bool) string {
	parts := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, part := range parts {
		part = foldName(part)
		if why := executingDirs[part]; why != "" {
			return why
		}
		last := i == len(parts)-1
		if why := executingFiles[part]; why != "" && last {
			return why
		}
		switch {
		case last && strings.HasSuffix(part, ".code-workspace"):
			return "editors run its tasks"
		case last && lefthook.MatchString(part):
			return "git hooks are made of it"
		}
		names, ok := executingIn[part]
		if !ok {
			continue
		}
		if last {
			return "programs take their settings from that directory"
		}
		for _, name := range names {
			next := foldName(parts[i+1])
			prefix, wild := strings.CutSuffix(name, "*")
			if next == name || (wild && strings.HasPrefix(next, prefix)) {
				return "programs take their settings from that file"
			}
		}
	}
	return bareRepository(p, exists)
}

// foldName maps the spellings that some disk takes for the same name to one:
// whatever their case, with invisible joiners or with dots and spaces at the end.
func foldName(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			s = strings.NewReplacer("\u200c", "", "\u200d", "").Replace(s)
			s = norm.NFKC.String(cases.Fold().String(s))
			break
		}
	}
	return strings.TrimRight(strings.ToLower(s), ". ")
}
