package wiring

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// RecipeOf returns the recipe of images in the configuration.
func RecipeOf(c config.Images) docker.Recipe {
	return docker.Recipe{Base: c.Base, Toolchains: c.Tools, Packages: c.Packages}
}

// BaseChoice returns where a root file system comes from, by its name in flags and in the
// configuration.
func BaseChoice(name string) docker.BaseChoice {
	if name == "auto" {
		return docker.BaseAuto
	}
	return docker.BaseChoice(name)
}
