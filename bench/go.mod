module github.com/tallyring/tallyring/bench

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	github.com/tallyring/tallyring v0.0.0
	golang.org/x/time v0.16.0
)

require (
	github.com/puzpuzpuz/xsync/v3 v3.5.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/tallyring/tallyring => ..
