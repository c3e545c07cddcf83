#!/bin/sh
# Make the secrets of compose.yaml in the folder `secrets` beside it, once: sh deploy/secrets.sh [FOLDER]
set -eu
folder="${1:-$(dirname "$0")/secrets}"
umask 077
mkdir -p "$folder"
chmod 700 "$folder" # containers read the files under other users; the folder keeps other users of this machine out

secret() { # NAME: 32 random bytes in hexadecimal
  [ -s "$folder/$1" ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' > "$folder/$1"
}
for name in api_key metrics_key journal_key postgres_password grafana_password; do secret "$name"; done
printf 'postgresql://codemode:%s@postgres/codemode' "$(cat "$folder/postgres_password")" > "$folder/journal_url"
chmod 444 "$folder"/*
