/** One hash over the decisions of engine 1 on generated definitions: detects any change of a byte. */
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { DefinitionGenerator } from '#test/support/definition-generator.ts'
import { engine1 } from './engine.ts'

test('gives the same bytes as before', () => {
  const texts = fc.sample(fc.gen(), { numRuns: 300, seed: 1969 }).map((g) => {
    const maker = new DefinitionGenerator(g)
    const compiled = engine1.compile(maker.chance() ? maker.rule() : maker.matrix().definition)
    const { references, list_keys } = compiled
    const bound = compiled.bind(maker.lists())
    const said = 'decide' in bound ? bound.decide(maker.given()) : bound
    return canonicalJson({ references, list_keys, said })
  })
  expect(new Set(texts).size).toBeGreaterThan(200)
  expect(hash('sha256', texts.join('\n'), 'hex')).toBe(
    'dbbfe8de901b50753d6c82b53a13b6ef6026a4955d245e49ce290c4a27d7a19a',
  )
})
