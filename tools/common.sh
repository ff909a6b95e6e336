# shellcheck shell=bash
# What ./meguri, ./test and .ci/run share: packages, the build folder and the build.
# Callers set `me`, the name that begins every message, and `root`, where the repository stands.
: "${me:?}" "${root:?}"

say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# packages_of SECTION...: the packages of these sections, on one line.
packages_of() {
  local section names all=()
  while read -r section names; do
    [[ " $* " == *" $section "* ]] && all+=("$names")
  done <"$root/tools/packages"
  echo "${all[*]}"
}

# Where the build of a preset stands.
build_folder_of() {
  local folder=${MEGURI_BUILD_DIR:-$root/build}
  [[ $folder == /* ]] || folder=$PWD/$folder
  echo "$folder/$1"
}

# install_packages SECTION...: installs what is missing. Sets `packages_installed` if it did.
install_packages() {
  local wanted missing=() package status as_root=() log
  read -ra wanted <<<"$(packages_of "$@")"
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # They may be there under other names; the build will tell.
    if command -v cmake >/dev/null && command -v ninja >/dev/null; then return 0; fi
    die "this system has no apt: install what Debian calls ${wanted[*]}, then call again"
  fi

  declare -A installed=()
  while read -r status package; do
    [[ $status == installed ]] && installed[$package]=1
  done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null)
  for package in "${wanted[@]}"; do
    [[ ${installed[$package]-} ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "these packages are missing; as root, run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing Debian packages${as_root[0]+ through sudo}: ${missing[*]}"
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600)
  log=$(mktemp) || die "cannot write to ${TMPDIR:-/tmp}"
  # A failed update may still leave lists that are good enough. A service that a package starts
  # must not inherit the lock of the build folder (9).
  "${as_root[@]}" update >"$log" 2>&1 </dev/null 9>&- || true
  if ! "${as_root[@]}" install --no-install-recommends "${missing[@]}" \
    >>"$log" 2>&1 </dev/null 9>&-; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get failed, see above; once it works, call again (packages: ${missing[*]})"
  fi
  rm -f "$log"
  # shellcheck disable=SC2034  # Read by the callers.
  packages_installed=yes
}

# lock_build_folder FOLDER: makes the folder and waits until no other call builds in it. The lock
# is held until unlock_build_folder, or the end of the process.
lock_build_folder() {
  local problem
  if ! problem=$( (mkdir -p "$1" && exec >>"$1/.lock") 2>&1); then
    die "cannot build in $1 (${problem##*: }); set MEGURI_BUILD_DIR to a folder to build in"
  fi
  exec 9>>"$1/.lock"
  if ! flock -n 9; then
    say "waiting for another build to end"
    flock 9
  fi
}
unlock_build_folder() { exec 9>&-; }

# Says why a build failed, if it is the disk, and ends.
die_of_build() {
  local folder kilobytes
  for folder in "$1" "${TMPDIR:-/tmp}"; do
    kilobytes=$(df --output=avail -k "$folder" 2>/dev/null | tail -n 1)
    if [[ $kilobytes ]] && ((kilobytes < 65536)); then
      die "the build failed because the disk that holds $folder is full; make room, or set" \
        "MEGURI_BUILD_DIR to a folder elsewhere"
    fi
  done
  command -v apt-get >/dev/null ||
    die "the build failed, see above; it needs what Debian calls $(packages_of build)"
  die "the build failed, see above"
}

# is_configured FOLDER: for this repository, not for one that was copied with its build folder.
is_configured() {
  [[ -e $1/build.ninja ]] &&
    grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$1/CMakeCache.txt"
}

# configure PRESET FOLDER
configure() {
  local log=$2/configure.log fresh=()
  is_configured "$2" || fresh=(--fresh)
  if ! cmake -S "$root" -B "$2" --preset "$1" "${fresh[@]}" >"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    die_of_build "$2"
  fi
}

# compile FOLDER TARGET...: builds, with one live line on a terminal, and says nothing if nothing is
# to do.
compile() {
  local folder=$1 quiet=--quiet status
  shift
  [[ -t 2 ]] && quiet=
  ninja -C "$folder" ${quiet:+"$quiet"} "$@" 2>&1 </dev/null | awk '
    /^(ninja: (no work to do|Entering directory)|-- )/ { next }
    /^\[[0-9]+\/[0-9]+\]/ { printf "\r\033[K%s", substr($0, 1, 79); live = 1; fflush(); next }
    { if (live) print ""; live = 0; print; fflush() }
    END { if (live) printf "\r\033[K" }' >&2
  status=${PIPESTATUS[0]}
  ((status == 0)) || die_of_build "$folder"
}
