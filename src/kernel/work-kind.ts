/** Kinds of objects that people work on, as modules declare them. */
import type { Role } from './auth/roles.ts'
import type { Tx } from './database/tx.ts'

export interface WorkKind {
  /** `object_kind` of its work items and clocks. */
  readonly kind: string
  readonly title: string
  /**
   * operationId by which an item is opened, with the id as its only parameter: items and clocks are for its roles. Null: it has none of its
   * own, and they are for `roles`.
   */
  readonly operation: string | null
  /** Who may be assigned one. */
  readonly roles: readonly Role[]
  /** Keeps the history of an object whose work was given to somebody else, or returned: `assignee` is null then. */
  readonly recordReassignment?: (
    tx: Tx,
    object_id: string,
    to: { readonly assignee: string | null; readonly reason: string },
  ) => Promise<void>
  /** One line about each object that the transaction sees, in one statement; used by lists of work of several kinds. */
  readonly describe: (tx: Tx, object_ids: readonly string[]) => Promise<ReadonlyMap<string, string>>
}
