/** A module as `src/app/modules.ts` lists it: routes, jobs and what other modules need to know of it. */
import type { ConstraintProblems } from './database/failures.ts'
import type { Tx } from './database/tx.ts'
import type { JobKind } from './job/kind.ts'
import type { ChangeReview } from './request/change-reviews.ts'
import type { Route } from './route.ts'
import type { ModuleSearch } from './search/source.ts'

export interface Module {
  readonly name: string
  /** First URL segments of its routes; the OpenAPI tag is the module's name. */
  readonly segments: readonly string[]
  readonly tier: 'foundation' | 'domain' | 'views'
  readonly summary: string
  readonly routes: readonly Route[]
  readonly jobs: readonly JobKind[]
  readonly constraints?: ConstraintProblems
  /**
   * Inserts one row into each table of this module, for the tenant of `tx`. The canary tenant gets these rows, so that isolation
   * can be verified on real data; the isolation tests use it too.
   */
  readonly canary: (tx: Tx) => Promise<void>
  /** A table that has a row once `canary` ran; absent where the module has no table. */
  readonly canary_table?: string
  /** Reviews of changes that other modules make, by the name that module gives them. */
  readonly reviews?: Readonly<Record<string, ChangeReview>>
  /** Governed actions whose impact this module measures; a policy may require that before they are approved. */
  readonly measures?: readonly string[]
  /** The kinds of object that search finds; required of a module that reads objects by id. */
  readonly search?: ModuleSearch
}
