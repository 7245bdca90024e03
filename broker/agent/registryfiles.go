package agent

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MountedFile is a file of the read-only directory that is also mounted at the path where programs
// look for it.
type MountedFile struct {
	File
	Target string // absolute; empty if a variable or another file names the file
}

// madeByUs is the first line of files in an agent's home that are written again at each start, as
// long as they begin with this line.
const madeByUs = "# Made by ironcurtain-mux at each start. Without this line, the file is yours."

// SystemFiles returns files of the read-only directory that name the registries. They are where
// package managers look last, so that settings of a project or of the agent count more.
func (r Registries) SystemFiles() []MountedFile {
	var files []MountedFile
	add := func(name, target, content string) {
		if content != "" {
			files = append(files, MountedFile{orientationFile(name, content), target})
		}
	}
	add("npmrc", "", r.npmrc()) // npm_config_globalconfig names it
	add("yarnrc", "/etc/yarnrc", r.yarnrc())
	add("pip.conf", "/etc/pip.conf", r.pipConf())
	add("uv.toml", "/etc/uv/uv.toml", r.uvToml())
	add("cargo.toml", "/.cargo/config.toml", r.cargoToml())
	add("apt.conf", "", r.aptConf()) // APT_CONFIG names it
	add("apt.list", "", r.aptList()) // apt.conf names it
	return files
}

// HomeFiles returns files that name the registries for package managers that look only in the home:
// pnpm, bun and yarn from 2 on. Files of the agent's own are kept. For apt, empty files create the
// directories that it needs.
func (r Registries) HomeFiles() []File {
	var files []File
	for _, f := range []File{homeFile(".npmrc", r.npmrc()), homeFile(".yarnrc.yml", r.yarnrcYML())} {
		if len(f.Data) > 0 {
			f.Data, f.Keep = append([]byte(madeByUs+"\n"), f.Data...), true
			files = append(files, f)
		}
	}
	if r.Apt {
		for _, dir := range []string{"state/lists/partial", "log", "cache/archives/partial"} {
			f := homeFile(aptDir+"/"+dir+"/.keep", "")
			f.Keep = true
			files = append(files, f)
		}
	}
	return files
}

// aptDir is the directory below the home where apt, without root, keeps its state and where packages
// are installed.
const aptDir = ".apt"

// AptDir is the absolute path of that directory.
const AptDir = Home + "/" + aptDir

// aptConf returns the configuration that apt reads before the image's own. The bridge stands in for
// dpkg, which needs root.
func (r Registries) aptConf() string {
	if !r.Apt {
		return ""
	}
	seconds := strconv.Itoa(int(packagePatience / time.Second))
	settings := [][2]string{
		{"Dir::State", AptDir + "/state/"},
		{"Dir::State::status", AptDir + "/dpkg/status"},
		{"Dir::Cache", AptDir + "/cache/"},
		{"Dir::Log", AptDir + "/log/"},
		{"Dir::Bin::dpkg", Bridge},
		{"DPkg::Options::", "dpkg"},
		{"Acquire::http::Proxy", ProxyURL + "/"},
		{"Acquire::https::Proxy", ProxyURL + "/"},
		{"Acquire::https::CAInfo", CABundle},
		{"Acquire::http::Timeout", seconds},
		{"Acquire::https::Timeout", seconds},
	}
	if len(r.AptSources) > 0 {
		settings = append(settings, [2]string{"Dir::Etc::sourcelist", Orientation + "/apt.list"}, [2]string{"Dir::Etc::sourceparts", "-"})
	}
	var b strings.Builder
	for _, s := range settings {
		b.WriteString(s[0] + " " + strconv.Quote(s[1]) + ";\n")
	}
	return b.String()
}

// aptList returns apt's list of sources. They are trusted, because the host verifies everything with
// the person's keyrings, which the image may not have.
func (r Registries) aptList() string {
	var b strings.Builder
	for _, s := range r.AptSources {
		b.WriteString("deb [trusted=yes] " + s + "\n")
	}
	return b.String()
}

// npmrc returns the configuration for npm, pnpm, bun and yarn 1.
func (r Registries) npmrc() string {
	var b strings.Builder
	if r.NPM != "" {
		b.WriteString("registry=" + r.NPM + "\n")
	}
	for _, s := range byName(r.NPMScopes) {
		b.WriteString(s[0] + ":registry=" + s[1] + "\n")
	}
	return b.String()
}

// yarnrc returns the configuration for yarn 1, which has no variable for its time limit.
func (r Registries) yarnrc() string {
	if r.NPM == "" {
		return ""
	}
	return "registry " + strconv.Quote(r.yarn()) + "\nnetwork-timeout " + strconv.FormatInt(packagePatience.Milliseconds(), 10) + "\n"
}

// yarn returns yarn's address of the NPM registry.
func (r Registries) yarn() string { return cmp.Or(r.Yarn, r.NPM) }

// yarnrcYML returns the configuration for yarn from 2 on.
func (r Registries) yarnrcYML() string {
	var b strings.Builder
	if r.NPM != "" {
		b.WriteString("npmRegistryServer: " + strconv.Quote(r.yarn()) + "\n")
	}
	if len(r.NPMScopes) > 0 {
		b.WriteString("npmScopes:\n")
	}
	bases := []string{r.yarn()}
	for _, s := range byName(r.NPMScopes) {
		bases = append(bases, s[1])
		b.WriteString("  " + strconv.Quote(strings.TrimPrefix(s[0], "@")) + ":\n    npmRegistryServer: " + strconv.Quote(s[1]) + "\n")
	}
	if hosts := plainHosts(bases...); len(hosts) > 0 {
		b.WriteString("unsafeHttpWhitelist:\n")
		for _, host := range withoutPorts(hosts) {
			b.WriteString("  - " + strconv.Quote(host) + "\n")
		}
	}
	return b.String()
}

// withoutPorts returns the hosts without their ports, and without duplicates.
func withoutPorts(hosts []string) []string {
	var names []string
	for _, host := range hosts {
		name, _, _ := strings.Cut(host, ":")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// pipConf returns the configuration for pip.
func (r Registries) pipConf() string {
	if len(r.PyPI) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("[global]\nindex-url = " + index(r.PyPI[0]) + "\n")
	list := func(name string, values []string) {
		if len(values) > 0 {
			b.WriteString(name + " =\n    " + strings.Join(values, "\n    ") + "\n")
		}
	}
	var more []string
	for _, base := range r.PyPI[1:] {
		more = append(more, index(base))
	}
	list("extra-index-url", more)
	list("trusted-host", plainHosts(r.PyPI...))
	return b.String()
}

// index returns a base as pip and uv write it in their lockfiles: without the slash.
func index(base string) string { return strings.TrimSuffix(base, "/") }

// uvToml returns the configuration for uv.
func (r Registries) uvToml() string {
	var b strings.Builder
	for i, base := range r.PyPI {
		b.WriteString("[[index]]\nurl = " + strconv.Quote(index(base)) + "\n")
		if i == 0 {
			b.WriteString("default = true\n")
		}
	}
	return b.String()
}

// cargoToml returns the configuration for Cargo.
func (r Registries) cargoToml() string {
	var b strings.Builder
	if r.Cargo != "" {
		b.WriteString("[source.crates-io]\nreplace-with = \"ironcurtain\"\n[source.ironcurtain]\nregistry = " + strconv.Quote("sparse+"+r.Cargo) + "\n")
	}
	for _, n := range byName(r.CargoNamed) {
		b.WriteString("[registries." + strconv.Quote(n[0]) + "]\nindex = " + strconv.Quote("sparse+"+n[1]) + "\n")
	}
	return b.String()
}
