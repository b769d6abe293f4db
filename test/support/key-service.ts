/**
 * A key management service for tests: a shell script that wraps by prefixing the name of the key. A file says how it behaves, so that
 * it can break while a process runs.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { KeyCommandOptions } from '#kernel/encryption/key-command.ts'

const SCRIPT = `#!/bin/sh
here=$(dirname "$0")
echo "$$" >> "$here/pids"
case $(cat "$here/behaviour") in
  hang) sleep 600 & echo "$!" >> "$here/pids"; wait ;;
  fail) echo 'AccessDenied: c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0 is not allowed' >&2; exit 1 ;;
  garbage) echo '<html>Bad gateway</html>'; exit 0 ;;
  empty) echo '{}'; exit 0 ;;
  flood) cat /dev/zero ;;
esac
read -r request
pick() { printf %s "$request" | sed "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/"; }
key=$(pick key_id)
behaviour=$(cat "$here/behaviour")
case $behaviour$request in
  wrap-constant*'"operation":"wrap"'*) printf '{"wrapped":"%s"}' "$(printf '%s,AAAA' "$key" | base64)" ;;
  wrap-truncated*'"operation":"wrap"'*) printf '{"wrapped":"AAAA"}' ;;
  unwrap-other*'"operation":"unwrap"'*) printf '{"plaintext":"%s"}' "$(head -c 64 /dev/zero | base64 | tr -d '\\n')" ;;
  *'"operation":"wrap"'*)
    printf '{"wrapped":"%s"}' "$(printf '%s,%s' "$key" "$(pick plaintext)" | base64 | tr -d '\\n')" ;;
  *)
    opened=$(pick wrapped | base64 -d)
    case $opened in "$key",*) printf '{"plaintext":"%s"}' "\${opened#*,}" ;; *) exit 3 ;; esac ;;
esac
`

export type KeyServiceBehaviour = 'work' | 'hang' | 'fail' | 'garbage' | 'empty' | 'flood' | WrongResult
/** It ends with 0, and what it prints is not the key: a constant, a part that cannot be unwrapped, another key. */
type WrongResult = 'wrap-constant' | 'wrap-truncated' | 'unwrap-other'

export function startKeyService() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-kms-'))
  const program = path.join(folder, 'key command')
  fs.writeFileSync(program, SCRIPT, { mode: 0o700 })
  const behave = (behaviour: KeyServiceBehaviour) => fs.writeFileSync(path.join(folder, 'behaviour'), behaviour)
  behave('work')
  const options: KeyCommandOptions = {
    argv: [program],
    key_ids: ['kms-1'],
    environment: { PATH: process.env['PATH'] ?? '' },
  }
  return {
    program,
    options,
    behave,
    /** Every process that it was, and that it has started. */
    listPids: () => fs.readFileSync(path.join(folder, 'pids'), 'utf8').trim().split('\n').map(Number),
    close: () => fs.rmSync(folder, { recursive: true, force: true }),
  }
}
