/** Engine 1 gives the same decisions as a naive reference implementation for generated matrices, lists and inputs. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { DefinitionGenerator } from '#test/support/definition-generator.ts'
import { decideByReference } from '#test/support/reference-engine.ts'
import { engine1 } from './engine.ts'

fc.configureGlobal({ seed: 1604 })

test('decides like the reference implementation', () => {
  const seen = { decided: 0, refused: new Set<string>() }
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const maker = new DefinitionGenerator(g)
      const naive = maker.matrix()
      const lists = maker.lists()
      expect(engine1.check(naive.definition, 'matrix')).toEqual([])
      const bound = engine1.compile(naive.definition).bind(lists)
      if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
      for (let n = 0; n < 4; n++) {
        const given = maker.given()
        const expected = decideByReference(naive, lists, given)
        const decision = bound.decide(given)
        expect(canonicalJson(bound.decide({ ...given }))).toBe(canonicalJson(decision))
        if (!decision.ok) {
          const faults = decision.findings.map(({ code, pointer }) => `${code} ${pointer}`)
          expect({ ok: false, faults }).toEqual(expected)
          for (const { code } of decision.findings) seen.refused.add(code)
          continue
        }
        seen.decided++
        const { family: _family, required_actions: _actions, ...outcome } = decision.outcome
        const scores = decision.explanation.factors.map(({ score_bps }) => score_bps)
        expect({ ok: true, scores, ...outcome }).toEqual(expected)
      }
    }),
    { numRuns: 600 },
  )
  // Otherwise the comparison would be meaningless.
  expect(seen.decided).toBeGreaterThan(500)
  expect([...seen.refused].sort()).toEqual([
    'any_rows_differ',
    'input_empty',
    'list_key_missing',
    'no_row_fires',
    'score_out_of_range',
    'several_rows_fire',
    'value_not_scored',
  ])
})
