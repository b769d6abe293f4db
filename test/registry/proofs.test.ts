/** Proofs can be verified from docs/proofs.md alone: a verifier in Python, written from it, agrees with the code that makes them. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { verifyProof } from '#registry/content/merkle.ts'
import { buildProofVectors, type ProofAnswer } from '../support/proof-vectors.ts'
import { hasPython, verifierPath, verifyInPython } from '../support/python-verifier.ts'

const answers: ProofAnswer[] = buildProofVectors().proofs
const zeros = '0'.repeat(64)

/** The same answer with one thing changed, each time another. Those that change nothing are left out. */
function forgeriesOf(answer: ProofAnswer): [string, ProofAnswer][] {
  const { proof } = answer
  const withProof = (change: Partial<typeof proof>): ProofAnswer => ({ ...answer, proof: { ...proof, ...change } })
  const [pair] = proof.bucket
  const others = proof.bucket.filter(([key]) => key !== proof.key_hash)
  const forgeries: [string, ProofAnswer][] = [
    ['another key', { ...answer, key: `${answer.key} ` }],
    ['the opposite', { ...answer, present: !answer.present }],
    ['another root', withProof({ root: zeros })],
    ['another count', withProof({ count: proof.count + 1 })],
    ['a count for other buckets', withProof({ count: proof.count + 40_000 })],
    ['a key hash of its own', withProof({ key_hash: zeros })],
    ['an entry hash of its own', withProof({ entry_hash: zeros })],
    ['a sibling exchanged', withProof({ siblings: [zeros, ...proof.siblings.slice(1)] })],
    ['a sibling left out', withProof({ siblings: proof.siblings.slice(1) })],
    ['siblings turned round', withProof({ siblings: [...proof.siblings].reverse() })],
    ['a pair more', withProof({ bucket: [...proof.bucket, [zeros, zeros]] })],
    ['capital letters', withProof({ siblings: proof.siblings.map((hash) => hash.toUpperCase()) })],
  ]
  if (answer.present) {
    const absent = { ...withProof({ entry_hash: null, bucket: others }), present: false }
    forgeries.push([
      'absence of what is there',
      { ...absent, ...('change' in answer ? { change: null } : { entry: null }) },
    ])
  }
  if (pair) forgeries.push(['a pair twice', withProof({ bucket: [pair, ...proof.bucket] })])
  if (answer.entry) forgeries.push(['another entry', { ...answer, entry: { ...answer.entry, more: 1 } }])
  if (answer.change)
    forgeries.push(['another change', { ...answer, change: { ...answer.change, op: 'merge', base_hash: zeros } }])
  return forgeries.filter(([, forged]) => JSON.stringify(forged) !== JSON.stringify(answer))
}
const forged = answers.flatMap(forgeriesOf)

test('accepts the vectors and refuses the forgeries', () => {
  expect(answers.filter(({ proof }) => !verifyProof(proof))).toEqual([])
  expect(new Set(answers.map(({ present }) => present)).size).toBe(2)
  expect(forged.length).toBeGreaterThan(150)
})

const python = hasPython()
if (!python) console.log('python3 is not here: 3 tests of the verifier in docs/proofs are skipped')

describe.runIf(python)('the verifier in Python', () => {
  test('accepts every proof, also for the content hash that is held', () => {
    const cases = answers.flatMap((answer) => [{ answer }, { answer, held: answer.proof.root }])
    expect(verifyInPython(cases).filter((proved) => !proved)).toEqual([])
  })

  test('refuses every forgery, and a proof for another content hash', () => {
    const proved = verifyInPython(forged.map(([, answer]) => ({ answer })))
    expect(forged.filter((_, index) => proved[index]).map(([name]) => name)).toEqual([])
    expect(verifyInPython(answers.map((answer) => ({ answer, held: zeros })))).not.toContain(true)
  })

  test('exits 0 for a valid proof file and 1 otherwise', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-proof-'))
    try {
      const file = path.join(folder, 'proof.json')
      const status = (content: string, ...more: string[]) => {
        fs.writeFileSync(file, content)
        return spawnSync('python3', [verifierPath, file, ...more]).status
      }
      const [, honest] = answers as [ProofAnswer, ProofAnswer]
      const text = JSON.stringify(honest)
      expect([status(text), status(text, honest.proof.root), status(text, zeros), status('{}')]).toEqual([0, 0, 1, 1])
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  })
})
