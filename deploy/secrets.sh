#!/bin/sh
# Makes the passwords of deploy/compose.yaml, in deploy/secrets or the folder that is named.
# What is there already stays. Files are readable to all, in a folder that only its owner enters:
# Compose mounts them as they are, and the containers are other users.
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
