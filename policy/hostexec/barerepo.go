package hostexec

import "strings"

// bareParts are the names by which git knows the directory around them for a
// repository, or obeys what is in them once it does.
var bareParts = map[string]string{
	"head": "HEAD", "objects": "objects", "refs": "refs", "commondir": "commondir",
	"config": "config", "config.worktree": "config.worktree", "hooks": "hooks",
}

// bareRepository says why writing a file would make git obey a repository that
// has no .git directory around it, or "": the file is its configuration or a
// hook, or it is what was missing to make a repository of such files.
func bareRepository(p string, exists func(name string) bool) string {
	for end := len(p); end > 0; {
		slash := strings.LastIndexByte(p[:end], '/')
		part, last := bareParts[foldName(p[slash+1:end])], end == len(p)
		end = slash
		switch {
		case part == "" || slash < 0:
		case !last && part != "objects" && part != "refs" && part != "hooks":
			// a directory of that name means nothing to git
		case obeyed(p[:slash], part, exists):
			return "git obeys the configuration of a repository"
		}
	}
	return ""
}

// obeyed reports whether git, once the part of dir is written, takes dir for a
// repository and obeys something in it that it did not obey before.
func obeyed(dir, part string, exists func(name string) bool) bool {
	there := func(name string) bool { return exists(dir + "/" + name) }
	repository := func(has func(string) bool) bool {
		return has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
	}
	if !repository(func(name string) bool { return name == part || there(name) }) {
		return false
	}
	switch part {
	case "config", "config.worktree", "hooks", "commondir":
		return true
	}
	return !repository(there) && (there("config") || there("hooks") || there("commondir"))
}
