module github.com/tallyring/tallyring/cmd/tallyring

go 1.26.0

require github.com/tallyring/tallyring v0.0.0

replace github.com/tallyring/tallyring => ../..
