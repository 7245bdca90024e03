package hostexec

import "strings"

// bareParts are names of files and directories by which git recognizes the directory that
// contains them as a repository, or whose contents it obeys in a repository.
var bareParts = map[string]string{
	"head": "HEAD", "objects": "objects", "refs": "refs", "commondir": "commondir",
	"config": "config", "config.worktree": "config.worktree", "hooks": "hooks",
}

// bareRepository returns why writing a file would make git obey a repository that is not
// in a .git directory, or "". That is so if the file is the configuration or a hook of such
// a repository, or if it was the only missing part of one.
func bareRepository(p string, exists func(name string) bool) string {
	for end := len(p); end > 0; {
		slash := strings.LastIndexByte(p[:end], '/')
		part, last := bareParts[Fold(p[slash+1:end])], end == len(p)
		end = slash
		switch {
		case part == "" || slash < 0:
		case !last && part != "objects" && part != "refs" && part != "hooks":
			// a file, not a directory, has this name in a repository
		case obeyed(p[:slash], part, exists):
			return "git obeys the configuration of a repository"
		}
	}
	return ""
}

// obeyed reports whether git, after part is written, accepts dir as a repository and obeys
// something in it that it did not obey before.
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
