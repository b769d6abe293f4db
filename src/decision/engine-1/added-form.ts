/** What a form of factors consists of, and the form that a later engine adds to those of engine 1. */
import type { Factor, FactorOutcome, PluginFactor } from '../model.ts'
import type { Binder } from './binder.ts'
import type { DeclaredNames } from './check-parts.ts'
import type { Subject, UnboundLayout } from './layout.ts'
import type { Run } from './run.ts'
import type { FindingCollector, Shape } from './shape.ts'

/** The part of the outcome that depends on the kind of factor. */
export interface ScoredFactor {
  readonly score_bps: number
  readonly reason: string
  readonly reason_code: string | null
  readonly found?: FactorOutcome['found']
  readonly rows?: readonly string[]
  readonly defaulted?: true
  readonly plugin?: FactorOutcome['plugin']
}
export type ScoreFunction = (run: Run) => ScoredFactor | null

export interface FactorContext {
  readonly layout: UnboundLayout
  readonly binder: Binder
  readonly pointer: string
  /** The inputs of the factor, in order. */
  readonly subjects: readonly Subject[]
}

type AddedFactor = PluginFactor

export interface AddedForm {
  /** The shape of every factor, those of engine 1 included. */
  readonly factor_shape: Shape
  check(factor: AddedFactor, pointer: string, names: DeclaredNames, findings: FindingCollector): void
  bind(factor: AddedFactor, context: FactorContext): ScoreFunction
}

export const isAdded = (factor: Factor): factor is AddedFactor => factor.form === 'plugin'
