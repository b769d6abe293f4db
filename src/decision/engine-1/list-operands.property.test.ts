/** A definition with values from lists gives the same decisions and findings as one with the same literals. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildList } from '#test/support/bound-lists.ts'
import { DefinitionGenerator } from '#test/support/definition-generator.ts'
import { bindOrThrow } from '#test/support/example-matrix.ts'
import { analyseDefinition } from '../analysis/analyse.ts'
import { findBreakPoints } from '../analysis/break-points.ts'
import { findMinimalChanges } from '../analysis/minimal-changes.ts'
import type { BoundList, BoundLists, Decision, DecisionTable, Definition } from '../model.ts'
import { engine1 } from './engine.ts'
import { buildLayout } from './layout.ts'
import { formatDate, formatScaled } from './scalars.ts'
import { type Column, type ListOperand, printTest, type Scalar, type UnboundTerm, type UnboundTest } from './unary.ts'
import { parseTest } from './unary-parser.ts'

/** Moves random values from the tests of a definition into a list. */
class Mover {
  moved = 0
  private readonly maker: DefinitionGenerator
  private readonly entries: Record<string, Record<string, unknown>> = { 'at|all': { x: 0 } }
  constructor(maker: DefinitionGenerator) {
    this.maker = maker
  }

  list = (): BoundList => buildList('limits', this.entries)

  definition(definition: Definition): Definition {
    const layout = buildLayout(definition)
    const column = (name: string) => layout.subject(name).column
    const table = (given: DecisionTable): DecisionTable => ({
      ...given,
      rows: given.rows.map((row) => ({
        ...row,
        when: row.when.map((cell, n) => this.cell(cell, column(given.columns[n] as string))),
      })),
    })
    if (definition.family === 'rule') return { ...definition, table: table(definition.table) }
    return {
      ...definition,
      factors: definition.factors.map((factor) =>
        factor.form === 'table' ? { ...factor, table: table(factor.table) } : factor,
      ),
      triggers: definition.triggers.map((trigger) => ({
        ...trigger,
        when: trigger.when.map(({ of, test }) => ({ of, test: this.cell(test, column(of)) })),
      })),
    }
  }

  private cell(text: string, column: Column): string {
    const parsed = parseTest(text, column) as UnboundTest
    if (parsed.form === 'any') return text
    return printTest({ form: 'terms', terms: parsed.terms.map((term) => this.term(term, column)) }, column)
  }

  private term(term: UnboundTerm, column: Column): UnboundTerm {
    const value = <V extends Scalar>(given: V | ListOperand) => this.value(given as V, column)
    switch (term.form) {
      case 'equals':
      case 'compare':
        return { ...term, value: value(term.value) } as UnboundTerm
      case 'range':
        return { ...term, from: value(term.from), to: value(term.to) } as UnboundTerm
      case 'not':
        return { form: 'not', terms: term.terms.map((inner) => this.term(inner, column)) }
      case 'in_list':
        return term
    }
  }

  private value(value: Scalar, column: Column): Scalar | ListOperand {
    if (this.maker.chance()) return value
    const minor = column.kind === 'decimal' && this.maker.chance()
    const key = `${this.maker.pick(['a', 'b|c', 'd e'])}${this.moved++}`
    this.entries[key] = { x: minor ? value : wire(value, column) }
    return { list_key: 'limits', key, field: 'x', ...(minor && { minor }) }
  }
}

function wire(value: Scalar, { kind, scale }: Column): Scalar {
  if (typeof value !== 'number' || kind === 'integer') return value
  return kind === 'date' ? formatDate(value) : formatScaled(value, scale)
}

/** Without texts about lists. */
const plain = (decision: Decision) =>
  decision.ok
    ? {
        outcome: decision.outcome,
        used: decision.used.filter(({ list_key }) => list_key !== 'limits'),
        scores: decision.explanation.factors.map(({ score_bps }) => score_bps),
        rows: decision.explanation.rows.map(({ key }) => key),
        triggers: decision.explanation.triggers.map(({ key }) => key),
      }
    : decision

test('gives the same outcome, findings, break points and smallest changes', () => {
  const seen = { moved: 0, used: 0, findings: 0, changes: 0 }
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const maker = new DefinitionGenerator(g)
      const written = maker.chance(3) ? maker.rule() : maker.matrix().definition
      const lists = maker.lists()
      const mover = new Mover(maker)
      const moved = mover.definition(written)
      const all: BoundLists = new Map(lists).set('limits', mover.list())
      seen.moved += mover.moved

      const compiled = { written: engine1.compile(written), moved: engine1.compile(moved) }
      const result = compiled.written.bind(lists)
      if (!('decide' in result)) {
        expect(compiled.moved.bind(all)).toEqual(result)
        return
      }
      const decider = bindOrThrow(moved, all)
      for (let n = 0; n < 4; n++) {
        const given = maker.given()
        const decision = decider.decide(given)
        expect(plain(decision)).toEqual(plain(result.decide(given)))
        if (decision.ok) seen.used += decision.used.filter(({ list_key }) => list_key === 'limits').length
      }
      const findings = analyseDefinition(compiled.written, lists)
      expect(analyseDefinition(compiled.moved, all)).toEqual(findings)
      seen.findings += findings.length
      for (const name of ['whole', 'part', 'day']) {
        expect(findBreakPoints(compiled.moved, all, name)).toEqual(findBreakPoints(compiled.written, lists, name))
      }
      const given = maker.given()
      const changes = findMinimalChanges({ bound: result, compiled: compiled.written, lists }, given)
      expect(findMinimalChanges({ bound: decider, compiled: compiled.moved, lists: all }, given)).toEqual(changes)
      seen.changes += changes.changes.length
    }),
    { numRuns: 120, seed: 1848 },
  )
  // Otherwise the comparison would be meaningless.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(30)
})
