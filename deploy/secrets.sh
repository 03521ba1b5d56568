#!/bin/sh
# Create the passwords of deploy/compose.yaml in deploy/secrets, or in the folder given as argument.
# Existing files are kept. All users can read the files, because Compose mounts them unchanged and
# the containers run as other users. Only the owner can enter the folder.
set -eu
folder=${1:-$(dirname "$0")/secrets}
umask 077
mkdir -p "$folder"
chmod 700 "$folder"
word() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
if [ ! -f "$folder/database_url" ]; then
  password=$(word)
  printf '%s' "$password" >"$folder/database_password"
  printf 'postgresql://pokearena:%s@database/pokearena' "$password" >"$folder/database_url"
fi
if [ ! -f "$folder/redis_url" ]; then
  password=$(word)
  printf 'requirepass %s\n' "$password" >"$folder/valkey.conf"
  printf 'redis://:%s@valkey:6379/0' "$password" >"$folder/redis_url"
fi
[ -f "$folder/grafana_password" ] || word >"$folder/grafana_password"
chmod 444 "$folder"/*
