#!/bin/sh
# The deb and the apk run this after they have unpacked their files, also at an upgrade. It makes the user and its folders.
set -e

if ! id parley >/dev/null 2>&1; then
	if command -v systemd-sysusers >/dev/null; then
		systemd-sysusers parley.conf
	else # Alpine
		addgroup -S parley
		adduser -S -D -H -h /var/lib/parley -s /sbin/nologin -G parley parley
	fi
fi
install -d -o parley -g parley -m 0750 /etc/parley
install -d -o parley -g parley -m 0700 /var/lib/parley

# AppArmor 3 does not know this profile and does not need it.
if [ -e /etc/apparmor.d/abi/4.0 ]; then
	install -m 0644 /usr/share/parley/parley.apparmor /etc/apparmor.d/parley
	[ ! -d /sys/kernel/security/apparmor ] || apparmor_parser -r /etc/apparmor.d/parley || true
fi
# A new installation has no configuration yet and is not started. A service that runs starts again with the new program.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart parley.service || true # the new program is installed all the same
elif command -v rc-service >/dev/null; then
	rc-service --ifstarted parley restart || true
fi
