package gitx

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestBrokenRepositories puts complete and broken repositories below a real one. Open must
// find the repository that git uses, or none.
func TestBrokenRepositories(t *testing.T) {
	type files map[string]string // "" is a directory, "-> x" a link
	whole := func(change files) files {
		all := files{"HEAD": "ref: refs/heads/main\n", "objects": "", "refs": ""}
		for name, content := range change {
			all[name] = content
		}
		return all
	}
	for name, tc := range map[string]struct {
		files
		used bool
	}{
		"whole":                  {whole(nil), true},
		"detached":               {whole(files{"HEAD": strings.Repeat("0", 40) + "\n"}), true},
		"no space":               {whole(files{"HEAD": "ref:refs/heads/main\n"}), true},
		"much space":             {whole(files{"HEAD": "ref: \t\n refs/heads/main\n"}), true},
		"linked head":            {whole(files{"HEAD": "-> refs/heads/main"}), true},
		"own commondir":          {whole(files{"commondir": ".\n"}), true},
		"garbage":                {whole(files{"HEAD": "garbage\n"}), false},
		"empty head":             {whole(files{"HEAD": "\n"}), false},
		"head is a directory":    {whole(files{"HEAD": ""}), false},
		"head elsewhere":         {whole(files{"HEAD": "ref: other\n"}), false},
		"head in capitals":       {whole(files{"HEAD": "REF: refs/heads/main\n"}), false},
		"short hash":             {whole(files{"HEAD": strings.Repeat("0", 39) + "\n"}), false},
		"far away":               {whole(files{"HEAD": "ref:" + strings.Repeat(" ", 300) + "refs/heads/main\n"}), false},
		"head linked elsewhere":  {whole(files{"HEAD": "-> main"}), false},
		"objects is a file":      {whole(files{"objects": "x"}), false},
		"objects is a dead link": {whole(files{"objects": "-> nowhere"}), false},
		"commondir of two lines": {whole(files{"commondir": ".\n\nx\n"}), false},
		"commondir with a space": {whole(files{"commondir": ". \n"}), false},
		"commondir to nothing":   {whole(files{"commondir": "nowhere\n"}), false},
		"no refs":                {files{"HEAD": "ref: refs/heads/main\n", "objects": ""}, false},
		"no head":                {files{"objects": "", "refs": ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, place := range []string{"sub/.git", "sub"} {
				dir := tempDir(t)
				mustGit(t, dir, dir, "init", "-q")
				for file, content := range tc.files {
					file = filepath.Join(dir, place, file)
					if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
						t.Fatal(err)
					}
					target, link := strings.CutPrefix(content, "-> ")
					switch {
					case link:
						if err := os.Symlink(target, file); err != nil {
							t.Fatal(err)
						}
					case content == "":
						if err := os.Mkdir(file, 0o700); err != nil {
							t.Fatal(err)
						}
					default:
						write(t, file, content)
					}
				}
				gits := strings.TrimSpace(mustGit(t, dir, dir+"/sub", "rev-parse", "--absolute-git-dir"))
				if used := gits == filepath.Join(dir, place); used != tc.used {
					t.Errorf("%s in %s: git uses %s", name, place, gits)
				}
				repo, err := Open(dir+"/sub", Home{})
				switch {
				case err != nil && tc.used:
					t.Errorf("%s in %s: %v", name, place, err)
				case err == nil && repo.GitDir != gits:
					t.Errorf("%s in %s: judged by %s, git uses %s", name, place, repo.GitDir, gits)
				}
			}
		})
	}
}

// Very many directories of references, in which there is no reference, are not listed to
// their end.
func TestRefsInManyDirectories(t *testing.T) {
	former := maxRefEntries
	maxRefEntries = 100
	t.Cleanup(func() { maxRefEntries = former })
	dir := tempDir(t)
	mustGit(t, dir, dir, "init", "-q")
	heads := filepath.Join(dir, ".git/refs/heads")
	for i := range 10 {
		for j := range 10 {
			if err := os.MkdirAll(filepath.Join(heads, strconv.Itoa(i), strconv.Itoa(j)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := Open(dir, Home{})
	if err != nil {
		t.Fatal(err)
	}
	if refs, err := r.Refs("refs/"); err == nil {
		t.Errorf("got %d references", len(refs))
	}
}
