/**
 * What plugins were run for and how it ended. Inputs and outputs are not recorded, nor is a text that a plugin threw, which may quote
 * them: records are never changed, so an erasure could not remove it. Lines and stacks of failures are.
 */
import type { Scope } from '#kernel/database/scope.ts'
import type { Transactions, Tx } from '#kernel/database/tx.ts'
import { datasetStore } from '#modules/definitions/index.ts'
import type { SandboxResult } from '#sandbox/model.ts'
import type { BoundPlugin, InvocationCause } from './model.ts'
import { type InvocationFailure, insertInvocation } from './queries.ts'

const MAX_FAILURES = 10
const STACK_LENGTH = 2000

const THROWN = 'It threw an error. Its text is shown to whoever ran it and not kept, because it may quote inputs.'

/** Rows of a list are no subjects: an author finds the row by the text. */
const readsSubjects = ({ manifest: { kind } }: BoundPlugin): boolean => kind !== 'adapter'

/** A failure that the host found in an output, beside those of the sandbox. */
export interface OutputFault {
  readonly ok: false
  readonly reason: 'output_invalid'
  readonly message: string
  readonly fuel: number
}

/** Records one operation in its own transaction, which commits with what it decided. */
export async function recordInvocations(
  tx: Tx,
  bound: BoundPlugin,
  results: readonly (SandboxResult | OutputFault)[],
  caused_by: InvocationCause,
): Promise<void> {
  if (results.length === 0) return
  const failures = results.flatMap((result, item): InvocationFailure[] => {
    if (result.ok || result.reason === 'needs_entries') return []
    const { reason, fuel } = result
    const message = reason === 'threw' && readsSubjects(bound) ? THROWN : result.message
    const [line, stack] = 'stack' in result ? [result.line, result.stack] : [null, null]
    return [{ item, reason, message, line, stack: stack?.slice(0, STACK_LENGTH) ?? null, fuel }]
  })
  const fuel = results.map((result) => result.fuel)
  await insertInvocation(tx, {
    plugin_key: bound.plugin_key,
    origin: datasetStore.getOrigin(bound.pointer.dataset_tenant_id),
    version: bound.version,
    content_hash: bound.content_hash,
    sandbox_hash: bound.sandbox_hash,
    cause_kind: caused_by.kind,
    cause_id: caused_by.id,
    items: results.length,
    failed: failures.length,
    fuel_total: fuel.reduce((sum, one) => sum + one, 0),
    fuel_max: Math.max(...fuel),
    failures: failures.slice(0, MAX_FAILURES),
  })
}

/** Records a failure in a transaction of its own: that of the operation is rolled back by the 503. */
export const recordFailure = (
  { transactions }: { readonly transactions: Pick<Transactions, 'write'> },
  scope: Scope,
  bound: BoundPlugin,
  failure: { readonly results: readonly (SandboxResult | OutputFault)[]; readonly caused_by: InvocationCause },
): Promise<void> => transactions.write(scope, (tx) => recordInvocations(tx, bound, failure.results, failure.caused_by))
