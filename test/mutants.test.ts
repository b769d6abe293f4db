/** The list of mutants fits the sources; `npm run acceptance -- mutants` runs them. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { applyMutant } from './acceptance/mutants/apply-mutant.ts'
import { codeMutants } from './acceptance/mutants/code-mutants.ts'
import { projectRoot } from './support/database.ts'

const read = (file: string): string => fs.readFileSync(path.join(projectRoot, file), 'utf8')

test('lists at least 20 mutants, each under a name of its own', () => {
  expect(codeMutants.length).toBeGreaterThanOrEqual(20)
  expect(new Set(codeMutants.map(({ name }) => name)).size).toBe(codeMutants.length)
})

test.for(codeMutants)('$name: changes its file and names existing test files that sample nothing', (mutant) => {
  const source = read(mutant.file)
  expect(applyMutant(source, mutant)).not.toBe(source)
  for (const killer of mutant.killers) expect(read(killer), killer).not.toContain('support/sampling.ts')
  expect(mutant.killers.length).toBeGreaterThan(0)
})

test('throws when the text of a mutant is not in its file', () => {
  const [mutant] = codeMutants
  if (mutant) expect(() => applyMutant('something else', mutant)).toThrow('0 times instead of once')
})
