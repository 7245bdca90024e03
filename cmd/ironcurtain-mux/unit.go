package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// unit is what a service manager has to know of the daemon. There is no secret in it.
type unit struct {
	program   string
	arguments []string // after "serve"
	variables []variable
}

type variable struct{ name, value string }

// thisUnit is the unit of this program, with the directories that its environment names, and the
// engine that the person names.
func thisUnit(engine wiring.EngineFlag) (u unit, err error) {
	p, err := wiring.FindPaths()
	if err != nil {
		return u, err
	}
	u.arguments = running.EngineArguments(engine.In(p).Engine)
	if u.program, err = os.Executable(); err != nil {
		return u, err
	}
	for _, name := range []string{"IRONCURTAIN_HOME", "IRONCURTAIN_CACHE"} {
		if value := os.Getenv(name); value != "" {
			u.variables = append(u.variables, variable{name, value})
		}
	}
	return u, nil
}

// unitKinds are the service managers for which a unit can be printed.
var unitKinds = map[string]func(unit) (string, error){"systemd": unit.systemd, "launchd": unit.launchd}

// printUnit prints the unit of this program for a service manager.
func printUnit(cmd *cobra.Command, kind string, engine wiring.EngineFlag) error {
	textOf, known := unitKinds[kind]
	if !known {
		return cli.Usagef("--print-unit %q is neither systemd nor launchd", kind)
	}
	u, err := thisUnit(engine)
	text := ""
	if err == nil {
		text, err = textOf(u)
	}
	if err == nil {
		_, err = fmt.Fprint(cmd.OutOrStdout(), text)
	}
	return cli.Fail("print unit", err, "")
}

// check returns an error if a path cannot stand in a unit.
func (u unit) check() error {
	all := append([]variable{{"the program", u.program}}, u.variables...)
	for _, a := range u.arguments {
		all = append(all, variable{"the engine", a})
	}
	for _, v := range all {
		if !utf8.ValidString(v.value) || strings.ContainsFunc(v.value, unicode.IsControl) {
			return fault.New("use another path", "%s cannot be named in a unit: %q", v.name, v.value)
		}
	}
	return nil
}

// systemd is the unit for the systemd of a user. KillMode: what the daemon has started on this
// machine ends with it, its agents do not.
func (u unit) systemd() (string, error) {
	if strings.ContainsAny(u.program, `"'\`) { // quoted or not
		return "", fault.New("install it elsewhere", "systemd starts no program at the path %q", u.program)
	}
	arguments, variables := "", ""
	for _, a := range u.arguments {
		arguments += " " + quoteSystemd(strings.ReplaceAll(a, "$", "$$"))
	}
	for _, v := range u.variables {
		variables += "Environment=" + quoteSystemd(v.name+"="+v.value) + "\n"
	}
	return `[Unit]
Description=ironcurtain-mux: coding agents that outlive their terminals

[Service]
ExecStart=` + quoteSystemd(u.program) + ` serve` + arguments + `
` + variables + `Restart=on-failure
KillMode=mixed

[Install]
WantedBy=default.target
`, u.check()
}

// quoteSystemd quotes a word for systemd. A dollar sign stands for itself in a variable's value
// and in the path of a program.
func quoteSystemd(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(word) + `"`
}

// launchd is the property list for launchd. ProcessType: a keystroke shall not wait.
func (u unit) launchd() (string, error) {
	arguments, variables := "", ""
	for _, a := range u.arguments {
		arguments += "\t\t<string>" + quoteXML(a) + "</string>\n"
	}
	for _, v := range u.variables {
		variables += "\t\t<key>" + v.name + "</key>\n\t\t<string>" + quoteXML(v.value) + "</string>\n"
	}
	if variables != "" {
		variables = "\t<key>EnvironmentVariables</key>\n\t<dict>\n" + variables + "\t</dict>\n"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>ironcurtain-mux</string>
	<key>ProgramArguments</key>
	<array>
		<string>` + quoteXML(u.program) + `</string>
		<string>serve</string>
` + arguments + `	</array>
` + variables + `	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ProcessType</key>
	<string>Interactive</string>
</dict>
</plist>
`, u.check()
}

// quoteXML quotes text for XML.
func quoteXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder takes everything
	return b.String()
}
