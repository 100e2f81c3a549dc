# Sourced by every step: strict mode, the repository root as folder, and what the steps share.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# -count=1: a result from the cache proves nothing about files outside the modules, such as the data.
# -buildvcs=false: a clone that belongs to another user must build too.
export GOFLAGS="${GOFLAGS:-} -count=1 -buildvcs=false"

# Where the data folder stands beside the repository, a test that skips for want of it is a failure.
if [[ -d "${TALLYRING_DATA:-../shared/data}" ]]; then
  export TALLYRING_REQUIRE_DATA=1
fi

# The folder of every module that go.work joins, one a line.
modules=$(go work edit -json "$PWD/go.work" | awk -F'"' '$2 == "DiskPath" { print $4 }')
[[ -n $modules ]] || { echo "FAIL: go.work joins no module"; exit 1; }

# say prints what comes next and when.
say() { printf -- '-- %s\n' "$*"; }

# not_run says loudly what this machine could not check, and leaves it for the summary.
not_run() {
  printf 'NOT RUN: %s\n' "$*"
  if [[ -n "${CI_NOT_RUN:-}" ]]; then printf '%s\n' "$*" >>"$CI_NOT_RUN"; fi
}

# fail prints one line and ends the step.
fail() {
  printf 'FAIL: %s\n' "$*"
  exit 1
}
