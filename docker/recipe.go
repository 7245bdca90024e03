package docker

import (
	"regexp"
	"slices"
	"strings"
)

// Recipe says what agents' images contain besides the agents. Sessions with equal recipes
// share their images.
type Recipe struct {
	Base       string   // the image of Debian or Ubuntu, from a registry, below all others; empty: the Dockerfile's
	Toolchains []string // names of Toolchains()
	Packages   []string // of Debian
}

// Toolchain is what projects of one kind are built with. An agent can use all of it without being
// root: its package manager installs to the agent's home.
type Toolchain struct {
	Name     string
	Title    string   // "Rust with Cargo"
	packages []string // of Debian
	image    string   // the ImageSpec with what Debian lacks, or empty
}

// Toolchains returns the toolchains that images can contain, by name.
func Toolchains() []Toolchain {
	return []Toolchain{
		{Name: "build", Title: "C and C++", packages: []string{"cmake", "g++", "libc6-dev", "ninja-build", "pkgconf"}},
		{Name: "go", Title: "Go", packages: []string{"golang-go"}},
		{Name: "java", Title: "Java with Maven", packages: []string{"default-jdk-headless", "maven"}},
		{Name: "node", Title: "Node.js with npm", image: "node"},
		{Name: "python", Title: "Python with pip", packages: []string{"python3", "python3-dev", "python3-pip", "python3-venv"}},
		{Name: "rust", Title: "Rust with Cargo", packages: []string{"cargo", "rustc", "rustfmt", "rust-clippy"}},
	}
}

var packageName = regexp.MustCompile(`^[a-z0-9][a-z0-9+.-]+$`)

// chain returns the images to build for name with the recipe, the root first.
func (r Recipe) chain(name string) ([]ImageSpec, error) {
	list, err := r.images()
	if err != nil {
		return nil, err
	}
	return chain(list, name)
}

// images returns the images of this program with the recipe. The base gets the Debian packages. The
// images of toolchains come between the base and the agents.
func (r Recipe) images() ([]ImageSpec, error) {
	packages, layers, err := r.contents()
	if err != nil {
		return nil, err
	}
	list := Images()
	for i := range list {
		s := &list[i]
		switch {
		case s.rootfs.suite != "":
			s.more = packages
			if r.Base != "" && r.Base != s.rootfs.image {
				s.rootfs.image, s.rootfs.other = r.Base, true
			}
		case s.Parent == baseImage && len(layers) > 0:
			if at := slices.Index(layers, s.Name); at < 0 {
				s.Parent = layers[len(layers)-1]
			} else if at > 0 {
				s.Parent = layers[at-1]
			}
		}
	}
	return list, nil
}

// baseImage is the name of the image below all others.
const baseImage = "base"

// contents returns the Debian packages and the images of toolchains that the recipe needs, sorted and
// without duplicates, so that the image does not depend on the order in which a person names them.
func (r Recipe) contents() (packages, layers []string, err error) {
	known := Toolchains()
	for _, name := range r.Toolchains {
		i := slices.IndexFunc(known, func(t Toolchain) bool { return t.Name == name })
		if i < 0 {
			return nil, nil, because(ErrRecipe, "no toolchain is named %q; there are %s", name, toolchainNames(known))
		}
		packages = append(packages, known[i].packages...)
		if known[i].image != "" {
			layers = append(layers, known[i].image)
		}
	}
	for _, p := range r.Packages {
		if !packageName.MatchString(p) {
			return nil, nil, because(ErrRecipe, "%q is not the name of a Debian package", p)
		}
		packages = append(packages, p)
	}
	slices.Sort(packages)
	slices.Sort(layers)
	return slices.Compact(packages), slices.Compact(layers), nil
}

func toolchainNames(list []Toolchain) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return strings.Join(names, ", ")
}

// label names the toolchains and packages, for people.
func (r Recipe) label() string {
	names := slices.Concat(r.Toolchains, r.Packages)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}
