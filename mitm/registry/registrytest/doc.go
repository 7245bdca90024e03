// Package registrytest helps to test ecosystems: a gateway that answers a real package manager as
// the plane does, and checks of refusals.
package registrytest
