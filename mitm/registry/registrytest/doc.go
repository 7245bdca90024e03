// Package registrytest has what the tests of all ecosystems need: a gateway that answers a real
// package manager as the plane does, and a look at refusals.
package registrytest
