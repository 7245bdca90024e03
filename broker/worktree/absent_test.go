package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// What the repository does not hold itself is named, and none of what it says to get
// it is run: neither a filter nor an update of a submodule.
func TestAbsent(t *testing.T) {
	dir, trap := person(t)
	p, _ := made(t, dir)
	if a, err := p.Absent(t.Context()); err != nil || a.String() != "" {
		t.Fatalf("of a plain repository: %+v, %v", a, err)
	}

	quiet := "export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null GIT_CONFIG_KEY_1=core.fsmonitor GIT_CONFIG_VALUE_1=false\n"
	sh(t, dir, quiet+`git init -q "vendor x"; git -C "vendor x" commit -q --allow-empty -m one
printf '[submodule "x"]\n\tpath = vendor x\n\turl = https://example.org/x\n\tupdate = !touch `+trap+`\n' >.gitmodules
git -c advice.addEmbeddedRepo=false add . ; git commit -qm three; rm -f `+trap)
	p, _ = made(t, dir)
	a, err := p.Absent(t.Context())
	if err != nil || a.String() != "submodule vendor x" {
		t.Fatalf("a submodule: %+v, %v", a, err)
	}

	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
	for _, name := range []string{"a.bin", "sub/b.bin"} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(pointer), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	sh(t, dir, quiet+`echo '*.bin filter=lfs diff=lfs merge=lfs -text' >.gitattributes; git add . ; git commit -qm four
git config filter.lfs.smudge 'touch `+trap+`'; git config filter.lfs.process 'touch `+trap+`'; git config filter.lfs.required true; rm -f `+trap)
	p, _ = made(t, dir)
	a, err = p.Absent(t.Context())
	if err != nil || a.String() != "submodule vendor x and 2 files of Git LFS" {
		t.Fatalf("both: %+v, %v", a, err)
	}
	if got, err := os.ReadFile(filepath.Join(p.Dir, "sub/b.bin")); err != nil || string(got) != pointer {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
