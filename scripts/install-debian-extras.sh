#!/bin/sh
# Installs what some acceptance runs need beyond npm, from Debian's own packages: pgbouncer, chromium and wrk. The product and
# `npm test` need none of it. With --newer-pgbouncer also unpacks Debian 13's PgBouncer, which tracks named statements,
# beside the system's: nothing else uses it. Packages come from the sources this machine is already configured with; no
# other host is contacted. Says plainly what it could not do, and then ends with 1.
set -u

extras=/opt/probity-extras
wanted='pgbouncer chromium wrk'
missing=''
newer=no

for argument in "$@"; do
  case $argument in
    --newer-pgbouncer) newer=yes ;;
    *) echo "Usage: $0 [--newer-pgbouncer]" >&2; exit 2 ;;
  esac
done

give_up() {
  echo "Not installed: $1" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || give_up 'this must run as root (try: sudo sh scripts/install-debian-extras.sh).'
command -v apt-get >/dev/null || give_up 'there is no apt-get; this is for Debian and its relatives.'
apt-get update -qq || give_up 'the package lists cannot be fetched; check the sources in /etc/apt.'

for package in $wanted; do
  if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null; then
    echo "installed $package $(dpkg-query -W -f '${Version}' "$package")"
  else
    missing="$missing $package"
  fi
done

# The archive that this machine gets Debian's packages from, with the keyring its entry names, if any.
debian_source() {
  ask() { apt-get indextargets --format "$1" 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1; }
  uri=$(ask '$(REPO_URI)')
  entry=$(ask '$(SOURCESENTRY)')
  [ -n "$uri" ] || return 1
  keys=$(sed -n 's/.*[Ss]igned-[Bb]y[:=] *\([^] ]*\).*/\1/p' "${entry%:*}" | head -n 1)
  echo "deb ${keys:+[signed-by=$keys] }$uri trixie main"
}

# A program of a newer release needs the C library of that release: it is unpacked with it and run by its own loader.
unpack_newer_pgbouncer() {
  work=$(mktemp -d) || return 1
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$extras/debian-13"
  if ! debian_source >"$work/sources.list"; then
    echo 'No configured source of this machine is the Debian archive.' >&2
    return 1
  fi
  options="-o Dir::Etc::SourceList=$work/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$work/lists"
  options="$options -o Dir::Cache=$work/cache -o APT::Sandbox::User=root"
  # shellcheck disable=SC2086
  apt-get $options update -qq || return 1
  packages='pgbouncer libc6 libcares2 libevent-2.1-7t64 libpam0g libssl3t64 libsystemd0 libaudit1 libcap-ng0 libcap2'
  packages="$packages libzstd1 zlib1g"
  # shellcheck disable=SC2086
  (cd "$work/debs" && apt-get $options download -qq $packages) || return 1
  for package in "$work"/debs/*.deb; do dpkg-deb -x "$package" "$extras/debian-13" || return 1; done
  loader=$(ls "$extras"/debian-13/usr/lib*/ld-linux*.so.* | head -n 1)
  libraries=$(dirname "$(find "$extras/debian-13" -name 'libc.so.6' | head -n 1)")
  cat >"$extras/pgbouncer" <<RUN
#!/bin/sh
exec $loader --library-path $libraries $extras/debian-13/usr/sbin/pgbouncer "\$@"
RUN
  chmod -R go+rX "$extras" && chmod 755 "$extras/pgbouncer" && "$extras/pgbouncer" --version | head -n 1
}

if [ "$newer" = yes ]; then
  if version=$(unpack_newer_pgbouncer); then
    echo "unpacked $version as $extras/pgbouncer"
  else
    missing="$missing newer-pgbouncer"
  fi
fi

[ -z "$missing" ] || give_up "$missing. The acceptance runs that need them will say that they were skipped."
