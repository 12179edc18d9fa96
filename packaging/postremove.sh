#!/bin/sh
# The deb and the apk run this after they have removed their files.
set -e

case "$1" in upgrade | failed-upgrade) exit 0 ;; esac # words of dpkg
rm -f /etc/apparmor.d/parley
[ ! -d /run/systemd/system ] || systemctl daemon-reload
