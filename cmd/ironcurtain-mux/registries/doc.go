// Package registries is the command registry: the package registries from which agents install
// through this machine.
package registries
