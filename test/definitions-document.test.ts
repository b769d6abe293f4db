/** The examples of docs/definitions.md are what the engine takes, on the shipped lists. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { engine1 } from '#decision/engine-1/engine.ts'
import { joinKeyParts } from '#decision/engine-1/entry-key.ts'
import type { Definition, DefinitionFamily, Inputs } from '#decision/model.ts'
import { collectReasonCodes } from '#modules/risk-matrices/reason-code-warnings.ts'
import { parsePointer, valueAt } from '#registry/content/json-pointer.ts'
import { buildList, buildLists } from './support/bound-lists.ts'
import { bindOrThrow } from './support/example-matrix.ts'

const root = path.resolve(import.meta.dirname, '..')
const readJson = (file: string) => JSON.parse(fs.readFileSync(path.join(root, 'db/seed', file), 'utf8'))

function loadSeedList(list_key: string) {
  const { type_key, versions } = readJson(`lists/${list_key}.json`)
  const { key_pointers } = readJson(`types/${type_key}.json`) as { key_pointers: string[] }
  const toKey = (entry: unknown) => joinKeyParts(key_pointers.map((at) => String(valueAt(entry, parsePointer(at)))))
  const entries = versions.at(-1).entries as Record<string, unknown>[]
  return buildList(list_key, Object.fromEntries(entries.map((entry) => [toKey(entry), entry])))
}
const reason_codes = loadSeedList('reason-codes')
const lists = buildLists(...['jurisdiction-risk', 'risk-bands', 'eu-high-risk-third-countries'].map(loadSeedList))

test.each<[DefinitionFamily, Inputs, object]>([
  [
    'matrix',
    { country: 'DE', turnover: '250000.00', pep: true },
    { band: 'high', required_actions: ['enhanced-due-diligence'] },
  ],
  ['rule', { country: 'IR', amount: '5000.00' }, { hit: true, reason_codes: ['TM_HIGH_RISK_COUNTRY'] }],
])('the %s of docs/definitions.md is valid and decides', (family, inputs, outcome) => {
  const text = fs.readFileSync(path.join(root, 'docs/definitions.md'), 'utf8')
  const definition = JSON.parse(new RegExp(`\`\`\`json ${family}\n(.*?)\`\`\``, 's').exec(text)?.[1] ?? 'null')
  expect(engine1.check(definition, family)).toEqual([])
  const unknown = collectReasonCodes(definition).filter(({ code }) => reason_codes.get(code) === undefined)
  expect(unknown).toEqual([])
  const decision = bindOrThrow({ ...definition, family } as Definition, lists).decide(inputs)
  expect(decision).toMatchObject({ ok: true, outcome })
})
