#!/bin/sh
# Installs plexus for the user who runs this; needs no root.
#
#   PLEXUS_DOWNLOAD_URL  the address of the release (that of DEFAULT_DOWNLOAD_URL below)
#   PLEXUS_INSTALL_DIR   where the executable goes (~/.local/bin)
#   PLEXUS_TARGET        the platform, such as linux-x64-musl (detected)
#   PLEXUS_REPOSITORY    whose attestation it must have, as OWNER/REPOSITORY (taken from an address of github.com)
set -eu

# The one line that says where releases are. A release fills it in; while it is empty, the script of a clone takes the
# releases of the repository on github.com that it was cloned from, so that a fork finds its own.
DEFAULT_DOWNLOAD_URL=''

main() {
  url=${PLEXUS_DOWNLOAD_URL:-$DEFAULT_DOWNLOAD_URL}
  url=${url:-$(releases_of_clone)}
  [ -n "$url" ] || fail "where is the release? Set PLEXUS_DOWNLOAD_URL to the address that has its SHA256SUMS."
  check_address "$url"
  directory=${PLEXUS_INSTALL_DIR:-${HOME:?is not set: set PLEXUS_INSTALL_DIR}/.local/bin}
  target=${PLEXUS_TARGET:-$(find_target)}
  case $target in
    *[!a-z0-9-]*) fail "PLEXUS_TARGET=$target is not a platform: set it to one such as linux-x64." ;;
  esac
  need tar
  umask 022
  mkdir -p "$directory" || fail "$directory can't be created: set PLEXUS_INSTALL_DIR to a directory of yours."
  [ ! -d "$directory/plexus" ] || fail "$directory/plexus is a directory: set PLEXUS_INSTALL_DIR to another one."
  # In the same directory, so that the last step is a rename: a running old version is not disturbed.
  draft=$(mktemp -d "$directory/.plexus.XXXXXX") || fail "$directory can't be written: set PLEXUS_INSTALL_DIR to a directory of yours."
  trap 'rm -rf "$draft"' EXIT
  trap 'exit 1' HUP INT TERM

  fetch "$url/SHA256SUMS" "$draft/SHA256SUMS" || fail "$url/SHA256SUMS can't be fetched: nothing was installed."
  line=$(sed -n "s/^\([0-9a-f]\{64\}\)  \(plexus-[0-9][0-9A-Za-z.+-]*-$target\.tar\.gz\)\$/\1 \2/p" "$draft/SHA256SUMS")
  [ -n "$line" ] || fail "the release at $url has nothing for $target: nothing was installed."
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "the release at $url has several archives for $target: nothing was installed."
  expected=${line%% *}
  archive=${line#* }

  say "Fetching $archive"
  fetch "$url/$archive" "$draft/archive" || fail "$url/$archive can't be fetched: nothing was installed."
  actual=$(sum "$draft/archive")
  [ "$actual" = "$expected" ] || fail "$archive has another checksum than SHA256SUMS says ($actual, not $expected): nothing was installed."
  check_attestation
  tar -xzf "$draft/archive" -C "$draft" plexus || fail "$archive can't be unpacked: nothing was installed."
  chmod 0755 "$draft/plexus"
  version=$("$draft/plexus" version) || fail "$archive does not run here: nothing was installed.$(hint)"
  mv -f "$draft/plexus" "$directory/plexus"

  say "Installed $version as $directory/plexus"
  next_steps
}

# Only for a file of that clone: a script that is piped into a shell may run in anybody's repository.
releases_of_clone() {
  case $0 in
    install.sh | */install.sh) folder=${0%install.sh} ;;
    *) return 0 ;;
  esac
  folder=$(cd "${folder:-.}" && pwd -P) || return 0
  [ "$(git -C "$folder" rev-parse --show-toplevel 2>/dev/null)" = "$folder" ] || return 0
  origin=$(git -C "$folder" remote get-url origin 2>/dev/null) || return 0
  case $origin in
    https://github.com/*) origin=${origin#https://github.com/} ;;
    git@github.com:*) origin=${origin#git@github.com:} ;;
    *) return 0 ;;
  esac
  origin=${origin%.git}
  case $origin in
    *[!A-Za-z0-9._/-]* | */*/* | /* | */ | *..*) ;;
    */*) echo "https://github.com/$origin/releases/latest/download" ;;
  esac
}

find_target() {
  os=$(uname -s)
  cpu=$(uname -m)
  case $cpu in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail "there is no plexus for the processor $cpu." ;;
  esac
  case $os in
    Linux) linux_target ;;
    Darwin)
      # A shell that runs under Rosetta reports an Intel Mac.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" != 1 ] || cpu=arm64
      echo "darwin-$cpu"
      ;;
    *) fail "there is no plexus for $os that this script can install; for Windows, unpack the archive windows-x64." ;;
  esac
}

linux_target() {
  if is_musl; then
    echo "linux-$cpu-musl"
  elif [ "$cpu" = x64 ] && ! grep -qw avx2 /proc/cpuinfo 2>/dev/null; then
    echo linux-x64-baseline
  else
    echo "linux-$cpu"
  fi
}

is_musl() {
  ! getconf GNU_LIBC_VERSION >/dev/null 2>&1 || return 1
  # musl's ldd says so, and fails.
  { ldd --version 2>&1 || true; } | grep -qi musl
}

# Somebody who can change a download over plain http can change its checksums too; only this machine itself is safe.
check_address() {
  case $1 in
    https://*) return ;;
    http://*) ;;
    *) fail "$1 is not an https address: set PLEXUS_DOWNLOAD_URL to one." ;;
  esac
  authority=${1#http://}
  authority=${authority%%/*}
  case $authority in
    127.0.0.1 | localhost) return ;;
    127.0.0.1:* | localhost:*) port=${authority#*:} ;;
    *) port=none ;;
  esac
  case $port in
    '' | *[!0-9]*) fail "$1 is not https, so others on the network could change the download: set PLEXUS_DOWNLOAD_URL to an https address." ;;
  esac
}

# Fails unless the file is complete and came over https all the way.
fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --proto "=${1%%:*}" --proto-redir =https --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    fetch_with_wget "$1" "$2"
  else
    fail "curl or wget is needed."
  fi
}

# wget has no option for "redirects over https only", so each redirect is checked.
fetch_with_wget() {
  [ -n "$(wget --help 2>&1 | sed -n '/--max-redirect/p')" ] || fail "curl is needed: this wget can't be limited to https."
  address=$1
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    ! headers=$(LC_ALL=C wget -q --server-response --max-redirect=0 -O "$2" "$address" 2>&1) || return 0
    address=$(printf '%s\n' "$headers" | sed -n 's/^ *[Ll]ocation: *\([^ ]*\).*$/\1/p' | sed -n '$p')
    case $address in
      https://*) ;;
      *) return 1 ;;
    esac
  done
  return 1
}

# Checks who built the archive, if that can be known: the checksums come from the same place and can't tell.
check_attestation() {
  repository=${PLEXUS_REPOSITORY:-$(repository_in "$url")}
  case $repository in
    *[!A-Za-z0-9._/-]*) fail "PLEXUS_REPOSITORY=$repository is not a repository: set it to OWNER/REPOSITORY." ;;
    ?*/?*) ;;
    *) not_attested "its repository is not known: set PLEXUS_REPOSITORY to OWNER/REPOSITORY" && return ;;
  esac
  command -v gh >/dev/null 2>&1 || { not_attested "gh is not installed" && return; }
  gh attestation verify --help >/dev/null 2>&1 || { not_attested "this gh is too old for it" && return; }
  gh auth status --hostname github.com >/dev/null 2>&1 || { not_attested "gh is not signed in: see gh auth login" && return; }
  said=$(gh attestation verify "$draft/archive" --repo "$repository" 2>&1) ||
    fail "$archive has no valid attestation of $repository: nothing was installed. gh says: $said"
  say "Its attestation says that $repository built it."
}

not_attested() {
  say "Its attestation was not checked: $1."
}

repository_in() {
  case $1 in
    https://github.com/*/*/releases/*)
      path=${1#https://github.com/}
      echo "${path%%/releases/*}"
      ;;
  esac
}

sum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum or shasum is needed: without one, nothing can be checked."
  fi
}

hint() {
  case $target in
    *-musl) echo " It needs the C++ library: on Alpine, apk add libstdc++." ;;
  esac
}

next_steps() {
  case :${PATH:-}: in
    *:"$directory":*) command=plexus ;;
    *)
      command=$directory/plexus
      say "" "$directory is not on your PATH: add it in your shell's profile:" "  export PATH=\"$directory:\$PATH\""
      ;;
  esac
  say "" "Next:" \
    "  $command serve         starts the server, and shows how to connect Claude Code" \
    "  $command --help        lists all commands" \
    "" "A running server keeps its old version until you restart it."
}

need() {
  command -v "$1" >/dev/null 2>&1 || fail "$1 is needed."
}

say() {
  printf '%s\n' "$@"
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

# Last, so that an incomplete download of this script does nothing.
main
