package agent

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MountedFile is a file of the read-only directory that also stands at another place of the
// container, where programs look for it.
type MountedFile struct {
	File
	Target string // absolute; empty for one that programs are told of otherwise
}

// madeByUs is the first line of files in an agent's home that are written anew at each start
// for as long as they begin with it.
const madeByUs = "# Made by ironcurtain-mux at each start. Without this line, the file is yours."

// SystemFiles name the registries where package managers look last, so that what a project
// or the agent says counts. They are for the read-only directory.
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

// HomeFiles name the registries for package managers that look nowhere but in the home: pnpm,
// bun and yarn from 2 on. A file of the agent's own stays. Empty files make directories.
func (r Registries) HomeFiles() []File {
	var files []File
	for _, f := range []File{homeFile(".npmrc", r.npmrc()), homeFile(".yarnrc.yml", r.yarnrcYML())} {
		if len(f.Data) > 0 {
			f.Data, f.Keep = append([]byte(madeByUs+"\n"), f.Data...), true
			files = append(files, f)
		}
	}
	if r.Apt { // which makes none of the directories that it needs
		for _, dir := range []string{"state/lists/partial", "log", "cache/archives/partial"} {
			f := homeFile(aptDir+"/"+dir+"/.keep", "")
			f.Keep = true
			files = append(files, f)
		}
	}
	return files
}

// aptDir is where apt keeps its things without root, and where packages go: a directory below
// the home that nothing else uses.
const aptDir = ".apt"

// AptDir is that directory.
const AptDir = Home + "/" + aptDir

// aptConf is for apt, which reads it before the image's own configuration. The bridge stands in
// for dpkg, which needs root.
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

// aptList is for apt. The host has verified everything with the person's keyrings, which may be
// others than the image's.
func (r Registries) aptList() string {
	var b strings.Builder
	for _, s := range r.AptSources {
		b.WriteString("deb [trusted=yes] " + s + "\n")
	}
	return b.String()
}

// npmrc is for npm, pnpm, bun and yarn 1.
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

// yarnrc is for yarn 1, whose time limit no variable sets.
func (r Registries) yarnrc() string {
	if r.NPM == "" {
		return ""
	}
	return "registry " + strconv.Quote(r.yarn()) + "\nnetwork-timeout " + strconv.FormatInt(packagePatience.Milliseconds(), 10) + "\n"
}

// yarn is the registry of all names as yarn knows it.
func (r Registries) yarn() string { return cmp.Or(r.Yarn, r.NPM) }

// yarnrcYML is for yarn from 2 on.
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

// withoutPorts are the names of hosts, each once.
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

// pipConf is for pip.
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

// index is an index as pip and uv name it in their lockfiles: without the slash.
func index(base string) string { return strings.TrimSuffix(base, "/") }

// uvToml is for uv.
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

// cargoToml is for Cargo.
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
