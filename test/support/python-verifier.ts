/** The verifier of docs/proofs, in Python, run on many proofs at once where Python is present. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { projectRoot } from './database.ts'
import type { ProofAnswer } from './proof-vectors.ts'

export const verifierPath = path.join(projectRoot, 'docs/proofs/verify.py')

export const hasPython = (): boolean =>
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))']).status === 0

const VERIFY_EACH_PY = `
import json, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import verify
def proved(given):
    try:
        return bool(verify.verify(given["answer"], *given["held"]))
    except (ValueError, KeyError, TypeError, OverflowError, AttributeError):
        return False
print(json.dumps([proved(given) for given in json.load(sys.stdin)]))
`

/** Whether each is proved; `held` is the content hash the reader holds. */
export function verifyInPython(cases: readonly { answer: ProofAnswer; held?: string | undefined }[]): boolean[] {
  const input = JSON.stringify(cases.map(({ answer, held }) => ({ answer, held: held === undefined ? [] : [held] })))
  const { stdout, stderr, status } = spawnSync('python3', ['-c', VERIFY_EACH_PY, path.dirname(verifierPath)], {
    input,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the verifier failed: ${stderr}`)
  return JSON.parse(stdout) as boolean[]
}
