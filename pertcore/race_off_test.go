//go:build !race

package pertcore

// raceBuild scales tests to a build that is ten times slower.
const raceBuild = false
