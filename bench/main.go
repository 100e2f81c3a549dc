// Command bench measures the engine beside its peers.
package main

func main() {}
