package dpkg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// withValue are options that take the next argument.
var withValue = []string{"--status-fd", "--log", "--admindir", "--root", "--instdir"}

// Command carries out a command line of apt, without the program's name. It writes messages for
// people to out.
func (r Root) Command(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	var action string
	var names []string
	call := call{Root: r, ctx: ctx, out: out}
	for rest := args; len(rest) > 0; {
		arg := rest[0]
		rest = rest[1:]
		switch {
		case slices.Contains(withValue, arg):
			if len(rest) == 0 {
				return fmt.Errorf("%s needs a value", arg)
			}
			value := rest[0]
			rest = rest[1:]
			if arg == "--status-fd" {
				fd, err := strconv.Atoi(value)
				if err != nil {
					return fmt.Errorf("%s %s is not a file descriptor", arg, value)
				}
				call.progress = os.NewFile(uintptr(fd), "progress")
			}
		case slices.Contains(actions, arg) && action == "":
			action = arg
		case strings.HasPrefix(arg, "-"): // such as --force-depends, which has no effect here
		default:
			names = append(names, arg)
		}
	}
	switch action {
	case "--assert-multi-arch", "--print-foreign-architectures", "--configure", "--triggers-only":
		return nil // there is nothing to do or to print
	case "--set-selections":
		return call.choose(in)
	case "--unpack":
		return call.unpack(names, slices.Contains(args, "--recursive"))
	case "--remove", "--purge":
		if slices.Contains(args, "--pending") {
			chosen, err := call.chosen()
			if err != nil {
				return err
			}
			names = append(names, chosen...)
		}
		return call.remove(names)
	}
	return errors.New("this replacement of dpkg does only what apt-get install and remove need")
}

var actions = []string{"--assert-multi-arch", "--print-foreign-architectures", "--configure", "--triggers-only", "--set-selections", "--unpack", "--remove", "--purge"}

// call is one command.
type call struct {
	Root
	ctx      context.Context // of one call of Command
	out      io.Writer
	progress *os.File // for apt's progress bar; nil: none
}

// say tells people what was done, and apt the states through which dpkg would have gone.
func (c call) say(p paragraph, states []string, format string, args ...any) {
	fmt.Fprintf(c.out, format+"\n", args...)
	if c.progress == nil {
		return
	}
	for _, state := range states {
		fmt.Fprintf(c.progress, "status: %s:%s: %s\n", p.field("Package"), p.field("Architecture"), state)
	}
}

var (
	comes = []string{"half-installed", "unpacked", "half-configured", "installed"}
	goes  = []string{"half-configured", "half-installed", "config-files", "not-installed"}
)

// unpack unpacks archives, or all archives in directories.
func (c call) unpack(paths []string, directories bool) error {
	for _, path := range paths {
		archives := []string{path}
		if directories {
			found, err := filepath.Glob(filepath.Join(path, "*.deb"))
			if err != nil {
				return err
			}
			archives = found
		}
		for _, archive := range archives {
			if err := c.unpackOne(archive); err != nil {
				return fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
			}
		}
	}
	return nil
}

func (c call) unpackOne(archive string) error {
	control, err := debTool(c.ctx, "--field", archive)
	if err != nil {
		return err
	}
	p := paragraph(strings.TrimSpace(control)).with("install ok installed")
	name := p.field("Package")
	if name == "" || strings.ContainsRune(name, '/') || !p.single() {
		return errors.New("its control file does not describe one package")
	}
	own, _, err := c.others(name)
	if err != nil {
		return err
	}
	before, err := c.listed(name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.list(name)), 0o755); err != nil { //nolint:gosec // as dpkg makes it
		return err
	}
	if err := c.stays(c.ctx, archive); err != nil {
		return err
	}
	names, err := debTool(c.ctx, "--vextract", archive, c.files())
	if err != nil {
		return err
	}
	now := lines(names)
	if err := os.WriteFile(c.list(name), []byte(names), 0o644); err != nil { //nolint:gosec // as dpkg writes it
		return err
	}
	if err := c.delete(slices.DeleteFunc(before, func(path string) bool { return slices.Contains(now, path) })); err != nil {
		return err
	}
	if err := c.store(append(own, p)); err != nil {
		return err
	}
	c.say(p, comes, "Unpacked %s (%s) in %s; its scripts do not run", name, p.field("Version"), c.files())
	return nil
}

// choose notes the selections that apt makes, except for the image's packages. A line has a package's
// name and its selection, such as deinstall.
func (c call) choose(in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the selections: %w", err)
	}
	own, err := c.unpacked()
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 2 {
			continue
		}
		name, _, _ := strings.Cut(words[0], ":") // an architecture may follow
		for i, p := range own {
			if p.is(name) {
				own[i] = p.with(words[1] + " ok installed")
			}
		}
	}
	return c.store(own)
}

// chosen returns the packages that are selected to be removed.
func (c call) chosen() (names []string, err error) {
	own, err := c.unpacked()
	for _, p := range own {
		if want, _, _ := strings.Cut(p.field("Status"), " "); want == "deinstall" || want == "purge" {
			names = append(names, p.field("Package"))
		}
	}
	return names, err
}

// remove removes packages.
func (c call) remove(names []string) error {
	for _, name := range names {
		name, _, _ = strings.Cut(name, ":") // an architecture may follow
		own, p, err := c.others(name)
		if err != nil {
			return err
		}
		if p == "" {
			continue // it is not installed
		}
		files, err := c.listed(name)
		if err == nil {
			err = c.delete(files)
		}
		if err == nil {
			err = os.RemoveAll(c.list(name))
		}
		if err == nil {
			err = c.store(own)
		}
		if err != nil {
			return fmt.Errorf("remove %s: %w", name, err)
		}
		c.say(p, goes, "Removed %s", name)
	}
	return nil
}

// others returns the unpacked packages without the named one, and that one; "" if it is not
// unpacked. A package of the image is an error.
func (c call) others(name string) (others []paragraph, one paragraph, err error) {
	held, err := c.held()
	if err != nil {
		return nil, "", err
	}
	if slices.ContainsFunc(held, func(p paragraph) bool { return p.is(name) }) {
		return nil, "", fmt.Errorf("%s belongs to the image, which cannot be changed: the person can make a new one with 'ironcurtain-mux images build'", name)
	}
	own, err := c.unpacked()
	for _, p := range own {
		if p.is(name) {
			one = p
		} else {
			others = append(others, p)
		}
	}
	return others, one, err
}
