module github.com/tallyring/tallyring/stress

go 1.26.0

replace github.com/tallyring/tallyring => ..
