#!/bin/sh
# The deb and the apk run this before they remove their files. The state folder and the configuration stay.
set -e

[ "$1" != upgrade ] || exit 0 # dpkg says so; postinstall.sh then restarts the service
if [ -d /run/systemd/system ]; then
	systemctl disable --now parley.service
elif command -v rc-service >/dev/null; then
	rc-service --ifstarted parley stop
	rc-update -q delete parley || true # it may be in no runlevel
fi
