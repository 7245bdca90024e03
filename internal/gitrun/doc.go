// Package gitrun runs git on the host on repositories that an agent may have written to.
// A few hundred bytes of objects can stand for billions of files, or for gigabytes of
// zeros. So git gets bounded memory and time, ends with this process, uses our settings
// for everything that costs memory, and runs once at a time for each Class.
package gitrun
