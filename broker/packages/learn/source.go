package learn

import "github.com/ironcurtain-mux/ironcurtain-mux/broker/config"

// Source is one registry: the type of config.json, because a person can move it there.
type Source = config.PackageSource

// The ecosystems, as configuration and records name them.
const (
	NPM   = "npm"
	PyPI  = "pypi"
	Go    = "go"
	Cargo = "cargo"
	Apt   = "apt"
)
